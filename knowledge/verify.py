"""Compares catalog, keyword index, vector cache and vector index with one another, and mends what differs.

The catalog's chunks are the truth. Everything else is derived from them and from the cache, so nothing is embedded
again: a vector that only the vector index has is copied into the cache, and the other way round.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from knowledge.analysis import analyze
from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation, RecordedSpace
from knowledge.catalog_rows import first_number, last_number
from knowledge.errors import CatalogCorrupt
from knowledge.index.collections import collection_name
from knowledge.index.reconcile import reconcile, restore_from_cache
from knowledge.index.vector_cache import VectorCache, text_key
from knowledge.ports import VectorIndex
from knowledge.verify_changes import check_changes

PAGE = 1_000
SAME = 0.9999  # cosine of two copies of one vector, rounding allowed for
EVERYTHING = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of difference: how often it was found, and how often it could be mended."""

    part: str  # "catalog", "keywords", "commits", "vectors", "cache"
    what: str
    found: int
    repaired: int


@dataclass(slots=True)
class Verified:
    """What was compared and what differed. `ok` when nothing is left that differs."""

    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(finding.found == finding.repaired for finding in self.findings)

    def note(self, part: str, what: str, found: int, repaired: int) -> None:
        if found:
            self.findings.append(Finding(part=part, what=what, found=found, repaired=repaired))


def verify(
    catalog: Catalog,
    vectors: VectorIndex,
    cache: VectorCache,
    *,
    repair: bool,
    progress: Callable[[str], None] = lambda part: None,
) -> Verified:
    """What was found. With `repair` it has been mended, as far as that needs no embedding.

    Raises CatalogCorrupt when the file itself is damaged, ToolDown when the vector index cannot be reached.
    """
    report = Verified()
    progress("catalog")
    _check_file(catalog)
    for generation in catalog.generations():
        if generation.state == "retired":
            continue
        _check_rows(catalog, generation, report, repair=repair)
        progress(f"keywords of {generation.source}")
        _check_keywords(catalog, generation, report, repair=repair)
        documents, chunks, _ = catalog.counts(generation.id)
        report.documents += documents
        report.chunks += chunks
    progress("commits")
    for what, found, repaired in check_changes(catalog, repair=repair):
        report.note("commits", what, found, repaired)
    progress("vectors")
    if repair:
        _reconcile(catalog, vectors, cache, report)
    for generation in catalog.generations():
        if generation.state == "retired":
            continue
        for recorded in generation.spaces:
            if recorded.space is not None:
                progress(f"vectors of {generation.source}")
                _check_vectors(catalog, vectors, cache, generation, recorded, report, repair=repair)
    return report


def _check_file(catalog: Catalog) -> None:
    with catalog.reading() as connection:
        said = connection.execute("PRAGMA quick_check(5)").fetchall()
    if [row[0] for row in said] != ["ok"]:
        raise CatalogCorrupt(
            f"{catalog.path} is damaged ({said[0][0]}): restore it from a backup, or delete it together with its -wal"
            " and -shm files and run `haechi ingest` to build it anew"
        )


# --- rows of the catalog --------------------------------------------------------------------------

_DANGLING = {
    "chunks without a document": "FROM chunks WHERE generation = ? AND document NOT IN (SELECT number FROM documents)",
    "links to chunks that are gone": (
        "FROM links WHERE generation = ? AND (article NOT IN (SELECT number FROM chunks)"
        " OR appendix NOT IN (SELECT number FROM chunks))"
    ),
    "callers that are gone": "FROM callers WHERE generation = ? AND chunk NOT IN (SELECT number FROM chunks)",
    "vectors expected for chunks that are gone": (
        "FROM pending WHERE generation = ? AND chunk NOT IN (SELECT number FROM chunks)"
    ),
}


