"""What a backup or a restore leaves on the disk while it works, so that the next start can tell how far a killed one
came and tidy up behind it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar


class UnfinishedRestore:
    """The folder `restoring` of a data folder: what is wanted, what was there before, and, once that is whole, which
    restore it belongs to."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "restoring"
        self.wanted = self.folder / "wanted"
        self.previous = self.folder / "previous"
        self._mark = self.folder / "begun"

    def prepare(self) -> None:
        """Makes the empty folders."""
        self.remove()
        self.wanted.mkdir(parents=True, mode=0o700)
        self.previous.mkdir(mode=0o700)

    def begin(self, restore: str) -> None:
        """Says, on the disk, that all of what was there before is put aside."""
        write_durably(self._mark, restore)

    def begun(self) -> str | None:
        """Which restore had begun to replace things; None when nothing was touched."""
        try:
            return self._mark.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def remove(self) -> None:
        """Removes everything; the mark first, so that what is half removed is never put back."""
        self._mark.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class UnfinishedBackup:
    """The file `backing-up` of a data folder: where the copies lie that a backup is packed from."""

    PREFIX: ClassVar[str] = ".haechi-backup-"

    def __init__(self, data_dir: Path) -> None:
        self._note = data_dir / "backing-up"

    @contextmanager
    def copies(self, target: Path) -> Iterator[Path]:
        """An empty folder beside `target`, removed at the end; noted before it is made, so that no kill leaves it."""
        target = target.absolute()
        folder = target.parent / f"{self.PREFIX}{secrets.token_hex(4)}"
        write_durably(self._note, json.dumps([str(folder), str(target)]))
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._note.unlink(missing_ok=True)

    def remove(self) -> None:
        """Removes what a killed backup left beside its target: copies of everything that is known."""
        try:
            copies, target = (Path(path) for path in json.loads(self._note.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError):  # not written by us: nothing of it is followed
            self._note.unlink(missing_ok=True)
            return
        if copies.name.startswith(self.PREFIX):
            shutil.rmtree(copies, ignore_errors=True)
            with suppress(OSError):
                target.with_name(target.name + ".partial").unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def write_durably(path: Path, text: str) -> None:
    """Writes a small file whole or not at all; it survives a power cut."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    partial.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
