"""Full disks, damaged files, lost folders and data of newer versions: a clear message, and nothing lost."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from knowledge.errors import CatalogCorrupt, NewerData, StorageFull
from tests.unit.knowledge.shelf import EVERYTHING, LEAVE, TRAVEL, Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    yield shelf
    shelf.close()


def test_a_full_disk_is_said_plainly_and_what_was_there_stays(shelf: Shelf) -> None:
    shelf.close()
    with sqlite3.connect(shelf.data_dir / "catalog.sqlite3") as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.close()
    shelf.max_pages = pages + 8
    lines = [f"{number}번째 항목의 금액은 {number * 7919}원이고 담당은 제{number}부서이다." for number in range(3_000)]
    shelf.write("big.md", "# 큰 문서\n\n" + "\n\n".join(lines))
    with pytest.raises(StorageFull, match="free some space"):
        shelf.sync()
    assert shelf.keyword("연차휴가")
    assert len(shelf.knowledge.list_documents(scope=EVERYTHING)) == 2
    shelf.close()
    shelf.max_pages = None
    report = shelf.sync()
    assert (report.added, report.unchanged, report.pending) == (1, 2, 0)


def test_a_damaged_catalog_names_the_file_and_what_to_do(shelf: Shelf) -> None:
    shelf.close()
    path = shelf.data_dir / "catalog.sqlite3"
    path.write_bytes(b"this is no database" * 1000)
    with pytest.raises(CatalogCorrupt, match=r"catalog\.sqlite3 is damaged.*backup"):
        _ = shelf.knowledge


def test_data_of_a_newer_version_is_left_alone(shelf: Shelf) -> None:
    shelf.close()
    connection = sqlite3.connect(shelf.data_dir / "catalog.sqlite3")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(NewerData, match="newer version"):
        _ = shelf.knowledge


def test_a_lost_vector_index_is_rebuilt_from_catalog_and_cache_alone(shelf: Shelf) -> None:
    shelf.close()
    shutil.rmtree(shelf.data_dir / "chroma")
    shelf.embedder.passages.clear()
    assert any("연차휴가" in text for text in shelf.dense("연차휴가"))
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()
    assert shelf.embedder.passages == []


def segments(shelf: Shelf) -> list[Path]:
    return sorted(path for path in (shelf.data_dir / "chroma").glob("*/*") if path.is_file())


@pytest.mark.parametrize("damage", ["garbage", "half", "nothing", "gone"])
@pytest.mark.parametrize("victim", ["chroma.sqlite3", "segments", "first segment"])
def test_a_damaged_vector_index_is_replaced_without_embedding_anything(shelf: Shelf, victim: str, damage: str) -> None:
    for number in range(8):
        shelf.write(f"more{number}.md", LEAVE.replace("15일", f"{number}일"))
    shelf.sync()
    shelf.close()
    found = segments(shelf)
    assert found
    files = {"segments": found, "first segment": found[:1]}.get(victim, [shelf.data_dir / "chroma" / victim])
    for path in files:
        if damage == "gone":
            path.unlink()
        else:
            content = path.read_bytes()
            kept = {"garbage": b"garbage" * 5000, "half": content[: len(content) // 2], "nothing": b""}[damage]
            path.write_bytes(kept)
    shelf.embedder.passages.clear()
    assert any("연차휴가" in text for text in shelf.dense("연차휴가"))
    assert shelf.knowledge.maintenance.verify(repair=True).ok
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()
    assert any("연차휴가" in text for text in shelf.dense("연차휴가"))
    assert shelf.embedder.passages == []


def test_with_cache_and_vector_index_lost_the_next_sync_embeds_everything_again(shelf: Shelf) -> None:
    shelf.close()
    shutil.rmtree(shelf.data_dir / "chroma")
    for path in shelf.data_dir.glob("vectors.sqlite3*"):
        path.unlink()
    assert shelf.dense("연차휴가") == []
    status = shelf.knowledge.status(scope=EVERYTHING)[0]
    assert status.pending == {"counting": status.chunks}
    report = shelf.sync()
    assert (report.pending, report.embedded) == (0, report.chunks)


def test_vectors_that_belong_to_no_chunk_are_never_shown_and_go_at_the_next_opening(shelf: Shelf) -> None:
    (name,) = shelf.vector_ids()
    stray = np.ones((1, 256), dtype=np.float32)
    shelf.knowledge._vectors.upsert(name, ["0" * 32], stray)
    assert len(shelf.dense("연차휴가")) == len(shelf.chunk_ids())
    shelf.close()
    assert "0" * 32 not in shelf.vector_ids()[name]


def test_single_vectors_that_are_missing_come_back_from_the_cache(shelf: Shelf) -> None:
    (name,) = shelf.vector_ids()
    shelf.knowledge._vectors.delete(name, sorted(shelf.chunk_ids())[:2])
    shelf.close()
    assert shelf.vector_ids()[name] == shelf.chunk_ids()
    assert shelf.knowledge.status(scope=EVERYTHING)[0].pending == {"counting": 0}


def test_collections_of_others_on_the_same_server_are_left_alone(shelf: Shelf) -> None:
    shelf.knowledge._vectors.upsert("somebody-else", ["x"], np.ones((1, 3), dtype=np.float32))
    shelf.knowledge._vectors.upsert(
        f"haechi-{shelf.knowledge._catalog.installation}-forgotten", ["x"], np.ones((1, 3), dtype=np.float32)
    )
    shelf.close()
    names = set(shelf.vector_ids())
    assert "somebody-else" in names
    assert not any(name.endswith("forgotten") for name in names)


def test_a_nightly_reconcile_says_what_it_repaired(shelf: Shelf) -> None:
    (name,) = shelf.vector_ids()
    lost = sorted(shelf.chunk_ids())[:1]
    shelf.knowledge._vectors.delete(name, lost)
    shelf.knowledge._vectors.upsert(name, ["f" * 32], np.ones((1, 256), dtype=np.float32))
    repaired = shelf.knowledge.maintenance.reconcile()
    assert (repaired.orphans, repaired.missing, repaired.restored, repaired.dropped) == (1, 1, 1, 0)
    assert shelf.vector_ids()[name] == shelf.chunk_ids()


def test_threads_that_come_and_go_leave_no_connection_open(shelf: Shelf) -> None:
    catalog = shelf.knowledge._catalog

    def read() -> None:
        assert catalog.source_names() == {"rules"}

    for _ in range(20):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert len(catalog._db._opened) <= 4  # the writer, this thread, the last of the twenty
    read()
