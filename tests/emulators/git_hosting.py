"""A web host of git for tests, on 127.0.0.1: the parts of GitHub's and GitLab's REST APIs that list repositories, tokens,
GitHub Apps, limits and pages as their documentation describes them, and the repositories themselves by smart HTTP through
the real `git http-backend`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import ssl
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

import jwt

from tests.emulators.git_repositories import ENVIRONMENT, commit, make_bare

EPOCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(kw_only=True)
class HostedFake:
    """One repository of the host; `path` is owner/name, or a group's path and name."""

    number: int
    path: str
    root: Path
    archived: bool = False
    fork: bool = False
    private: bool = True
    broken: bool = False  # git answers with a server's error


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An answer that a host gives when it has been asked too often, or when it is out of order."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = ""

    @classmethod
    def primary(cls, *, reset: datetime) -> Refusal:
        headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(reset.timestamp()))}
        return cls(status=403, headers=headers, message="API rate limit exceeded for installation.")

    @classmethod
    def secondary(cls, *, retry_after_s: int | None) -> Refusal:
        headers = {} if retry_after_s is None else {"retry-after": str(retry_after_s)}
        return cls(status=403, headers=headers, message="You have exceeded a secondary rate limit.")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    status: int
    headers: dict[str, str]


class Clock:
    """A time that tests move; waiting for it costs nothing."""

    def __init__(self) -> None:
        self.now = EPOCH
        self.waits: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def pause(self, seconds: float, should_stop: object = None) -> None:
        self.waits.append(seconds)
        self.now += timedelta(seconds=seconds)


