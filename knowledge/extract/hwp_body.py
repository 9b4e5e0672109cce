"""Sections of HWP 5 to blocks: paragraphs, tables, text boxes, notes, captions and equations in reading order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from knowledge.extract.hwp_numbering import Numbering, format_number, is_heading
from knowledge.extract.hwp_records import (
    CTRL_HEADER,
    EQEDIT,
    LIST_HEADER,
    PARA_HEADER,
    PARA_TEXT,
    SHAPE_COMPONENT,
    TABLE,
    TEXTART,
    Record,
)
from knowledge.extract.hwp_text import ControlPlace, notes_behind_words, paragraph_parts, readable
from knowledge.extract.merged_cells import SpannedCell, flat_text, table_blocks
from knowledge.types import Block

_ABOVE_TEXT_UNITS = 500  # a floating object less than this (1.8 mm) below its paragraph's top stands above its text


@dataclass(slots=True)
class BodyReader:
    """Reads the sections of one document one after the other; counters and seen headers run on."""

    numbering: Numbering
    margins: list[str] = field(default_factory=list)  # headers and footers, each once
    _seen_margins: set[str] = field(default_factory=set)
    _note_count: int = 0
    _in_note: bool = False
    _notes: list[list[Block]] = field(default_factory=list)

    def section(self, roots: Sequence[Record]) -> list[Block]:
        """Blocks of one section, without its headers and footers."""
        return self._paragraphs(roots)

    def _paragraphs(self, records: Sequence[Record]) -> list[Block]:
        blocks: list[Block] = []
        for record in records:
            if record.tag == PARA_HEADER:
                blocks.extend(self._paragraph(record))
        return blocks

    def _paragraph(self, record: Record) -> list[Block]:
        """Blocks of one paragraph: objects in the line where they stand, floating ones above or below its text."""
        controls = [child for child in record.children if child.tag == CTRL_HEADER]
        payload = next((child.data for child in record.children if child.tag == PARA_TEXT), b"")
        above: list[Block] = []
        below: list[Block] = []
        lines: list[list[str] | list[Block]] = [[]]
        used: set[int] = set()
        self._notes.append([])
        for part in paragraph_parts(payload):
            if isinstance(part, str):
                _text_run(lines).append(part)
                continue
            if part.number >= len(controls):
                continue
            used.add(part.number)
            self._control(controls[part.number], part, lines, above, below)
        for number, control in enumerate(controls):
            if number not in used:  # damaged text, or a control without a place: its content is kept all the same
                self._control(control, ControlPlace(number, 0), lines, above, below)
        notes = self._notes.pop()
        return [*above, *self._finish(record, lines), *below, *notes]

    def _finish(self, record: Record, lines: list[list[str] | list[Block]]) -> list[Block]:
        """Text runs and inline objects as blocks; the automatic number goes in front of the first text."""
        head = self.numbering.head(record.u16(8))
        blocks: list[Block] = []
        label: str | None = None
        for run in lines:
            if run and isinstance(run[0], Block):
                blocks.extend(item for item in run if isinstance(item, Block))
                continue
            text = notes_behind_words(readable("".join(item for item in run if isinstance(item, str))))
            if not text.strip():
                continue
            if head is not None and label is None:
                label = self.numbering.label(head)
                text = f"{label} {text.lstrip()}" if label else text
            outline = head is not None and head.kind == 1 and is_heading(text)
            level = head.level if head is not None and outline else None
            blocks.append(Block(kind="heading" if outline else "paragraph", text=text, level=level))
        return blocks

    def _control(
        self,
        control: Record,
        place: ControlPlace,
        lines: list[list[str] | list[Block]],
        above: list[Block],
        below: list[Block],
    ) -> None:
        kind = control.control
        inline = _INLINE.get(kind)
        if kind == b"atno" and self._in_note and control.u32(4) & 0xF in (1, 2):
            return  # the note's own number, which stands in front of it already
        if inline is not None:
            _text_run(lines).append(inline(control))
        elif kind in (b"tbl ", b"gso "):
            content = self._table(control) if kind == b"tbl " else self._shape(control)
            if not content:
                return
            properties = control.u32(4)
            if properties & 1 and kind == b"tbl ":
                lines.append(list(content))
                lines.append([])
            elif _stands_above(control, properties):
                above.extend(content)
            else:
                below.extend(content)
        elif kind in (b"fn  ", b"en  "):
            _text_run(lines).append(self._note(control))
        elif kind in (b"head", b"foot"):
            self._margin(control)
        elif kind == b"secd":
            self.numbering.outline = control.u16(18) or self.numbering.outline

    def _note(self, control: Record) -> str:
        """The mark of a footnote or endnote; its text becomes a note block behind the paragraph that refers to it."""
        outer, self._in_note = self._in_note, True
        text = flat_text(self._paragraphs(control.children)).strip()
        self._in_note = outer
        if not text:
            return ""
        self._note_count += 1
        self._notes[-1].append(Block(kind="note", text=f"주{self._note_count}) {text}"))
        return f"(주{self._note_count})"

    def _margin(self, control: Record) -> None:
        text = flat_text(self._paragraphs(control.children)).strip()
        if text and text not in self._seen_margins:
            self._seen_margins.add(text)
            self.margins.append(text)

    def _table(self, control: Record) -> list[Block]:
        cells: list[SpannedCell] = []
        caption: list[Block] = []
        in_cells = False
        content: list[Record] = []
        current: Record | None = None
        for child in [*control.children, Record(LIST_HEADER, 0, b"")]:
            if child.tag == LIST_HEADER:
                if current is not None and in_cells:
                    cells.append(self._cell(current, content, len(cells)))
                elif current is not None:
                    caption.extend(self._paragraphs(content))
                current, content = child, list(child.children)
            elif child.tag == TABLE:
                if current is not None:
                    caption.extend(self._paragraphs(content))
                in_cells, current, content = True, None, []
            elif child.tag == PARA_HEADER:
                content.append(child)
        return table_blocks(cells, caption=flat_text(caption))

    def _cell(self, header: Record, content: Sequence[Record], number: int) -> SpannedCell:
        if len(header.data) < 16:  # no address: keep the text, one cell a row
            return SpannedCell(row=number, column=0, blocks=tuple(self._paragraphs(content)))
        return SpannedCell(
            row=header.u16(10),
            column=header.u16(8),
            row_span=header.u16(14, 1),
            column_span=header.u16(12, 1),
            blocks=tuple(self._paragraphs(content)),
        )

    def _shape(self, control: Record) -> list[Block]:
        """Text boxes, word art and captions of a drawing object, however deeply it is grouped."""
        blocks: list[Block] = []
        caption: list[Block] = []
        for child in control.children:
            if child.tag == SHAPE_COMPONENT:
                blocks.extend(self._drawn(child))
            elif child.tag in (PARA_HEADER, LIST_HEADER):
                caption.extend(self._paragraphs([child, *child.children]))
        return [*blocks, *caption]

    def _drawn(self, component: Record) -> list[Block]:
        blocks: list[Block] = []
        for child in component.children:
            if child.tag == PARA_HEADER:
                blocks.extend(self._paragraph(child))
            elif child.tag == TEXTART:
                text = readable(child.string(32)[0])
                if text.strip():
                    blocks.append(Block(kind="paragraph", text=text))
            elif child.tag in (SHAPE_COMPONENT, LIST_HEADER):
                blocks.extend(self._drawn(child))
        return blocks


def _text_run(lines: list[list[str] | list[Block]]) -> list[str]:
    """The run of text at the end of `lines`."""
    last = lines[-1]
    if last and isinstance(last[0], Block):
        run: list[str] = []
        lines.append(run)
        return run
    return last  # type: ignore[return-value]  # empty, or holds text only


def _stands_above(control: Record, properties: int) -> bool:
    """Whether a floating object is drawn above its paragraph's text, which it then pushes down."""
    beside_paragraph = properties >> 3 & 3 == 2
    pushes_text_down = properties >> 21 & 7 == 3
    return beside_paragraph and pushes_text_down and control.i32(8) < _ABOVE_TEXT_UNITS


def _auto_number(control: Record) -> str:
    shape = control.u32(4) >> 4 & 0xFF
    before, after = (chr(code) if 32 <= (code := control.u16(at)) < 0xD800 else "" for at in (12, 14))
    return before + format_number(control.u16(8), shape) + after


def _equation(control: Record) -> str:
    for child in control.children:
        if child.tag == EQEDIT:
            return " " + " ".join(child.string(4)[0].split()) + " "
    return ""


def _overlapping(control: Record) -> str:
    return control.string(4)[0]


def _annotated(control: Record) -> str:
    """Text with a small line above it, as "text(small line)"."""
    main, at = control.string(4)
    above, _ = control.string(at)
    return f"{main}({above})" if above.strip() else main


_INLINE: dict[bytes, Callable[[Record], str]] = {
    b"atno": _auto_number,
    b"eqed": _equation,
    b"tcps": _overlapping,
    b"tdut": _annotated,
}
