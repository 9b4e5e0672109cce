"""Sections to parts of a size that is searched and read well: borders at lines and rows, headers repeated."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowledge.chunking.pieces import Piece

TARGET_CHARS = 900
LIMIT_CHARS = 1_400
_MAX_HEAD_CHARS = 400
_MAX_PARENT_CHARS = 60
_MAX_PARENTS = 3
_ITEMS = (  # of Korean regulations, outermost first
    re.compile(r"[①-⑳]"),
    re.compile(r"\d{1,2}\.\s"),
    re.compile(r"[가-하]\.\s"),
    re.compile(r"\d{1,2}\)"),
    re.compile(r"[가-하]\)"),
)
_SENTENCE_BORDER = re.compile(r"(?<=[.。?!;])\s+|(?<=다\.)|\s(?=[①-⑳])|\n+")
_WORD_BORDER = re.compile(r"(?<=\s)|(?<=\|)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Text of one chunk with the pieces it was made of."""

    text: str
    pieces: tuple[Piece, ...]


def split_section(pieces: Sequence[Piece], *, title: str = "") -> list[Part]:
    """Parts of one section. Those after the first start with `title`, and with the header rows of a divided table."""
    total = sum(len(piece.text) + 1 for piece in pieces)
    if total <= LIMIT_CHARS:
        return [_part(pieces, lead="")] if pieces else []
    title = title[:_MAX_HEAD_CHARS]
    room = LIMIT_CHARS - min(_MAX_HEAD_CHARS, len(title) + 1)
    small = [fragment for piece in pieces for fragment in _fragments(piece, room)]
    parts: list[Part] = []
    current: list[Piece] = []
    size = 0
    left = sum(len(piece.text) + 1 for piece in small)
    goal = left / math.ceil(left / TARGET_CHARS)
    open_items = _OpenItems()
    parents: list[str] = []
    for piece in small:
        length = len(piece.text) + 1
        lead_length = _lead_length(current[0] if current else piece, title if parts else "")
        too_long = size + length + lead_length > LIMIT_CHARS
        # a border is good once the goal is reached, and bad right behind a table's header
        full = size >= goal or (size + length > 1.25 * goal and size >= 0.5 * goal)
        if current and (too_long or (full and not _is_header(current[-1]))):
            parts.append(_part(current, lead=title if parts else "", parents=parents))
            current, size = [], 0
        if not current:
            parents = open_items.above(piece) if parts else []
            size = sum(len(line) + 1 for line in parents)
        open_items.read(piece)
        current.append(piece)
        size += length
    if current:
        parts.append(_part(current, lead=title if parts else "", parents=parents))
    return parts


class _OpenItems:
    """Items of nested lists that are open at a place: a part that starts below "다. 다등급" must say so."""

    def __init__(self) -> None:
        self._lines: dict[int, str] = {}

    def read(self, piece: Piece) -> None:
        level = _item_level(piece)
        if level is not None:
            self._lines = {depth: line for depth, line in self._lines.items() if depth < level}
            self._lines[level] = piece.text.strip()

    def above(self, piece: Piece) -> list[str]:
        """Short lines of the items that hold `piece`, outermost first."""
        level = _item_level(piece)
        if level is None:
            return []
        return [
            line for depth, line in sorted(self._lines.items()) if depth < level and len(line) <= _MAX_PARENT_CHARS
        ][-_MAX_PARENTS:]


def _item_level(piece: Piece) -> int | None:
    if piece.kind not in ("line", "heading"):
        return None
    text = piece.text.lstrip()
    return next((level for level, pattern in enumerate(_ITEMS) if pattern.match(text)), None)


def _is_header(piece: Piece) -> bool:
    return piece.kind == "row" and not piece.table_head and piece.table_index is not None


def _lead_length(first: Piece, title: str) -> int:
    return len(title) + sum(len(row) + 1 for row in _repeated_head(first)) + 1


def _repeated_head(first: Piece) -> list[str]:
    head: list[str] = []
    size = 0
    for row in first.table_head:
        size += len(row)
        if size > _MAX_HEAD_CHARS:
            break
        head.append(row)
    return head


def _part(pieces: Sequence[Piece], *, lead: str, parents: Sequence[str] = ()) -> Part:
    lines: list[str] = []
    if lead and pieces[0].text.strip() != lead:
        lines.append(lead)
    lines.extend(parents)
    if lead:
        lines.extend(_repeated_head(pieces[0]))
    lines.extend(piece.text for piece in pieces)
    return Part(text="\n".join(lines).strip("\n"), pieces=tuple(pieces))


def _fragments(piece: Piece, room: int) -> list[Piece]:
    """A piece that fits, or the pieces of one that is too long: at sentence ends, else words, else anywhere."""
    head_length = sum(len(row) + 1 for row in _repeated_head(piece))
    room = max(200, room - head_length)
    if len(piece.text) <= room:
        return [piece]
    texts: list[str] = [""]
    for sentence in _cut(piece.text, _SENTENCE_BORDER, min(room, TARGET_CHARS)):
        if texts[-1] and len(texts[-1]) + len(sentence) + 1 > min(room, TARGET_CHARS):
            texts.append("")
        texts[-1] = f"{texts[-1]} {sentence}".strip()
    return [replace(piece, text=text) for text in texts if text]


def _cut(text: str, border: re.Pattern[str], room: int) -> list[str]:
    pieces: list[str] = []
    for sentence in border.split(text):
        if not sentence or not sentence.strip():
            continue
        if len(sentence) <= room:
            pieces.append(sentence)
            continue
        line = ""
        for word in _WORD_BORDER.split(sentence):
            if len(word) > room:
                if line:
                    pieces.append(line)
                    line = ""
                *full, word = (word[start : start + room] for start in range(0, len(word), room))
                pieces.extend(full)
            if len(line) + len(word) > room:
                pieces.append(line)
                line = ""
            line += word
        if line.strip():
            pieces.append(line)
    return pieces
