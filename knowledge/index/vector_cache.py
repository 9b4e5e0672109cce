"""The embedding cache, vectors.sqlite3: sha256 of an index text and a vector space -> float32 vector."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knowledge.catalog_db import Database

Vector = npt.NDArray[np.float32]
BATCH = 500  # below SQLite's oldest limit of 999 bound values


def text_key(index_text: str) -> bytes:
    """The sha256 under which the vectors of `index_text` are kept."""
    return hashlib.sha256(index_text.encode("utf-8", "surrogatepass")).digest()


class VectorCache:
    """Vectors that were computed once. Losing the file costs time only."""

    def __init__(self, path: Path, *, max_pages: int | None = None) -> None:
        self._db = Database.open(path, prefix="vectors", max_pages=max_pages)
        self._spaces: dict[str, int] = {}

    def get(self, space_key: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Those of `keys` that are known, with vectors of shape (dim,)."""
        space = self._space(space_key)
        found: dict[bytes, Vector] = {}
        if space is None:
            return found
        with self._db.reading() as connection:
            for start in range(0, len(keys), BATCH):
                batch = keys[start : start + BATCH]
                marks = ",".join("?" * len(batch))
                rows = connection.execute(
                    f"SELECT text_hash, vector FROM vectors WHERE text_hash IN ({marks}) AND space = ?", (*batch, space)
                )
                found.update((row[0], np.frombuffer(row[1], dtype="<f4")) for row in rows)
        return found

    def put(self, space_key: str, vectors: Mapping[bytes, npt.NDArray[Any]]) -> None:
        """Keeps `vectors`; what is already there is replaced. Raises StorageFull."""
        if not vectors:
            return
        with self._db.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO spaces (key) VALUES (?)", (space_key,))
            space = connection.execute("SELECT number FROM spaces WHERE key = ?", (space_key,)).fetchone()[0]
            connection.executemany(
                "INSERT OR REPLACE INTO vectors (text_hash, space, vector) VALUES (?, ?, ?)",
                [(key, space, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()],
            )

    def count(self, space_key: str) -> int:
        """How many vectors of one space are kept."""
        with self._db.reading() as connection:
            row = connection.execute(
                "SELECT count(*) FROM vectors JOIN spaces ON number = space WHERE key = ?", (space_key,)
            ).fetchone()
            return int(row[0])

    def copy_to(self, path: Path) -> None:
        """Writes a consistent copy to `path`, a new file."""
        self._db.copy_to(path)

    def replace_by(self, path: Path) -> None:
        """Takes over the content of another cache."""
        self._db.replace_by(path)
        self._spaces.clear()

    def close(self) -> None:
        self._db.close()

    def _space(self, space_key: str) -> int | None:
        known = self._spaces.get(space_key)
        if known is not None:
            return known
        with self._db.reading() as connection:
            row = connection.execute("SELECT number FROM spaces WHERE key = ?", (space_key,)).fetchone()
        if row is None:
            return None
        self._spaces[space_key] = int(row[0])
        return int(row[0])
