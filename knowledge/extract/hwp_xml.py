"""The body shared by HWPX and HWPML: the same tree of paragraphs, tables, boxes and notes under different tag names.

Facts: KS X 6101 (OWPML) and "HWPML", revision 1.2, published by Hancom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, iterparse

from knowledge.errors import UnreadableFile
from knowledge.extract.hwp_numbering import Head, Level, Numbering, format_number, is_heading
from knowledge.extract.hwp_text import notes_behind_words, readable
from knowledge.extract.merged_cells import SpannedCell, flat_text, table_blocks
from knowledge.types import Block

Item = TypeVar("Item")
MAX_XML_DEPTH = 400
_MAX_ENTITY_CHARS = 4
_MAX_IDS = 65_536
_ABOVE_TEXT_UNITS = 500

# HWPML's names -> HWPX's; both are compared in lower case
_NAMES = {
    "text": "run",
    "char": "t",
    "table": "tbl",
    "row": "tr",
    "cell": "tc",
    "paralist": "sublist",
    "hypen": "hyphen",
}
_LAYOUT = frozenset({"linesegarray", "lineseg"})
_DRAWN = frozenset({
    "rect", "rectangle", "ellipse", "arc", "polygon", "curve", "line", "connectline", "container", "group", "pic",
    "picture", "textart", "ole", "chart", "video", "unknownobject",
})  # fmt: skip
_NUMBER_STYLES = {
    "digit": 0, "circleddigit": 1, "romancapital": 2, "romansmall": 3, "latincapital": 4, "latinsmall": 5,
    "circledlatincapital": 6, "circledlatinsmall": 7, "hangulsyllable": 8, "circledhangulsyllable": 9,
    "hanguljamo": 10, "circledhanguljamo": 11, "hangulphonetic": 12, "ideograph": 13, "circledideograph": 14,
    "decagoncircle": 15, "decagoncirclehanja": 16,
}  # fmt: skip
_HEAD_KINDS = {"outline": 1, "number": 2, "numbering": 2, "bullet": 3}
_IN_TEXT = {"tab": "\t", "linebreak": "\n", "hyphen": "-", "nbspace": " ", "fwspace": " "}


def local(element: Element) -> str:
    """The name of a tag without namespace, in lower case and in HWPX's words."""
    name = element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""
    return _NAMES.get(name, name)


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """An attribute's value; HWPX writes "rowSpan" where HWPML writes "RowSpan"."""
    if element is None:
        return default
    return element.get(name, element.get(name[:1].upper() + name[1:], default))


def integer(element: Element | None, name: str, default: int = 0) -> int:
    """An attribute as a number, `default` where it is missing or none."""
    text = attribute(element, name)
    return int(text) if text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) < 12 else default


def child(element: Element | None, *names: str) -> Element | None:
    """The first child with one of `names` (lower case), None when there is none."""
    return next((item for item in element if local(item) in names), None) if element is not None else None


class _HangulXmlParser(DefusedXMLParser):  # type: ignore[misc]  # the library is untyped
    """Refuses entities but for names of single characters, which files of the law portal declare (nbsp)."""

    def defused_entity_decl(
        self,
        name: str,
        is_parameter_entity: bool,
        value: str | None,
        base: str | None,
        sysid: str | None,
        pubid: str | None,
        notation_name: str | None,
    ) -> None:
        harmless = value is not None and len(value) <= _MAX_ENTITY_CHARS and "&" not in value and "%" not in value
        if is_parameter_entity or sysid is not None or not harmless:
            super().defused_entity_decl(name, is_parameter_entity, value, base, sysid, pubid, notation_name)


