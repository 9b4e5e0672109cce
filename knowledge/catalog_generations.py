"""Generations: the shown state of a source, and the one that is being built to take its place."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from knowledge.catalog_writes import delete_document
from knowledge.types import VectorSpace

GenerationState = Literal["building", "active", "retired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSpace:
    """A vector space of a generation; `space` is None until the embedder could be asked for the first time."""

    embedder: str
    space: VectorSpace | None

    @property
    def key(self) -> str:
        return self.embedder if self.space is None else self.space.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One state of a source, as built by certain versions and embedders."""

    id: int
    source: str
    state: GenerationState
    fingerprint: str
    complete: bool
    spaces: tuple[RecordedSpace, ...]


def read_generations(connection: sqlite3.Connection, source: str | None = None) -> list[Generation]:
    """The generations of one source, or of all, oldest first."""
    spaces: dict[int, list[RecordedSpace]] = {}
    for row in connection.execute("SELECT * FROM spaces ORDER BY generation, position"):
        spaces.setdefault(row["generation"], []).append(RecordedSpace(embedder=row["embedder"], space=_as_space(row)))
    where, values = ("", ()) if source is None else ("WHERE source = ?", (source,))
    return [
        Generation(
            id=row["id"],
            source=row["source"],
            state=row["state"],
            fingerprint=row["fingerprint"],
            complete=bool(row["complete"]),
            spaces=tuple(spaces.get(row["id"], ())),
        )
        for row in connection.execute(f"SELECT * FROM generations {where} ORDER BY id", values)
    ]


def begin_generation(
    connection: sqlite3.Connection,
    *,
    source: str,
    kind: str,
    fingerprint: str,
    spaces: Sequence[RecordedSpace],
    now: datetime,
) -> int:
    """The id of a new generation: shown at once when the source has none yet, else built beside the shown one."""
    connection.execute(
        "INSERT INTO sources (name, kind) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET kind = excluded.kind",
        (source, kind),
    )
    shown = connection.execute("SELECT active_generation FROM sources WHERE name = ?", (source,)).fetchone()[0]
    cursor = connection.execute(
        "INSERT INTO generations (source, state, fingerprint, created_at) VALUES (?, ?, ?, ?)",
        (source, "active" if shown is None else "building", fingerprint, now.isoformat()),
    )
    generation = int(cursor.lastrowid or 0)
    for position, recorded in enumerate(spaces):
        connection.execute(
            "INSERT INTO spaces (generation, embedder, position) VALUES (?, ?, ?)",
            (generation, recorded.embedder, position),
        )
        if recorded.space is not None:
            record_space(connection, generation, recorded.embedder, recorded.space)
    if shown is None:
        connection.execute("UPDATE sources SET active_generation = ? WHERE name = ?", (generation, source))
    return generation


def record_space(connection: sqlite3.Connection, generation: int, embedder: str, space: VectorSpace) -> None:
    """Notes the space of a generation's embedder, inside the caller's transaction."""
    connection.execute(
        "UPDATE spaces SET key = ?, name = ?, digest = ?, dim = ?, prefix_scheme = ? "
        "WHERE generation = ? AND embedder = ?",
        (space.key, space.name, space.digest, space.dim, space.prefix_scheme, generation, embedder),
    )


def take_over(connection: sqlite3.Connection, generation: Generation, *, now: datetime) -> None:
    """Shows `generation` instead of the one shown so far, inside the caller's transaction."""
    connection.execute(
        "UPDATE generations SET state = 'retired' WHERE source = ? AND id <> ?", (generation.source, generation.id)
    )
    connection.execute(
        "UPDATE generations SET state = 'active', completed_at = ? WHERE id = ?", (now.isoformat(), generation.id)
    )
    connection.execute("UPDATE sources SET active_generation = ? WHERE name = ?", (generation.id, generation.source))


def remove_some_of(connection: sqlite3.Connection, generation: int, *, documents: int) -> bool:
    """Removes up to `documents` documents of a retired generation; True once nothing of it is left."""
    rows = connection.execute(
        "SELECT number FROM documents WHERE generation = ? LIMIT ?", (generation, documents)
    ).fetchall()
    for row in rows:
        delete_document(connection, generation, row["number"])
    if len(rows) == documents:
        return False
    for table, column in (("spaces", "generation"), ("terms", "generation"), ("generations", "id")):
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (generation,))
    return True


def _as_space(row: sqlite3.Row) -> VectorSpace | None:
    if row["key"] is None:
        return None
    return VectorSpace(name=row["name"], digest=row["digest"], dim=row["dim"], prefix_scheme=row["prefix_scheme"])
