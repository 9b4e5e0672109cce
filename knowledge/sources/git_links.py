"""Addresses of files on the web hosts of git: GitHub, GitLab, Bitbucket, Gitea and Forgejo."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+\.[\w.-]+):(?P<path>[^/\\].*)")


def web_address(remote: str) -> str | None:
    """`https://host/owner/name` of a remote of a known kind of host, without credentials; None for any other."""
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
    if not host or not path or _kind_of_host(host) is None:
        return None
    return f"{scheme}://{host}{f':{port}' if port else ''}/{quote(path)}"


def build_permalink(web: str, path: str, revision: str, start_line: int | None, end_line: int | None) -> str:
    """Address of a file, or of its lines, at one commit; `web` is what `web_address` returned."""
    kind = _kind_of_host(urlsplit(web).hostname or "")
    where = quote(path)
    first, last = start_line, end_line if end_line and start_line and end_line > start_line else None
    if kind == "bitbucket":
        anchor = f"#lines-{first}" + (f":{last}" if last else "") if first else ""
        return f"{web}/src/{revision}/{where}{anchor}"
    if kind == "gitlab":
        anchor = f"#L{first}" + (f"-{last}" if last else "") if first else ""
        return f"{web}/-/blob/{revision}/{where}{anchor}"
    anchor = f"#L{first}" + (f"-L{last}" if last else "") if first else ""
    folder = f"src/commit/{revision}" if kind == "gitea" else f"blob/{revision}"
    return f"{web}/{folder}/{where}{anchor}"


def _kind_of_host(host: str) -> str | None:
    host = host.lower()
    for word, kind in (
        ("github", "github"),
        ("gitlab", "gitlab"),
        ("bitbucket", "bitbucket"),
        ("gitea", "gitea"),
        ("forgejo", "gitea"),
        ("codeberg", "gitea"),
    ):
        if word in host:
            return kind
    return None
