"""What was embedded once is kept under its text and its space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from knowledge.errors import StorageFull
from knowledge.index.vector_cache import VectorCache, text_key


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    cache = VectorCache(tmp_path / "elsewhere" / "vectors.sqlite3")
    yield cache
    cache.close()


def test_a_vector_comes_back_as_it_was_and_only_in_its_space(cache: VectorCache) -> None:
    vectors = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    keys = [text_key(text) for text in ("가", "나", "다")]
    cache.put("e5-4-x", dict(zip(keys, vectors, strict=True)))
    held = cache.get("e5-4-x", [*keys, text_key("라")])
    assert set(held) == set(keys)
    assert np.array_equal(np.stack([held[key] for key in keys]), vectors)
    assert cache.get("use-4-x", keys) == {}
    assert (cache.count("e5-4-x"), cache.count("use-4-x")) == (3, 0)


def test_more_keys_than_one_statement_takes_are_looked_up(cache: VectorCache) -> None:
    keys = [text_key(str(number)) for number in range(1_300)]
    cache.put("e5-1-x", {key: np.array([number], dtype=np.float32) for number, key in enumerate(keys)})
    assert len(cache.get("e5-1-x", keys)) == 1_300
    assert cache.get("e5-1-x", []) == {}


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite3", max_pages=12)
    first = text_key("first")
    cache.put("e5-384-x", {first: np.ones(384, dtype=np.float32)})
    with pytest.raises(StorageFull, match=r"vectors\.sqlite3"):
        cache.put("e5-384-x", {text_key(str(n)): np.ones(384, dtype=np.float32) for n in range(500)})
    assert set(cache.get("e5-384-x", [first])) == {first}
    cache.close()
