"""A vector index in memory: exact cosine over everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knowledge.ports import Vectors


class MemoryVectorIndex:
    """Passes tests/contract/test_vector_index.py, as the Chroma adapter does."""

    def __init__(self) -> None:
        self._collections: dict[str, dict[str, Vectors]] = {}

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors) -> None:
        held = self._collections.setdefault(collection, {})
        for chunk_id, vector in zip(ids, vectors, strict=True):
            held[chunk_id] = np.array(vector, dtype=np.float32)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        held = self._collections.get(collection, {})
        for chunk_id in ids:
            held.pop(chunk_id, None)

    def search(self, collection: str, vector: Vectors, limit: int) -> Sequence[tuple[str, float]]:
        held = self._collections.get(collection, {})
        scored = [
            (chunk_id, float(np.dot(stored, vector) / (np.linalg.norm(stored) * np.linalg.norm(vector))))
            for chunk_id, stored in held.items()
        ]
        return sorted(scored, key=lambda pair: -pair[1])[: max(limit, 0)]

    def ids(self, collection: str) -> set[str]:
        return set(self._collections.get(collection, ()))

    def fetch(self, collection: str, ids: Sequence[str]) -> Mapping[str, Vectors]:
        held = self._collections.get(collection, {})
        return {chunk_id: held[chunk_id] for chunk_id in ids if chunk_id in held}

    def count(self, collection: str) -> int:
        return len(self._collections.get(collection, ()))

    def collections(self) -> set[str]:
        return set(self._collections)

    def drop(self, collection: str) -> None:
        self._collections.pop(collection, None)

    def close(self) -> None:
        self._collections.clear()
