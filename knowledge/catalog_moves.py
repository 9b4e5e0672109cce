"""A file of a repository under another name: its rows stay, and only what its path is part of is written anew.

The index text of code begins with its path. So a file that was moved has the same chunks with other ids and a few other
index tokens; nothing is parsed. Links and callers point to row numbers, which stay.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from knowledge.catalog_rows import IndexedDraft, document_id
from knowledge.chunking.code_text import words_of
from knowledge.types import ChunkDraft

_NAMED_AFTER_FILE = frozenset([".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"])
# Their chunks are named by what they hold, and only their grammar depends on the name of the file, by its ending.
_CODE = _NAMED_AFTER_FILE | frozenset(
    [
        ".py", ".pyi", ".java", ".kt", ".kts", ".go", ".swift", ".sol", ".cs", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp",
        ".cxx", ".rb", ".php", ".scala", ".sh", ".bash", ".sql", ".md", ".markdown",
    ]
)  # fmt: skip
_INDEX = re.compile(r"index\.\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """What is needed of a chunk to move it."""

    number: int
    id: str
    symbol: str | None
    label: str | None
    index_text: str


def has_document(connection: sqlite3.Connection, generation: int, uri: str) -> bool:
    """Whether something stands under `uri` already."""
    row = connection.execute("SELECT 1 FROM documents WHERE generation = ? AND uri = ?", (generation, uri)).fetchone()
    return row is not None


def stored_chunks(connection: sqlite3.Connection, document: int) -> list[StoredChunk]:
    """The chunks of a document, in order."""
    rows = connection.execute(
        "SELECT number, id, symbol, label, index_text FROM chunks WHERE document = ? ORDER BY ordinal", (document,)
    )
    return [StoredChunk(number=r[0], id=r[1], symbol=r[2], label=r[3], index_text=r[4]) for r in rows]


def moved_index_texts(old: str, new: str, chunks: Sequence[StoredChunk]) -> list[str] | None:
    """The index texts under the path `new`; None where the name of the file may decide more than that."""
    before, after = PurePosixPath(old), PurePosixPath(new)
    suffix = after.suffix.lower()
    if suffix != before.suffix.lower():
        return None
    if before.name != after.name and suffix not in _CODE:
        return None  # formats of configuration are told apart by whole names
    if suffix in _NAMED_AFTER_FILE and _given_name(before) != _given_name(after):
        given = _given_name(before).lower()
        if any((chunk.symbol or "").partition(".")[0].lower() == given for chunk in chunks):
            return None  # `export default` takes the name of its file
    texts = [_moved(old, new, chunk.index_text) for chunk in chunks]
    return [text for text in texts if text is not None] if None not in texts else None


def _given_name(path: PurePosixPath) -> str:
    return path.parent.name if _INDEX.fullmatch(path.name) else path.name.partition(".")[0]


def _moved(old: str, new: str, text: str) -> str | None:
    """An index text is the path, a line with the name, and the text; a window's name is the words of its path."""
    first, _, rest = text.partition("\n")
    if first != old:
        return None
    second, newline, body = rest.partition("\n")
    if second == words_of(old):
        rest = words_of(new) + newline + body
    return f"{new}\n{rest}"


def draft_of(chunk: StoredChunk, index_text: str) -> ChunkDraft:
    """A draft with what decides the id of a chunk."""
    return ChunkDraft(kind="window", text="", index_text=index_text, group="", symbol=chunk.symbol, label=chunk.label)


def move_document(
    connection: sqlite3.Connection,
    generation: int,
    number: int,
    chunks: Sequence[StoredChunk],
    moved: Sequence[IndexedDraft],
    *,
    source: str,
    uri: str,
    revision: str,
    media_type: str,
    now: datetime,
) -> set[str]:
    """Gives a document its new uri inside the caller's transaction; returns the chunk ids that are gone.

    `moved` holds the new index texts of `chunks`, in the same order; they wait for their vectors.
    """
    name = PurePosixPath(uri).name
    connection.execute(
        "UPDATE documents SET uri = ?, file_name = ?, id = ?, revision = ?, title = ?, media_type = ?, updated_at = ? "
        "WHERE number = ?",
        (uri, name, document_id(source, uri), revision, name, media_type, now.isoformat(), number),
    )
    before = {
        chunk.number: connection.execute("SELECT tokens FROM keywords WHERE rowid = ?", (chunk.number,)).fetchone()[0]
        for chunk in chunks
    }
    pairs = list(zip(chunks, moved, strict=True))
    connection.executemany(
        "UPDATE chunks SET id = ?, index_text = ?, tokens = ? WHERE number = ?",
        [(m.id, m.draft.index_text, len(m.tokens), chunk.number) for chunk, m in pairs],
    )
    connection.executemany(
        "UPDATE keywords SET tokens = ? WHERE rowid = ?", [(" ".join(m.tokens), chunk.number) for chunk, m in pairs]
    )
    _recount(connection, generation, before, {chunk.number: m.tokens for chunk, m in pairs})
    connection.executemany(
        "INSERT OR IGNORE INTO pending (generation, embedder, chunk) "
        "SELECT generation, embedder, ? FROM spaces WHERE generation = ?",
        [(chunk.number, generation) for chunk in chunks],
    )
    return {chunk.id for chunk in chunks} - {m.id for m in moved}


def _recount(
    connection: sqlite3.Connection, generation: int, before: Mapping[int, str], after: Mapping[int, Sequence[str]]
) -> None:
    change: Counter[str] = Counter()
    length = 0
    for number, text in before.items():
        old = [token for token in text.split(" ") if token]
        change.subtract(set(old))
        change.update(set(after[number]) - {""})
        length += len(after[number]) - len(old)
    changed = sorted((term, count) for term, count in change.items() if count)
    connection.executemany(
        "INSERT INTO terms (term, generation, chunks) VALUES (?, ?, ?) "
        "ON CONFLICT (term, generation) DO UPDATE SET chunks = chunks + excluded.chunks",
        [(term, generation, count) for term, count in changed],
    )
    connection.executemany(
        "DELETE FROM terms WHERE term = ? AND generation = ? AND chunks <= 0",
        [(term, generation) for term, _ in changed],
    )
    connection.execute("UPDATE generations SET tokens = tokens + ? WHERE id = ?", (length, generation))
