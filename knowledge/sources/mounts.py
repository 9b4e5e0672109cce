"""What kind of file system a folder lies on."""

from __future__ import annotations

import sys
from pathlib import Path

_OF_OTHER_MACHINES = (
    "nfs",
    "cifs",
    "smb",
    "fuse",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "vboxsf",
    "prl_fs",
    "virtiofs",
)
_MOUNTS = Path("/proc/self/mountinfo")


def network_file_system_of(folder: Path) -> str | None:
    """The type of the file system that holds `folder`, when other machines write to it; None for a local or unknown
    one. There is no word of what they change, and times are those of their clocks."""
    kind = file_system_of(folder)
    return kind if kind is not None and kind.startswith(_OF_OTHER_MACHINES) else None


def file_system_of(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """The type of the file system that holds `folder`, as Linux names it; None when it is not known."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    place, best, kind = str(folder.resolve()), -1, None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = fields[4].replace("\\040", " ")
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), after.split()[0]
    return kind
