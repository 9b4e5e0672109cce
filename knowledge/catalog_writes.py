"""Changes of the catalog's content: one document, one transaction, every generation that needs it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from knowledge.catalog_links import resolve_links
from knowledge.catalog_rows import (
    IndexedDraft,
    PreparedDocument,
    called_name,
    document_id,
    first_number,
    pack_blocks,
)

_PLACE_COLUMNS = (
    "ordinal, kind, part_of, label, symbol, symbol_kind, signature, start_line, end_line, page, first_block, "
    "last_block, regulation, anchors, text, family, valid_from, doubtful, name"
)
_UPDATE_CHUNK = (
    "UPDATE chunks SET " + ", ".join(f"{name.strip()} = ?" for name in _PLACE_COLUMNS.split(",")) + " WHERE number = ?"
)
_INSERT_CHUNK = (
    f"INSERT INTO chunks ({_PLACE_COLUMNS}, number, generation, id, document, tokens, index_text) "
    f"VALUES ({', '.join('?' * 25)})"
)


def put_document(
    connection: sqlite3.Connection, generation: int, prepared: PreparedDocument, *, now: datetime
) -> set[str]:
    """Writes `prepared` into one generation inside the caller's transaction; returns the ids that are gone.

    Chunks whose id stands already are updated in place: their keyword row and their vectors stay. New ones are pending
    in every space of the generation.
    """
    number = _put_document_row(connection, generation, prepared, now)
    standing = {
        row["id"]: row["number"]
        for row in connection.execute("SELECT id, number FROM chunks WHERE document = ?", (number,))
    }
    wanted = {indexed.id for indexed in prepared.drafts}
    gone = {chunk_id: row for chunk_id, row in standing.items() if chunk_id not in wanted}
    _remove_chunks(connection, generation, list(gone.values()))
    added = [(place, indexed) for place, indexed in enumerate(prepared.drafts) if indexed.id not in standing]
    for place, indexed in enumerate(prepared.drafts):
        if indexed.id in standing:
            connection.execute(_UPDATE_CHUNK, (*_place_values(place, indexed), standing[indexed.id]))
    numbers = dict(standing) | _insert_chunks(connection, generation, number, added)
    _put_relations(connection, generation, prepared.drafts, numbers)
    return set(gone)


def delete_document(connection: sqlite3.Connection, generation: int, number: int) -> set[str]:
    """Removes a document from one generation inside the caller's transaction; returns the chunk ids that are gone."""
    rows = connection.execute("SELECT id, number FROM chunks WHERE document = ?", (number,)).fetchall()
    _remove_chunks(connection, generation, [row["number"] for row in rows])
    connection.execute("DELETE FROM documents WHERE number = ?", (number,))
    return {row["id"] for row in rows}


def _put_document_row(
    connection: sqlite3.Connection, generation: int, prepared: PreparedDocument, now: datetime
) -> int:
    values = (
        document_id(prepared.source, prepared.uri),
        prepared.content_hash,
        prepared.revision,
        prepared.title,
        prepared.media_type,
        prepared.format,
        prepared.extractor,
        prepared.status,
        prepared.reason,
        json.dumps(prepared.warnings, ensure_ascii=False),
        len(prepared.drafts),
        now.isoformat(),
        pack_blocks(prepared.blocks) if prepared.blocks else None,
        " ".join(prepared.imports),
    )
    row = connection.execute(
        """
        INSERT INTO documents (generation, uri, file_name, id, content_hash, revision, title, media_type, format,
                               extractor, status, reason, warnings, chunks, updated_at, blocks, imports)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (generation, uri) DO UPDATE SET
            id = excluded.id, content_hash = excluded.content_hash, revision = excluded.revision,
            title = excluded.title, media_type = excluded.media_type, format = excluded.format,
            extractor = excluded.extractor, status = excluded.status, reason = excluded.reason,
            warnings = excluded.warnings, chunks = excluded.chunks, updated_at = excluded.updated_at,
            blocks = excluded.blocks, imports = excluded.imports
        RETURNING number
        """,
        (generation, prepared.uri, prepared.uri.rpartition("/")[2], *values),
    ).fetchall()
    return int(row[0][0])


