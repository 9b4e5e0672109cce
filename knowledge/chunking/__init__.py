"""Documents to chunks: regulations at their articles and appendices, everything else at its headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowledge.types import ChunkDraft, Document

CHUNKING_VERSION = "3"  # raise it whenever the chunks of some document change


def chunk_document(document: Document) -> list[ChunkDraft]:
    """Drafts in reading order. Whether the document is a regulation is decided by its content."""
    from knowledge.chunking.contents import contents_pieces
    from knowledge.chunking.pieces import take_apart
    from knowledge.chunking.prose import chunk_prose
    from knowledge.chunking.regulation import chunk_regulation, is_regulation

    pieces = take_apart(document.blocks)
    dropped = contents_pieces(pieces)
    kept = [piece for index, piece in enumerate(pieces) if index not in dropped]
    if is_regulation(kept):
        return chunk_regulation(kept, title=document.title, uri=document.uri)
    return chunk_prose(kept, title=document.title, uri=document.uri)
