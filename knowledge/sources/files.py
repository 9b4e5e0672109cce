"""A folder of documents as a source."""

from __future__ import annotations

import hashlib
import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pathspec

from knowledge.errors import ContentChanged, NotFound, SourceMissing, UnreadableFile
from knowledge.masking import mask_path
from knowledge.ports import DiscoveryTask
from knowledge.sources.file_looks import STRANGE_CLOCK_NS, Held, is_same, is_young, look_at
from knowledge.sources.mounts import network_file_system_of
from knowledge.sources.shown_names import hides_something, shown_name
from knowledge.types import MAX_FILE_BYTES, Discovered, Discovery, FileLook, Part, SkippedItem

_TEMPORARY_NAMES = frozenset({"thumbs.db", "desktop.ini", ".ds_store"})
_TEMPORARY_STARTS = ("~$", "~wrl", ".~lock.")
_DOWNLOAD_ENDS = (".part", ".partial", ".filepart", ".crdownload", ".opdownload", ".download")
_TEMPORARY_ENDS = (*_DOWNLOAD_ENDS, ".tmp", ".temp", ".swp", "~")
_PAUSE_STEP_S = 0.1
_PROGRESS_EVERY = 200


def _wait(seconds: float, should_stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not should_stop():
        time.sleep(min(_PAUSE_STEP_S, left))


@dataclass(slots=True)
class _Listing:
    """What one discovery has found so far."""

    found: dict[str, tuple[Path, os.stat_result]] = field(default_factory=dict)
    skipped: list[SkippedItem] = field(default_factory=list)
    unlisted: list[Part] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)  # uri -> why
    looks: dict[str, FileLook] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)  # prefixes of folders without anything in them


