"""A folder of documents as a source."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import pathspec

from knowledge.errors import NotFound, SourceMissing, UnreadableFile
from knowledge.types import MAX_FILE_BYTES, Discovered, Discovery, SkippedItem

_TEMPORARY_NAMES = frozenset({"thumbs.db", "desktop.ini", ".ds_store"})
_TEMPORARY_STARTS = ("~$", "~wrl", ".~lock.")
_TEMPORARY_ENDS = (".tmp", ".crdownload", ".part", "~")
_READ_BYTES = 1024 * 1024


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
    ) -> None:
        self.name = name
        self._data_dir = data_dir.resolve() if data_dir is not None else None
        self._root = root
        self._include = _patterns(include) if include else None
        self._exclude = _patterns(exclude)
        self._paths: dict[str, Path] = {}

    def discover(self) -> Discovery:
        """All files with the sha256 of their content, sorted by uri; what was left out is named with a reason.

        Raises SourceMissing when the folder is not there or may not be listed.
        """
        self._require_root()
        items: list[Discovered] = []
        skipped: list[SkippedItem] = []
        paths: dict[str, Path] = {}
        for path in self._walk(self._root, skipped):
            uri = self._uri(path)
            reason = self._reason_to_skip(path, uri)
            if reason is None and uri in paths:
                reason = "another file has the same name in a different Unicode form; rename one of the two"
            if reason is not None:
                skipped.append(SkippedItem(uri=uri, reason=reason))
                continue
            found = _fingerprint(path, uri)
            if found is None:  # gone since the folder was listed
                continue
            if found.size_bytes > MAX_FILE_BYTES:
                skipped.append(
                    SkippedItem(uri=uri, reason=f"larger than {MAX_FILE_BYTES // 1024**2} MiB; split it or exclude it")
                )
                continue
            paths[uri] = path
            items.append(found)
        items.sort(key=lambda item: item.uri)
        skipped.sort(key=lambda item: item.uri)
        self._paths = paths
        return Discovery(revision=_revision(items), items=tuple(items), skipped=tuple(skipped))

    def fetch(self, uri: str) -> bytes:
        """Content of one file. Raises NotFound when it has gone, else UnreadableFile, which names file and remedy."""
        path = self._paths.get(uri) or self._find(uri)
        if path is None or not self._inside(path):
            raise NotFound(f"{uri} is not in the folder of source {self.name} any more; run ingest again.")
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise NotFound(f"{uri} is not in the folder of source {self.name} any more; run ingest again.") from error
        except PermissionError as error:
            raise UnreadableFile(
                f"{uri} may not be read by the user that runs haechi; give that user permission to read {path}."
            ) from error
        except OSError as error:
            raise UnreadableFile(
                f"{uri} cannot be read ({error.strerror}); check the disk or share of {path}."
            ) from error

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

    def _walk(self, folder: Path, skipped: list[SkippedItem]) -> Iterator[Path]:
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            reason = f"the folder cannot be listed ({error.strerror}); give the user that runs haechi permission"
            skipped.append(SkippedItem(uri=self._uri(folder), reason=reason))
            return
        for entry in entries:
            path = Path(entry.path)
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif entry.name.startswith("."):
                skipped.append(SkippedItem(uri=self._uri(path), reason="hidden folder"))
            elif self._data_dir is not None and path.resolve() == self._data_dir:
                skipped.append(SkippedItem(uri=self._uri(path), reason="data folder of Haechi"))
            else:
                yield from self._walk(path, skipped)

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


def _fingerprint(path: Path, uri: str) -> Discovered | None:
    """uri, sha256 and size; for a file that may not be read a hash that changes once it may; None when it is gone."""
    digest = hashlib.sha256()
    size_bytes = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_READ_BYTES):
                digest.update(block)
                size_bytes += len(block)
                if size_bytes > MAX_FILE_BYTES:
                    break
    except FileNotFoundError:
        return None
    except OSError as error:
        digest = hashlib.sha256(f"unreadable {error.errno} {uri}".encode())
        size_bytes = 0
    return Discovered(uri=uri, content_hash=digest.hexdigest(), size_bytes=size_bytes)


def _revision(items: Sequence[Discovered]) -> str:
    digest = hashlib.sha256()
    for item in items:
        digest.update(f"{item.uri}\0{item.content_hash}\n".encode())
    return digest.hexdigest()
