"""verify, backup and restore: differences are found and mended without embedding anything; a backup answers the same."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from knowledge.errors import CatalogCorrupt, NotFound
from knowledge.verify import Finding
from tests.unit.knowledge.shelf import LEAVE, TRAVEL, Shelf


@pytest.fixture
def shelf(tmp_path: Path):
    shelf = Shelf(tmp_path / "one")
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    yield shelf
    shelf.close()


def collection_of(shelf: Shelf) -> str:
    ((_, name),) = shelf.knowledge._spaces("rules")
    return name


def tamper(shelf: Shelf, *statements: str) -> None:
    with shelf.knowledge._catalog.transaction() as connection:
        for statement in statements:
            connection.execute(statement)


def mended(shelf: Shelf) -> list[tuple[str, str, int, int]]:
    """What verify found and mended; a second look finds nothing, and nothing was embedded."""
    embedded = len(shelf.embedder.passages)
    seen = shelf.knowledge.maintenance.verify(repair=False)
    report = shelf.knowledge.maintenance.verify(repair=True)
    again = shelf.knowledge.maintenance.verify(repair=False)
    assert again.findings == []
    assert again.ok
    assert not seen.ok
    assert len(shelf.embedder.passages) == embedded
    return [(f.part, f.what, f.found, f.repaired) for f in report.findings]


def test_a_sound_index_has_no_findings_and_is_counted(shelf):
    report = shelf.knowledge.maintenance.verify(repair=False)
    assert report.findings == []
    assert (report.documents, report.chunks, report.vectors) == (2, 4, 4)


def test_chunks_that_words_cannot_find_are_found_again(shelf):
    tamper(shelf, "DELETE FROM keywords WHERE rowid IN (SELECT number FROM chunks WHERE text LIKE '%연차휴가%')")
    assert shelf.keyword("연차") == []
    assert ("keywords", "chunks that words cannot find", 1, 1) in mended(shelf)
    assert len(shelf.keyword("연차")) == 1


def test_wrong_counts_of_words_are_counted_anew(shelf):
    tamper(shelf, "UPDATE terms SET chunks = chunks + 7", "UPDATE generations SET tokens = 1")
    found = mended(shelf)
    assert ("keywords", "totals that are wrong", 1, 1) in found
    assert any(what == "words with a wrong count" and count > 5 for _, what, count, _ in found)


def test_links_and_callers_of_chunks_that_are_gone_go_too(shelf):
    tamper(
        shelf,
        "INSERT INTO links (generation, article, position, appendix) SELECT id, 1, 0, 2 FROM generations",
        "INSERT INTO callers (generation, name, chunk, line, receivers) SELECT id, 'pay', 1, 1, '' FROM generations",
    )
    assert {what for _, what, _, _ in mended(shelf)} == {"links to chunks that are gone", "callers that are gone"}


def test_vectors_that_chroma_lost_come_back_from_the_cache(shelf):
    name = collection_of(shelf)
    index = shelf.knowledge._vectors
    index.delete(name, sorted(index.ids(name))[:3])
    assert ("vectors", "chunks whose vector was missing", 3, 3) in mended(shelf)
    assert index.count(name) == 4


def test_a_vector_that_differs_is_replaced_by_that_of_the_cache(shelf):
    name = collection_of(shelf)
    index = shelf.knowledge._vectors
    (first, *_) = sorted(index.ids(name))
    stored = index.fetch(name, [first])[first]
    index.upsert(name, [first], np.roll(stored, 1)[np.newaxis, :])
    assert ("vectors", "vectors that differ from the cache", 1, 1) in mended(shelf)
    assert np.allclose(index.fetch(name, [first])[first], stored)


def test_vectors_that_the_cache_lost_are_copied_back_into_it(shelf):
    with shelf.knowledge._cache._db.transaction() as connection:
        connection.execute("DELETE FROM vectors")
    assert ("cache", "vectors that the cache has lost", 4, 4) in mended(shelf)


def test_a_look_without_repair_changes_nothing(shelf):
    tamper(shelf, "DELETE FROM keywords")
    shelf.knowledge.maintenance.verify(repair=False)
    assert shelf.keyword("연차") == []
    report = shelf.knowledge.maintenance.verify(repair=False)
    assert Finding(part="keywords", what="chunks that words cannot find", found=4, repaired=0) in report.findings


def back_up(shelf: Shelf, folder: Path) -> Path:
    folder.mkdir()
    shelf.knowledge.maintenance.backup(folder)
    return folder


def test_a_backup_restores_on_another_machine_and_answers_the_same_without_embedding(shelf, tmp_path):
    before = (shelf.keyword("연차"), shelf.dense("며칠 쉬나요"))
    folder = back_up(shelf, tmp_path / "backup")
    other = Shelf(tmp_path / "two")
    other.knowledge.maintenance.restore(folder)
    assert (other.keyword("연차"), other.dense("며칠 쉬나요")) == before
    assert other.embedder.passages == []
    assert other.knowledge.maintenance.verify(repair=False).findings == []
    other.close()
    assert (other.keyword("연차"), other.dense("며칠 쉬나요")) == before
    other.close()


def test_a_restore_over_a_newer_state_shows_the_older_one_and_the_next_sync_catches_up(shelf, tmp_path):
    folder = back_up(shelf, tmp_path / "backup")
    shelf.write("travel.md", TRAVEL.replace("3만원", "5만원"))
    shelf.sync()
    shelf.knowledge.maintenance.restore(folder)
    assert any("3만원" in text for text in shelf.keyword("일비"))
    report = shelf.sync()
    assert report.updated == 1
    assert report.embedded == 1  # the vector that came after the backup
    assert all("3만원" not in text for text in shelf.keyword("일비"))


def test_a_backup_taken_while_documents_come_in_is_whole(shelf, tmp_path):
    def write_more() -> None:
        for number in range(40):
            shelf.write(f"more{number}.md", LEAVE.replace("15일", f"{number}일"))
        shelf.knowledge.sync()

    syncing = threading.Thread(target=write_more)
    syncing.start()
    folders = [back_up(shelf, tmp_path / f"backup{n}") for n in range(5)]
    syncing.join()
    for number, folder in enumerate(folders):
        other = Shelf(tmp_path / f"other{number}")
        other.knowledge.maintenance.restore(folder)
        assert other.knowledge.maintenance.verify(repair=False).findings == []
        other.close()


@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_a_backup_that_is_not_whole_is_refused_before_anything_is_touched(shelf, tmp_path, damage):
    folder = back_up(shelf, tmp_path / "backup")
    vectors = folder / "vectors.sqlite3"
    if damage == "missing":
        vectors.unlink()
    elif damage == "cut":
        vectors.write_bytes(vectors.read_bytes()[:5000])
    else:
        vectors.write_bytes(b"no database at all" * 100)
    before = shelf.keyword("연차")
    with pytest.raises((NotFound, CatalogCorrupt), match=r"vectors\.sqlite3"):
        shelf.knowledge.maintenance.restore(folder)
    assert shelf.keyword("연차") == before


def test_a_damaged_catalog_is_told_and_not_mended_into_something_else(shelf):
    shelf.close()
    path = shelf.data_dir / "catalog.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks'").fetchone()[0]
    content = bytearray(path.read_bytes())
    content[(root - 1) * page + 8 : root * page] = b"\x00" * (page - 8)
    path.write_bytes(content)
    with pytest.raises(CatalogCorrupt, match="restore it from a backup"):
        shelf.knowledge.maintenance.verify(repair=True)


def test_a_backup_holds_no_mirror_and_no_raw_ocr(shelf, tmp_path):
    for name in ("mirrors", "ocr"):
        (shelf.data_dir / name).mkdir(exist_ok=True)
        (shelf.data_dir / name / "unmasked").write_text("secret", encoding="utf-8")
    folder = back_up(shelf, tmp_path / "backup")
    assert sorted(path.name for path in folder.iterdir()) == ["catalog.sqlite3", "vectors.sqlite3"]
    shutil.rmtree(folder)


def test_a_sync_that_comes_while_the_index_is_checked_waits_and_is_done(shelf):
    shelf.write("new.md", LEAVE.replace("15일", "99일"))
    knowledge, looked = shelf.knowledge, threading.Event()
    syncing = threading.Thread(target=knowledge.sync, kwargs={"should_stop": lambda: looked.set() or False})
    with knowledge._syncer.alone():
        syncing.start()
        assert looked.wait(60)
        assert not any("99일" in text for text in shelf.keyword("연차"))
    syncing.join()
    assert any("99일" in text for text in shelf.keyword("연차"))


def test_a_sync_that_waits_for_a_check_can_be_given_up(shelf):
    with shelf.knowledge._syncer.alone():
        assert shelf.knowledge.sync(should_stop=lambda: True) == []
    assert shelf.sync().unchanged == 2