def parse_xml(stream: BinaryIO, *, name: str) -> Element:
    """The root of an XML file, layout left out. Raises UnreadableFile for broken or deeply nested XML and entities."""
    depth = 0
    root: Element | None = None
    try:
        parser = _HangulXmlParser(forbid_dtd=False, forbid_entities=True, forbid_external=True)
        for event, element in iterparse(stream, events=("start", "end"), parser=parser):
            if event == "start":
                root = element if root is None else root
                depth += 1
                if depth > MAX_XML_DEPTH:
                    raise UnreadableFile(
                        f"{name} nests its XML more than {MAX_XML_DEPTH} deep; save it anew in Hangul."
                    )
            else:
                depth -= 1
                if local(element) in _LAYOUT:
                    element.clear()
    except DefusedXmlException as error:
        raise UnreadableFile(
            f"{name} declares XML entities, which Hangul never writes and attacks need; it was not opened. "
            "Save it anew in Hangul if you trust it."
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableFile(
            f"{name} is a Hangul file whose XML is damaged or cut off ({error}); copy it again from where it came."
        ) from error
    if root is None:
        raise UnreadableFile(f"{name} holds no XML; copy it again from where it came.")
    return root


def read_numbering_xml(root: Element) -> Numbering:
    """Heads, numberings and bullets out of a HWPX header or a HWPML file."""
    found = Numbering()
    for element in root.iter():
        name = local(element)
        if name in ("parapr", "parashape"):
            _set(found.heads, integer(element, "id", -1), _head(element), None)
        elif name == "numbering" and attribute(element, "id"):
            _set(found.numberings, integer(element, "id") - 1, _levels(element), ())
        elif name == "bullet":
            shown = readable(attribute(element, "char"))
            _set(found.bullets, integer(element, "id") - 1, shown or "•", "•")
    return found


def _set(items: list[Item], place: int, item: Item, filler: Item) -> None:
    if 0 <= place < _MAX_IDS:
        items.extend([filler] * (place + 1 - len(items)))
        items[place] = item


def _head(shape: Element) -> Head | None:
    heading = child(shape, "heading")
    if heading is not None:
        kind = _HEAD_KINDS.get(attribute(heading, "type").lower(), 0)
        level, reference = integer(heading, "level"), integer(heading, "idRef")
    else:
        kind = _HEAD_KINDS.get(attribute(shape, "headingType").lower(), 0)
        level, reference = integer(shape, "level"), integer(shape, "heading")
    return Head(kind=kind, level=max(0, level) + 1, reference=reference) if kind else None


def _levels(numbering: Element) -> tuple[Level, ...]:
    heads = [item for item in numbering if local(item) == "parahead"]
    return tuple(
        Level(
            text="".join(head.itertext()),
            style=_NUMBER_STYLES.get(attribute(head, "numFormat").replace("_", "").lower(), 0),
            start=max(1, integer(head, "start", 1)),
        )
        for head in heads[:7]
    )


@dataclass(slots=True)
class XmlBodyReader:
    """Reads the sections of one document one after the other; counters and seen headers run on."""

    numbering: Numbering
    margins: list[str] = field(default_factory=list)  # headers and footers, each once
    _note_count: int = 0
    _in_note: bool = False
    _deleted: bool = False  # between the marks of a tracked deletion
    _notes: list[list[Block]] = field(default_factory=list)

    def paragraphs(self, parent: Element | Iterable[Element]) -> list[Block]:
        """Blocks of all paragraphs below `parent`, whatever lists and sections stand between."""
        blocks: list[Block] = []
        for element in parent:
            name = local(element)
            if name == "p":
                blocks.extend(self._paragraph(element))
            elif name in ("sublist", "sec", "section", "drawtext"):
                blocks.extend(self.paragraphs(element))
        return blocks

    def _paragraph(self, element: Element) -> list[Block]:
        paragraph = _Paragraph()
        self._notes.append([])
        for run in element:
            if local(run) in ("run", "t"):
                self._run(run, paragraph)
        notes = self._notes.pop()
        return [*paragraph.above, *self._finish(element, paragraph), *paragraph.below, *notes]

    def _finish(self, element: Element, paragraph: _Paragraph) -> list[Block]:
        shape = integer(element, "paraPrIDRef", integer(element, "paraShape", -1))
        head = self.numbering.head(shape) if shape >= 0 else None
        blocks: list[Block] = []
        label: str | None = None
        for part in paragraph.parts:
            if isinstance(part, list):
                blocks.extend(part)
                continue
            text = notes_behind_words(readable(part))
            if not text:
                continue
            if head is not None and label is None:
                label = self.numbering.label(head)
                text = f"{label} {text}" if label else text
            outline = head is not None and head.kind == 1 and is_heading(text)
            level = head.level if head is not None and outline else None
            blocks.append(Block(kind="heading" if outline else "paragraph", text=text, level=level))
        return blocks

    def _run(self, run: Element, paragraph: _Paragraph) -> None:
        if local(run) == "t":
            self._text(run, paragraph)
            return
        for element in run:
            name = local(element)
            if name == "t":
                self._text(element, paragraph)
            elif name == "ctrl":
                self._run(element, paragraph)
            elif name == "tbl":
                self._place(element, self._table(element), paragraph, inline=True)
            elif name in _DRAWN:
                self._place(element, list(self._drawn(element)), paragraph, inline=False)
            else:
                self._small_control(name, element, paragraph)

    def _small_control(self, name: str, element: Element, paragraph: _Paragraph) -> None:
        if name in ("footnote", "endnote"):
            paragraph.add(self._note(element))
        elif name in ("header", "footer"):
            text = flat_text(self.paragraphs(element)).strip()
            if text and text not in self.margins:
                self.margins.append(text)
        elif name in ("secpr", "secdef"):
            outline = integer(element, "outlineShapeIDRef", integer(element, "outlineShape"))
            self.numbering.outline = outline or self.numbering.outline
        elif name in _INLINE and not (name == "autonum" and self._in_note and _numbers_a_note(element)):
            paragraph.add(_INLINE[name](element))

    def _text(self, element: Element, paragraph: _Paragraph) -> None:
        self._add(element.text, paragraph)
        for item in element:
            name = local(item)
            if name == "deletebegin":
                self._deleted = True
            elif name == "deleteend":
                self._deleted = False
            elif name in _IN_TEXT:
                self._add(_IN_TEXT[name], paragraph)
            elif name in _INLINE or name in ("footnote", "endnote"):
                self._small_control(name, item, paragraph)
            self._add(item.tail, paragraph)

    def _add(self, text: str | None, paragraph: _Paragraph) -> None:
        if text and not self._deleted:
            paragraph.add(text)

    def _place(self, element: Element, content: list[Block], paragraph: _Paragraph, *, inline: bool) -> None:
        if not content:
            return
        shape = child(element, "shapeobject")
        holder = element if shape is None else shape
        position = child(holder, "pos", "position")
        if inline and attribute(position, "treatAsChar", "1").lower() in ("1", "true"):
            paragraph.parts.append(content)
        elif (
            attribute(position, "vertRelTo").lower() == "para"
            and attribute(holder, "textWrap").replace("_", "").lower() == "topandbottom"
            and integer(position, "vertOffset") < _ABOVE_TEXT_UNITS
        ):
            paragraph.above.extend(content)
        else:
            paragraph.below.extend(content)

    def _note(self, element: Element) -> str:
        outer, self._in_note = self._in_note, True
        text = flat_text(self.paragraphs(element)).strip()
        self._in_note = outer
        if not text:
            return ""
        self._note_count += 1
        self._notes[-1].append(Block(kind="note", text=f"주{self._note_count}) {text}"))
        return f"(주{self._note_count})"

    def _table(self, element: Element) -> list[Block]:
        caption = self._caption(element)
        cells = []
        for number, row in enumerate(item for item in element if local(item) == "tr"):
            for column, cell in enumerate(item for item in row if local(item) == "tc"):
                address, span = child(cell, "celladdr"), child(cell, "cellspan")
                address, span = (cell if address is None else address), (cell if span is None else span)
                cells.append(
                    SpannedCell(
                        row=integer(address, "rowAddr", number),
                        column=integer(address, "colAddr", column),
                        row_span=integer(span, "rowSpan", 1),
                        column_span=integer(span, "colSpan", 1),
                        blocks=tuple(self.paragraphs(cell)),
                    )
                )
        return table_blocks(cells, caption=flat_text(caption))

    def _caption(self, element: Element) -> list[Block]:
        shape = child(element, "shapeobject")
        caption = child(element if shape is None else shape, "caption")
        return self.paragraphs(caption) if caption is not None else []

    def _drawn(self, element: Element) -> Iterator[Block]:
        """Text of a drawing object and its caption, however deeply it is grouped."""
        if local(element) == "textart" and attribute(element, "text"):
            text = readable(attribute(element, "text"))
            if text:
                yield Block(kind="paragraph", text=text)
        for item in element:
            name = local(item)
            if name == "drawtext":
                yield from self.paragraphs(item)
            elif name in _DRAWN or name in ("drawingobject", "shapeobject"):
                yield from self._drawn(item)
            elif name == "caption":
                yield from self.paragraphs(item)


@dataclass(slots=True)
class _Paragraph:
    """What a paragraph is made of: text and inline tables in order, floating objects above and below."""

    parts: list[str | list[Block]] = field(default_factory=list)
    above: list[Block] = field(default_factory=list)
    below: list[Block] = field(default_factory=list)

    def add(self, text: str) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, str):
            self.parts[-1] = last + text
        else:
            self.parts.append(text)


def _numbers_a_note(element: Element) -> bool:
    return attribute(element, "numType", attribute(element, "numberType")).lower() in ("footnote", "endnote")


def _auto_number(element: Element) -> str:
    form = child(element, "autonumformat")
    style = _NUMBER_STYLES.get(attribute(form, "type").replace("_", "").lower(), 0)
    number = integer(element, "num", integer(element, "number", 1))
    return attribute(form, "prefixChar") + format_number(number, style) + attribute(form, "suffixChar")


def _equation(element: Element) -> str:
    script = child(element, "script")
    return f" {' '.join(''.join(script.itertext()).split())} " if script is not None else ""


def _overlapping(element: Element) -> str:
    shown = attribute(element, "composeText")
    if shown:
        return shown
    inner = child(element, "composetext")
    return "".join(inner.itertext()) if inner is not None else ""


def _annotated(element: Element) -> str:
    main, above = (
        "".join(item.itertext()) if (item := child(element, n)) is not None else "" for n in ("maintext", "subtext")
    )
    return f"{main}({above})" if above.strip() else main


_INLINE: dict[str, Callable[[Element], str]] = {
    "autonum": _auto_number,
    "equation": _equation,
    "compose": _overlapping,
    "dutmal": _annotated,
}
