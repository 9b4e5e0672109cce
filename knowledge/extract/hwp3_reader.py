"""The paragraph lists of HWP 3: text, tables, boxes, notes and captions out of one byte stream without any index.

Facts: "한글 문서 파일 구조 3.0", published by Hancom. Every control counts a fixed number of 16-bit places of its
paragraph, whatever follows it in the stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge.extract.hwp3_chars import hwp3_char
from knowledge.extract.hwp_text import notes_behind_words, readable
from knowledge.extract.merged_cells import SpannedCell, flat_text, table_blocks
from knowledge.types import Block

MAX_DEPTH = 40
MAX_PARAGRAPHS = 1_000_000
_CHAR_SHAPE_BYTES, _PARA_SHAPE_BYTES, _LINE_BYTES, _CELL_BYTES = 31, 187, 14, 27
_END, _FIELD, _BOOKMARK, _TAB, _TABLE, _PICTURE, _LINE, _HIDDEN, _MARGIN, _NOTE, _AUTO_NUMBER = (
    13, 5, 6, 9, 10, 11, 14, 15, 16, 17, 18,
)  # fmt: skip
_COMPOSED, _HYPHEN, _SOLID_SPACE, _WIDE_SPACE = 23, 24, 30, 31
_SKIPPED_BLOCKS = frozenset({0, 1, 2, 3, 4, 12, 27, 29})
# control -> places that it takes in its paragraph, and bytes of a fixed body behind its code
_FIXED = {7: (42, 82), 8: (48, 94), 9: (4, 6), 18: (4, 6), 19: (4, 6), 20: (4, 6), 21: (4, 6), 22: (12, 22),
          23: (5, 8), 24: (3, 4), 25: (3, 4), 26: (123, 244), 28: (32, 62), 30: (2, 2), 31: (2, 2)}  # fmt: skip
_PLACES_OF_OTHERS = 4
_TEXT_BOX_OBJECT, _DRAWING = 6, 3


class BrokenHwp3(ValueError):
    """The stream does not follow the format; the message says where."""


@dataclass(slots=True)
class Bytes:
    """A cursor over a byte string; reading beyond the end raises BrokenHwp3."""

    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise BrokenHwp3(f"the text ends {end - len(self.data)} bytes too early")
        part = self.data[self.at : end]
        self.at = end
        return part

    def number(self, size: int) -> int:
        """The next `size` bytes as an unsigned little-endian number."""
        return int.from_bytes(self.take(size), "little")


@dataclass(slots=True)
class _Paragraph:
    parts: list[str | list[Block]] = field(default_factory=list)
    notes: list[Block] = field(default_factory=list)

    def add(self, text: str) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, str):
            self.parts[-1] = last + text
        else:
            self.parts.append(text)

    def blocks(self) -> list[Block]:
        found: list[Block] = []
        for part in self.parts:
            if isinstance(part, list):
                found.extend(part)
            elif text := notes_behind_words(readable(part)):
                found.append(Block(kind="paragraph", text=text))
        return found + self.notes


@dataclass(slots=True)
class Hwp3Reader:
    """Reads the paragraph lists of one document."""

    margins: list[str] = field(default_factory=list)  # headers and footers, each once
    lost_boxes: int = 0
    _paragraphs: int = 0
    _note_count: int = 0
    _in_note: bool = False

    def paragraph_list(self, stream: Bytes, depth: int = 0) -> list[Block]:
        """Blocks up to the empty paragraph that ends a list. Raises BrokenHwp3."""
        if depth > MAX_DEPTH:
            raise BrokenHwp3(f"boxes nested more than {MAX_DEPTH} deep")
        blocks: list[Block] = []
        while True:
            self._paragraphs += 1
            if self._paragraphs > MAX_PARAGRAPHS:
                raise BrokenHwp3(f"more than {MAX_PARAGRAPHS} paragraphs")
            count = self._paragraph_head(stream)
            if count == 0:
                return blocks
            paragraph = _Paragraph()
            self._text(stream, count, paragraph, depth)
            blocks.extend(paragraph.blocks())

    def _paragraph_head(self, stream: Bytes) -> int:
        """Number of 16-bit places in the paragraph; everything about its looks is skipped."""
        same_shape = stream.number(1)
        count, lines = stream.number(2), stream.number(2)
        own_shapes = stream.number(1)
        stream.take(6 + _CHAR_SHAPE_BYTES)
        if count and not same_shape:
            stream.take(_PARA_SHAPE_BYTES)
        stream.take(lines * _LINE_BYTES)
        if own_shapes:
            for _ in range(count):
                if not stream.number(1):
                    stream.take(_CHAR_SHAPE_BYTES)
        return count

    def _text(self, stream: Bytes, count: int, paragraph: _Paragraph, depth: int) -> None:
        place = 0
        while place < count:
            code = stream.number(2)
            if code > 31:
                paragraph.add(hwp3_char(code))
                place += 1
            elif code == _END:
                return
            elif code in _FIXED:
                places, size = _FIXED[code]
                body = stream.take(size)
                if body[-2:] != code.to_bytes(2, "little"):
                    raise BrokenHwp3(f"control {code} is not closed")
                paragraph.add(self._small(code, body))
                place += places
            else:
                self._large(code, stream, paragraph, depth)
                place += _PLACES_OF_OTHERS

    def _small(self, code: int, body: bytes) -> str:
        if code == _TAB:
            return "\t"
        if code == _HYPHEN:
            return "-"
        if code in (_SOLID_SPACE, _WIDE_SPACE):
            return " "
        if code == _COMPOSED:
            return "".join(hwp3_char(int.from_bytes(body[at : at + 2], "little")) for at in (0, 2, 4))
        if code == _AUTO_NUMBER and not self._in_note:
            kind, number = int.from_bytes(body[:2], "little"), int.from_bytes(body[2:4], "little")
            return str(number) if kind else ""  # kind 0 is the page number
        return ""

    def _large(self, code: int, stream: Bytes, paragraph: _Paragraph, depth: int) -> None:
        size = stream.number(4)
        if stream.number(2) != code:
            raise BrokenHwp3(f"control {code} is not closed")
        if code in _SKIPPED_BLOCKS:
            stream.take(size)
        elif code == _BOOKMARK:
            stream.take(34)
        elif code == _FIELD:
            stream.take(30)
            lengths = [stream.number(4) for _ in range(4)]
            stream.take(sum(lengths))
        elif code == _TABLE:
            paragraph.parts.append(self._table(stream, depth))
        elif code == _PICTURE:
            paragraph.parts.append(self._picture(stream, depth))
        elif code == _LINE:
            stream.take(84)
        elif code == _HIDDEN:
            stream.take(8)
            self.paragraph_list(stream, depth + 1)
        elif code == _MARGIN:
            stream.take(10)
            text = flat_text(self.paragraph_list(stream, depth + 1)).strip()
            if text and text not in self.margins:
                self.margins.append(text)
        elif code == _NOTE:
            stream.take(14)
            paragraph.add(self._note(stream, paragraph, depth))
        else:
            raise BrokenHwp3(f"unknown control {code}")

    def _note(self, stream: Bytes, paragraph: _Paragraph, depth: int) -> str:
        outer, self._in_note = self._in_note, True
        text = flat_text(self.paragraph_list(stream, depth + 1)).strip()
        self._in_note = outer
        if not text:
            return ""
        self._note_count += 1
        paragraph.notes.append(Block(kind="note", text=f"주{self._note_count}) {text}"))
        return f"(주{self._note_count})"

    def _table(self, stream: Bytes, depth: int) -> list[Block]:
        """A table, text box, equation or button: cells with their places in units of length, then a list each."""
        head = stream.take(84)
        count = int.from_bytes(head[80:82], "little")
        if not count:
            raise BrokenHwp3("a table without cells")
        places = []
        for _ in range(count):
            cell = stream.take(_CELL_BYTES)
            places.append(tuple(int.from_bytes(cell[at : at + 2], "little") for at in (4, 6, 8, 10)))
        contents = [tuple(self.paragraph_list(stream, depth + 1)) for _ in range(count)]
        caption = flat_text(self.paragraph_list(stream, depth + 1))
        columns = sorted({x for x, _, _, _ in places} | {x + w for x, _, w, _ in places})
        rows = sorted({y for _, y, _, _ in places} | {y + h for _, y, _, h in places})
        column_at = {x: n for n, x in enumerate(columns)}
        row_at = {y: n for n, y in enumerate(rows)}
        cells = [
            SpannedCell(
                row=row_at[y],
                column=column_at[x],
                row_span=row_at[y + h] - row_at[y],
                column_span=column_at[x + w] - column_at[x],
                blocks=blocks,
            )
            for (x, y, w, h), blocks in zip(places, contents, strict=True)
        ]
        return table_blocks(cells, caption=caption)

    def _picture(self, stream: Bytes, depth: int) -> list[Block]:
        head = stream.take(348)
        follow = stream.take(int.from_bytes(head[:4], "little"))
        blocks = self._drawing(follow, depth) if head[74] == _DRAWING else []
        return blocks + self.paragraph_list(stream, depth + 1)

    def _drawing(self, data: bytes, depth: int) -> list[Block]:
        """Text boxes among drawn objects; an object that cannot be read ends the walk and is counted."""
        blocks: list[Block] = []
        stream = Bytes(data)
        try:
            stream.take(stream.number(4))
            while stream.at < len(data):
                header = stream.take(stream.number(4))
                kind = int.from_bytes(header[:2], "little")
                if kind == 0:
                    continue
                stream.take(stream.number(4))
                detail = stream.take(stream.number(4))
                if kind == _TEXT_BOX_OBJECT and detail:
                    blocks.extend(self.paragraph_list(Bytes(detail), depth + 1))
        except BrokenHwp3:
            self.lost_boxes += 1
        return blocks
