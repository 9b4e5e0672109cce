"""A vector index that is opened at its first use, and again when what was in it is gone."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from knowledge.errors import ToolDown
from knowledge.index.lazy import LazyVectorIndex
from knowledge.index.vectors_chroma import ChromaIndex

VECTORS = np.eye(2, 8, dtype=np.float32)


class Opening:
    """Opens the real index in a folder; counts how often, and fills it as reconciling does."""

    def __init__(self, folder):
        self.folder = folder
        self.reconciled = 0

    def open(self):
        return ChromaIndex.embedded(self.folder)

    def reconcile(self, index):
        self.reconciled += 1
        index.upsert("rules", ["a", "b"], VECTORS)


def test_an_index_that_was_emptied_while_it_was_open_is_filled_again_by_the_next_search(tmp_path):
    opening = Opening(tmp_path / "chroma")
    with closing(LazyVectorIndex(opening.open, reconcile=opening.reconcile)) as index:
        assert index.search("rules", VECTORS[0], 1)[0][0] == "a"
        with closing(ChromaIndex.embedded(opening.folder)) as other:
            other.drop("rules")
        assert index.search("rules", VECTORS[1], 1)[0][0] == "b"
        assert index.search("rules", VECTORS[0], 1)[0][0] == "a"
    assert opening.reconciled == 2


def test_an_index_that_cannot_be_opened_is_tried_again_at_the_next_use(tmp_path):
    opening = Opening(tmp_path / "chroma")
    failures = [ToolDown("The vector index does not answer.")]

    def open_later():
        if failures:
            raise failures.pop()
        return opening.open()

    with closing(LazyVectorIndex(open_later, reconcile=opening.reconcile)) as index:
        with pytest.raises(ToolDown, match="does not answer"):
            index.search("rules", VECTORS[0], 1)
        assert not index.is_open
        assert index.search("rules", VECTORS[0], 1)[0][0] == "a"
