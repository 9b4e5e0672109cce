"""Keyword search: SQLite FTS5 finds candidates by their rarer terms, BM25 over all terms orders them.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), k1 = 1.2, b = 0.75,
with the idf of Lucene, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from knowledge.catalog import Catalog
from knowledge.catalog_rows import first_number, last_number
from knowledge.types import Scope

K1 = 1.2
B = 0.75
MATCH_BUDGET = 4_000  # rows that FTS5 ranks for the rarer terms of a question: about 1.1 microseconds each
RAREST_BUDGET = 10_000  # rows for the rarest term when it alone is above that
RESCORED = 150  # candidates whose tokens are read again for the exact score
MAX_TERMS = 64


class FtsKeywordIndex:
    """The keyword index inside the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def search(
        self, terms: Sequence[str], *, generations: Mapping[str, int], limit: int
    ) -> Sequence[tuple[str, float]]:
        wanted = list(dict.fromkeys(term for term in terms if term))[:MAX_TERMS]
        if not wanted or not generations or limit < 1:
            return []
        with self._catalog.reading() as connection:
            frequencies = _frequencies(connection, wanted, generations.values())
            chunks, mean_tokens = _size(connection, generations.values())
            known = sorted((term for term in wanted if frequencies.get(term)), key=lambda term: frequencies[term])
            if not known:
                return []
            ranges = _ranges(connection, generations.values())
            numbers = _candidates(connection, known, frequencies, ranges, wanted=max(limit, RESCORED))
            idf = {term: math.log(1 + (chunks - n + 0.5) / (n + 0.5)) for term, n in frequencies.items() if n}
            scores = _scores(connection, numbers, idf, mean_tokens)
            best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
            ids = _ids(connection, [number for number, _ in best])
        return [(ids[number], score) for number, score in best if number in ids]

    def document_frequencies(
        self, terms: Iterable[str], *, generations: Mapping[str, int] | None = None
    ) -> tuple[Mapping[str, int], int]:
        if generations is None:
            generations = self._catalog.active_generations(Scope.everything())
        wanted = list(dict.fromkeys(terms))
        with self._catalog.reading() as connection:
            known = _frequencies(connection, wanted, generations.values())
            return {term: known.get(term, 0) for term in wanted}, _size(connection, generations.values())[0]


def _frequencies(connection: sqlite3.Connection, terms: Sequence[str], generations: Iterable[int]) -> dict[str, int]:
    shown = ",".join(str(int(generation)) for generation in generations)
    if not shown:
        return {}
    found: dict[str, int] = {}
    for start in range(0, len(terms), 400):
        batch = terms[start : start + 400]
        rows = connection.execute(
            f"SELECT term, sum(chunks) FROM terms WHERE term IN ({','.join('?' * len(batch))}) "
            f"AND generation IN ({shown}) GROUP BY term",
            batch,
        )
        found.update((row[0], int(row[1])) for row in rows)
    return found


def _size(connection: sqlite3.Connection, generations: Iterable[int]) -> tuple[int, float]:
    shown = ",".join(str(int(generation)) for generation in generations) or "NULL"
    row = connection.execute(
        f"SELECT coalesce(sum(chunks), 0), coalesce(sum(tokens), 0) FROM generations WHERE id IN ({shown})"
    ).fetchone()
    return int(row[0]), row[1] / row[0] if row[0] else 1.0


def _ranges(connection: sqlite3.Connection, generations: Iterable[int]) -> list[tuple[int, int]]:
    """Row number ranges of the generations; neighbours without another generation between them become one."""
    shown = set(generations)
    ranges: list[tuple[int, int]] = []
    joins = False
    for (generation,) in connection.execute("SELECT id FROM generations ORDER BY id"):
        if generation not in shown:
            joins = False
        elif joins:
            ranges[-1] = (ranges[-1][0], last_number(generation))
        else:
            ranges.append((first_number(generation), last_number(generation)))
            joins = True
    return ranges


def _candidates(
    connection: sqlite3.Connection,
    rarest_first: Sequence[str],
    frequencies: Mapping[str, int],
    ranges: Sequence[tuple[int, int]],
    *,
    wanted: int,
) -> list[int]:
    """Row numbers of the best chunks by the rarer terms; the common ones only reorder them later."""
    affordable: list[str] = []
    rows = 0
    for term in rarest_first:
        rows += frequencies[term]
        if rows > (MATCH_BUDGET if affordable else RAREST_BUDGET):
            break
        affordable.append(term)
    if affordable:
        return _ranked(connection, " OR ".join(map(quoted, affordable)), ranges, wanted, rows=RAREST_BUDGET)
    # Every term is common: chunks that hold the rarest of them together come first, and a cut list of any otherwise.
    found: dict[int, None] = {}
    for terms in (rarest_first[:3], rarest_first[:1]):
        if len(found) < wanted // 4:
            match = " AND ".join(map(quoted, terms))
            found.update(dict.fromkeys(_ranked(connection, match, ranges, wanted, rows=MATCH_BUDGET)))
    return list(found)


def _ranked(
    connection: sqlite3.Connection, match: str, ranges: Sequence[tuple[int, int]], wanted: int, *, rows: int
) -> list[int]:
    """Row numbers by FTS5's own BM25, of the first `rows` matches: the work is bounded however common the terms are."""
    found: list[tuple[float, int]] = []
    for first, last in ranges:
        ranked = connection.execute(
            """
            SELECT score, number FROM (
                SELECT rowid AS number, bm25(keywords) AS score FROM keywords
                WHERE keywords MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?
            ) ORDER BY score LIMIT ?
            """,
            (match, first, last, rows, wanted),
        )
        found.extend((row[0], row[1]) for row in ranked)
    return [number for _, number in sorted(found)[:wanted]]


def _scores(
    connection: sqlite3.Connection, numbers: Sequence[int], idf: Mapping[str, float], mean_tokens: float
) -> dict[int, float]:
    scores: dict[int, float] = {}
    spaced = [(f" {term} ", weight) for term, weight in idf.items()]
    for start in range(0, len(numbers), 400):
        batch = numbers[start : start + 400]
        rows = connection.execute(f"SELECT rowid, tokens FROM keywords WHERE rowid IN ({','.join(map(str, batch))})")
        for number, text in rows:
            # looking for " term " in the joined text is three times as fast as splitting it; of a term that follows
            # itself every second one is missed, which moves no rank
            padded = f" {text} "
            norm = K1 * (1 - B + B * (padded.count(" ") - 1) / mean_tokens)
            scores[number] = sum(
                weight * count * (K1 + 1) / (count + norm) for term, weight in spaced if (count := padded.count(term))
            )
    return scores


def _ids(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, str]:
    rows = connection.execute(f"SELECT number, id FROM chunks WHERE number IN ({','.join(map(str, numbers))})")
    return {row[0]: row[1] for row in rows}


def quoted(term: str) -> str:
    """The term as a string of a query of FTS5."""
    return '"' + term.replace('"', '""') + '"'
