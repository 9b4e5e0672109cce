"""Chunks of documents that are not regulations: one a heading's section, the path of headings in the index text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.chunking.drafts import GroupNames, build_drafts
from knowledge.chunking.effective import Told, folder_of, names_of, revision_of
from knowledge.chunking.markers import is_sentence
from knowledge.chunking.pieces import Piece
from knowledge.chunking.splitting import split_section
from knowledge.types import ChunkDraft

_MIN_BODY_CHARS = 12
_HEADER_PIECES = 12  # in which a document says since when it holds
_MAX_NUMBERED_CHARS = 45
_NUMBERED_FROM_LEVEL = 7  # below the six levels that headings have
_NAME = re.compile(r"[가-힣A-Za-z]{2}")
_NUMBERED = (
    re.compile(r"(?:[Ⅰ-Ⅻ]|[IVX]{1,4})\s*[.．]\s*\S|제\s*\d{1,2}\s*[장절]\s"),
    re.compile(r"[□■◆▣]\s*\S"),
    re.compile(r"\d{1,2}[.．]\s*[^\d\s]"),
    re.compile(r"[가-하][.．]\s*\S"),
)


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    pieces: list[Piece] = field(default_factory=list)
    body_chars: int = 0  # of what stands below the headings

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        if piece.kind != "heading":
            self.body_chars += len(piece.text)


def chunk_prose(pieces: Sequence[Piece], *, title: str, uri: str = "") -> list[ChunkDraft]:
    """Drafts in reading order; headings with hardly any text below stand in front of the section that follows."""
    groups = GroupNames()
    header = [piece.text for piece in pieces[:_HEADER_PIECES]]
    revision = revision_of(Told(header=header, names=names_of(title, uri), folder=folder_of(uri)))
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
                revision=revision,
            )
        )
    return drafts


def _heading_level(pieces: Sequence[Piece], index: int) -> int | None:
    """Level of a heading, or of a line that numbers a part of the document ("Ⅱ. 지원 내용", "□ 신청 방법"); else None.

    A numbered line between others of its kind is an item of a list.
    """
    piece = pieces[index]
    if piece.kind == "heading":
        return piece.level or 1
    rank = _rank(piece)
    if rank is None:
        return None
    neighbours = [pieces[i] for i in (index - 1, index + 1) if 0 <= i < len(pieces)]
    if (len(neighbours) < 2 and index > 0) or any(_rank(other) == rank for other in neighbours):
        return None
    return _NUMBERED_FROM_LEVEL + rank


def _rank(piece: Piece) -> int | None:
    text = piece.text.strip()
    if piece.kind != "line" or len(text) > _MAX_NUMBERED_CHARS or is_sentence(text) or not _NAME.search(text):
        return None
    return next((rank for rank, pattern in enumerate(_NUMBERED) if pattern.match(text)), None)


def _sections(pieces: Sequence[Piece]) -> list[_Section]:
    sections: list[_Section] = []
    path: list[tuple[int, str]] = []
    current = _Section(path=())
    for index, piece in enumerate(pieces):
        level = _heading_level(pieces, index)
        if level is not None:
            path = [(depth, name) for depth, name in path if depth < level] + [(level, piece.text.strip())]
            names = tuple(name for _, name in path)
            if current.body_chars >= _MIN_BODY_CHARS:
                sections.append(current)
                current = _Section(path=names)
            else:  # a heading alone is no section: it opens the next one
                current = _Section(path=names, pieces=current.pieces, body_chars=current.body_chars)
        current.add(piece)
    if current.body_chars >= _MIN_BODY_CHARS or not sections:
        if current.pieces:
            sections.append(current)
    else:
        sections[-1].pieces.extend(current.pieces)
    return sections
