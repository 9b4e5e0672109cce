"""What a web host of git offers: a list of repositories and a way to reach them. One adapter a host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from knowledge.sources.git_links import HostKind

ARCHIVED = "archived repository: set archived = true to read it"
FORK = "fork: set forks = true to read it"
NOT_CHOSEN = "left out by repositories and exclude_repositories of the source"
EMPTY = "repository without commits"
SWITCHED_OFF = "the repository's code is switched off or blocked on its host"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedRepository:
    """One repository as its host describes it."""

    key: str  # the host's own number: stays when the repository is renamed
    path: str  # name below the organisation or group, e.g. "shop" or "payments/shop"
    https_url: str
    ssh_url: str
    web: str
    is_archived: bool = False
    is_fork: bool = False
    is_empty: bool = False
    is_switched_off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which repositories of a host are read."""

    archived: bool = False
    forks: bool = False
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def reason_to_skip(self, repository: HostedRepository) -> str | None:
        """Why it is left out, or None. Patterns know no case, and match the whole path or its last part."""
        if (self.include and not _matches(repository.path, self.include)) or _matches(repository.path, self.exclude):
            return NOT_CHOSEN
        if repository.is_archived and not self.archived:
            return ARCHIVED
        if repository.is_fork and not self.forks:
            return FORK
        if repository.is_switched_off:
            return SWITCHED_OFF
        return EMPTY if repository.is_empty else None


def _matches(path: str, patterns: Sequence[str]) -> bool:
    names = (path.lower(), path.lower().rpartition("/")[2])
    return any(fnmatchcase(name, pattern.lower()) for pattern in patterns for name in names)


class RepositoryHost(Protocol):
    """GitHub, GitLab: lists repositories and gives the credentials to fetch them."""

    kind: HostKind
    place: str  # what is listed, for messages
    username: str  # that goes with the token

    def repositories(
        self, *, should_stop: Callable[[], bool], waiting: Callable[[str], None]
    ) -> Sequence[HostedRepository]:
        """All of them, without choice. `waiting` is told when a limit makes it wait, and until when.

        Raises SourceMissing, ToolDown: never a list that is known to be incomplete.
        """

    def token(self) -> str | None:
        """The token to fetch with, valid now."""

    def close(self) -> None:
        """Releases connections."""
