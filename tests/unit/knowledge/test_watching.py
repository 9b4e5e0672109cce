"""File events of folders, from the real file system: they tell when to look, and say so when they cannot."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge import watching
from knowledge.watching import reason_without_events, watch_folder

LIMIT_S = 60.0


class Watched:
    """A folder that is being watched in a thread, as the bot does it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = threading.Event()
        self.ended = threading.Event()
        self.reason: str | None = None
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        self.reason = watch_folder(self.folder, self.told.set, self.stop)
        self.ended.set()

    def is_told_of(self, change) -> bool:
        """Makes a change again and again, for watching may not have begun, until it is told of one."""
        self.told.clear()
        for _ in range(60):
            change()
            if self.told.wait(1.0):
                return True
        return False

    def end(self) -> None:
        self.stop.set()
        assert self.ended.wait(LIMIT_S)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(watching, "QUIET_MS", 50)
    monkeypatch.setattr(watching, "AT_LEAST_EVERY_MS", 400)
    folder = tmp_path / "rules"
    folder.mkdir()
    found = Watched(folder)
    yield found
    found.end()


def test_new_changed_moved_and_deleted_files_are_told_in_folders_that_come_later_too(watched: Watched) -> None:
    path = watched.folder / "a.md"
    assert watched.is_told_of(lambda: path.write_text("15일"))
    assert watched.is_told_of(lambda: path.rename(path.with_name("b.md")) if path.exists() else path.write_text("16일"))
    assert watched.is_told_of(lambda: path.unlink() if path.exists() else path.write_text("17일"))
    below = watched.folder / "new" / "deep"
    assert watched.is_told_of(lambda: below.mkdir(parents=True, exist_ok=True))
    assert watched.is_told_of(lambda: (below / "c.md").write_text("18일"))


def test_what_editors_and_browsers_put_beside_a_file_is_not_told(watched: Watched) -> None:
    assert watched.is_told_of(lambda: (watched.folder / "a.md").write_text("15일"))
    changes = [
        str(watched.folder / name) for name in ("~$규정.docx", ".규정.md.swp", "규정.pdf.part", "x.crdownload", "a.md~")
    ]
    assert [path for path in changes if watching._is_of_interest(None, path)] == []
    assert watching._is_of_interest(None, str(watched.folder / "규정.docx"))


def test_a_folder_that_goes_ends_the_watch_with_a_reason(watched: Watched) -> None:
    assert watched.is_told_of(lambda: (watched.folder / "a.md").write_text("15일"))
    shutil.rmtree(watched.folder)
    assert watched.ended.wait(LIMIT_S)
    assert watched.reason == "the folder is not there any more"


def test_watching_that_is_told_to_stop_gives_no_reason(watched: Watched) -> None:
    watched.end()
    assert watched.reason is None


def test_a_kernel_that_gives_no_more_watches_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*folders: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", refuses)
    reason = watch_folder(tmp_path, lambda: None, threading.Event())
    assert reason is not None
    assert "gives no events" in reason
    assert "watch limit" in reason


def test_a_folder_that_was_never_there_is_named(tmp_path: Path) -> None:
    assert watch_folder(tmp_path / "never there", lambda: None, threading.Event()) is not None


def test_a_folder_that_is_not_there_and_one_of_another_machine_are_left_to_the_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason_without_events(tmp_path) is None
    assert reason_without_events(tmp_path / "gone") == "the folder is not there"
    monkeypatch.setattr(watching, "network_file_system_of", lambda folder: "cifs")
    assert "network file system (cifs)" in (reason_without_events(tmp_path) or "")
