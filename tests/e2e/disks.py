"""Small disks for tests: what happens when one is full or may not be written to any more."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

FILLER = "filler"


@dataclass(frozen=True)
class Disk:
    """A file system in memory of a given size."""

    folder: Path

    def fill(self) -> None:
        """Leaves not a single free block."""
        with (self.folder / FILLER).open("wb") as out:
            block = b"\0" * 65_536
            while block:
                try:
                    os.write(out.fileno(), block)
                except OSError:
                    block = block[: len(block) // 2]

    def free(self) -> None:
        (self.folder / FILLER).unlink()

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", os.fspath(self.folder)], check=True)


@contextmanager
def disk(folder: Path, size: str) -> Iterator[Disk]:
    """Mounted at `folder`; the test is skipped where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = shutil.which("mount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", os.fspath(folder)], capture_output=True
    )
    if not done or done.returncode != 0:
        pytest.skip("mounting a file system is not allowed here")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", os.fspath(folder)], check=True)
