"""What goes into the catalog and comes out of it: value objects, chunk ids, and the mapping of rows to types."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal

from knowledge.types import Block, Chunk, ChunkDraft, EvidenceKind, Locator

ID_CHARS = 32
GENERATION_SHIFT = 32  # chunks.number = generation << 32 | n

CHUNK_COLUMNS = """
    c.number, c.id, c.generation, c.ordinal, c.kind, c.part_of, c.label, c.symbol, c.symbol_kind, c.signature,
    c.start_line, c.end_line, c.page, c.first_block, c.last_block, c.anchors, c.tokens, c.text, c.index_text,
    c.family, c.valid_from, c.doubtful,
    d.id AS document_id, d.uri, d.revision, d.title
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulWord:
    """A word that OCR read with low confidence, and the page on which it stands."""

    text: str
    page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDraft:
    """A draft with its id and its index tokens: everything that must be known before a transaction opens."""

    id: str
    draft: ChunkDraft
    tokens: tuple[str, ...]
    doubtful: tuple[DoubtfulWord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """One document, read, masked, cut and analysed; or the reason why it could not be read."""

    source: str
    uri: str
    content_hash: str
    revision: str
    title: str
    media_type: str
    status: Literal["indexed", "failed"]
    reason: str | None = None
    format: str | None = None
    extractor: str | None = None
    warnings: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    drafts: tuple[IndexedDraft, ...] = ()
    imports: tuple[str, ...] = ()  # names in the import statements of a file of code


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDocument:
    """What the catalog knows of a document before it is read again."""

    number: int
    uri: str
    content_hash: str
    revision: str
    status: str


def document_id(source: str, uri: str) -> str:
    """The id of a document: the same as long as it keeps its source and its place there."""
    return _digest(source, uri)


def with_ids(
    source: str, uri: str, drafts: Sequence[ChunkDraft], tokens: Sequence[Sequence[str]]
) -> list[IndexedDraft]:
    """Drafts with ids: hash of source, uri, label or symbol, index text, and the how-manieth equal one this is."""
    seen: Counter[str] = Counter()
    indexed = []
    for draft, terms in zip(drafts, tokens, strict=True):
        base = _digest(source, uri, draft.symbol or draft.label or "", draft.index_text)
        seen[base] += 1
        indexed.append(IndexedDraft(id=_digest(base, str(seen[base])), draft=draft, tokens=tuple(terms)))
    return indexed


def _digest(*parts: str) -> str:
    joined = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS]


def called_name(symbol: str | None, kind: str | None) -> str | None:
    """The name by which code calls a definition: the last part of its symbol, for a constructor that of its class."""
    if symbol is None:
        return None
    *owners, name = symbol.split(".")
    return owners[-1] if kind == "constructor" and owners else name


def first_number(generation: int) -> int:
    """The lowest chunk number of a generation."""
    return generation << GENERATION_SHIFT


def last_number(generation: int) -> int:
    """The highest chunk number of a generation."""
    return ((generation + 1) << GENERATION_SHIFT) - 1


def pack_blocks(blocks: Sequence[Block]) -> bytes:
    """Blocks as compressed JSON."""
    rows = [{key: value for key, value in asdict(block).items() if value not in (None, ())} for block in blocks]
    return zlib.compress(json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass"), level=6)


def unpack_blocks(packed: bytes | None) -> tuple[Block, ...]:
    """The blocks that `pack_blocks` packed; none for a document without any."""
    if packed is None:
        return ()
    rows = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return tuple(Block(**{name: _frozen(value) for name, value in row.items()}) for row in rows)


def _frozen(value: Any) -> Any:
    """A JSON value as a block holds it: lists are tuples, however deep."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def as_chunk(row: sqlite3.Row, *, sources: Mapping[int, str], kinds: Mapping[str, EvidenceKind]) -> Chunk:
    """The chunk of a row of CHUNK_COLUMNS; `sources` maps generations to their sources."""
    source = sources[row["generation"]]
    doubtful = json.loads(row["doubtful"] or "[]")
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        kind=row["kind"],
        text=row["text"],
        index_text=row["index_text"],
        locator=Locator(
            source=source,
            uri=row["uri"],
            revision=row["revision"],
            start_line=row["start_line"],
            end_line=row["end_line"],
            page=row["page"],
            label=row["label"],
            symbol=row["symbol"],
            first_block=row["first_block"],
            last_block=row["last_block"],
            valid_from=None if row["valid_from"] is None else date.fromisoformat(row["valid_from"]),
            doubtful=tuple(word for word, _ in doubtful),
            doubtful_pages=tuple(page for _, page in doubtful),
        ),
        ordinal=row["ordinal"],
        tokens=row["tokens"],
        group=row["part_of"],
        evidence_kind=kinds[source],
        title=row["title"],
        symbol_kind=row["symbol_kind"],
        signature=row["signature"],
        family=row["family"],
    )


def as_time(text: str | None) -> datetime | None:
    """The aware time of a stored ISO 8601 text."""
    return None if text is None else datetime.fromisoformat(text)
