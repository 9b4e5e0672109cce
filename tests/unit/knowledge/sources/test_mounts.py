"""Which file systems other machines write to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from knowledge.sources import mounts
from knowledge.sources.mounts import file_system_of, network_file_system_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
LINES = """22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
90 22 0:50 / {place}/team\\040share rw,relatime shared:2 - {kind} server:/share rw
91 22 8:2 / {place}/team\\040share/local rw,relatime - xfs /dev/sdb1 rw
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def tell(kind: str) -> Path:
        table = tmp_path / "mountinfo"
        table.write_text(LINES.format(place=tmp_path.resolve(), kind=kind))
        monkeypatch.setattr(mounts, "_MOUNTS", table)
        monkeypatch.setattr(file_system_of, "__defaults__", (table,))
        return tmp_path / "team share"

    return tell


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "ceph"])
def test_a_share_is_told_by_the_type_of_its_mount(told, kind: str) -> None:
    share = told(kind)
    assert network_file_system_of(share / "rules") == kind
    assert network_file_system_of(share) == kind


def test_the_nearest_mount_counts_and_a_like_name_is_no_part_of_it(told) -> None:
    share = told("nfs4")
    assert file_system_of(share / "local" / "rules") == "xfs"
    assert network_file_system_of(share / "local" / "rules") is None
    assert file_system_of(share.with_name("team share of others")) == "ext4"


def test_without_a_table_of_mounts_nothing_is_claimed(tmp_path: Path) -> None:
    assert file_system_of(tmp_path, tmp_path / "nothing here") is None
