"""Keeps what the commits of a source's repositories say, up to the commits that are indexed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from knowledge.analysis import ANALYZER_VERSION, analyze
from knowledge.catalog import Catalog
from knowledge.errors import NotFound, SourceMissing
from knowledge.index.changes_fts import LOG_SHIFT
from knowledge.masking import MASKING_VERSION
from knowledge.ports import Source
from knowledge.sources.git_changes import MAX_CHANGES, Changes, read_changes
from knowledge.sources.git_history import HasHistory
from knowledge.sources.git_process import GitFailed
from knowledge.types import Discovery

CHANGES_VERSION = f"2;analyzer={ANALYZER_VERSION};masking={MASKING_VERSION}"

_log = structlog.get_logger()


def record_changes(
    catalog: Catalog, name: str, source: Source, discovery: Discovery, *, should_stop: Callable[[], bool]
) -> None:
    """Reads the commits that are new since the last time. Raises StorageFull and what else the catalog raises.

    A history that cannot be read is logged and left as it was: search only orders by it.
    """
    if not isinstance(source, HasHistory):
        return
    heads = {part.prefix: part.revision for part in discovery.parts} if discovery.parts else {"": discovery.revision}
    with catalog.reading() as connection:
        known = _known_heads(connection, name)
    gone = [prefix for prefix in known if prefix not in heads and not prefix.startswith(discovery.kept_prefixes)]
    if gone:
        with catalog.transaction() as connection:
            for prefix in gone:
                remove_log(connection, known[prefix][0])
    for prefix, head in heads.items():
        if should_stop():
            return
        number, before, version = known.get(prefix, (None, None, None))
        if head is None or (before == head and version == CHANGES_VERSION):
            continue
        try:
            changes = _read(source, prefix, head, since=before if version == CHANGES_VERSION else None)
        except (GitFailed, NotFound, SourceMissing) as error:
            _log.warning("changes.unread", source=name, part=prefix, reason=str(error))
            continue
        with catalog.transaction() as connection:
            _write(connection, name, prefix, head, changes, known=number)


def remove_changes(connection: sqlite3.Connection, source: str) -> None:
    """Removes what is known of the commits of a source, inside the caller's transaction."""
    for number, _, _ in _known_heads(connection, source).values():
        remove_log(connection, number)


def _known_heads(connection: sqlite3.Connection, source: str) -> dict[str, tuple[int, str, str]]:
    """Prefix -> number of the log, commit and version."""
    rows = connection.execute("SELECT prefix, number, head, version FROM change_logs WHERE source = ?", (source,))
    return {row[0]: (int(row[1]), row[2], row[3]) for row in rows}


def _read(source: HasHistory, prefix: str, head: str, *, since: str | None) -> Changes:
    repository: Path
    repository, folder = source.history_place(prefix)
    return read_changes(repository, folder, head, since=since)


def _write(
    connection: sqlite3.Connection, source: str, prefix: str, head: str, changes: Changes, *, known: int | None
) -> None:
    if known is not None and not changes.goes_on:
        remove_log(connection, known)
        known = None
    if known is None:
        number = int(
            connection.execute(
                "INSERT INTO change_logs (source, prefix, head, version) VALUES (?, ?, ?, ?) RETURNING number",
                (source, prefix, head, CHANGES_VERSION),
            ).fetchone()[0]
        )
    else:
        number = known
        connection.execute("UPDATE change_logs SET head = ? WHERE number = ?", (head, number))
        _rename(connection, number, prefix, changes.renamed)
    start = _next_change(connection, number)
    words = [(start + place, analyze(change.message)) for place, change in enumerate(changes.changes)]
    connection.executemany(
        "INSERT INTO change_words (rowid, tokens) VALUES (?, ?)", [(row, " ".join(tokens)) for row, tokens in words]
    )
    connection.executemany(
        "INSERT OR IGNORE INTO change_files (change, uri) VALUES (?, ?)",
        [(start + place, prefix + path) for place, change in enumerate(changes.changes) for path in change.paths],
    )
    _forget_oldest(connection, number)


def _rename(connection: sqlite3.Connection, number: int, prefix: str, renamed: Mapping[str, str]) -> None:
    """Earlier commits go by the names that their files have now."""
    connection.executemany(
        "UPDATE OR REPLACE change_files SET uri = ? WHERE uri = ? AND change BETWEEN ? AND ?",
        [(prefix + now, prefix + former, *_range(number)) for former, now in renamed.items()],
    )


def _next_change(connection: sqlite3.Connection, number: int) -> int:
    first, last = _range(number)
    row = connection.execute("SELECT max(rowid) FROM change_words WHERE rowid BETWEEN ? AND ?", (first, last))
    highest = row.fetchone()[0]
    return first if highest is None else int(highest) + 1


def _forget_oldest(connection: sqlite3.Connection, number: int) -> None:
    """Keeps the latest commits of a log, as many as are read of a new one."""
    first, last = _range(number)
    oldest = connection.execute(
        "SELECT rowid FROM change_words WHERE rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        (first, last, MAX_CHANGES),
    ).fetchone()
    if oldest is not None:
        _remove_changes_between(connection, first, int(oldest[0]))


def remove_log(connection: sqlite3.Connection, number: int) -> None:
    """Removes one history, inside the caller's transaction: it is read as a whole at the next sync."""
    _remove_changes_between(connection, *_range(number))
    connection.execute("DELETE FROM change_logs WHERE number = ?", (number,))


def _remove_changes_between(connection: sqlite3.Connection, first: int, last: int) -> None:
    connection.execute("DELETE FROM change_words WHERE rowid BETWEEN ? AND ?", (first, last))
    connection.execute("DELETE FROM change_files WHERE change BETWEEN ? AND ?", (first, last))


def _range(number: int) -> tuple[int, int]:
    """The lowest and the highest number of a change in a log."""
    return number << LOG_SHIFT, ((number + 1) << LOG_SHIFT) - 1
