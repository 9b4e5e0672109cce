"""A sync reads only what changed, waits for writers, and never takes a lost mount for a deletion."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.ports import DiscoveryTask
from knowledge.sources import file_looks
from knowledge.sources.files import FolderSource
from knowledge.types import FileLook
from tests.unit.knowledge.shelf import EVERYTHING, LEAVE, TRAVEL, Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


def aged(path: Path, seconds: float = 3600) -> None:
    """Sets mtime back; ctime stays now, so looks are settled by clocks that are ahead of it."""
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def later() -> datetime:
    return datetime.fromtimestamp(time.time() + 60, UTC)


def looks_of(source: FolderSource, before: dict[str, FileLook]) -> dict[str, FileLook]:
    return dict(source.discover_with(DiscoveryTask(looks=before)).looks)


def test_of_many_files_only_the_changed_ones_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1_000):
        (tmp_path / f"{number}.md").write_text(f"문서 {number}")
    source = FolderSource("rules", tmp_path, clock=later)
    before = looks_of(source, {})
    for number in range(0, 1_000, 100):
        (tmp_path / f"{number}.md").write_text(f"새 문서 {number}")
    read: list[str] = []
    inner = file_looks.look_at

    def counting(path: Path, uri: str, stat: os.stat_result, **clocks: int) -> object:
        read.append(uri)
        return inner(path, uri, stat, **clocks)

    monkeypatch.setattr("knowledge.sources.files.look_at", counting)
    after = looks_of(source, before)
    assert sorted(read) == sorted(f"{number}.md" for number in range(0, 1_000, 100))
    assert {uri for uri in after if after[uri].content_hash != before[uri].content_hash} == set(read)


def test_a_change_that_puts_size_and_time_back_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("15일")
    aged(path)
    source = FolderSource("rules", tmp_path, clock=later)
    before = looks_of(source, {})
    kept = path.stat()
    path.write_text("16일")
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    assert looks_of(source, before)["a.md"].content_hash != before["a.md"].content_hash


def test_a_file_of_this_very_moment_or_of_the_future_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("15일")
    source = FolderSource("rules", tmp_path)
    assert not looks_of(source, {})["a.md"].is_settled
    moment = time.time() + 3600
    os.utime(path, (moment, moment))
    assert not looks_of(FolderSource("rules", tmp_path, clock=later), {})["a.md"].is_settled


def test_a_file_server_whose_clock_lags_hides_no_second_change(tmp_path: Path) -> None:
    """Its times may be a minute old at the moment of writing: numbers that stay the same prove nothing yet."""
    path = tmp_path / "a.md"
    path.write_text("15일")
    aged(path, 60)
    server = FolderSource("rules", tmp_path, clock=later, network_of=lambda folder: "nfs4")
    before = looks_of(server, {})
    assert not before["a.md"].is_settled
    assert looks_of(FolderSource("rules", tmp_path, clock=later, network_of=lambda folder: None), {})["a.md"].is_settled
    an_hour = FolderSource(
        "rules",
        tmp_path,
        clock=lambda: datetime.fromtimestamp(time.time() + 3600, UTC),
        network_of=lambda folder: "nfs4",
    )
    assert looks_of(an_hour, {})["a.md"].is_settled


def test_a_file_that_grows_on_a_file_server_whose_clock_lags_waits(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("반만 쓴")
    aged(path, 60)

    def writes_on(seconds: float, should_stop: object) -> None:
        path.write_text("반만 쓴 것이 아닌")
        aged(path, 59)

    found = FolderSource("rules", tmp_path, settle_s=2.0, pause=writes_on, network_of=lambda folder: "cifs").discover()
    assert (found.items, found.held) == ((), frozenset({"a.md"}))


def test_a_file_that_is_still_being_written_waits_and_keeps_what_was_known(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("반만 쓴")

    def writes_on(seconds: float, should_stop: object) -> None:
        path.write_text("반만 쓴 것이 아닌")

    found = FolderSource("rules", tmp_path, settle_s=2.0, pause=writes_on).discover()
    assert (found.items, found.held) == ((), frozenset({"a.md"}))
    found = FolderSource("rules", tmp_path, settle_s=2.0, pause=lambda seconds, should_stop: None).discover()
    assert [item.uri for item in found.items] == ["a.md"]


def test_what_a_browser_is_still_downloading_waits(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"")
    (tmp_path / "a.pdf.part").write_bytes(b"%PDF")
    found = FolderSource("rules", tmp_path, settle_s=2.0, pause=lambda seconds, should_stop: None).discover()
    assert (found.items, found.held) == ((), frozenset({"a.pdf"}))


def test_a_folder_that_lost_most_of_its_documents_keeps_them_until_it_is_confirmed(shelf: Shelf) -> None:
    for number in range(6):
        shelf.write(f"sub/{number}.md", LEAVE.replace("15일", f"{number + 1}일"))
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    for path in (shelf.folder / "sub").iterdir():
        path.unlink()
    shelf.write("new.md", TRAVEL.replace("3만원", "4만원"))
    report = shelf.sync()
    assert (report.added, report.deleted) == (1, 0)
    assert "6 of 7 documents" in (report.problem or "")
    assert "--force" in (shelf.knowledge.status(scope=EVERYTHING)[0].problem or "")
    assert shelf.keyword("연차휴가")
    assert shelf.sync(force=True).deleted == 6
    assert shelf.knowledge.status(scope=EVERYTHING)[0].problem is None
    assert shelf.keyword("연차휴가") == []


def test_a_mount_below_the_folder_that_fell_off_loses_nothing_although_most_is_there(shelf: Shelf) -> None:
    for number in range(3):
        shelf.write(f"mounted/deep/{number}.md", LEAVE.replace("15일", f"{number + 1}일"))
    for number in range(9):
        shelf.write(f"own/{number}.md", TRAVEL.replace("3만원", f"{number}만원"))
    shelf.sync()
    shutil.rmtree(shelf.folder / "mounted" / "deep")  # the mount point stays, with nothing in it
    shelf.write("new.md", TRAVEL.replace("3만원", "77만원"))
    report = shelf.sync()
    assert (report.added, report.deleted) == (1, 0)
    assert "3 of 12 documents" in (report.problem or "")
    assert shelf.keyword("연차휴가")
    (shelf.folder / "mounted").rmdir()  # who removes the folder itself means it
    report = shelf.sync()
    assert (report.deleted, report.problem) == (3, None)


def test_a_few_documents_that_go_from_a_folder_are_deleted(shelf: Shelf) -> None:
    for number in range(2):
        shelf.write(f"sub/{number}.md", LEAVE.replace("15일", f"{number + 1}일"))
    for number in range(9):
        shelf.write(f"own/{number}.md", TRAVEL.replace("3만원", f"{number}만원"))
    shelf.sync()
    for path in (shelf.folder / "sub").iterdir():
        path.unlink()
    report = shelf.sync()
    assert (report.deleted, report.problem) == (2, None)


def test_a_renamed_folder_is_no_loss(shelf: Shelf) -> None:
    for number in range(6):
        shelf.write(f"old/{number}.md", LEAVE.replace("15일", f"{number + 1}일"))
    shelf.sync()
    (shelf.folder / "old").rename(shelf.folder / "new")
    report = shelf.sync()
    assert (report.added, report.deleted, report.problem) == (6, 6, None)


def test_a_new_generation_shows_its_progress_and_does_not_take_over_with_a_gap(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    shelf.close()
    shelf.embedders = ("other",)
    shelf.built["other"].down = True
    shelf.sync()
    building = shelf.knowledge.status(scope=EVERYTHING)[0].building
    assert building is not None
    assert (building.documents, building.of_documents, building.complete) == (2, 2, True)
    assert building.pending == {"other": building.chunks}
    shelf.built["other"].down = False
    shelf.sync()
    status = shelf.knowledge.status(scope=EVERYTHING)[0]
    assert (status.building, status.embedders) == (None, ("other",))
