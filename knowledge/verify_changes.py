"""Examines what is kept of commits: the index of their words, and that each has its files.

What is wrong is made anew from the words, or forgotten, so that the next sync reads that history again.
"""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.catalog import Catalog
from knowledge.errors import CatalogCorrupt
from knowledge.index.changes_fts import LOG_SHIFT
from knowledge.ingest_changes import remove_log

_LOGS = "SELECT number FROM change_logs"
_WRONG = f"""
    SELECT w.rowid >> {LOG_SHIFT} FROM change_words w
    WHERE NOT EXISTS (SELECT 1 FROM change_files f WHERE f.change = w.rowid) OR w.rowid >> {LOG_SHIFT} NOT IN ({_LOGS})
    UNION
    SELECT f.change >> {LOG_SHIFT} FROM change_files f WHERE f.change NOT IN (SELECT rowid FROM change_words)
"""


def check_changes(catalog: Catalog, *, repair: bool) -> Iterator[tuple[str, int, int]]:
    """What was wrong, how often it was found and how often mended. Raises CatalogCorrupt when it cannot be mended."""
    is_sound = _has_sound_index(catalog)
    if not is_sound and repair:
        with catalog.transaction() as connection:
            connection.execute("INSERT INTO change_words (change_words) VALUES ('rebuild')")
    yield "words of commits with a damaged index", int(not is_sound), int(not is_sound and repair)
    with catalog.reading() as connection:
        wrong = [int(row[0]) for row in connection.execute(_WRONG)]
    if wrong and repair:
        with catalog.transaction() as connection:
            for number in wrong:
                remove_log(connection, number)
    yield "histories of commits that are incomplete until the next sync", len(wrong), len(wrong) if repair else 0


def _has_sound_index(catalog: Catalog) -> bool:
    try:
        with catalog.transaction() as connection:
            connection.execute("INSERT INTO change_words (change_words) VALUES ('integrity-check')")
    except CatalogCorrupt:
        return False
    return True
