"""Which generations a sync writes to, and how a finished one takes over from the one shown so far."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from knowledge.catalog import Catalog
from knowledge.catalog_generations import (
    Generation,
    RecordedSpace,
    begin_generation,
    record_space,
    remove_some_of,
    take_over,
)
from knowledge.index.spaces import EmbedderShelf, matches
from knowledge.ingest_changes import remove_changes
from knowledge.ingest_prepare import content_fingerprint
from knowledge.types import SourceConfig

REMOVED_AT_ONCE = 50  # documents of a retired generation in one transaction: the writer is soon free again


def wanted_spaces(shelf: EmbedderShelf, embedders: Sequence[str]) -> tuple[list[RecordedSpace], list[str]]:
    """Spaces of the configured embedders, and why some of them cannot be asked now."""
    spaces, problems = [], []
    for name in embedders:
        space, problem = shelf.space_of(name)
        spaces.append(RecordedSpace(embedder=name, space=space))
        if problem is not None:
            problems.append(problem)
    return spaces, problems


def generations_to_write(
    catalog: Catalog, config: SourceConfig, spaces: Sequence[RecordedSpace], *, now: datetime
) -> list[Generation]:
    """The shown generation, then the one being built beside it when today's versions or embedders differ."""
    fingerprint = content_fingerprint(config.kind)
    living = [g for g in catalog.generations(config.name) if g.state != "retired"]
    shown = next((g for g in living if g.state == "active"), None)
    building = next((g for g in living if g.state == "building"), None)
    with catalog.transaction() as connection:
        if shown is not None and matches(shown, fingerprint, spaces):
            keep = [shown]
        elif building is not None and matches(building, fingerprint, spaces):
            keep = [g for g in (shown, building) if g is not None]
        else:
            keep = [] if shown is None else [shown]
            begin_generation(
                connection, source=config.name, kind=config.kind, fingerprint=fingerprint, spaces=spaces, now=now
            )
        if building is not None and building not in keep:
            connection.execute("UPDATE generations SET state = 'retired' WHERE id = ?", (building.id,))
        for generation in keep:
            if matches(generation, fingerprint, spaces):
                _record_known_spaces(connection, generation, spaces)
    living = [g for g in catalog.generations(config.name) if g.state != "retired"]
    return sorted(living, key=lambda g: g.state != "active")


def finish_generation(catalog: Catalog, generation: Generation, *, now: datetime) -> bool:
    """Lets a built generation take over once all its documents are in and all its vectors confirmed."""
    current = next((g for g in catalog.generations(generation.source) if g.id == generation.id), None)
    if current is None or current.state != "building" or not current.complete:
        return False
    for recorded in current.spaces:
        if recorded.space is None or catalog.pending_count(current.id, recorded.embedder, rejected=False):
            return False
    with catalog.transaction() as connection:
        take_over(connection, current, now=now)
    return True


def remove_retired(catalog: Catalog, source: str, *, should_stop: Callable[[], bool]) -> bool:
    """Removes the rows of retired generations bit by bit; True when there was something and nothing is left."""
    retired = [g for g in catalog.generations(source) if g.state == "retired"]
    for generation in retired:
        finished = False
        while not finished:
            if should_stop():
                return False
            with catalog.transaction() as connection:
                finished = remove_some_of(connection, generation.id, documents=REMOVED_AT_ONCE)
    return bool(retired)


def remove_source(catalog: Catalog, source: str, *, should_stop: Callable[[], bool]) -> None:
    """Removes everything of a source that is not configured any more: hidden first, then bit by bit."""
    with catalog.transaction() as connection:
        connection.execute("UPDATE sources SET active_generation = NULL WHERE name = ?", (source,))
        connection.execute("UPDATE generations SET state = 'retired' WHERE source = ?", (source,))
    remove_retired(catalog, source, should_stop=should_stop)
    if should_stop():
        return
    with catalog.transaction() as connection:
        connection.execute("DELETE FROM skipped WHERE source = ?", (source,))
        connection.execute("DELETE FROM file_looks WHERE source = ?", (source,))
        remove_changes(connection, source)
        connection.execute("DELETE FROM sources WHERE name = ?", (source,))


def _record_known_spaces(
    connection: sqlite3.Connection, generation: Generation, spaces: Sequence[RecordedSpace]
) -> None:
    for built, wanted in zip(generation.spaces, spaces, strict=True):
        if built.space is None and wanted.space is not None:
            record_space(connection, generation.id, built.embedder, wanted.space)
