"""Documents for the tests of the chunkers, from text or from blocks."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.chunking import chunk_document
from knowledge.extract import extract
from knowledge.types import Block, ChunkDraft, Document


def document(blocks: Sequence[Block], title: str = "문서") -> Document:
    return Document(
        id="d",
        source="rules",
        uri="a.txt",
        revision="r",
        content_hash="h",
        title=title,
        media_type="text/plain",
        blocks=tuple(blocks),
    )


def chunk_text(text: str, title: str = "문서", name: str = "a.txt") -> list[ChunkDraft]:
    return chunk_document(document(extract(text.encode(), name=name).blocks, title))


def labels(drafts: Sequence[ChunkDraft]) -> list[str | None]:
    return [draft.label for draft in drafts]


def table(*rows: Sequence[str], page: int | None = None) -> Block:
    return Block(kind="table", text="\n".join(" | ".join(row) for row in rows), rows=tuple(map(tuple, rows)), page=page)


def paragraph(text: str, page: int | None = None) -> Block:
    return Block(kind="paragraph", text=text, page=page)
