"""One owner at a time, in a folder that only its user can open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.data_folder import MAX_SOCKET_PATH_BYTES, DataFolder
from bot.errors import ConfigError, DataFolderBusy
from tests.unit.bot.times import Clock

HOLD = (
    "import sys; from datetime import UTC, datetime; from pathlib import Path; from bot.data_folder import DataFolder\n"
    "folder = DataFolder.prepare(Path(sys.argv[1])); owner = folder.lock('haechi run', started_at=datetime.now(UTC))\n"
    "Path(owner.socket).touch(); print(owner.socket, flush=True); sys.stdin.read()\n"
)


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "data")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.socket_path = process.stdout.readline().strip()
    yield process
    process.kill()
    process.communicate()


def lock(folder: Path):
    data = DataFolder.prepare(folder)
    return data, data.lock("haechi ingest", started_at=Clock()())


def test_the_folder_is_made_for_its_user_alone(tmp_path):
    DataFolder.prepare(tmp_path / "a" / "data")
    assert (tmp_path / "a" / "data").stat().st_mode & 0o777 == 0o700


def test_rights_that_are_too_wide_are_narrowed(tmp_path):
    (tmp_path / "data").mkdir(mode=0o755)
    DataFolder.prepare(tmp_path / "data")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(ConfigError, match=r"data_dir .* is a file"):
        DataFolder.prepare(tmp_path / "data")


def test_the_second_process_is_told_who_has_the_folder(tmp_path, holder):
    with pytest.raises(DataFolderBusy) as caught:
        lock(tmp_path / "data")
    assert f"process {holder.pid} (haechi run, since " in str(caught.value)
    assert str(tmp_path / "data") in str(caught.value)


def test_a_killed_owner_leaves_the_folder_free_and_its_socket_is_removed(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert Path(holder.socket_path).exists()
    folder, owner = lock(tmp_path / "data")
    assert owner.pid == os.getpid()
    assert not Path(holder.socket_path).exists()
    folder.release()


def test_after_release_somebody_else_can_have_it(tmp_path):
    folder, _ = lock(tmp_path / "data")
    folder.release()
    assert folder.owner() is None
    again, _ = lock(tmp_path / "data")
    again.release()


def test_a_socket_path_too_long_for_the_system_moves_to_a_private_folder(tmp_path):
    deep = tmp_path / ("d" * 120)
    folder, owner = lock(deep)
    socket = Path(owner.socket)
    assert len(os.fsencode(socket)) <= MAX_SOCKET_PATH_BYTES
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    assert DataFolder(deep).owner() == owner
    folder.release()
    assert not socket.parent.exists()


def test_a_folder_with_other_files_is_refused_and_keeps_its_rights(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "budget.xlsx").touch()
    with pytest.raises(ConfigError, match="holds other files and is no data folder of Haechi; choose a new or empty"):
        DataFolder.prepare(shared)
    assert shared.stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in shared.iterdir()) == ["budget.xlsx"]


def test_a_data_folder_is_recognised_again_and_an_empty_disk_is_taken(tmp_path):
    folder, _ = lock(tmp_path / "data")
    folder.release()
    (tmp_path / "data" / "chroma").mkdir()
    DataFolder.prepare(tmp_path / "data")
    (tmp_path / "disk" / "lost+found").mkdir(parents=True)
    DataFolder.prepare(tmp_path / "disk")
