"""Addresses of files on the web hosts of git: GitHub, GitLab, Bitbucket (cloud and server), Gitea and Forgejo."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import quote, urlsplit

HostKind = Literal["github", "gitlab", "gitea", "bitbucket", "bitbucket-server"]

_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+|localhost):(?P<path>[^/\\].*)")
_WORDS: tuple[tuple[str, HostKind], ...] = (
    ("github", "github"),
    ("ghe.", "github"),
    ("gitlab", "gitlab"),
    ("bitbucket", "bitbucket-server"),
    ("stash", "bitbucket-server"),
    ("gitea", "gitea"),
    ("forgejo", "gitea"),
    ("codeberg", "gitea"),
)


def web_address(remote: str, *, kind: HostKind | None = None) -> str | None:
    """`https://host/owner/name` of a remote of a known kind of host, without credentials; None for any other.

    `kind` tells what a host is whose name does not. The port of ssh is not that of the pages, so it is left out.
    """
    scheme, port = "https", None
    if "://" in remote:
        try:
            parts = urlsplit(remote)
            host, path = parts.hostname or "", parts.path
            if parts.scheme in ("http", "https"):
                scheme, port = parts.scheme, parts.port
        except ValueError:
            return None
        if parts.scheme not in ("http", "https", "ssh", "git", "git+ssh"):
            return None
    else:
        match = _SCP_LIKE.fullmatch(remote)
        if match is None:
            return None
        host, path = match["host"], match["path"]
    path = path.strip("/").removesuffix(".git")
    kind = kind or kind_of_host(host)
    if not host or not path or kind is None:
        return None
    if ":" in host:
        host = f"[{host}]"
    if host in ("ssh.github.com", "altssh.gitlab.com", "altssh.bitbucket.org"):
        host = host.partition(".")[2]  # ssh over port 443 has a name of its own
    root = f"{scheme}://{host}{f':{port}' if port else ''}"
    return _bitbucket_server(root, path) if kind == "bitbucket-server" else f"{root}/{quote(path, safe='/%')}"


def build_permalink(
    web: str,
    path: str,
    revision: str,
    start_line: int | None,
    end_line: int | None,
    *,
    kind: HostKind | None = None,
) -> str:
    """Address of a file, or of its lines, at one commit; `web` is what `web_address` returned."""
    kind = kind or kind_of_host(urlsplit(web).hostname or "")
    where = quote(path)
    first, last = start_line, end_line if end_line and start_line and end_line > start_line else None
    if kind == "bitbucket":
        anchor = f"#lines-{first}" + (f":{last}" if last else "") if first else ""
        return f"{web}/src/{revision}/{where}{anchor}"
    if kind == "bitbucket-server":
        anchor = f"#{first}" + (f"-{last}" if last else "") if first else ""
        return f"{web}/browse/{where}?at={revision}{anchor}"
    # a page that renders Markdown or a notebook has no lines to jump to
    plain = "?plain=1" if first and path.lower().endswith((".md", ".markdown", ".rst", ".adoc", ".ipynb")) else ""
    if kind == "gitlab":
        anchor = f"#L{first}" + (f"-{last}" if last else "") if first else ""
        return f"{web}/-/blob/{revision}/{where}{plain}{anchor}"
    anchor = f"#L{first}" + (f"-L{last}" if last else "") if first else ""
    if kind == "gitea":
        return f"{web}/src/commit/{revision}/{where}{plain.replace('plain=1', 'display=source')}{anchor}"
    return f"{web}/blob/{revision}/{where}{plain}{anchor}"


def kind_of_host(host: str) -> HostKind | None:
    """What a host's name says it is."""
    host = host.lower()
    if host in ("bitbucket.org", "altssh.bitbucket.org"):
        return "bitbucket"
    return next((kind for word, kind in _WORDS if word in host), None)


def _bitbucket_server(root: str, path: str) -> str:
    """Its pages: `/projects/KEY/repos/name`, or `/users/name/repos/name` for the repositories of one person."""
    path = path.removeprefix("scm/")
    owner, _, name = path.rpartition("/")
    if owner.startswith("~"):
        return f"{root}/users/{quote(owner[1:])}/repos/{quote(name)}"
    return f"{root}/projects/{quote(owner.upper())}/repos/{quote(name)}"