def _insert_chunks(
    connection: sqlite3.Connection, generation: int, document: int, added: Sequence[tuple[int, IndexedDraft]]
) -> dict[str, int]:
    if not added:
        return {}
    row = connection.execute("SELECT next_chunk FROM generations WHERE id = ?", (generation,)).fetchone()
    start = first_number(generation) + int(row[0])
    numbers = {indexed.id: start + place for place, (_, indexed) in enumerate(added)}
    connection.executemany(
        _INSERT_CHUNK,
        [
            (
                *_place_values(ordinal, indexed),
                numbers[indexed.id],
                generation,
                indexed.id,
                document,
                len(indexed.tokens),
                indexed.draft.index_text,
            )
            for ordinal, indexed in added
        ],
    )
    connection.executemany(
        "INSERT INTO keywords (rowid, tokens) VALUES (?, ?)",
        [(numbers[indexed.id], " ".join(indexed.tokens)) for _, indexed in added],
    )
    _count_terms(connection, generation, (indexed.tokens for _, indexed in added), sign=1)
    connection.execute(
        "UPDATE generations SET chunks = chunks + ?, tokens = tokens + ?, next_chunk = next_chunk + ? WHERE id = ?",
        (len(added), sum(len(indexed.tokens) for _, indexed in added), len(added), generation),
    )
    connection.executemany(
        "INSERT INTO pending (generation, embedder, chunk) "
        "SELECT generation, embedder, ? FROM spaces WHERE generation = ?",
        [(number, generation) for number in numbers.values()],
    )
    return numbers


def _remove_chunks(connection: sqlite3.Connection, generation: int, numbers: Sequence[int]) -> None:
    if not numbers:
        return
    keys = [(number,) for number in numbers]
    texts: list[list[str]] = []
    for key in keys:
        texts.extend(
            row[0].split(" ") for row in connection.execute("SELECT tokens FROM keywords WHERE rowid = ?", key)
        )
    _count_terms(connection, generation, texts, sign=-1)
    for statement in (
        "DELETE FROM keywords WHERE rowid = ?",
        "DELETE FROM links WHERE article = ?",
        "DELETE FROM links WHERE appendix = ?",
        "DELETE FROM callers WHERE chunk = ?",
        "DELETE FROM pending WHERE chunk = ?",
        "DELETE FROM chunks WHERE number = ?",
    ):
        connection.executemany(statement, keys)
    connection.execute(
        "UPDATE generations SET chunks = chunks - ?, tokens = tokens - ? WHERE id = ?",
        (len(numbers), sum(len(tokens) for tokens in texts if tokens != [""]), generation),
    )


def _count_terms(connection: sqlite3.Connection, generation: int, texts: Iterable[Sequence[str]], *, sign: int) -> None:
    counts: Counter[str] = Counter()
    for tokens in texts:
        counts.update(set(tokens) - {""})
    # in key order, so that neighbouring terms share the pages that are written
    connection.executemany(
        """
        INSERT INTO terms (term, generation, chunks) VALUES (?, ?, ?)
        ON CONFLICT (term, generation) DO UPDATE SET chunks = chunks + excluded.chunks
        """,
        [(term, generation, sign * count) for term, count in sorted(counts.items())],
    )
    if sign < 0:
        connection.executemany(
            "DELETE FROM terms WHERE term = ? AND generation = ? AND chunks <= 0",
            [(term, generation) for term in sorted(counts)],
        )


def _put_relations(
    connection: sqlite3.Connection, generation: int, drafts: Sequence[IndexedDraft], numbers: Mapping[str, int]
) -> None:
    rows = [numbers[indexed.id] for indexed in drafts]
    keys = [(row,) for row in rows]
    connection.executemany("DELETE FROM links WHERE article = ?", keys)
    connection.executemany("DELETE FROM callers WHERE chunk = ?", keys)
    connection.executemany(
        "INSERT INTO links (generation, article, position, appendix) VALUES (?, ?, ?, ?)",
        [
            (generation, rows[place], position, rows[target])
            for place, targets in resolve_links([indexed.draft for indexed in drafts])
            for position, target in enumerate(targets)
        ],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO callers (generation, name, chunk, line, receivers) VALUES (?, ?, ?, ?, ?)",
        [
            (generation, site.name, row, site.line, " ".join(receiver or "-" for receiver in site.receivers))
            for indexed, row in zip(drafts, rows, strict=True)
            for site in indexed.draft.call_sites
        ],
    )


def _place_values(ordinal: int, indexed: IndexedDraft) -> tuple[object, ...]:
    draft = indexed.draft
    return (
        ordinal,
        draft.kind,
        draft.group,
        draft.label,
        draft.symbol,
        draft.symbol_kind,
        draft.signature,
        draft.start_line,
        draft.end_line,
        draft.page,
        draft.first_block,
        draft.last_block,
        draft.regulation,
        json.dumps(draft.anchors, ensure_ascii=False),
        draft.text,
        draft.family,
        None if draft.valid_from is None else draft.valid_from.isoformat(),
        json.dumps([[word.text, word.page] for word in indexed.doubtful], ensure_ascii=False)
        if indexed.doubtful
        else None,
        called_name(draft.symbol, draft.symbol_kind),
    )
