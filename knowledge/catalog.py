"""catalog.sqlite3, the single truth of what is known: who may see which chunk is decided by its generations."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from pathlib import Path
from uuid import uuid4

from knowledge.catalog_db import Database
from knowledge.catalog_generations import Generation, read_generations
from knowledge.catalog_rows import CHUNK_COLUMNS, KnownDocument, as_chunk, as_time, first_number, last_number
from knowledge.types import EVIDENCE_KIND, Caller, Chunk, DocumentSummary, EvidenceKind, FailedItem, Scope, SkippedItem

ID_BATCH = 400
GROUP_REACH = 32  # parts of one section that are looked at on either side of a chunk: more than are ever shown


def _new_id() -> str:
    return uuid4().hex


class Catalog:
    """Reads of the catalog, and the transaction through which everything is written.

    Provides `knowledge.ports.ChunkLookup`. Only sources named in `configured` are visible; None means all.
    """

    def __init__(self, database: Database, *, configured: Collection[str] | None, new_id: Callable[[], str]) -> None:
        self._db = database
        self._configured = None if configured is None else frozenset(configured)
        self.installation = self._read_or_make_installation(new_id)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        configured: Collection[str] | None = None,
        new_id: Callable[[], str] = _new_id,
        max_pages: int | None = None,
    ) -> Catalog:
        """The catalog at `path`, created when missing. Raises NewerData, CatalogCorrupt, StorageFull, Busy."""
        return cls(Database.open(path, prefix="catalog", max_pages=max_pages), configured=configured, new_id=new_id)

    @property
    def path(self) -> Path:
        return self._db.path

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._db.reading()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._db.transaction()

    def copy_to(self, path: Path) -> None:
        """Writes a consistent copy to `path`, a new file."""
        self._db.copy_to(path)

    def replace_by(self, path: Path) -> None:
        """Takes over the content of another catalog; its collections bear that one's installation from now on."""
        self._db.replace_by(path)
        self.installation = self._read_or_make_installation(_new_id)

    def close(self) -> None:
        self._db.close()

    # --- ChunkLookup ------------------------------------------------------------------------------

    def active_generations(self, scope: Scope) -> dict[str, int]:
        with self._db.reading() as connection:
            rows = connection.execute(
                "SELECT name, active_generation FROM sources WHERE active_generation IS NOT NULL ORDER BY name"
            )
            return {row[0]: row[1] for row in rows if self._sees(scope, row[0])}

    def evidence_kinds(self) -> dict[str, EvidenceKind]:
        with self._db.reading() as connection:
            return {row[0]: EVIDENCE_KIND[row[1]] for row in connection.execute("SELECT name, kind FROM sources")}

    def visible_chunks(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, Chunk]:
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Chunk] = {}
        for start in range(0, len(wanted), ID_BATCH):
            batch = wanted[start : start + ID_BATCH]
            marks = ",".join("?" * len(batch))
            found.update((c.id, c) for c in self.chunks_where(f"c.id IN ({marks})", batch, generations))
        return found

    def linked_chunk_ids(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, list[str]]:
        return self._links(ids, generations, known="article", wanted="appendix", order="l.position")

    def referring_chunk_ids(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, list[str]]:
        return self._links(ids, generations, known="appendix", wanted="article", order="w.number")

    def _links(
        self, ids: Collection[str], generations: Mapping[str, int], *, known: str, wanted: str, order: str
    ) -> dict[str, list[str]]:
        """Chunk id at the `known` end of links -> chunk ids at the `wanted` end."""
        linked: dict[str, list[str]] = {}
        distinct = list(dict.fromkeys(ids))
        with self._db.reading() as connection:
            for start in range(0, len(distinct), ID_BATCH):
                batch = distinct[start : start + ID_BATCH]
                rows = connection.execute(
                    f"""
                    SELECT k.id, w.id FROM chunks k JOIN links l ON l.{known} = k.number
                    JOIN chunks w ON w.number = l.{wanted}
                    WHERE k.id IN ({",".join("?" * len(batch))}) AND k.generation IN ({_integers(generations.values())})
                    ORDER BY k.number, {order}
                    """,
                    batch,
                )
                for known_id, wanted_id in rows:
                    linked.setdefault(known_id, []).append(wanted_id)
        return linked

    def group_parts(self, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
        if chunk.locator.source not in generations:
            return []
        return list(
            self.chunks_where(
                "d.uri = ? AND d.generation = ? AND c.ordinal BETWEEN ? AND ? AND c.part_of = ? ORDER BY c.ordinal",
                (
                    chunk.locator.uri,
                    generations[chunk.locator.source],
                    chunk.ordinal - GROUP_REACH,
                    chunk.ordinal + GROUP_REACH,
                    chunk.group,
                ),
                generations,
                start_at_document=True,
            )
        )

    def chunks_in_files(self, names: Collection[str], generations: Mapping[str, int]) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for name in dict.fromkeys(names):
            chunks = self.chunks_where(
                f"d.generation IN ({_integers(generations.values())}) AND d.file_name = ? "
                "AND (d.uri = ? OR substr(d.uri, -length(?)) = ?) ORDER BY d.generation, d.uri, c.ordinal",
                (name.rpartition("/")[2], name, f"/{name}", f"/{name}"),
                generations,
                start_at_document=True,
            )
            if of_name := list(chunks):
                found[name] = of_name
        return found

    def revision_dates(
        self, families: Collection[tuple[str, str]], generations: Mapping[str, int]
    ) -> dict[tuple[str, str], list[date]]:
        found: dict[tuple[str, str], list[date]] = {}
        with self._db.reading() as connection:
            for source in dict.fromkeys(source for source, _ in families):
                names = list(dict.fromkeys(family for other, family in families if other == source))
                rows = connection.execute(
                    "SELECT DISTINCT family, valid_from FROM chunks WHERE generation = ? AND valid_from IS NOT NULL "
                    f"AND family IN ({','.join('?' * len(names))}) ORDER BY family, valid_from",
                    (generations.get(source), *names),
                )
                for family, day in rows:
                    found.setdefault((source, family), []).append(date.fromisoformat(day))
        return found

    def revision_chunks(self, source: str, family: str, day: date, generations: Mapping[str, int]) -> list[Chunk]:
        return list(
            self.chunks_where(
                "c.family = ? AND c.valid_from = ? ORDER BY c.number",
                (family, day.isoformat()),
                {source: generations[source]},
            )
        )

    def callers_of(self, chunk: Chunk, generations: Mapping[str, int]) -> tuple[Caller, ...]:
        from knowledge.catalog_callers import find_callers

        return find_callers(self, chunk, generations)

    def used_modifiers(self, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
        from knowledge.catalog_callers import used_modifiers

        return used_modifiers(self, chunk, generations)

    def pending_counts(self, generations: Mapping[str, int]) -> dict[tuple[str, str], tuple[int, int]]:
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        with self._db.reading() as connection:
            for source, generation in generations.items():
                rows = connection.execute(
                    """
                    SELECT coalesce(s.key, s.embedder), g.chunks,
                           (SELECT count(*) FROM pending p
                            WHERE p.generation = s.generation AND p.embedder = s.embedder)
                    FROM spaces s JOIN generations g ON g.id = s.generation
                    WHERE s.generation = ? ORDER BY s.position
                    """,
                    (generation,),
                )
                counts.update(((source, row[0]), (row[2], row[1])) for row in rows)
        return counts

    # --- chunks and documents ---------------------------------------------------------------------

    def chunks_where(
        self,
        condition: str,
        values: Sequence[object],
        generations: Mapping[str, int],
        *,
        start_at_document: bool = False,
    ) -> Iterator[Chunk]:
        """Chunks (c) of documents (d) that fulfil an SQL condition, of the given source -> generation pairs only."""
        if not generations:
            return
        # CROSS JOIN pins the order of the tables: chunk ids are looked up first, or the document's chunks are
        tables = "documents d CROSS JOIN chunks c" if start_at_document else "chunks c CROSS JOIN documents d"
        kinds = self.evidence_kinds()
        sources = {generation: source for source, generation in generations.items()}
        visible = f"c.generation IN ({_integers(sources)})"
        with self._db.reading() as connection:
            rows = connection.execute(
                f"SELECT {CHUNK_COLUMNS} FROM {tables} ON c.document = d.number WHERE {visible} AND {condition}", values
            ).fetchall()
        for row in rows:
            yield as_chunk(row, sources=sources, kinds=kinds)

    def known_documents(self, generation: int) -> dict[str, KnownDocument]:
        """Uri -> what stands in one generation."""
        with self._db.reading() as connection:
            rows = connection.execute(
                "SELECT number, uri, content_hash, revision, status FROM documents WHERE generation = ?", (generation,)
            )
            return {
                row["uri"]: KnownDocument(
                    number=row["number"],
                    uri=row["uri"],
                    content_hash=row["content_hash"],
                    revision=row["revision"],
                    status=row["status"],
                )
                for row in rows
            }

    def summaries(self, scope: Scope) -> list[DocumentSummary]:
        """What is indexed and what failed within `scope`, by source and uri."""
        found: list[DocumentSummary] = []
        with self._db.reading() as connection:
            for source, generation in self.active_generations(scope).items():
                rows = connection.execute(
                    "SELECT uri, title, media_type, status, reason, chunks, revision, updated_at FROM documents "
                    "WHERE generation = ? ORDER BY uri",
                    (generation,),
                )
                found.extend(
                    DocumentSummary(
                        source=source,
                        uri=row["uri"],
                        title=row["title"],
                        media_type=row["media_type"],
                        status=row["status"],
                        reason=row["reason"],
                        chunks=row["chunks"],
                        revision=row["revision"],
                        updated_at=datetime.fromisoformat(row["updated_at"]),
                    )
                    for row in rows
                )
        return found

    def document_row(self, document_id: str, generation: int) -> sqlite3.Row | None:
        """The whole row of a document with its packed blocks."""
        with self._db.reading() as connection:
            row: sqlite3.Row | None = connection.execute(
                "SELECT * FROM documents WHERE generation = ? AND id = ?", (generation, document_id)
            ).fetchone()
            return row

    # --- sources ----------------------------------------------------------------------------------

    def generations(self, source: str | None = None) -> list[Generation]:
        """Generations of one source, or of all, oldest first."""
        with self._db.reading() as connection:
            return read_generations(connection, source)

    def source_names(self) -> set[str]:
        """Every source that has rows, configured or not."""
        with self._db.reading() as connection:
            return {row[0] for row in connection.execute("SELECT name FROM sources")}

    def source_state(self, source: str) -> tuple[str | None, datetime | None, str | None]:
        """(revision, time of the last complete sync, problem of the last sync)."""
        with self._db.reading() as connection:
            row = connection.execute(
                "SELECT revision, last_sync, problem FROM sources WHERE name = ?", (source,)
            ).fetchone()
        return (None, None, None) if row is None else (row[0], as_time(row[1]), row[2])

    def counts(self, generation: int) -> tuple[int, int, tuple[FailedItem, ...]]:
        """(indexed documents, chunks, failed documents) of a generation."""
        with self._db.reading() as connection:
            documents = connection.execute(
                "SELECT count(*) FROM documents WHERE generation = ? AND status = 'indexed'", (generation,)
            ).fetchone()[0]
            chunks = connection.execute("SELECT chunks FROM generations WHERE id = ?", (generation,)).fetchone()
            failed = connection.execute(
                "SELECT uri, reason FROM documents WHERE generation = ? AND status = 'failed' ORDER BY uri",
                (generation,),
            ).fetchall()
        items = tuple(FailedItem(uri=row[0], reason=row[1] or "") for row in failed)
        return int(documents), 0 if chunks is None else int(chunks[0]), items

    def skipped(self, source: str) -> tuple[SkippedItem, ...]:
        with self._db.reading() as connection:
            rows = connection.execute("SELECT uri, reason FROM skipped WHERE source = ? ORDER BY uri", (source,))
            return tuple(SkippedItem(uri=row[0], reason=row[1]) for row in rows)

    def warned(self, generation: int) -> dict[str, int]:
        """What could not be read in part of its documents -> in how many of them, the commonest first."""
        with self._db.reading() as connection:
            rows = connection.execute(
                "SELECT w.value, count(*) FROM documents d, json_each(d.warnings) w "
                "WHERE d.generation = ? AND d.status = 'indexed' GROUP BY w.value ORDER BY 2 DESC, 1",
                (generation,),
            )
            return {row[0]: row[1] for row in rows}

    # --- vectors ----------------------------------------------------------------------------------

    def pending_chunks(self, generation: int, embedder: str, *, after: int, limit: int) -> list[tuple[int, str, str]]:
        """(number, chunk id, index text) of chunks without a confirmed vector, by number, beyond `after`."""
        with self._db.reading() as connection:
            rows = connection.execute(
                """
                SELECT c.number, c.id, c.index_text FROM pending p JOIN chunks c ON c.number = p.chunk
                WHERE p.generation = ? AND p.embedder = ? AND p.chunk > ? ORDER BY p.chunk LIMIT ?
                """,
                (generation, embedder, after, limit),
            )
            return [(row[0], row[1], row[2]) for row in rows]

    def pending_count(self, generation: int, embedder: str, *, rejected: bool = True) -> int:
        """How many chunks lack a vector; `rejected=False` leaves out texts that the embedder refuses for good."""
        condition = "" if rejected else "AND problem IS NULL"
        with self._db.reading() as connection:
            row = connection.execute(
                f"SELECT count(*) FROM pending WHERE generation = ? AND embedder = ? {condition}",
                (generation, embedder),
            ).fetchone()
            return int(row[0])

    def confirmed_ids(self, generation: int, embedder: str) -> dict[str, int]:
        """Id -> number of the chunks whose vectors the vector index has confirmed."""
        with self._db.reading() as connection:
            rows = connection.execute(
                """
                SELECT id, number FROM chunks c WHERE number BETWEEN ? AND ? AND NOT EXISTS
                    (SELECT 1 FROM pending p WHERE p.generation = ? AND p.embedder = ? AND p.chunk = c.number)
                """,
                (first_number(generation), last_number(generation), generation, embedder),
            )
            return {row[0]: row[1] for row in rows}

    def ids_in_use(self, ids: Collection[str]) -> set[str]:
        """Those of `ids` that any generation still holds."""
        wanted = list(ids)
        used: set[str] = set()
        with self._db.reading() as connection:
            for start in range(0, len(wanted), ID_BATCH):
                batch = wanted[start : start + ID_BATCH]
                marks = ",".join("?" * len(batch))
                used.update(row[0] for row in connection.execute(f"SELECT id FROM chunks WHERE id IN ({marks})", batch))
        return used

    def check(self) -> None:
        """Raises CatalogCorrupt or another error when the file cannot be read."""
        with self._db.reading() as connection:
            connection.execute("SELECT count(*) FROM sources").fetchone()
            connection.execute("SELECT rowid FROM keywords LIMIT 1").fetchone()

    def _sees(self, scope: Scope, source: str) -> bool:
        return scope.allows(source) and (self._configured is None or source in self._configured)

    def _read_or_make_installation(self, new_id: Callable[[], str]) -> str:
        with self._db.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'installation'").fetchone()
        if row is not None:
            return str(row[0])
        with self._db.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('installation', ?)", (new_id()[:12],))
            return str(connection.execute("SELECT value FROM meta WHERE key = 'installation'").fetchone()[0])


def _integers(values: Collection[int]) -> str:
    return ",".join(str(int(value)) for value in values) or "NULL"
