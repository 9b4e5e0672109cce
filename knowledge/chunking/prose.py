"""Chunks of documents that are not regulations: one a heading's section, the path of headings in the index text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.chunking.drafts import GroupNames, build_drafts
from knowledge.chunking.pieces import Piece
from knowledge.chunking.splitting import split_section
from knowledge.types import ChunkDraft

_MIN_BODY_CHARS = 25


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    pieces: list[Piece] = field(default_factory=list)

    @property
    def body_chars(self) -> int:
        return sum(len(piece.text) for piece in self.pieces if piece.kind != "heading")


def chunk_prose(pieces: Sequence[Piece], *, title: str) -> list[ChunkDraft]:
    """Drafts in reading order; headings with hardly any text below stand in front of the section that follows."""
    groups = GroupNames()
    drafts: list[ChunkDraft] = []
    for section in _sections(pieces):
        label = " > ".join(section.path) or None
        head = section.path[-1] if section.path else ""
        drafts.extend(
            build_drafts(
                split_section(section.pieces, title=head),
                kind="section",
                group=groups.next(label or title),
                label=label,
                context=(title,),
            )
        )
    return drafts


def _sections(pieces: Sequence[Piece]) -> list[_Section]:
    sections: list[_Section] = []
    path: list[tuple[int, str]] = []
    current = _Section(path=())
    for piece in pieces:
        if piece.kind == "heading":
            level = piece.level or 1
            path = [(depth, name) for depth, name in path if depth < level] + [(level, piece.text.strip())]
            names = tuple(name for _, name in path)
            if current.body_chars >= _MIN_BODY_CHARS:
                sections.append(current)
                current = _Section(path=names)
            else:  # a heading alone is no section: it opens the next one
                current = _Section(path=names, pieces=current.pieces)
        current.pieces.append(piece)
    if current.body_chars >= _MIN_BODY_CHARS or not sections:
        if current.pieces:
            sections.append(current)
    else:
        sections[-1].pieces.extend(current.pieces)
    return sections
