"""The walk over the body of a Word document: paragraphs, tables, boxes, notes, in the order a reader meets them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from knowledge.extract.decoding import clean_text
from knowledge.extract.docx_numbering import Numbering, W
from knowledge.extract.docx_tables import table_rows
from knowledge.extract.raised import raised
from knowledge.extract.symbol_fonts import symbol
from knowledge.extract.text import table_block
from knowledge.types import Block

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# wrappers whose content counts as if they were not there; insertions are kept as accepted
_TRANSPARENT = frozenset(
    W + tag
    for tag in ("ins", "moveTo", "hyperlink", "smartTag", "fldSimple", "sdtContent", "customXml", "dir", "bdo", "rt")
)
_DROPPED = frozenset(
    W + tag for tag in ("del", "moveFrom", "instrText", "delText", "delInstrText", "pPr", "rPr", "sdtPr")
)
_BREAKS = {W + "tab": "\t", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-", W + "ptab": "\t"}
_HEADING_NAME = re.compile(r"^(?:heading|제목|개요)\s*(\d)$", re.I)
_PAGE_NUMBER_ONLY = re.compile(r"^[\s\-–—/|.()\[\]]*(?:(?:page|of|쪽|페이지)\s*)*[\d\s\-–—/|.()\[\]]*$", re.I)


class BodyReader:
    """Reads the main part of one document once; `warnings` fills while it does."""

    def __init__(self, part: Any) -> None:
        self._part = part
        self.warnings: list[str] = []
        styles = _related_root(part, "styles")
        self._styles = {} if styles is None else {s.get(W + "styleId"): s for s in styles.findall(W + "style")}
        self._default_style = next(
            (
                key
                for key, s in self._styles.items()
                if s.get(W + "default") == "1" and s.get(W + "type") == "paragraph"
            ),
            None,
        )
        self._numbering = Numbering(
            _related_root(part, "numbering"), None if styles is None else styles.findall(W + "style")
        )
        self._notes = {kind: _notes_of(_related_root(part, f"{kind}s"), kind) for kind in ("footnote", "endnote")}
        self._note_count = 0
        self._pending_notes: list[Block] = []
        self._pending_boxes: list[Any] = []

    def read(self) -> list[Block]:
        return list(self._blocks(self._part.element.body))

    def _blocks(self, container: Any) -> Iterator[Block]:
        for element in block_elements(container):
            if element.tag == W + "p":
                yield from self._paragraph(element)
            elif element.tag == W + "tbl":
                yield from self._table(element)
            elif element.tag == W + "altChunk":
                self.warnings.append("an embedded document (altChunk) was not read; open it in Word and save it again")

    def _paragraph(self, element: Any) -> Iterator[Block]:
        text = self._paragraph_text(element)
        boxes, self._pending_boxes = self._pending_boxes, []
        notes, self._pending_notes = self._pending_notes, []
        if text.strip():
            level = self._heading_level(element)
            if level is not None and len(text) <= 200:
                yield Block(kind="heading", text=" ".join(text.split()), level=level)
            else:
                yield Block(kind="paragraph", text=text)
        for box in boxes:
            yield from self._blocks(box)
        yield from notes

    def _table(self, element: Any) -> Iterator[Block]:
        rows = table_rows(element, self._cell_text)
        notes, self._pending_notes = self._pending_notes, []
        if any(any(row) for row in rows):
            yield table_block(rows)
        yield from notes

    def _cell_text(self, container: Any) -> str:
        """Text of a cell in order: paragraphs, boxes, and nested tables a line a row."""
        lines: list[str] = []
        for element in block_elements(container):
            if element.tag == W + "tbl":
                for row in table_rows(element, self._cell_text):
                    cells = [" ".join(cell.split()) for cell in row]
                    lines.append(" / ".join(dict.fromkeys(cell for cell in cells if cell)))
            elif element.tag == W + "p":
                lines.append(self._paragraph_text(element))
                boxes, self._pending_boxes = self._pending_boxes, []
                lines.extend(self._cell_text(box) for box in boxes)
        return "\n".join(line for line in lines if line.strip())

    def _paragraph_text(self, element: Any) -> str:
        properties = element.find(W + "pPr")
        label = ""
        if not _is_deleted_mark(properties):
            label = self._numbering.label(properties, self._style_id(properties))
        text = "".join(self._inline(element))
        if not text.strip():
            return ""  # an empty numbered paragraph is counted but shows nothing worth a block
        return clean_text(f"{label}{text}").strip("\n").rstrip()

    def _run(self, element: Any) -> Iterator[str]:
        place = element.find(f"{W}rPr/{W}vertAlign")
        if place is not None and place.get(W + "val") == "superscript":
            yield raised("".join(self._inline(element)))
        else:
            yield from self._inline(element)

    def _inline(self, element: Any) -> Iterator[str]:
        for child in element:
            tag = child.tag
            if not isinstance(tag, str) or tag in _DROPPED:
                continue
            if tag in (W + "t", _MATH + "t"):
                yield child.text or ""
            elif tag in _BREAKS:
                yield _BREAKS[tag]
            elif tag == W + "r":
                if child.find(f"{W}rPr/{W}vanish") is None:
                    yield from self._run(child)
            elif tag == W + "sym":
                yield symbol(child.get(W + "char"), child.get(W + "font"))
            elif tag in (W + "footnoteReference", W + "endnoteReference"):
                yield self._note_mark(child)
            elif tag == W + "sdt":
                yield from self._inline_of_control(child)
            elif tag == W + "ruby":
                base = child.find(W + "rubyBase")
                if base is not None:
                    yield from self._inline(base)
            elif tag == _MC + "AlternateContent":
                chosen = _chosen(child)
                if chosen is not None:
                    yield from self._inline(chosen)
            elif tag in (W + "drawing", W + "pict", W + "object"):
                self._pending_boxes.extend(_text_boxes(child))
            elif tag in _TRANSPARENT or tag.startswith(_MATH):
                yield from self._inline(child)

    def _inline_of_control(self, control: Any) -> Iterator[str]:
        content = control.find(W + "sdtContent")
        if content is not None:
            yield from self._inline(content)

    def _note_mark(self, reference: Any) -> str:
        kind = "footnote" if reference.tag == W + "footnoteReference" else "endnote"
        note = self._notes[kind].get(reference.get(W + "id"))
        if note is None:
            return ""
        self._note_count += 1
        mark = f"주{self._note_count})"
        kept_notes, self._pending_notes = self._pending_notes, []
        text = self._cell_text(note)
        self._pending_notes = [*kept_notes, Block(kind="note", text=f"{mark} {text}"), *self._pending_notes]
        return f"({mark}"[:-1] + ")"

    def _style_id(self, properties: Any) -> str | None:
        style = properties.find(W + "pStyle") if properties is not None else None
        return self._default_style if style is None else style.get(W + "val")

    def _heading_level(self, element: Any) -> int | None:
        """Level from 1 by outline level or style name, the paragraph's own first, then along its style's ancestors."""
        properties = element.find(W + "pPr")
        if properties is None:
            return None
        outline = properties.find(W + "outlineLvl")
        style_id = self._style_id(properties)
        seen: set[str] = set()
        while outline is None and style_id and style_id not in seen:
            seen.add(style_id)
            style = self._styles.get(style_id)
            if style is None:
                break
            name = style.find(W + "name")
            named = name.get(W + "val", "") if name is not None else ""
            matched = _HEADING_NAME.match(named)
            if matched:
                return int(matched[1]) or None
            if named.lower() in ("title", "제목"):
                return 1
            outline = style.find(f"{W}pPr/{W}outlineLvl")
            based_on = style.find(W + "basedOn")
            style_id = based_on.get(W + "val") if based_on is not None else None
        if outline is None:
            return None
        value = outline.get(W + "val", "9")
        return int(value) + 1 if value.isdigit() and int(value) < 9 else None


def block_elements(container: Any) -> Iterator[Any]:
    """Paragraphs, tables and embedded chunks of `container`, looked for through wrappers."""
    for child in container:
        tag = child.tag
        if tag in (W + "p", W + "tbl", W + "altChunk"):
            yield child
        elif tag == W + "sdt":
            content = child.find(W + "sdtContent")
            if content is not None:
                yield from block_elements(content)
        elif tag == _MC + "AlternateContent":
            chosen = _chosen(child)
            if chosen is not None:
                yield from block_elements(chosen)
        elif tag in _TRANSPARENT:
            yield from block_elements(child)


def header_texts(part: Any, kind: str) -> list[str]:
    """Different texts of all headers (or footers) of the document; those that hold a page number only are left out."""
    texts: dict[str, None] = {}
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
            root = _root(relation.target_part)
            if root is None:
                continue
            lines = ["".join(node.itertext(W + "t")).strip() for node in root.iter(W + "p")]
            text = "\n".join(dict.fromkeys(line for line in lines if line))
            if text and not _PAGE_NUMBER_ONLY.match(text):
                texts.setdefault(text)
    return list(texts)


def _related_root(part: Any, kind: str) -> Any:
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
            return _root(relation.target_part)
    return None


def _root(part: Any) -> Any:
    """Root element of a part; python-docx parses the parts that it knows and leaves the others as bytes."""
    element = getattr(part, "element", None)
    if element is not None:
        return element
    from docx.oxml.parser import parse_xml
    from lxml.etree import XMLSyntaxError

    try:
        return parse_xml(part.blob)
    except (XMLSyntaxError, ValueError):
        return None


def _notes_of(root: Any, kind: str) -> dict[str, Any]:
    if root is None:
        return {}
    ordinary = [note for note in root.findall(W + kind) if note.get(W + "type") in (None, "normal")]
    return {note.get(W + "id"): note for note in ordinary}


def _chosen(alternate: Any) -> Any:
    """The first choice: it holds the same text as the fallback, which would repeat it."""
    choice = alternate.find(_MC + "Choice")
    return choice if choice is not None else alternate.find(_MC + "Fallback")


def _text_boxes(drawing: Any) -> list[Any]:
    boxes = []
    stack = [drawing]
    while stack:
        element = stack.pop()
        if element.tag == W + "txbxContent":
            boxes.append(element)
            continue
        if element.tag == _MC + "AlternateContent":
            chosen = _chosen(element)
            stack.extend([chosen] if chosen is not None else [])
            continue
        stack.extend(reversed(list(element)))
    return boxes


def _is_deleted_mark(properties: Any) -> bool:
    return properties is not None and properties.find(f"{W}rPr/{W}del") is not None
