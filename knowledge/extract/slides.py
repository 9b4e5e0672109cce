"""Presentations (PPTX): one page a slide, with titles, text, tables, charts' figures and speaker notes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.errors import NoText, UnreadableFile
from knowledge.extract.decoding import clean_text
from knowledge.extract.docx_package import check_package
from knowledge.extract.embedded_pictures import letters
from knowledge.extract.library_errors import LIBRARY_ERRORS
from knowledge.extract.merged_cells import SpannedCell, table_blocks, text_cell
from knowledge.extract.text import table_block
from knowledge.types import Block, Extraction

MAX_SLIDES = 5_000
_FEW_CHARS = 40  # a slide with a picture and hardly any text is its picture
_PICTURE = 13  # MSO_SHAPE_TYPE.PICTURE
_MAX_GROUP_DEPTH = 30
_FURNITURE = ("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER")  # placeholders that repeat on every slide
_DIAGRAM_TEXT = re.compile(rb"<a:t>([^<]*)</a:t>")
_DIAGRAM_DATA = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"


def extract_pptx(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks of a presentation; slides that are only pictures go through OCR.

    Raises UnreadableFile when it is damaged or too large, and NoText.
    """
    import pptx
    import pptx.exc

    check_package(content, name=name)
    blocks: list[Block] = []
    warnings: list[str] = []
    pictures: dict[int, list[bytes]] = {}
    try:
        slides = pptx.Presentation(io.BytesIO(content)).slides
        for number, slide in enumerate(slides, 1):
            if number > MAX_SLIDES:
                warnings.append(f"only the first {MAX_SLIDES} slides were read")
                break
            found = list(_slide(slide, number))
            if letters(block for block in found if block.kind != "note") < _FEW_CHARS:
                pictures[number] = pictures_on(slide)
            blocks.extend(found)
            if slide.element.get("show") == "0":
                warnings.append(f"slide {number} is hidden in the show")
    except (*LIBRARY_ERRORS, pptx.exc.PythonPptxError) as error:
        raise UnreadableFile(
            f"{name} is a PowerPoint presentation that is damaged or cut off ({str(error) or type(error).__name__}); "
            "open it in PowerPoint and save it anew, or copy it again from where it came."
        ) from error
    blocks, seen = _with_pictures(blocks, pictures, warnings, name=name, ocr_folder=ocr_folder)
    if not blocks:
        raise NoText(
            f"{name} is a PowerPoint presentation without text (blank, or only drawings); print it to PDF so that it "
            "can be read by OCR, or remove it."
        )
    lost = any("only the first" in warning or "could not be read" in warning for warning in warnings)
    return Extraction(
        format="pptx",
        extractor="python-pptx + tesseract" if seen else "python-pptx",
        status="partial" if lost else "ok",
        title=next((block.text for block in blocks if block.kind == "heading"), None),
        blocks=tuple(blocks),
        warnings=tuple(warnings),
    )


def slide_pictures(content: bytes, number: int) -> list[bytes]:
    """The pictures of one slide, from 1, that may hold text; none where there is no such slide."""
    import pptx

    try:
        slides = pptx.Presentation(io.BytesIO(content)).slides
        return pictures_on(slides[number - 1]) if 1 <= number <= len(slides) else []
    except LIBRARY_ERRORS:
        return []


def pictures_on(slide: Any) -> list[bytes]:
    """The pictures of a slide that may hold text, in reading order."""
    from knowledge.extract.embedded_pictures import may_hold_text

    found = []
    for shape in _all_shapes(slide.shapes, 0):
        if getattr(shape, "shape_type", None) == _PICTURE and getattr(shape, "image", None) is not None:
            blob = shape.image.blob
            if may_hold_text(blob):
                found.append(blob)
    return found


def _all_shapes(shapes: Any, depth: int) -> Iterator[Any]:
    for shape in _reading_order(shapes):
        if hasattr(shape, "shapes"):
            if depth < _MAX_GROUP_DEPTH:
                yield from _all_shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _with_pictures(
    blocks: list[Block], pictures: dict[int, list[bytes]], warnings: list[str], *, name: str, ocr_folder: Path | None
) -> tuple[list[Block], bool]:
    """The blocks with what OCR reads on slides that hold hardly any text, and whether it read anything."""
    from knowledge.extract.embedded_pictures import read_pictures

    found: list[Block] = []
    for number, blobs in pictures.items():
        if not blobs:
            continue
        try:
            read = read_pictures(blobs, name=f"{name}, slide {number}", ocr_folder=ocr_folder, page=number)
        except UnreadableFile as error:
            if not blocks:
                raise
            warnings.append(f"pictures of slides could not be read: {error}")
            break
        found.extend(read.blocks)
        warnings.extend(read.warnings)
    return sorted([*blocks, *found], key=lambda block: block.page or 0), bool(found)


