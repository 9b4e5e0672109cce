"""Processes with all that they started: their resident memory, and their end. Read from /proc; empty without it."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PROC = Path("/proc")


def tree_of(root: int) -> set[int]:
    """Ids of the process and its descendants, and of the sessions that they opened."""
    parents: dict[int, list[int]] = {}
    sessions: dict[int, list[int]] = {}
    for entry in _entries():
        parents.setdefault(entry.parent, []).append(entry.pid)
        sessions.setdefault(entry.session, []).append(entry.pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        if pid in found:
            continue
        found.add(pid)
        waiting.extend(parents.get(pid, ()))
        waiting.extend(sessions.get(pid, ()))  # children of a leader that died belong to its session still
    return found


def resident_bytes(root: int) -> int:
    """Resident memory of the whole tree; pages that processes share count for each of them."""
    total = 0
    for pid in tree_of(root):
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int((_PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE_BYTES
    return total


def kill_tree(root: int) -> None:
    """Ends the process and everything it started, at once."""
    for pid in sorted(tree_of(root), key=lambda pid: pid != root):  # the root first, so that it starts nothing new
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


class _Entry:
    __slots__ = ("parent", "pid", "session")

    def __init__(self, pid: int, parent: int, session: int) -> None:
        self.pid, self.parent, self.session = pid, parent, session


def _entries() -> list[_Entry]:
    entries = []
    with contextlib.suppress(OSError):
        for name in os.listdir(_PROC):
            if not name.isdigit():
                continue
            with contextlib.suppress(OSError, ValueError, IndexError):
                # "pid (command) state parent group session ...": the command may hold spaces and brackets
                fields = (_PROC / name / "stat").read_text(errors="replace").rpartition(")")[2].split()
                entries.append(_Entry(int(name), int(fields[1]), int(fields[3])))
    return entries
