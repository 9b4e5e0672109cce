"""Which sources a push concerns: by the addresses of its repository, also within organisations and groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!//)(.+)")
_CHANGES = {
    "github": frozenset({"push", "repository", "create", "delete"}),
    "gitlab": frozenset({"Push Hook", "System Hook", "Project Hook", "Tag Push Hook"}),
    "gitea": frozenset({"push", "repository", "create", "delete"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A source as far as hooks are concerned."""

    name: str
    url: str | None = None
    owner: str | None = None  # organisation, user or group
    owner_host: str | None = None  # the host of `owner`, in small letters
    branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A repository that changed; `branch` None when it is not a matter of one branch."""

    full_name: str
    addresses: tuple[str, ...]
    branch: str | None
    default_branch: str | None


def is_ping(host: str, headers: Mapping[str, str]) -> bool:
    """Whether the host only tries whether somebody is there."""
    return headers.get(f"x-{host}-event", "") == "ping"


def push_of(host: str, headers: Mapping[str, str], payload: Mapping[str, Any]) -> Push | None:
    """What changed; None for events that change no content."""
    if headers.get(f"x-{host}-event", "") not in _CHANGES[host]:
        return None
    repository = payload.get("project" if host == "gitlab" else "repository")
    if not isinstance(repository, Mapping):
        return None
    name = repository.get("path_with_namespace" if host == "gitlab" else "full_name")
    keys = ("git_http_url", "git_ssh_url", "http_url", "ssh_url", "clone_url", "web_url", "html_url", "git_url")
    addresses = tuple(value for key in keys if isinstance(value := repository.get(key), str))
    if not isinstance(name, str) or not addresses:
        return None
    reference, default = payload.get("ref"), repository.get("default_branch")
    is_branch = isinstance(reference, str) and reference.startswith("refs/heads/")
    return Push(
        full_name=name,
        addresses=addresses,
        branch=str(reference).removeprefix("refs/heads/") if is_branch else None,
        default_branch=default if isinstance(default, str) else None,
    )


def sources_for(push: Push, sources: Sequence[Watched]) -> list[str]:
    """The sources that follow the repository and the branch, in order."""
    places = {place for address in push.addresses if (place := place_of(address)) is not None}
    return [source.name for source in sources if _holds(source, push, places) and _follows(source, push)]


def place_of(address: str) -> tuple[str, str] | None:
    """(host, path), both in small letters, that stand for a repository in all its addresses; None for none."""
    if "://" in address:
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        host, path = parts.hostname or "", parts.path
    elif match := _SCP.fullmatch(address):
        host, path = match[1], match[2]
    else:
        return None
    return host.lower(), path.strip("/").removesuffix(".git").lower()


def _holds(source: Watched, push: Push, places: set[tuple[str, str]]) -> bool:
    if source.url is not None:
        return place_of(source.url) in places
    if source.owner is None:
        return False
    hosts = {host for host, _ in places}
    return source.owner_host in hosts and push.full_name.lower().startswith(source.owner.lower() + "/")


def _follows(source: Watched, push: Push) -> bool:
    followed = source.branch or push.default_branch
    return push.branch is None or followed is None or push.branch == followed