class FolderSource:
    """Files below `root`, recursively. A uri is the path relative to `root` in NFC, whatever form the disk uses.

    `data_dir` is never read: what Haechi writes is no document of the company.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        data_dir: Path | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        settle_s: float = 0.0,
        pause: Callable[[float, Callable[[], bool]], None] = _wait,
        network_of: Callable[[Path], str | None] = network_file_system_of,
    ) -> None:
        """A file that was written to less than `settle_s` ago is looked at again after that time."""
        self.name = name
        self._clock = clock
        self._settle_s = settle_s
        self._pause = pause
        self._network_of = network_of
        self._off_ns = 0  # how far the clock that files get their times from may lie off ours
        self._hashes: dict[str, str] = {}
        self._data_dir = data_dir.resolve() if data_dir is not None else None
        self._root = root
        self._include = _patterns(include) if include else None
        self._exclude = _patterns(exclude)
        self._paths: dict[str, Path] = {}

    def discover(self) -> Discovery:
        """All files with the sha256 of their content, sorted by uri; what was left out is named with a reason.

        Raises SourceMissing when the folder is not there or may not be listed.
        """
        return self.discover_with(DiscoveryTask())

    def discover_with(self, task: DiscoveryTask) -> Discovery:
        """The same; files that provably are as they were at the last look are not read again, unless all are forced.

        What is being written, or cannot be read because a disk or share fails, is held: it is neither new nor gone.
        """
        self._require_root()
        self._off_ns = STRANGE_CLOCK_NS if self._network_of(self._root) is not None else 0
        listing = _Listing()
        for path in self._walk(self._root, listing):
            self._list_file(path, listing)
        self._wait_for_writers(listing, task)
        self._look_at_all(listing, {} if task.force else task.looks, task)
        listing.skipped.extend(SkippedItem(uri=uri, reason=reason) for uri, reason in listing.held.items())
        items = [
            Discovered(uri=uri, content_hash=look.content_hash, size_bytes=look.size_bytes)
            for uri, look in sorted(listing.looks.items())
        ]
        self._paths = {uri: listing.found[uri][0] for uri in listing.looks}
        self._hashes = {item.uri: item.content_hash for item in items}
        return Discovery(
            revision=_revision(items),
            items=tuple(items),
            skipped=tuple(sorted(listing.skipped, key=lambda item: item.uri)),
            parts=tuple(listing.unlisted),
            held=frozenset(listing.held),
            looks=listing.looks,
            empty_prefixes=tuple(listing.empty),
        )

    def _list_file(self, path: Path, listing: _Listing) -> None:
        plain = self._uri(path)
        reason = self._reason_to_skip(path, plain)
        uri = shown_name(plain, listing.found)
        if reason is None and uri in listing.found:
            reason = "another file has the same name in a different Unicode form; rename one of the two"
        if reason is not None:
            listing.skipped.append(SkippedItem(uri=uri, reason=reason))
            return
        try:
            status = path.stat()
        except OSError:  # gone since the folder was listed
            return
        if status.st_size > MAX_FILE_BYTES:
            reason = f"larger than {MAX_FILE_BYTES // 1024**2} MiB; split it or exclude it"
            listing.skipped.append(SkippedItem(uri=uri, reason=reason))
        elif any(path.with_name(path.name + end).exists() for end in _DOWNLOAD_ENDS) and self._settle_s:
            listing.held[uri] = "is being downloaded; it is read when the partial file beside it has gone"
        else:
            listing.found[uri] = (path, status)

    def _wait_for_writers(self, listing: _Listing, task: DiscoveryTask) -> None:
        """Looks twice at files that were written to just now; those that still change are held."""
        now_ns = self._now_ns()
        young = {
            uri: status
            for uri, (_, status) in listing.found.items()
            if is_young(status, now_ns=now_ns, settle_s=self._settle_s, off_ns=self._off_ns)
        }
        if not young:
            return
        self._pause(self._settle_s, task.should_stop)
        for uri, before in young.items():
            path, _ = listing.found[uri]
            try:
                now = path.stat()
            except OSError:
                del listing.found[uri]
                continue
            if (now.st_size, now.st_mtime_ns, now.st_ino) != (before.st_size, before.st_mtime_ns, before.st_ino):
                listing.held[uri] = "is being written; it is read at the next look"
                del listing.found[uri]

    def _look_at_all(self, listing: _Listing, before: Mapping[str, FileLook], task: DiscoveryTask) -> None:
        total = len(listing.found)
        for done, (uri, (path, status)) in enumerate(listing.found.items(), start=1):
            if task.should_stop():
                return self._hold_rest(listing)
            known = before.get(uri)
            if known is not None and known.is_settled and is_same(status, known):
                listing.looks[uri] = known
            else:
                look = look_at(path, uri, status, now_ns=self._now_ns(), off_ns=self._off_ns)
                if isinstance(look, Held):
                    listing.held[uri] = look.reason
                elif look is not None:
                    listing.looks[uri] = look
            if done % _PROGRESS_EVERY == 0:
                task.progress(done, total, uri)
        return None

    def _hold_rest(self, listing: _Listing) -> None:
        """A discovery that was stopped knows nothing of the rest: it is not gone."""
        for uri in listing.found.keys() - listing.looks.keys():
            listing.held.setdefault(uri, "was not looked at, because the sync was stopped")

    def _now_ns(self) -> int:
        return int(self._clock().timestamp() * 1e9)

    def fetch(self, uri: str) -> bytes:
        """Content of one file. Raises NotFound when it has gone, ContentChanged when it is not what was discovered,
        else UnreadableFile, which names file and remedy."""
        path = self._paths.get(uri) or self._find(uri)
        if path is None or not self._inside(path):
            raise NotFound(f"{uri} is not in the folder of source {self.name} any more; run ingest again.")
        try:
            return self._as_discovered(uri, path.read_bytes())
        except FileNotFoundError as error:
            raise NotFound(f"{uri} is not in the folder of source {self.name} any more; run ingest again.") from error
        except PermissionError as error:
            raise UnreadableFile(
                f"{uri} may not be read by the user that runs haechi; give that user permission to read "
                f"{mask_path(str(path))}."
            ) from error
        except OSError as error:
            raise UnreadableFile(
                f"{uri} cannot be read ({error.strerror}); check the disk or share of {mask_path(str(path))}."
            ) from error

    def _as_discovered(self, uri: str, content: bytes) -> bytes:
        expected = self._hashes.get(uri)
        if expected is not None and hashlib.sha256(content).hexdigest() != expected and len(content) <= MAX_FILE_BYTES:
            raise ContentChanged(f"{uri} changed while it was read; it is read at the next look.")
        return content

    def _require_root(self) -> None:
        remedy = f'correct `path` of source "{self.name}" in haechi.toml or create the folder.'
        if not self._root.exists():
            raise SourceMissing(f"The folder {self._root} does not exist; {remedy}")
        if not self._root.is_dir():
            raise SourceMissing(f"{self._root} is not a folder; {remedy}")
        try:
            os.scandir(self._root).close()
        except OSError as error:
            raise SourceMissing(f"The folder {self._root} cannot be listed ({error.strerror}); {remedy}") from error

    def _walk(self, folder: Path, listing: _Listing) -> Iterator[Path]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            reason = f"the folder cannot be listed ({error.strerror}); give the user that runs haechi permission"
            uri = mask_path(self._uri(folder))
            listing.skipped.append(SkippedItem(uri=uri, reason=reason))
            listing.unlisted.append(Part(prefix=f"{uri}/", state="", is_kept=True, problem=f"{uri}: {reason}"))
            return
        if not entries and folder != self._root:
            listing.empty.append(f"{mask_path(self._uri(folder))}/")
        for entry in entries:
            path = Path(entry.path)
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif entry.name.startswith("."):
                listing.skipped.append(SkippedItem(uri=mask_path(self._uri(path)), reason="hidden folder"))
            elif self._data_dir is not None and path.resolve() == self._data_dir:
                listing.skipped.append(SkippedItem(uri=self._uri(path), reason="data folder of Haechi"))
            else:
                yield from self._walk(path, listing)

    def _uri(self, path: Path) -> str:
        # undecodable bytes of a name (a share in CP949) become readable marks: a uri is always valid UTF-8
        text = path.relative_to(self._root).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return unicodedata.normalize("NFC", text)

    def _reason_to_skip(self, path: Path, uri: str) -> str | None:
        lowered = path.name.lower()
        if lowered in _TEMPORARY_NAMES or lowered.startswith(_TEMPORARY_STARTS) or (lowered.endswith(_TEMPORARY_ENDS)):
            return "temporary file"
        if path.name.startswith("."):
            return "hidden file"
        if path.is_symlink():
            if not path.exists():
                return "broken symbolic link"
            if path.is_dir():
                return "symbolic link to a folder; add that folder as a source of its own"
            if not self._inside(path):
                return "symbolic link that leads out of the folder"
        if self._include is not None and not self._include.match_file(uri):
            return "not in include"
        if self._exclude.match_file(uri):
            return "excluded"
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                return "not a regular file"
        except OSError:
            return None
        return None

    def _inside(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self._root.resolve())

    def _find(self, uri: str) -> Path | None:
        """The file of `uri` on disk when no `discover` has run here: exact name first, then names equal in NFC."""
        if hides_something(uri):
            listing = _Listing()
            for path in self._walk(self._root, listing):
                self._list_file(path, listing)
            return listing.found[uri][0] if uri in listing.found else None
        wanted = [unicodedata.normalize("NFC", part) for part in uri.split("/")]
        if any(part in ("", ".", "..") for part in wanted):
            return None
        current = self._root
        for part in wanted:
            try:
                names = os.listdir(current)
            except OSError:
                return None
            match = next((name for name in sorted(names) if self._uri(self._root / name) == part), None)
            if match is None:
                return None
            current = current / match
        return current if self._reason_to_skip(current, uri) is None else None


def _patterns(lines: Sequence[str]) -> pathspec.GitIgnoreSpec:
    return pathspec.GitIgnoreSpec.from_lines([unicodedata.normalize("NFC", line) for line in lines])


def _revision(items: Sequence[Discovered]) -> str:
    digest = hashlib.sha256()
    for item in items:
        digest.update(f"{item.uri}\0{item.content_hash}\n".encode())
    return digest.hexdigest()
