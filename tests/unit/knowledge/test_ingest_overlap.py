"""Embedding begins while a large change is still read: nothing is lost by errors, stops or the order of things."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from knowledge.api import Adapters, Knowledge, KnowledgeConfig
from knowledge.ingest_embed import EARLY_PAGE
from knowledge.ingest_overlap import LEAST_ITEMS
from knowledge.types import SourceConfig, SyncReport
from tests.emulators.git_repositories import commit, make_bare

FILES = EARLY_PAGE + 60
LONG_S = 120.0  # a wait that ends in an error, not in a guess


class Code:
    """A repository of one function a file, its data folder, and what happened in which order."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.root = make_bare(place / "origin.git")
        self.on_step: Callable[[str], None] = lambda step: None
        commit(
            self.root, {f"src/f{n:03}.py": f"def pay_{n:03}(a):\n    b = a + {n}\n    return b\n" for n in range(FILES)}
        )
        self.should_stop: Callable[[], bool] = lambda: False

    def sync(self) -> SyncReport:
        knowledge = Knowledge.open(
            KnowledgeConfig(
                data_dir=self._place / "data",
                sources=(SourceConfig(name="shop", kind="repository", path=self.root),),
                embedders={"docs": ("hash",), "code": ("hash",)},
                workers=1,
            ),
            adapters=Adapters(on_step=lambda step: self.on_step(step)),
        )
        try:
            (report,) = knowledge.sync(should_stop=lambda: self.should_stop())
            return report
        finally:
            knowledge.close()


@pytest.fixture
def code(tmp_path: Path) -> Iterator[Code]:
    yield Code(tmp_path)
    assert [thread.name for thread in threading.enumerate() if thread.name == "early-embedding"] == []


def test_vectors_are_stored_before_all_is_read(code: Code) -> None:
    assert FILES > LEAST_ITEMS
    written, confirmed = 0, threading.Event()

    def note(step: str) -> None:
        nonlocal written
        if step == "vectors-confirmed":
            confirmed.set()
        if step == "document-committed":
            written += 1
            if written == FILES - 1:  # the reading goes no further until something was embedded
                assert confirmed.wait(LONG_S)

    code.on_step = note
    report = code.sync()
    assert (report.added, report.chunks, report.embedded, report.pending) == (FILES, FILES, FILES, 0)


def test_an_error_of_the_reading_ends_the_embedding_and_the_next_sync_completes_it(code: Code) -> None:
    written = 0

    def fail(step: str) -> None:
        nonlocal written
        written += step == "document-committed"
        if written == FILES - 5:
            raise KeyboardInterrupt

    code.on_step = fail
    with pytest.raises(KeyboardInterrupt):
        code.sync()
    code.on_step = lambda step: None
    report = code.sync()
    assert (report.chunks, report.pending) == (FILES, 0)
    assert report.added < FILES


def test_an_error_of_the_embedding_is_the_error_of_the_sync(code: Code) -> None:
    def fail(step: str) -> None:
        if step == "vectors-upserted":
            raise KeyboardInterrupt

    code.on_step = fail
    with pytest.raises(KeyboardInterrupt):
        code.sync()
    code.on_step = lambda step: None
    assert code.sync().pending == 0


def test_a_stop_leaves_what_is_done_and_the_next_sync_does_the_rest(code: Code) -> None:
    written = 0

    def note(step: str) -> None:
        nonlocal written
        written += step == "document-committed"

    code.on_step = note
    code.should_stop = lambda: written >= 20
    stopped = code.sync()
    assert stopped.stopped
    code.should_stop = lambda: False
    report = code.sync()
    assert (report.chunks, report.pending, report.added + stopped.added) == (FILES, 0, FILES)
