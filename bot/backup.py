"""One tar file with everything that cannot be computed again: written whole or not at all, checked before it is used.

`manifest.json` stands first and names version, time and the sha256 of every other member.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from bot.errors import BackupError

MANIFEST = "manifest.json"
FORMAT = 1
MAX_MANIFEST_BYTES = 1_000_000
BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says about itself."""

    version: str
    taken_at: str
    files: Mapping[str, str]  # name -> sha256


def write_archive(target: Path, folder: Path, *, version: str, taken_at: datetime) -> Manifest:
    """Packs all files of `folder`. `target` appears complete or stays as it was, open to its user alone.

    Raises BackupError.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    partial = target.with_name(target.name + ".partial")
    try:
        files = {name: _sha256(folder / name) for name in names}
        manifest = Manifest(version=version, taken_at=taken_at.isoformat(), files=files)
        partial.unlink(missing_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
                _add_manifest(archive, manifest, taken_at)
                for name in names:
                    archive.add(folder / name, arcname=name, recursive=False)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BackupError(f"The backup {target} cannot be written: {error.strerror or error}.") from error
    return manifest


def read_archive(archive: Path, folder: Path) -> Manifest:
    """Unpacks a backup into `folder`, an empty one, and checks every byte of it.

    Raises BackupError for what is no backup, not whole, or written by a newer version.
    """
    try:
        with tarfile.open(archive, mode="r:") as opened:
            manifest = _manifest(archive, opened)
            found = {member.name for member in opened if member.name != MANIFEST}
            if found != set(manifest.files):
                raise BackupError(f"{archive} is not whole: it holds other files than it lists; take another backup.")
            for name, expected in manifest.files.items():
                if _unpack(opened, name, folder) != expected:
                    raise BackupError(f"{archive} is damaged: {name} is not what was written; take another backup.")
    except tarfile.TarError as error:
        raise BackupError(f"{archive} is not a whole backup of haechi ({error}); take another one.") from error
    except OSError as error:
        raise BackupError(f"{archive} cannot be read: {error.strerror or error}.") from error
    return manifest


def _add_manifest(archive: tarfile.TarFile, manifest: Manifest, taken_at: datetime) -> None:
    form = {
        "format": FORMAT, "version": manifest.version, "taken_at": manifest.taken_at, "files": dict(manifest.files),
    }  # fmt: skip
    text = json.dumps(form, ensure_ascii=False, indent=1).encode()
    member = tarfile.TarInfo(MANIFEST)
    member.size, member.mode, member.mtime = len(text), 0o600, int(taken_at.timestamp())
    archive.addfile(member, BytesIO(text))


def _manifest(path: Path, archive: tarfile.TarFile) -> Manifest:
    first = archive.next()
    stored = archive.extractfile(first) if first is not None and first.isfile() else None
    if first is None or stored is None or first.name != MANIFEST or first.size > MAX_MANIFEST_BYTES:
        raise BackupError(f"{path} is not a backup of haechi: it does not begin with {MANIFEST}.")
    try:
        form: dict[str, Any] = json.loads(stored.read())
        written, version, taken_at = int(form["format"]), str(form["version"]), str(form["taken_at"])
        files = {str(name): str(digest) for name, digest in form["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError(f"{path} has a {MANIFEST} that cannot be read; take another backup.") from error
    if written > FORMAT:
        raise BackupError(f"{path} was written by a newer version of haechi ({version}); install that version first.")
    for name in files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\\" in name:
            raise BackupError(f"{path} names a file outside of itself ({name!r}): it was not written by haechi.")
    return Manifest(version=version, taken_at=taken_at, files=files)


def _unpack(archive: tarfile.TarFile, name: str, folder: Path) -> str:
    """The sha256 of what was written to `folder`. Only plain files are unpacked, never links or devices."""
    member = archive.getmember(name)
    stored = archive.extractfile(member) if member.isfile() else None
    if stored is None:
        raise BackupError(f"{archive.name!s} holds {name}, which is no plain file: it was not written by haechi.")
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest = hashlib.sha256()
    with stored, target.open("xb") as out:
        while block := stored.read(BLOCK_BYTES):
            digest.update(block)
            out.write(block)
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return _digest(file)


def _digest(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := file.read(BLOCK_BYTES):
        digest.update(block)
    return digest.hexdigest()