def _slide(slide: Any, number: int) -> Iterator[Block]:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        text = " ".join(clean_text(title.text_frame.text).split())
        if text:
            yield Block(kind="heading", text=text, page=number, level=1)
    for shape in _reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape, number, 0)
    if slide.has_notes_slide:
        frame = slide.notes_slide.notes_text_frame
        text = clean_text(frame.text).strip() if frame is not None else ""
        if text:
            yield Block(kind="note", text=text, page=number)


def _reading_order(shapes: Any) -> list[Any]:
    """Shapes from top to bottom, left to right within a band of a centimetre; those without a place come last."""
    band = 360_000  # EMU

    def place(shape: Any) -> tuple[int, int]:
        top, left = shape.top, shape.left
        return (10**9, 0) if top is None or left is None else (int(top) // band, int(left))

    return sorted(shapes, key=place)


def _shape(shape: Any, number: int, depth: int) -> Iterator[Block]:
    if shape.is_placeholder and any(name in str(shape.placeholder_format.type) for name in _FURNITURE):
        return
    if hasattr(shape, "shapes"):
        if depth < _MAX_GROUP_DEPTH:
            for inner in _reading_order(shape.shapes):
                yield from _shape(inner, number, depth + 1)
    elif getattr(shape, "has_table", False):
        yield from _table(shape.table, number)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart, number)
    elif shape.has_text_frame:
        text = _text(shape.text_frame)
        if text:
            yield Block(kind="paragraph", text=text, page=number)
    else:
        yield from _diagram(shape, number)


def _text(frame: Any) -> str:
    """Paragraphs of a text frame, one a line, deeper levels indented."""
    lines = []
    for paragraph in frame.paragraphs:
        text = clean_text(paragraph.text).strip()
        if text:
            lines.append("  " * paragraph.level + text)
    return "\n".join(lines)


def _table(table: Any, number: int) -> list[Block]:
    cells: list[SpannedCell] = []
    for row_number, row in enumerate(table.rows):
        for column_number, cell in enumerate(row.cells):
            if cell.is_spanned:
                continue
            height, width = (cell.span_height, cell.span_width) if cell.is_merge_origin else (1, 1)
            text = _text(cell.text_frame)
            cells.append(text_cell(row_number, column_number, text, row_span=height, column_span=width))
    return table_blocks(cells, page=number)


def _chart(chart: Any, number: int) -> Iterator[Block]:
    """The figures behind a chart as a table: categories down, series across."""
    title = chart.chart_title.text_frame.text.strip() if chart.has_title and chart.chart_title.has_text_frame else ""
    for plot in chart.plots:
        series = list(plot.series)
        head = ("", *(item.name or "" for item in series))
        rows = [
            (str(category), *(_figure(item.values[place]) if place < len(item.values) else "" for item in series))
            for place, category in enumerate(plot.categories)
        ]
        if rows and series:
            if title:
                yield Block(kind="paragraph", text=title, page=number)
            yield table_block([head, *rows], page=number)


def _figure(value: object) -> str:
    from knowledge.extract.sheet_numbers import shown

    return shown(value, "General")


def _diagram(shape: Any, number: int) -> Iterator[Block]:
    """Text of a SmartArt drawing, which stands in a part of its own."""
    if not hasattr(shape, "part"):
        return
    for relation_id in re.findall(r'r:dm="([^"]+)"', _xml(shape)):
        relation = shape.part.rels.get(relation_id)
        if relation is None or relation.is_external or relation.reltype != _DIAGRAM_DATA:
            continue
        texts = [
            text.decode("utf-8", errors="ignore").strip() for text in _DIAGRAM_TEXT.findall(relation.target_part.blob)
        ]
        if any(texts):
            import html

            yield Block(kind="paragraph", text=html.unescape("\n".join(filter(None, texts))), page=number)


def _xml(shape: Any) -> str:
    import lxml.etree

    return str(lxml.etree.tostring(shape.element, encoding="unicode"))
