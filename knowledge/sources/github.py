"""Repositories of a GitHub organisation or user, on github.com or GitHub Enterprise: by token or as a GitHub App."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from knowledge.errors import SourceMissing
from knowledge.sources.git_links import HostKind
from knowledge.sources.hosting import HostedRepository
from knowledge.sources.hosting_http import HostingClient, Pause, Waiting, Watch

_REFRESH_BEFORE = timedelta(minutes=5)
_JWT_LIFE = timedelta(minutes=9)  # GitHub allows ten; clocks differ
_JWT_BACKDATED = timedelta(seconds=60)


def api_address(base_url: str | None) -> str:
    """The address of the REST API that belongs to what people open in a browser."""
    if base_url is None:
        return "https://api.github.com"
    parts = urlsplit(base_url)
    if parts.hostname in ("github.com", "www.github.com", "api.github.com"):
        return "https://api.github.com"
    if (parts.hostname or "").endswith(".ghe.com"):
        return f"https://api.{(parts.hostname or '').removeprefix('api.')}"
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path if path.endswith('/api/v3') else path + '/api/v3'}"


class GitHubHost:
    """See `RepositoryHost`."""

    kind: HostKind = "github"
    username = "x-access-token"

    def __init__(
        self,
        owner: str,
        *,
        base_url: str | None = None,
        token: str | None = None,
        app: tuple[str, str] | None = None,
        clock: Callable[[], datetime],
        pause: Pause,
        memory: Path | None = None,
        ca_file: Path | None = None,
    ) -> None:
        """`app` is (id, private key as PEM) of a GitHub App, `token` any other token; without both, what is public."""
        self.place = f"GitHub {owner}" if base_url is None else f"{owner} on {base_url}"
        self._owner = owner
        self._token = token
        self._client = HostingClient(
            api_address(base_url),
            place=self.place,
            headers=self._headers,
            clock=clock,
            pause=pause,
            memory=memory,
            ca_file=ca_file,
        )
        self._app = _App(app, owner, self._client, self.place, clock) if app is not None else None

    def repositories(self, *, should_stop: Callable[[], bool], waiting: Waiting) -> Sequence[HostedRepository]:
        watch = Watch(should_stop=should_stop, waiting=waiting)
        found = [_repository(entry) for entry in self._entries(watch) if self._is_own(entry)]
        return sorted({repository.key: repository for repository in found}.values(), key=lambda r: r.path)

    def token(self) -> str | None:
        return self._app.token() if self._app is not None else self._token

    def close(self) -> None:
        self._client.close()

    def _entries(self, watch: Watch) -> list[Any]:
        if self._app is not None:
            self._app.watch = watch
            return list(self._client.pages("/installation/repositories", {}, watch, key="repositories"))
        owner = quote(self._owner, safe="")
        account = self._client.get(f"/users/{owner}", watch)
        if account is None:
            raise SourceMissing(f"{self.place} is not there, or the token may not see it: correct `github`")
        if account.get("type") == "Organization":
            return list(self._client.pages(f"/orgs/{owner}/repos", {"type": "all"}, watch))
        me = self._client.get("/user", watch) if self._token is not None else None
        if me is not None and str(me.get("login", "")).lower() == self._owner.lower():
            return list(self._client.pages("/user/repos", {"affiliation": "owner"}, watch))
        return list(self._client.pages(f"/users/{owner}/repos", {"type": "owner"}, watch))

    def _is_own(self, entry: Mapping[str, Any]) -> bool:
        return str(entry["full_name"]).partition("/")[0].lower() == self._owner.lower()

    def _headers(self) -> Mapping[str, str]:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        token = self.token()
        return headers | ({"Authorization": f"Bearer {token}"} if token is not None else {})


class _App:
    """Tokens of a GitHub App's installation: each lives an hour, and is renewed five minutes before its end."""

    def __init__(
        self, app: tuple[str, str], owner: str, client: HostingClient, place: str, clock: Callable[[], datetime]
    ) -> None:
        self._id, self._key = app
        self._owner = quote(owner, safe="")
        self._client = client
        self._place = place
        self._clock = clock
        self._token: tuple[str, datetime] | None = None
        self._asking = threading.Lock()
        self.watch = Watch(should_stop=lambda: False, waiting=lambda words: None)

    def token(self) -> str:
        """A token that is valid for the next minutes. Raises SourceMissing when the App is not let in."""
        with self._asking:  # several repositories are fetched at once
            if self._token is None or self._clock() >= self._token[1] - _REFRESH_BEFORE:
                self._token = self._fetch()
            return self._token[0]

    def _fetch(self) -> tuple[str, datetime]:
        headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {self._signed()}"}
        ask = partial(self._client.get, watch=self.watch, headers=headers)
        installation = ask(f"/orgs/{self._owner}/installation") or ask(f"/users/{self._owner}/installation")
        if installation is None:
            raise SourceMissing(f"The GitHub App {self._id} is not installed for {self._place}: install it there")
        path = f"/app/installations/{installation['id']}/access_tokens"
        answer = self._client.post(path, self.watch, headers=headers)
        return str(answer["token"]), datetime.fromisoformat(str(answer["expires_at"]).replace("Z", "+00:00"))

    def _signed(self) -> str:
        import jwt

        now = self._clock()
        claims = {"iat": now - _JWT_BACKDATED, "exp": now + _JWT_LIFE, "iss": self._id}
        try:
            return jwt.encode(claims, self._key, algorithm="RS256")
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise SourceMissing(
                f"The private key of the GitHub App {self._id} cannot be used: set app_key_file to the .pem file that "
                f"GitHub gave when the key was made"
            ) from error


def _repository(entry: Mapping[str, Any]) -> HostedRepository:
    return HostedRepository(
        key=str(entry["id"]),
        path=str(entry["full_name"]).partition("/")[2],
        https_url=str(entry["clone_url"]),
        ssh_url=str(entry.get("ssh_url") or ""),
        web=str(entry["html_url"]),
        is_archived=bool(entry.get("archived")),
        is_fork=bool(entry.get("fork")),
        is_switched_off=bool(entry.get("disabled")),
    )
