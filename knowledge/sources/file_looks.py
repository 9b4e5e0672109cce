"""Looks at single files: whether one may have changed, whether it is being written, and what its content hashes to.

Content decides by its hash alone. Times and sizes only save reading: a file is taken for unchanged when size, both
times and inode are those of the last look, and that look came at least RACY_NS after the file's last change, so that
every later change must have left another time (the index of git knows the same trap as "racily clean"). ctime cannot
be set by programs, so a tool that puts an old mtime back is noticed too. A time that lies ahead of the clock proves
nothing: the file is read. Where other machines write, times are those of their clocks, which may lie off ours: there a
file is believed only when it has been left alone for STRANGE_CLOCK_NS longer.
"""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from knowledge.types import MAX_FILE_BYTES, FileLook

RACY_NS = 2_000_000_000  # the coarsest file systems (FAT) keep even seconds
STRANGE_CLOCK_NS = 600_000_000_000  # how far the clock of a file server may lie off ours
_READ_BYTES = 1024 * 1024
_FAILING_DISK = frozenset(
    {
        errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENODEV,
        errno.ENXIO, errno.EREMOTEIO, errno.ECONNRESET, errno.ENETDOWN, errno.ENETUNREACH, errno.EBUSY, errno.EAGAIN,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The file is there, but its content is not to be had now."""

    reason: str


def is_same(stat: os.stat_result, look: FileLook) -> bool:
    """Whether a file still has the numbers of a look."""
    return (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino) == (
        look.size_bytes,
        look.mtime_ns,
        look.ctime_ns,
        look.inode,
    )


def is_young(stat: os.stat_result, *, now_ns: int, settle_s: float, off_ns: int = 0) -> bool:
    """Whether a file was written to so lately that its writer may not be done, by a clock that lies `off_ns` off."""
    return settle_s > 0 and abs(now_ns - stat.st_mtime_ns) < settle_s * 1e9 + off_ns


def look_at(path: Path, uri: str, stat: os.stat_result, *, now_ns: int, off_ns: int = 0) -> FileLook | Held | None:
    """The file hashed; Held when it changed since `stat` or the disk fails; None when it has gone.

    A file that may not be read gives a hash that changes once it may.
    """
    digest = hashlib.sha256()
    size_bytes = 0
    try:
        with path.open("rb") as file:
            if _numbers(os.fstat(file.fileno())) != _numbers(stat):
                return Held(reason="is being written; it is read at the next look")
            while block := file.read(_READ_BYTES):
                digest.update(block)
                size_bytes += len(block)
                if size_bytes > MAX_FILE_BYTES:
                    break
            if _numbers(os.fstat(file.fileno())) != _numbers(stat):
                return Held(reason="is being written; it is read at the next look")
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _FAILING_DISK:
            return Held(reason=f"cannot be read now ({error.strerror}); check the disk or share")
        digest, size_bytes = hashlib.sha256(f"unreadable {error.errno} {uri}".encode()), 0
    return FileLook(
        content_hash=digest.hexdigest(),
        size_bytes=stat.st_size if size_bytes else size_bytes,
        mtime_ns=stat.st_mtime_ns,
        ctime_ns=stat.st_ctime_ns,
        inode=stat.st_ino,
        # nothing is proven by numbers of a file that could not be read: rights of a folder above it are not in them
        is_settled=size_bytes > 0 and now_ns - max(stat.st_mtime_ns, stat.st_ctime_ns) >= RACY_NS + off_ns,
    )


def _numbers(stat: os.stat_result) -> tuple[int, int, int]:
    return (stat.st_size, stat.st_mtime_ns, stat.st_ino)