def _check_rows(catalog: Catalog, generation: Generation, report: Verified, *, repair: bool) -> None:
    for what, rows in _DANGLING.items():
        with catalog.reading() as connection:
            found = connection.execute(f"SELECT count(*) {rows}", (generation.id,)).fetchone()[0]
        if found and repair:
            with catalog.transaction() as connection:
                connection.execute(f"DELETE {rows}", (generation.id,))
        report.note("catalog", what, found, found if repair else 0)
    mend = (
        "UPDATE documents SET chunks = (SELECT count(*) FROM chunks c WHERE c.document = documents.number)"
        " WHERE generation = ? AND chunks <> (SELECT count(*) FROM chunks c WHERE c.document = documents.number)"
    )
    with catalog.reading() as connection:
        wrong = connection.execute(
            "SELECT count(*) FROM documents d WHERE generation = ?"
            " AND chunks <> (SELECT count(*) FROM chunks c WHERE c.document = d.number)",
            (generation.id,),
        ).fetchone()[0]
    if wrong and repair:
        with catalog.transaction() as connection:
            connection.execute(mend, (generation.id,))
    report.note("catalog", "documents with a wrong number of chunks", wrong, wrong if repair else 0)


# --- the keyword index ----------------------------------------------------------------------------


def _check_keywords(catalog: Catalog, generation: Generation, report: Verified, *, repair: bool) -> None:
    """Every chunk has its keyword row, no row stands alone, and the counts that BM25 uses are right."""
    lowest, highest = first_number(generation.id), last_number(generation.id)
    with catalog.reading() as connection:
        bare = connection.execute(
            "SELECT c.number, c.index_text FROM chunks c LEFT JOIN keywords k ON k.rowid = c.number"
            " WHERE c.generation = ? AND k.rowid IS NULL",
            (generation.id,),
        ).fetchall()
        alone = connection.execute(
            "SELECT k.rowid FROM keywords k LEFT JOIN chunks c ON c.number = k.rowid"
            " WHERE k.rowid BETWEEN ? AND ? AND c.number IS NULL",
            (lowest, highest),
        ).fetchall()
    tokens = [(row[0], " ".join(analyze(row[1]))) for row in bare] if repair else []
    if repair and (bare or alone):
        with catalog.transaction() as connection:
            connection.executemany("DELETE FROM keywords WHERE rowid = ?", [(row[0],) for row in alone])
            connection.executemany("INSERT INTO keywords (rowid, tokens) VALUES (?, ?)", tokens)
    report.note("keywords", "chunks that words cannot find", len(bare), len(bare) if repair else 0)
    report.note("keywords", "entries of chunks that are gone", len(alone), len(alone) if repair else 0)
    _check_counts(catalog, generation, report, lowest, highest, repair=repair)


def _check_counts(
    catalog: Catalog, generation: Generation, report: Verified, lowest: int, highest: int, *, repair: bool
) -> None:
    holding: Counter[str] = Counter()
    chunks = total = 0
    with catalog.reading() as connection:
        for row in connection.execute("SELECT tokens FROM keywords WHERE rowid BETWEEN ? AND ?", (lowest, highest)):
            words = row[0].split()
            chunks, total = chunks + 1, total + len(words)
            holding.update(set(words))
        recorded = dict(
            connection.execute("SELECT term, chunks FROM terms WHERE generation = ?", (generation.id,)).fetchall()
        )
        counters = connection.execute(
            "SELECT chunks, tokens FROM generations WHERE id = ?", (generation.id,)
        ).fetchone()
    wrong = {term for term in holding.keys() | recorded.keys() if holding.get(term, 0) != recorded.get(term, 0)}
    off = (chunks, total) != tuple(counters)
    if repair and (wrong or off):
        with catalog.transaction() as connection:
            _write_counts(connection, generation.id, {term: holding.get(term, 0) for term in wrong}, chunks, total)
    report.note("keywords", "words with a wrong count", len(wrong), len(wrong) if repair else 0)
    report.note("keywords", "totals that are wrong", int(off), int(off and repair))


