"""A process that is killed in the middle of a sync loses nothing that was visible and shows nothing half-done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.api import Knowledge, KnowledgeConfig
from knowledge.types import SourceConfig
from tests.unit.knowledge.shelf import EVERYTHING, LEAVE, TRAVEL, Shelf

ROOT = Path(__file__).parents[3]
OTHER = "# 경조규정\n\n## 제1조(경조금)\n직원의 결혼에는 경조금 50만원을 준다.\n"
POINTS = (
    "document-written",  # inside the transaction
    "document-committed",
    "document-deleted",
    "documents-complete",
    "vectors-removed",
    "vectors-cached",
    "vectors-upserted",
    "vectors-confirmed",
)


def sync_and_die(shelf: Shelf, point: str) -> None:
    """Runs a sync in another process, which kills itself the moment it gets to `point`."""
    child = subprocess.run(
        [sys.executable, __file__, str(shelf.data_dir), str(shelf.folder), point],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    shelf.embedders = ("hash",)
    shelf.built["hash"] = shelf.built["counting"]
    shelf.built["hash"]._digest = "feature-hashing-1"
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    shelf.close()
    yield shelf
    shelf.close()


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_any_point_the_next_sync_ends_where_an_undisturbed_one_would(shelf: Shelf, point: str) -> None:
    shelf.write("leave.md", LEAVE.replace("15일", "16일"))
    shelf.write("other.md", OTHER)
    (shelf.folder / "travel.md").unlink()

    sync_and_die(shelf, point)

    seen = " ".join(shelf.keyword("연차휴가"))
    assert ("15일" in seen) != ("16일" in seen), "either the old text or the new one, never both and never none"
    shown = " ".join(shelf.dense("연차휴가 15일 16일"))
    assert not ("15일" in shown and "15일" not in seen), "a vector of the old text is shown with the new one"
    report = shelf.sync()
    assert report.pending == 0
    assert report.failed == ()
    assert "16일" in shelf.keyword("연차휴가")[0]
    assert shelf.keyword("경조금")
    assert shelf.keyword("일비") == []
    assert any("50만원" in text for text in shelf.dense("경조금 50만원"))
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()
    assert {document.uri for document in shelf.knowledge.list_documents(scope=EVERYTHING)} == {"leave.md", "other.md"}


def test_killed_again_and_again_a_first_sync_still_comes_to_its_end(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.embedders = ("hash",)
    shelf.built["hash"] = shelf.built["counting"]
    shelf.built["hash"]._digest = "feature-hashing-1"
    for name, text in (("leave.md", LEAVE), ("travel.md", TRAVEL), ("other.md", OTHER)):
        shelf.write(name, text)
    for point in ("document-written", "document-committed", "documents-complete", "vectors-upserted"):
        sync_and_die(shelf, point)
    report = shelf.sync()
    assert report.pending == 0
    assert set().union(*shelf.vector_ids().values()) == shelf.chunk_ids()
    assert len(shelf.knowledge.list_documents(scope=EVERYTHING)) == 3
    shelf.close()


def _die_at(data_dir: Path, folder: Path, point: str) -> None:
    from knowledge.api import Adapters

    def kill(step: str) -> None:
        if step == point:
            os.kill(os.getpid(), signal.SIGKILL)

    config = KnowledgeConfig(
        data_dir=data_dir,
        sources=(SourceConfig(name="rules", kind="documents", path=folder),),
        embedders={"docs": ("hash",)},
    )
    Knowledge.open(config, adapters=Adapters(on_step=kill)).sync()


if __name__ == "__main__":
    _die_at(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
