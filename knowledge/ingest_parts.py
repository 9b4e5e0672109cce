"""The repositories of a source that holds many: what the catalog remembers of each, generation by generation."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation, RecordedSpace
from knowledge.index.spaces import matches
from knowledge.ingest_prepare import content_fingerprint
from knowledge.ports import DiscoveryTask, RemoteSource, Source
from knowledge.types import Discovery, FileLook, Part, SkippedItem, SourceConfig


def discover(
    source: Source,
    *,
    known: Mapping[str, str],
    looks: Mapping[str, FileLook],
    force: bool,
    progress: Callable[[int, int | None, str], None],
    should_stop: Callable[[], bool],
) -> Discovery:
    """What `source` holds; one behind a network or with many files is told what is known, and can be stopped."""
    if isinstance(source, RemoteSource):
        task = DiscoveryTask(known=known, looks=looks, force=force, progress=progress, should_stop=should_stop)
        return source.discover_with(task)
    return source.discover()


def complete_parts(catalog: Catalog, config: SourceConfig, spaces: Sequence[RecordedSpace]) -> dict[str, str]:
    """Prefix -> state of the parts that every generation holds that today's sync would write to.

    Empty when a new generation would begin: it needs everything.
    """
    fingerprint = content_fingerprint(config.kind)
    living = [g for g in catalog.generations(config.name) if g.state != "retired"]
    if not any(matches(generation, fingerprint, spaces) for generation in living):
        return {}
    held = [{part.prefix: part.state for part in read_parts(catalog, g.id) if part.state} for g in living]
    return {prefix: state for prefix, state in held[0].items() if all(other.get(prefix) == state for other in held)}


def read_parts(catalog: Catalog, generation: int) -> list[Part]:
    """The parts of one generation, by prefix."""
    with catalog.reading() as connection:
        rows = connection.execute(
            "SELECT prefix, state, revision, problem FROM parts WHERE generation = ? ORDER BY prefix", (generation,)
        ).fetchall()
    return [Part(prefix=row[0], state=row[1], revision=row[2], problem=row[3]) for row in rows]


def record_parts(
    connection: sqlite3.Connection, generations: Sequence[Generation], parts: Sequence[Part], *, now: datetime
) -> None:
    """Remembers `parts` inside the caller's transaction; a part that was not reached keeps the commit it had."""
    connection.execute("DELETE FROM parts WHERE generation NOT IN (SELECT id FROM generations)")
    for generation in generations:
        before = dict(
            connection.execute("SELECT prefix, revision FROM parts WHERE generation = ?", (generation.id,)).fetchall()
        )
        connection.execute("DELETE FROM parts WHERE generation = ?", (generation.id,))
        connection.executemany(
            "INSERT INTO parts (generation, prefix, state, revision, problem, checked_at) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    generation.id,
                    part.prefix,
                    part.state,
                    part.revision or before.get(part.prefix),
                    part.problem,
                    now.isoformat(),
                )
                for part in parts
            ],
        )


def record_skipped(
    connection: sqlite3.Connection, source: str, skipped: Sequence[SkippedItem], kept_prefixes: Sequence[str]
) -> None:
    """Replaces what was left out, except in parts that were not listed this time."""
    if kept_prefixes:
        rows = connection.execute("SELECT uri FROM skipped WHERE source = ?", (source,)).fetchall()
        kept = tuple(kept_prefixes)
        connection.executemany(
            "DELETE FROM skipped WHERE source = ? AND uri = ?",
            [(source, row[0]) for row in rows if not row[0].startswith(kept)],
        )
    else:
        connection.execute("DELETE FROM skipped WHERE source = ?", (source,))
    connection.executemany(
        "INSERT OR REPLACE INTO skipped (source, uri, reason) VALUES (?, ?, ?)",
        [(source, item.uri, item.reason) for item in skipped],
    )
