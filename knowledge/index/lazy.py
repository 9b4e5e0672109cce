"""A vector index that is opened when it is needed first: most commands never load Chroma."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from knowledge.errors import VectorsLost
from knowledge.ports import VectorIndex, Vectors

T = TypeVar("T")


class LazyVectorIndex:
    """Opens an index at its first use and has it reconciled before anybody else sees it.

    An index that cannot be opened raises ToolDown at each use, and is tried again at the next one. One that was emptied
    while it was open, as when its server comes back with a new disk, is opened and reconciled again.
    """

    def __init__(self, open_index: Callable[[], VectorIndex], *, reconcile: Callable[[VectorIndex], None]) -> None:
        self._open_index = open_index
        self._reconcile = reconcile
        self._lock = threading.Lock()
        self._index: VectorIndex | None = None
        self._closed = False

    @property
    def is_open(self) -> bool:
        return self._index is not None

    def opened(self) -> VectorIndex:
        """The index, opened and reconciled. Raises ToolDown, StorageFull."""
        with self._lock:
            if self._index is None:
                if self._closed:
                    raise ValueError("The vector index has been closed")
                index = self._open_index()
                self._reconcile(index)
                self._index = index
            return self._index

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors) -> None:
        self._use(lambda index: index.upsert(collection, ids, vectors))

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        self._use(lambda index: index.delete(collection, ids))

    def search(self, collection: str, vector: Vectors, limit: int) -> Sequence[tuple[str, float]]:
        return self._use(lambda index: index.search(collection, vector, limit))

    def ids(self, collection: str) -> set[str]:
        return self._use(lambda index: index.ids(collection))

    def fetch(self, collection: str, ids: Sequence[str]) -> Mapping[str, Vectors]:
        return self._use(lambda index: index.fetch(collection, ids))

    def count(self, collection: str) -> int:
        return self._use(lambda index: index.count(collection))

    def collections(self) -> set[str]:
        return self._use(lambda index: index.collections())

    def drop(self, collection: str) -> None:
        self._use(lambda index: index.drop(collection))

    def _use(self, work: Callable[[VectorIndex], T]) -> T:
        index = self.opened()
        try:
            return work(index)
        except VectorsLost:
            with self._lock:
                if self._index is index:  # else another thread was here first
                    index.close()
                    self._index = None
            return work(self.opened())

    def open_anew(self) -> None:
        """Lets go of an index that fails; the next use opens it, replaces what is damaged, and reconciles it."""
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._index is not None:
                self._index.close()
                self._index = None