def _write_counts(
    connection: sqlite3.Connection, generation: int, counts: dict[str, int], chunks: int, tokens: int
) -> None:
    rows = sorted(counts.items())
    connection.executemany("DELETE FROM terms WHERE term = ? AND generation = ?", [(t, generation) for t, _ in rows])
    connection.executemany(
        "INSERT INTO terms (term, generation, chunks) VALUES (?, ?, ?)", [(t, generation, n) for t, n in rows if n]
    )
    connection.execute("UPDATE generations SET chunks = ?, tokens = ? WHERE id = ?", (chunks, tokens, generation))


# --- vectors --------------------------------------------------------------------------------------


def _reconcile(catalog: Catalog, vectors: VectorIndex, cache: VectorCache, report: Verified) -> None:
    """Orphans out, missing vectors in, all of them: what is not in the cache stays pending for the next sync."""
    done = reconcile(catalog, vectors, cache, thorough=True)
    restored = done.restored
    for generation in catalog.generations():
        for recorded in generation.spaces if generation.state != "retired" else ():
            restored += restore_from_cache(catalog, vectors, cache, generation, recorded, limit=EVERYTHING)
    report.note("vectors", "collections that belong to nothing", done.dropped, done.dropped)
    report.note("vectors", "vectors of chunks that are gone", done.orphans, done.orphans)
    report.note("vectors", "chunks whose vector was missing", done.missing, min(restored, done.missing))


def _check_vectors(
    catalog: Catalog,
    vectors: VectorIndex,
    cache: VectorCache,
    generation: Generation,
    recorded: RecordedSpace,
    report: Verified,
    *,
    repair: bool,
) -> None:
    """Index and cache hold the same vector for every confirmed chunk; the cache is right where they differ."""
    assert recorded.space is not None
    key = recorded.space.key
    name = collection_name(catalog.installation, generation.source, key)
    missing = different = uncached = 0
    after = 0
    while page := _confirmed(catalog, generation.id, recorded.embedder, after):
        after = page[-1][0]
        stored = vectors.fetch(name, [chunk for _, chunk, _ in page])
        held = cache.get(key, [text for _, _, text in page])
        report.vectors += len(stored)
        missing += sum(chunk not in stored for _, chunk, _ in page)
        lost = {text: stored[chunk] for _, chunk, text in page if chunk in stored and text not in held}
        wrong = {
            chunk: held[text]
            for _, chunk, text in page
            if chunk in stored and text in held and not _same(stored[chunk], held[text])
        }
        uncached, different = uncached + len(lost), different + len(wrong)
        if repair:
            cache.put(key, lost)
            if wrong:
                vectors.upsert(name, list(wrong), np.stack(list(wrong.values())))
    if not repair:  # with repair the reconcile has counted and mended them
        report.note("vectors", "chunks whose vector is missing", missing, 0)
    report.note("vectors", "vectors that differ from the cache", different, different if repair else 0)
    report.note("cache", "vectors that the cache has lost", uncached, uncached if repair else 0)


def _confirmed(catalog: Catalog, generation: int, embedder: str, after: int) -> Sequence[tuple[int, str, bytes]]:
    """(number, chunk id, cache key) of the next chunks whose vector has been stored, by number."""
    with catalog.reading() as connection:
        rows = connection.execute(
            "SELECT c.number, c.id, c.index_text FROM chunks c LEFT JOIN pending p"
            " ON p.chunk = c.number AND p.generation = c.generation AND p.embedder = ?"
            " WHERE c.number > ? AND c.number BETWEEN ? AND ? AND p.chunk IS NULL ORDER BY c.number LIMIT ?",
            (embedder, after, first_number(generation), last_number(generation), PAGE),
        ).fetchall()
    return [(row[0], row[1], text_key(row[2])) for row in rows]


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and float(np.dot(one, other)) >= SAME * float(
        np.linalg.norm(one) * np.linalg.norm(other)
    )