class GitHosting:
    """`with GitHosting(folder, kind="github") as host`: repositories are added while it runs."""

    def __init__(
        self, folder: Path, *, kind: Literal["github", "gitlab"] = "github", clock: Clock | None = None
    ) -> None:
        self.folder = folder
        self.kind = kind
        self.clock = clock or Clock()
        self.tokens: dict[str, datetime] = {}  # token -> when it ends
        self.organisations = {"acme"}
        self.repositories: dict[str, HostedFake] = {}
        self.moved: dict[str, str] = {}  # old path -> new path
        self.asked: list[Asked] = []
        self.refusals: deque[Refusal] = deque()
        self.app: tuple[str, str] | None = None  # (id, public key)
        self.headers: dict[str, str] = {}  # sent along with every answer of the API
        self._numbers = 1000
        self._installation_tokens = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"host": self}))
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def encrypt(self, context: ssl.SSLContext, name: str) -> None:
        """Serves https from now on, under `name`. A client that refuses the certificate is none of the host's errors."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{name}"

    def __enter__(self) -> GitHosting:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def allow(self, token: str) -> str:
        self.tokens[token] = datetime.max.replace(tzinfo=UTC)
        return token

    def add(self, path: str, files: dict[str, str] | None = None, *, branch: str = "main", **flags: bool) -> HostedFake:
        """A repository with one commit; without files, an empty one."""
        self._numbers += 1
        root = make_bare(self.folder / f"{self._numbers}.git", branch=branch)
        if files:
            commit(root, files, branch=branch)
        self.repositories[path] = HostedFake(number=self._numbers, path=path, root=root, **flags)
        return self.repositories[path]

    def rename(self, old: str, new: str) -> None:
        repository = self.repositories.pop(old)
        repository.path = new
        self.repositories[new] = repository
        self.moved[old] = new

    def api_requests(self) -> list[str]:
        return [asked.path for asked in self.asked if "/api/" in asked.path]

    def note(self, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)

    def new_installation_token(self) -> tuple[str, datetime]:
        with self._lock:
            self._installation_tokens += 1
            token = f"installation-{self._installation_tokens}-{'x' * 20}"
            self.tokens[token] = self.clock.now + timedelta(hours=1)
            return token, self.tokens[token]


class _Handler(BaseHTTPRequestHandler):
    host: GitHosting
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Nothing: tests look at `asked`."""

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        body = self._body()
        if parts.path.startswith("/api/"):
            self._api(parts.path, parse_qs(parts.query))
        else:
            self._git(unquote(parts.path), parts.query, body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.host.note(Asked(method=self.command, path=self.path, status=status, headers=dict(self.headers)))
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        sent = {"Content-Type": "application/json", "ETag": etag, **self.host.headers, **(headers or {})}
        if status == 200 and self.headers.get("If-None-Match") == etag:
            self._send(304, b"", sent)
            return
        self._send(status, body, sent)

    # --- the API ----------------------------------------------------------------------------------

    def _api(self, path: str, query: dict[str, list[str]]) -> None:
        if self.host.refusals:
            refusal = self.host.refusals.popleft()
            self._json(refusal.status, {"message": refusal.message}, refusal.headers)
            return
        if self.host.kind == "gitlab":
            self._gitlab(path.removeprefix("/api/v4"), query)
        elif path.startswith("/api/v3/app/") or path.endswith("/installation"):
            self._app(path.removeprefix("/api/v3"))
        else:
            self._github(path.removeprefix("/api/v3"), query)

    def _token(self) -> str | None:
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return self.headers.get("PRIVATE-TOKEN") or bearer or None

    def _is_allowed(self, token: str | None) -> bool:
        return token is not None and self.host.tokens.get(token, EPOCH - timedelta(1)) > self.host.clock.now

    def _github(self, path: str, query: dict[str, list[str]]) -> None:
        token = self._token()
        if token is not None and not self._is_allowed(token):
            self._json(401, {"message": "Bad credentials"})
            return
        if path == "/installation/repositories":
            entries = [self._github_form(r) for r in self.host.repositories.values()]
            self._page(entries, query, wrap="repositories")
            return
        match = re.fullmatch(r"/(users|orgs)/([\w-]+)(/repos)?", path)
        if path == "/user":
            self._json(200, {"login": "mina", "type": "User"})
        elif path == "/user/repos":
            self._page(self._of("mina"), query)
        elif match is None or not any(p.startswith(f"{match[2]}/") for p in self.host.repositories):
            self._json(404, {"message": "Not Found"})
        elif match[3]:
            self._page(self._of(match[2], only_public=match[1] == "users" or token is None), query)
        else:
            kind = "Organization" if match[2] in self.host.organisations else "User"
            self._json(200, {"login": match[2], "type": kind})

    def _of(self, owner: str, *, only_public: bool = False) -> list[dict[str, Any]]:
        return [
            self._github_form(repository)
            for path, repository in self.host.repositories.items()
            if path.startswith(f"{owner}/") and not (only_public and repository.private)
        ]

    def _github_form(self, repository: HostedFake) -> dict[str, Any]:
        return {
            "id": repository.number,
            "name": repository.path.partition("/")[2],
            "full_name": repository.path,
            "private": repository.private,
            "html_url": f"{self.host.url}/{repository.path}",
            "clone_url": f"{self.host.url}/{repository.path}.git",
            "ssh_url": f"git@127.0.0.1:{repository.path}.git",
            "archived": repository.archived,
            "fork": repository.fork,
            "disabled": False,
            "default_branch": "main",
        }

    def _app(self, path: str) -> None:
        if self.host.app is None or not self._is_signed_by(*self.host.app):
            self._json(401, {"message": "A JSON web token could not be decoded"})
        elif path == "/orgs/acme/installation":
            self._json(200, {"id": 77, "app_id": int(self.host.app[0])})
        elif path == "/app/installations/77/access_tokens" and self.command == "POST":
            token, ends = self.host.new_installation_token()
            self._json(201, {"token": token, "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ")})
        else:
            self._json(404, {"message": "Not Found"})

    def _is_signed_by(self, app_id: str, public_key: str) -> bool:
        options: Any = {"verify_exp": False, "verify_iat": False}
        try:
            claims = jwt.decode(self._token() or "", public_key, algorithms=["RS256"], options=options)
        except jwt.PyJWTError:
            return False
        now = self.host.clock.now.timestamp()
        return str(claims["iss"]) == app_id and claims["iat"] <= now < claims["exp"] <= now + 600

    def _gitlab(self, path: str, query: dict[str, list[str]]) -> None:
        if not self._is_allowed(self._token()):
            self._json(401, {"message": "401 Unauthorized"})
            return
        match = re.fullmatch(r"/groups/([^/]+)(/projects)?", path)
        group = unquote(match[1]) if match else ""
        if match is None or not any(p.startswith(f"{group}/") for p in self.host.repositories):
            self._json(404, {"message": "404 Group Not Found"})
        elif not match[2]:
            self._json(200, {"id": 5, "full_path": group})
        else:
            with_subgroups = query.get("include_subgroups") == ["true"]
            found = [
                self._gitlab_form(repository)
                for repository_path, repository in self.host.repositories.items()
                if repository_path.startswith(f"{group}/")
                and (with_subgroups or "/" not in repository_path.removeprefix(f"{group}/"))
            ]
            self._page(sorted(found, key=lambda entry: entry["id"]), query)

    def _gitlab_form(self, repository: HostedFake) -> dict[str, Any]:
        return {
            "id": repository.number,
            "path_with_namespace": repository.path,
            "web_url": f"{self.host.url}/{repository.path}",
            "http_url_to_repo": f"{self.host.url}/{repository.path}.git",
            "ssh_url_to_repo": f"git@127.0.0.1:{repository.path}.git",
            "archived": repository.archived,
            "empty_repo": False,
            **({"forked_from_project": {"id": 1}} if repository.fork else {}),
        }

    def _page(self, entries: list[Any], query: dict[str, list[str]], *, wrap: str = "") -> None:
        size, number = min(100, int(query.get("per_page", ["30"])[0])), int(query.get("page", ["1"])[0])
        shown = entries[(number - 1) * size : number * size]
        headers = {}
        if number * size < len(entries):
            kept = "&".join(f"{name}={values[0]}" for name, values in query.items() if name != "page")
            address = f"{self.host.url}{urlsplit(self.path).path}?{kept}&page={number + 1}"
            headers["Link"] = f'<{address}>; rel="next"'
        self._json(200, {"total_count": len(entries), wrap: shown} if wrap else shown, headers)

    # --- git --------------------------------------------------------------------------------------

    def _git(self, path: str, query: str, body: bytes) -> None:
        match = re.fullmatch(r"/(.+?)\.git(/.*)", path)
        name = match[1] if match else ""
        if name in self.host.moved:
            target = f"{self.host.url}/{self.host.moved[name]}.git{match[2] if match else ''}?{query}"
            self._send(301, b"", {"Location": target})
            return
        repository = self.host.repositories.get(name)
        if repository is None or match is None:
            self._send(404 if self._has_password() else 401, b"", {"WWW-Authenticate": 'Basic realm="git"'})
        elif repository.private and not self._has_password():
            self._send(401, b"", {"WWW-Authenticate": 'Basic realm="git"'})
        elif repository.broken:
            self._send(500, b"out of order")
        else:
            self._backend(repository.root, match[2], query, body)

    def _has_password(self) -> bool:
        try:
            given = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        except ValueError:
            return False
        return self._is_allowed(given.partition(":")[2])

    def _backend(self, root: Path, path: str, query: str, body: bytes) -> None:
        environment = ENVIRONMENT | {
            "GIT_PROJECT_ROOT": os.fspath(root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200 OK").split()[0])
        self._send(status, content, headers)


@contextmanager
def git_hosting(folder: Path, *, kind: Literal["github", "gitlab"] = "github") -> Iterator[GitHosting]:
    """A running host with its repositories in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with GitHosting(folder, kind=kind) as host:
        yield host
