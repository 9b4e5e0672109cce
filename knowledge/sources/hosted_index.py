"""Which repositories a source that holds many has copies of: one file beside the copies, read by evidence pages."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from knowledge.sources.hosting import HostedRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRepository:
    """A repository with the prefix of its uris."""

    key: str
    prefix: str
    web: str


class HostedIndex:
    """`repositories.json` in the folder of the copies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "repositories.json"
        self._stamp: tuple[int, int] | None = None
        self._by_prefix: dict[str, KnownRepository] = {}

    def copy_of(self, key: str) -> Path:
        """The folder of one repository's copy; a key is the host's own number."""
        return self._folder / f"{''.join(c for c in key if c.isalnum() or c in '-_')}.git"

    def find(self, uri: str) -> KnownRepository | None:
        """The repository that holds `uri`; a subgroup's repository lies deeper than one of the group."""
        known = self.known()
        parts = uri.split("/")
        for count in range(len(parts) - 1, 0, -1):
            repository = known.get("/".join(parts[:count]) + "/")
            if repository is not None:
                return repository
        return None

    def known(self) -> Mapping[str, KnownRepository]:
        """Prefix -> repository, as the last discovery left them."""
        try:
            state = self._path.stat()
            stamp = (state.st_mtime_ns, state.st_ino)
            if stamp != self._stamp:
                rows = json.loads(self._path.read_text(encoding="utf-8"))
                self._by_prefix = {row["prefix"]: KnownRepository(**row) for row in rows}
                self._stamp = stamp
        except (OSError, ValueError, TypeError, KeyError):
            return self._by_prefix
        return self._by_prefix

    def write(self, repositories: Iterable[HostedRepository]) -> None:
        """Replaces the file in one step."""
        rows = [asdict(KnownRepository(key=r.key, prefix=prefix_of(r), web=r.web)) for r in repositories]
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        os.replace(draft, self._path)

    def drop_others(self, repositories: Iterable[HostedRepository]) -> None:
        """Removes the copies of repositories that are not among these: nothing unmasked stays without need."""
        wanted = {self.copy_of(repository.key) for repository in repositories}
        for copy in self._folder.glob("*.git"):
            if copy not in wanted:
                shutil.rmtree(copy, ignore_errors=True)


def prefix_of(repository: HostedRepository) -> str:
    """What the uris of a repository begin with."""
    return repository.path + "/"
