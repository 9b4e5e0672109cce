"""A backup is used whole or not at all."""

from __future__ import annotations

import io
import json
import stat
import tarfile
from datetime import UTC, datetime

import pytest

from bot.backup import FORMAT, MANIFEST, read_archive, write_archive
from bot.errors import BackupError

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def written(tmp_path):
    folder = tmp_path / "state"
    (folder / "calibrations").mkdir(parents=True)
    (folder / "bot.sqlite3").write_bytes(b"conversations" * 1000)
    (folder / "calibrations/docs.json").write_text("{}", encoding="utf-8")
    target = tmp_path / "haechi.backup"
    write_archive(target, folder, version="1.2.3", taken_at=NOW)
    return target


def fresh(tmp_path):
    folder = tmp_path / "unpacked"
    folder.mkdir()
    return folder


def test_what_was_packed_comes_out_and_only_its_user_may_read_it(written, tmp_path):
    folder = fresh(tmp_path)
    manifest = read_archive(written, folder)
    assert (folder / "bot.sqlite3").read_bytes() == b"conversations" * 1000
    assert (folder / "calibrations/docs.json").read_text(encoding="utf-8") == "{}"
    assert (manifest.version, manifest.taken_at) == ("1.2.3", NOW.isoformat())
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert list(tmp_path.glob("*.partial")) == []


@pytest.mark.parametrize("kept", [0, 100, 600, 2000, 9000])
def test_a_backup_that_was_cut_off_is_refused(written, tmp_path, kept):
    written.write_bytes(written.read_bytes()[:kept])
    with pytest.raises(BackupError):
        read_archive(written, fresh(tmp_path))


def test_a_changed_byte_is_noticed(written, tmp_path):
    data = bytearray(written.read_bytes())
    data[data.index(b"conversations")] ^= 1
    written.write_bytes(data)
    with pytest.raises(BackupError, match=r"bot\.sqlite3 is not what was written"):
        read_archive(written, fresh(tmp_path))


def archive_of(path, manifest, members):
    with tarfile.open(path, "w") as archive:
        for name, data in {MANIFEST: json.dumps(manifest).encode(), **members}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("manifest", "members", "said"),
    [
        ({"format": FORMAT + 1, "version": "9", "taken_at": "", "files": {}}, {}, "newer version"),
        ({"format": FORMAT, "version": "1", "taken_at": "", "files": {"../x": "0"}}, {"../x": b"1"}, "outside"),
        ({"format": FORMAT, "version": "1", "taken_at": "", "files": {}}, {"more": b"1"}, "other files"),
        ({"format": FORMAT}, {}, "cannot be read"),
    ],
)
def test_what_is_newer_or_was_not_written_by_haechi_is_refused(tmp_path, manifest, members, said):
    with pytest.raises(BackupError, match=said):
        read_archive(archive_of(tmp_path / "odd", manifest, members), fresh(tmp_path))
    assert not (tmp_path / "x").exists()
