"""What every vector index must do, the fake included."""

from __future__ import annotations

import gc
import select
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from knowledge.errors import ToolDown
from knowledge.index.vectors_chroma import ChromaIndex
from knowledge.ports import VectorIndex, Vectors
from tests.fakes.vector_index import MemoryVectorIndex

COLLECTION = "haechi-test-rules.e5-4-0123456789"


@pytest.fixture(params=["chroma", "server", "memory"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    opened: VectorIndex
    if request.param == "server":
        opened = ChromaIndex.server(request.getfixturevalue("server_url"))
        for name in opened.collections():
            opened.drop(name)
    elif request.param == "chroma":
        opened = ChromaIndex.embedded(tmp_path / "chroma")
    else:
        opened = MemoryVectorIndex()
    yield opened
    opened.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Chroma's own client leaves a connection to the collector
        del opened
        gc.collect()


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Chroma server of its own on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1", "--port", str(port)]
    folder = tmp_path_factory.mktemp("server")
    server = subprocess.Popen([*command, "--path", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_it_answers(url, server)
        yield url
    finally:
        server.terminate()
        server.wait()


def _wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            httpx.get(f"{url}/api/v2/heartbeat").raise_for_status()
        except httpx.HTTPError:
            select.select([], [], [], 0.1)
        else:
            return
    raise AssertionError("the Chroma server did not start")


def unit(*numbers: float) -> Vectors:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def random_unit(count: int, dim: int) -> Vectors:
    vectors = np.random.default_rng(7).standard_normal((count, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_what_was_stored_is_found_at_once_nearest_first_with_its_cosine(index: VectorIndex) -> None:
    index.upsert(COLLECTION, ["a", "b", "c"], np.stack([unit(1, 0, 0, 0), unit(1, 1, 0, 0), unit(-1, 0, 0, 0)]))
    found = index.search(COLLECTION, unit(1, 0, 0, 0), 3)
    assert [chunk for chunk, _ in found] == ["a", "b", "c"]
    assert [score for _, score in found] == pytest.approx([1.0, 0.7071, -1.0], abs=1e-3)


def test_the_limit_holds_and_may_exceed_what_is_there(index: VectorIndex) -> None:
    index.upsert(COLLECTION, ["a", "b"], random_unit(2, 4))
    assert len(index.search(COLLECTION, unit(1, 0, 0, 0), 1)) == 1
    assert len(index.search(COLLECTION, unit(1, 0, 0, 0), 50)) == 2
    assert index.search(COLLECTION, unit(1, 0, 0, 0), 0) == []


def test_storing_an_id_again_replaces_its_vector(index: VectorIndex) -> None:
    index.upsert(COLLECTION, ["a"], unit(1, 0, 0, 0)[np.newaxis])
    index.upsert(COLLECTION, ["a"], unit(0, 1, 0, 0)[np.newaxis])
    assert index.count(COLLECTION) == 1
    assert index.search(COLLECTION, unit(0, 1, 0, 0), 1)[0][1] == pytest.approx(1.0, abs=1e-3)


def test_an_id_twice_in_one_call_counts_once_and_the_last_vector_wins(index: VectorIndex) -> None:
    index.upsert(COLLECTION, ["a", "a"], np.stack([unit(1, 0, 0, 0), unit(0, 1, 0, 0)]))
    assert index.ids(COLLECTION) == {"a"}
    assert index.search(COLLECTION, unit(0, 1, 0, 0), 1)[0][1] == pytest.approx(1.0, abs=1e-3)


def test_more_vectors_than_one_batch_are_stored_and_listed(index: VectorIndex) -> None:
    ids = [f"chunk-{number}" for number in range(6_000)]
    index.upsert(COLLECTION, ids, random_unit(6_000, 4))
    assert index.ids(COLLECTION) == set(ids)
    assert index.count(COLLECTION) == 6_000


def test_deleting_removes_what_is_there_and_ignores_the_rest(index: VectorIndex) -> None:
    index.upsert(COLLECTION, ["a", "b"], random_unit(2, 4))
    index.delete(COLLECTION, ["a", "never-there"])
    index.delete(COLLECTION, [])
    assert index.ids(COLLECTION) == {"b"}


def test_an_unknown_collection_is_empty_and_nothing_creates_it(index: VectorIndex) -> None:
    assert index.search("haechi-none", unit(1, 0, 0, 0), 5) == []
    assert index.ids("haechi-none") == set()
    assert index.count("haechi-none") == 0
    index.delete("haechi-none", ["a"])
    index.drop("haechi-none")
    assert index.collections() == set()


def test_collections_are_apart_and_can_be_dropped_and_made_again(index: VectorIndex) -> None:
    index.upsert(COLLECTION, ["a"], random_unit(1, 4))
    index.upsert("haechi-test-code.use-8-x", ["a", "b"], random_unit(2, 8))
    assert index.collections() == {COLLECTION, "haechi-test-code.use-8-x"}
    index.drop(COLLECTION)
    assert index.collections() == {"haechi-test-code.use-8-x"}
    assert index.search(COLLECTION, unit(1, 0, 0, 0), 1) == []
    index.upsert(COLLECTION, ["z"], random_unit(1, 4))
    assert index.ids(COLLECTION) == {"z"}


def test_a_server_that_does_not_answer_is_down() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(ToolDown, match=str(port)):
        ChromaIndex.server(f"http://127.0.0.1:{port}")


def test_stored_vectors_can_be_fetched_by_id_and_unknown_ids_are_left_out(index):
    index.upsert(COLLECTION, ["a", "b"], np.eye(4, dtype=np.float32)[:2])
    got = index.fetch(COLLECTION, ["b", "missing", "a"])
    assert set(got) == {"a", "b"}
    assert np.allclose(got["b"], [0, 1, 0, 0])
    assert index.fetch("haechi-test-unknown.e5-4-0123456789", ["a"]) == {}
