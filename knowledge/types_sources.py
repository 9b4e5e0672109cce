"""Value objects of sources: where documents and code come from, and what a source offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SourceKind = Literal["documents", "repository"]
EvidenceKind = Literal["docs", "code"]

EVIDENCE_KIND: Mapping[str, EvidenceKind] = {"documents": "docs", "repository": "code"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteConfig:
    """Where repositories are fetched from: exactly one of `url`, `github`, `gitlab`. Secrets never show in its repr."""

    url: str | None = None  # of one repository, without credentials
    github: str | None = None  # an organisation or user
    gitlab: str | None = None  # a group, with its subgroups, or a user
    base_url: str | None = None  # of GitHub Enterprise or of a GitLab server of one's own
    token: str | None = field(default=None, repr=False)
    app_id: str | None = None  # of a GitHub App
    app_key: str | None = field(default=None, repr=False)  # its private key, PEM
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    ca_file: Path | None = None  # certificates of one's own authority, PEM
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)  # https_proxy, http_proxy, all_proxy, no_proxy
    archived: bool = False
    forks: bool = False
    repositories: tuple[str, ...] = ()  # patterns of names; empty means all
    exclude_repositories: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """What is fetched from, in a few words."""
        if self.url is not None:
            return self.url
        kind, owner = ("GitHub", self.github) if self.github is not None else ("GitLab", self.gitlab)
        return f"{owner} on {self.base_url or kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """One `[[sources]]` entry: a folder of documents or a git repository."""

    name: str  # slug, [a-z0-9._-]{1,64}
    kind: SourceKind
    path: Path | None = None
    remote: RemoteConfig | None = None  # of a repository, instead of path
    host_kind: Literal["github", "gitlab", "gitea", "bitbucket", "bitbucket-server"] | None = None
    title: str | None = None
    branch: str | None = None
    include: tuple[str, ...] = ()  # gitignore patterns; empty means everything
    exclude: tuple[str, ...] = ()
    link_template: str | None = None  # e.g. "https://wiki/{uri}#L{start_line}"

    @property
    def place(self) -> str:
        """Where it is read from, for messages."""
        return self.remote.place if self.remote is not None else str(self.path)

    @property
    def evidence_kind(self) -> EvidenceKind:
        return EVIDENCE_KIND[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """One item that a source offers now: its uri and a hash that changes exactly when its content does."""

    uri: str
    content_hash: str
    size_bytes: int
    revision: str | None = None  # commit of the repository that holds it, where a source has several


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedItem:
    """An item that is left out on purpose."""

    uri: str
    reason: str  # says what to do where something can be done


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLook:
    """What a file was like when it was hashed. Equal numbers prove equal content only when `is_settled`: the file's
    clock had gone on since its last change, so that another change must have left another time."""

    content_hash: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    is_settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One repository of a source that holds many: everything whose uri begins with `prefix`.

    With `is_kept` it was not listed, because nothing moved there or because it could not be reached: what is known of
    it stays as it is.
    """

    prefix: str  # "shop/"
    state: str  # equal as long as the part would give the same items; empty when it could never be listed
    revision: str | None = None  # its commit
    is_kept: bool = False
    problem: str | None = None  # why it could not be reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Everything that a source holds at `revision`; what is absent from `items` and was known is gone, unless it lies
    in a part that is kept."""

    revision: str
    items: tuple[Discovered, ...]
    skipped: tuple[SkippedItem, ...] = ()
    parts: tuple[Part, ...] = ()
    held: frozenset[str] = frozenset()  # there, but not to be read now (half-written, a failing disk): known ones stay
    looks: Mapping[str, FileLook] = field(default_factory=dict)  # of a folder's files, for the next discovery
    empty_prefixes: tuple[str, ...] = ()  # folders that are there and have nothing in them, as one whose mount fell off

    @property
    def kept_prefixes(self) -> tuple[str, ...]:
        """Prefixes of what was not listed and stays."""
        return tuple(part.prefix for part in self.parts if part.is_kept)
