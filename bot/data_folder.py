"""The data folder and its one owner.

Exactly one process works on the folder at a time, because Chroma and the catalog allow no second writer. The lock is
the kernel's (`flock`), so a killed process leaves none behind; what stands in owner.lock only tells who has it and
where its socket is.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.errors import ConfigError, DataFolderBusy

LOCK_NAME = "owner.lock"
SOCKET_NAME = "control.sock"
OWN_NAMES = frozenset([LOCK_NAME, "catalog.sqlite3", "vectors.sqlite3", "bot.sqlite3"])  # one of them is always there
UNRELATED_NAMES = frozenset(["lost+found", ".DS_Store"])  # an empty disk, and a folder that somebody looked at
MAX_SOCKET_PATH_BYTES = 100  # Linux allows 107, macOS 103


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who has the folder, as it wrote itself down."""

    pid: int
    command: str
    started_at: str
    socket: str


class DataFolder:
    """A prepared data folder; `lock` makes this process its owner until `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock_fd: int | None = None
        self._socket_folder: Path | None = None

    @classmethod
    def prepare(cls, path: Path) -> DataFolder:
        """The folder, made when it is absent, open to its user alone. Raises ConfigError."""
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_own(path)
            if path.stat().st_mode & 0o077:
                path.chmod(0o700)
        except FileExistsError as error:
            raise ConfigError(f"data_dir {path} is a file; name a folder.") from error
        except OSError as error:
            raise ConfigError(f"data_dir {path} cannot be used: {error.strerror}; choose one that you own.") from error
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise ConfigError(f"data_dir {path} cannot be written; change its rights or choose another folder.")
        return cls(path)

    def lock(self, command: str, *, started_at: datetime) -> Owner:
        """Makes this process the owner. Raises DataFolderBusy, naming the process that has it."""
        fd = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise DataFolderBusy(self._busy_message()) from None
        except OSError as error:
            os.close(fd)
            raise ConfigError(f"{self.path} cannot be locked ({error.strerror}); use a local disk.") from error
        self._lock_fd = fd
        self._remove_left_socket()
        owner = Owner(
            pid=os.getpid(),
            command=command,
            started_at=started_at.isoformat(timespec="seconds"),
            socket=str(self._choose_socket()),
        )
        content = json.dumps({name: getattr(owner, name) for name in Owner.__slots__}).encode()
        os.ftruncate(fd, 0)
        os.pwrite(fd, content, 0)
        return owner

    def owner(self) -> Owner | None:
        """Who wrote itself down last; None when nobody did, or is just doing it. It may be dead by now."""
        try:
            fields = json.loads((self.path / LOCK_NAME).read_text(encoding="utf-8"))
            return Owner(**{name: fields[name] for name in Owner.__slots__})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def release(self) -> None:
        """Gives the folder up. The lock file stays: removing it would let two processes lock different files."""
        if self._lock_fd is None:
            return
        self._remove_left_socket()
        os.ftruncate(self._lock_fd, 0)
        os.close(self._lock_fd)
        self._lock_fd = None

    def _busy_message(self) -> str:
        owner = self.owner()
        if owner is None:
            return f"The data folder {self.path} is in use by another process; try again in a moment."
        return (
            f"The data folder {self.path} is in use by process {owner.pid} ({owner.command}, since"
            f" {owner.started_at}); stop it first, or wait until it has ended."
        )

    def _choose_socket(self) -> Path:
        """In the folder, or in a private temporary one when the path is longer than sockets allow."""
        inside = self.path / SOCKET_NAME
        if len(os.fsencode(inside)) <= MAX_SOCKET_PATH_BYTES:
            return inside
        self._socket_folder = Path(tempfile.mkdtemp(prefix="haechi-"))
        return self._socket_folder / SOCKET_NAME

    def _remove_left_socket(self) -> None:
        """Removes what a killed owner left. Only the holder of the lock may do this."""
        left = self.owner()
        if left is None:
            return
        socket = Path(left.socket)
        socket.unlink(missing_ok=True)
        if socket.parent != self.path and socket.parent.name.startswith("haechi-"):
            shutil.rmtree(socket.parent, ignore_errors=True)


def _require_own(path: Path) -> None:
    """Raises ConfigError when the folder holds other people's files: its rights must not be changed then."""
    names = set(os.listdir(path)) - UNRELATED_NAMES
    if names and not names & OWN_NAMES:
        raise ConfigError(
            f"data_dir {path} holds other files and is no data folder of Haechi; choose a new or empty folder, for "
            f'example data_dir = "{path / "haechi-data"}"'
        )
