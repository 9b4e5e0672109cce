"""OpenDocument files: spreadsheets and presentations from their XML, texts and Word 2003 XML through LibreOffice.

Writer numbers paragraphs as Word does, by styles and lists; LibreOffice resolves them and writes DOCX, which is read
with the rules that stand for Word. OASIS OpenDocument 1.3, part 3, names the elements.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.errors import NoText, UnreadableFile, UnsupportedFormat
from knowledge.extract.decoding import clean_text
from knowledge.extract.docx_package import check_package
from knowledge.extract.library_errors import LIBRARY_ERRORS
from knowledge.extract.merged_cells import SpannedCell, table_blocks, text_cell
from knowledge.extract.sheet_blocks import MAX_CELLS, MergedRange, Sheet, sheet_blocks
from knowledge.types import Block, Extraction

if TYPE_CHECKING:
    from lxml.etree import _Element

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_MAX_REPEATED = 1_000  # rows or columns of equal content; sheets end in a million empty ones
_MAX_SPACES = 200
_LEFT_OUT = frozenset([f"{_OFFICE}annotation", f"{_TEXT}tracked-changes", f"{_TEXT}note-citation"])


def extract_odf(content: bytes, *, name: str) -> Extraction:
    """Blocks of an ODT, ODS or ODP file.

    Raises UnreadableFile when it is encrypted, damaged or too large, NoText, and UnsupportedFormat for drawings.
    """
    check_package(content, name=name)
    root = _content(content, name=name)
    body = root.find(f"{_OFFICE}body")
    if body is None:
        raise _damaged(name, "no body")
    if body.find(f"{_OFFICE}text") is not None:
        return extract_by_office(content, name=name, kind="odt", suffix=".odt")
    remarks: list[str] = []
    try:
        sheet_body, show = body.find(f"{_OFFICE}spreadsheet"), body.find(f"{_OFFICE}presentation")
        if sheet_body is not None:
            hidden = _hidden_styles(root)
            sheets = [_sheet(table) for table in sheet_body.iter(f"{_TABLE}table") if _is_shown(table, hidden, remarks)]
            kind, blocks = "ods", [block for sheet in sheets for block in sheet_blocks(sheet)]
        elif show is not None:
            kind, blocks = "odp", list(_slides(show))
        else:
            raise UnsupportedFormat(f"{name} is an OpenDocument drawing or formula; save it as PDF with text.")
    except LIBRARY_ERRORS as error:
        raise _damaged(name, str(error) or type(error).__name__) from error
    if not blocks:
        raise NoText(f"{name} is an OpenDocument file without text (blank, or only drawings); fill it or remove it.")
    title = next((block.text for block in blocks if block.kind == "heading"), None) if kind == "odp" else None
    return Extraction(
        format=kind, extractor="odf", status="ok", title=title, blocks=tuple(blocks), warnings=tuple(remarks)
    )


def extract_by_office(
    content: bytes, *, name: str, kind: str, suffix: str, ocr_folder: Path | None = None
) -> Extraction:
    """Blocks of a text that LibreOffice Writer opens, by way of DOCX. Raises UnreadableFile."""
    from knowledge.extract.docx import extract_docx
    from knowledge.extract.office import convert

    del ocr_folder
    extraction = extract_docx(convert(content, name=name, suffix=suffix, to="docx"), name=name)
    return replace(extraction, format=kind, extractor=f"libreoffice + {extraction.extractor}")


def extract_wordml(content: bytes, *, name: str) -> Extraction:
    """Blocks of a Word 2003 XML document. Raises UnreadableFile."""
    return extract_by_office(content, name=name, kind="wordml", suffix=".xml")


def _content(content: bytes, *, name: str) -> _Element:
    import lxml.etree

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            manifest = archive.read("META-INF/manifest.xml") if "META-INF/manifest.xml" in names else b""
            if b"encryption-data" in manifest:
                raise UnreadableFile(f"{name} is protected by a password; save a copy without it.")
            data = archive.read("content.xml")
        parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False)
        return lxml.etree.fromstring(data, parser)
    except (*LIBRARY_ERRORS, lxml.etree.LxmlError) as error:
        raise _damaged(name, str(error) or type(error).__name__) from error


def _damaged(name: str, detail: str) -> UnreadableFile:
    return UnreadableFile(
        f"{name} is an OpenDocument file that is damaged or cut off ({detail}); open it in its program and save it "
        "anew, or copy it again from where it came."
    )


# --- text -----------------------------------------------------------------------------------------


def _text_of(element: _Element) -> str:
    """All text of a paragraph or a cell, one line a paragraph; comments and deleted text left out."""
    paragraphs = [_inline(part) for part in _paragraphs(element)]
    return "\n".join(text for text in (clean_text(line).strip() for line in paragraphs) if text)


def _paragraphs(element: _Element) -> Iterator[_Element]:
    if element.tag in (f"{_TEXT}p", f"{_TEXT}h"):
        yield element
        return
    for child in element:
        if child.tag not in _LEFT_OUT and isinstance(child.tag, str):
            yield from _paragraphs(child)


def _inline(element: _Element) -> str:
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{_TEXT}s":
            count = child.get(f"{_TEXT}c", "1")
            parts.append(" " * min(int(count) if count.isdecimal() else 1, _MAX_SPACES))
        elif child.tag == f"{_TEXT}tab":
            parts.append("\t")
        elif child.tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif isinstance(child.tag, str) and child.tag not in _LEFT_OUT:
            if parts[-1].strip() and child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                parts.append("\n")
            parts.append(_inline(child))
        parts.append(child.tail or "")
    return "".join(parts)


# --- sheets ---------------------------------------------------------------------------------------


def _hidden_styles(root: _Element) -> set[str]:
    """Styles of tables that are not displayed."""
    return {
        style.get(f"{_STYLE}name", "")
        for style in root.iter(f"{_STYLE}style")
        for properties in style.iter(f"{_STYLE}table-properties")
        if properties.get(f"{_TABLE}display") == "false"
    }


def _is_shown(table: _Element, hidden: set[str], remarks: list[str]) -> bool:
    if table.get(f"{_TABLE}style-name", "") not in hidden:
        return True
    title = table.get(f"{_TABLE}name", "")
    remarks.append(f"the sheet {title!r} is hidden and was left out; unhide it if it counts")
    return False


def _sheet(table: _Element) -> Sheet:
    texts: dict[tuple[int, int], str] = {}
    merged: list[MergedRange] = []
    row_number = 0
    for row in table.iter(f"{_TABLE}table-row"):
        again = _count(row, "number-rows-repeated")
        cells = list(_row(row))
        for offset in range(min(again, _MAX_REPEATED) if cells else 0):
            for column, text, down, across in cells:
                texts[row_number + offset, column] = text
                if down > 1 or across > 1:
                    merged.append((row_number, row_number + down - 1, column, column + across - 1))
        if len(texts) > MAX_CELLS:
            raise UnreadableFile(
                f"a sheet of this file ({table.get(f'{_TABLE}name', '')!r}) holds more than {MAX_CELLS} cells; that is "
                "a data dump, not a document: exclude it or split it."
            )
        row_number += again
    return Sheet(title=table.get(f"{_TABLE}name", ""), texts=texts, merged=tuple(merged))


def _row(row: _Element) -> Iterator[tuple[int, str, int, int]]:
    """(column, text, rows that it covers, columns that it covers) of the cells with text."""
    column = 0
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        again = _count(cell, "number-columns-repeated")
        text = _text_of(cell) if cell.tag == f"{_TABLE}table-cell" else ""
        if text:
            down, across = _count(cell, "number-rows-spanned"), _count(cell, "number-columns-spanned")
            for offset in range(min(again, _MAX_REPEATED)):
                yield column + offset, text, down, across
        column += again


def _count(element: _Element, attribute: str) -> int:
    value = element.get(f"{_TABLE}{attribute}", "1")
    return max(1, min(int(value), 10_000_000)) if value.isdecimal() else 1


# --- slides ---------------------------------------------------------------------------------------


def _slides(show: _Element) -> Iterator[Block]:
    for number, page in enumerate(show.iter(f"{_DRAW}page"), start=1):
        for child in page:
            if child.tag == f"{_PRESENTATION}notes":
                text = _text_of(child)
                if text:
                    yield Block(kind="note", text=text, page=number)
            elif isinstance(child.tag, str):
                yield from _shape(child, number)


def _shape(shape: _Element, number: int) -> Iterator[Block]:
    if shape.tag == f"{_DRAW}g":
        for inner in shape:
            if isinstance(inner.tag, str):
                yield from _shape(inner, number)
        return
    table = next(shape.iter(f"{_TABLE}table"), None)
    if table is not None:
        yield from table_blocks(_spanned(table), page=number)
        return
    text = _text_of(shape)
    if not text:
        return
    if shape.get(f"{_PRESENTATION}class") == "title":
        yield Block(kind="heading", text=" ".join(text.split()), page=number, level=1)
    elif shape.get(f"{_PRESENTATION}class") not in ("page-number", "footer", "date-time", "header"):
        yield Block(kind="paragraph", text=text, page=number)


def _spanned(table: _Element) -> list[SpannedCell]:
    return [
        text_cell(row_number, column, text, row_span=down, column_span=across)
        for row_number, row in enumerate(table.iter(f"{_TABLE}table-row"))
        for column, text, down, across in _with_empty(row)
    ]


def _with_empty(row: _Element) -> Iterator[tuple[int, str, int, int]]:
    """As `_row`, with the empty cells that are not covered: a grid needs all of its columns."""
    known = {column: (text, down, across) for column, text, down, across in _row(row)}
    column = 0
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        for offset in range(min(_count(cell, "number-columns-repeated"), _MAX_REPEATED)):
            if cell.tag == f"{_TABLE}table-cell":
                text, down, across = known.get(column + offset, ("", 1, 1))
                yield column + offset, text, down, across
        column += _count(cell, "number-columns-repeated")
