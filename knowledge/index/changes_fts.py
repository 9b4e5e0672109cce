"""Files by what the messages of the commits that touched them say: similar reports were mended in the same places.

The similar-report score of Zhou, Zhang and Lo, "Where Should the Bugs Be Fixed?" (ICSE 2012), with BM25 for the
similarity and commits in place of reports: every file gets the scores of the three most similar commits that touched
it, each divided by the square root of how many files it touched. Of three, because some files are part of every change.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from knowledge.catalog import ID_BATCH, Catalog
from knowledge.index.keywords_fts import quoted

SIMILAR = 100  # commits that are looked at
COUNTED = 3  # of them for one file
MATCH_BUDGET = 4_000  # commits that FTS5 ranks for the rarer words of a question
RAREST_BUDGET = 10_000
MAX_TERMS = 64
LOG_SHIFT = 32


class FtsChangeIndex:
    """The messages of commits inside the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def changed_files(self, terms: Sequence[str], *, sources: Iterable[str]) -> Mapping[tuple[str, str], float]:
        wanted = list(dict.fromkeys(term for term in terms if term))[:MAX_TERMS]
        with self._catalog.reading() as connection:
            logs = _logs(connection, list(sources))
            telling = _affordable(connection, wanted) if logs else []
            if not telling:
                return {}
            scores = _similar(connection, telling, list(logs))
            return _by_file(connection, scores, logs)


def _logs(connection: sqlite3.Connection, sources: Sequence[str]) -> dict[int, str]:
    """Number of a log -> its source."""
    found: dict[int, str] = {}
    for start in range(0, len(sources), ID_BATCH):
        batch = sources[start : start + ID_BATCH]
        marks = ",".join("?" * len(batch))
        rows = connection.execute(f"SELECT number, source FROM change_logs WHERE source IN ({marks})", batch)
        found.update((int(row[0]), row[1]) for row in rows)
    return found


def _affordable(connection: sqlite3.Connection, terms: Sequence[str]) -> list[str]:
    """The rarer terms, as many as FTS5 can rank within the budget."""
    marks = ",".join("?" * len(terms))
    rows = connection.execute(f"SELECT term, doc FROM change_terms WHERE term IN ({marks}) ORDER BY doc", list(terms))
    kept: list[str] = []
    commits = 0
    for term, count in rows:
        commits += count
        if commits > (MATCH_BUDGET if kept else RAREST_BUDGET):
            break
        kept.append(term)
    return kept


def _similar(connection: sqlite3.Connection, terms: Sequence[str], logs: Sequence[int]) -> dict[int, float]:
    """Number of a commit -> its BM25 score, of the most similar ones."""
    rows = connection.execute(
        f"""
        SELECT number, score FROM (
            SELECT rowid AS number, bm25(change_words) AS score FROM change_words
            WHERE change_words MATCH ? AND (rowid >> {LOG_SHIFT}) IN ({",".join(map(str, logs))}) LIMIT ?
        ) ORDER BY score, number DESC LIMIT ?
        """,
        (" OR ".join(map(quoted, terms)), RAREST_BUDGET, SIMILAR),
    )
    return {int(row[0]): -float(row[1]) for row in rows}


def _by_file(
    connection: sqlite3.Connection, scores: Mapping[int, float], logs: Mapping[int, str]
) -> dict[tuple[str, str], float]:
    """(source, uri) -> 0..1, relative to the file that most speaks for."""
    if not scores:
        return {}
    touched: dict[int, list[str]] = {}
    rows = connection.execute(
        f"SELECT change, uri FROM change_files WHERE change IN ({','.join(map(str, scores))}) ORDER BY change, uri"
    )
    for change, uri in rows:
        touched.setdefault(int(change), []).append(uri)
    shares: dict[tuple[str, str], list[float]] = {}
    for change, uris in touched.items():
        for uri in uris:
            shares.setdefault((logs[change >> LOG_SHIFT], uri), []).append(scores[change] / math.sqrt(len(uris)))
    found = {key: sum(sorted(values, reverse=True)[:COUNTED]) for key, values in shares.items()}
    best = max(found.values(), default=0.0)
    return {key: score / best for key, score in found.items()} if best > 0.0 else {}
