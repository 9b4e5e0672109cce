"""PDF to blocks, by text layer or OCR: reading order and tables by place, page numbers kept, page furniture once."""

from __future__ import annotations

import re
import statistics
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from knowledge.chunking.markers import close_up, is_sentence, read_marker
from knowledge.errors import NoText, UnreadableFile
from knowledge.extract.decoding import clean_text
from knowledge.extract.pdf_chars import read_chars, read_rules
from knowledge.extract.pdf_layout import Line, TableItem, page_items
from knowledge.extract.pdf_paragraphs import Joiner, group_lines
from knowledge.extract.pdf_pictures import read_pictures, render_page
from knowledge.extract.scan import (
    PageFacts,
    ScanResult,
    doubtful_warnings,
    has_lost_digits,
    mark_doubtful,
    pages_needing_ocr,
    read_scans,
)
from knowledge.extract.text import table_block
from knowledge.types import Block, Extraction

_PDFIUM = threading.Lock()  # PDFium is not thread-safe
_MAX_PAGES = 5_000
_PAGE_NUMBER = re.compile(
    r"^(?:[-–—]\s*\d{1,4}\s*[-–—]|\d{1,4}\s*/\s*\d{1,4}|(?:page|p\.)\s*\d{1,4}(?:\s*(?:of|/)\s*\d+)?)$", re.I
)
_BARE_NUMBER = re.compile(r"^\d{1,4}$")
_OCR_GAIN = 1.2  # times the letters of a text layer that OCR must find to take its place
_OCR_LOSS = 0.7  # the same where the text layer lost its digits
_EDGE_LINES = 2
_TITLE_SCALE = 1.25
_HEADING_SCALE = 1.2
_MAX_HEADING_CHARS = 60

PageItems = list[Line | TableItem]


def extract_pdf(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks in reading order; pages without a usable text layer go through OCR, whose raw results `ocr_folder` keeps.

    Raises UnreadableFile for damaged, protected and empty files, and for scans where Tesseract is missing.
    """
    with _PDFIUM:
        pages, facts = _read_pages(content, name=name)
        scans = _read_scans(content, pages, facts, name=name, folder=ocr_folder)
    lost = _text_warnings(pages, facts, scans)
    if not any(pages) and scans.failed:
        number, reason = next(iter(scans.failed.items()))
        raise UnreadableFile(f"{name} has no text layer, and its page {number} could not be read by OCR: {reason}.")
    if not any(pages):
        raise NoText(
            f"{name} has no text on any of its {len(pages)} pages, and OCR found none either; "
            "put a readable version in its place."
        )
    title, blocks = assemble(pages)
    if not any(block.text.strip() for block in blocks):
        raise UnreadableFile(f"{name} holds page numbers only; put a version with text in its place.")
    return Extraction(
        format="pdf",
        extractor="pypdfium2 + tesseract" if scans.pages else "pypdfium2",
        status="partial" if lost else "ok",
        title=title,
        blocks=tuple(mark_doubtful(blocks, {number: page.doubtful for number, page in scans.pages.items()})),
        warnings=(*lost, *doubtful_warnings(scans.pages)),
    )


def assemble(pages: Sequence[PageItems]) -> tuple[str | None, list[Block]]:
    """(title, blocks) of pages in reading order; running headers and footers are taken out of `pages`."""
    furniture = _take_furniture(pages)
    lines = [item for page in pages for item in page if isinstance(item, Line)]
    body_size = statistics.median(line.em for line in lines) if lines else 10.0
    joiner = Joiner(lines)
    blocks = [Block(kind="note", text=text, page=1) for text in furniture]
    for number, page in enumerate(pages, start=1):
        blocks.extend(_page_blocks(page, number, joiner, body_size))
    return _title(pages, body_size), blocks


def _read_pages(content: bytes, *, name: str) -> tuple[list[PageItems], list[PageFacts]]:
    document = _open(content, name=name)
    try:
        if len(document) > _MAX_PAGES:
            raise UnreadableFile(f"{name} has {len(document)} pages, more than {_MAX_PAGES}; split it.")
        read = [_read_page(document, index) for index in range(len(document))]
        return [items for items, _ in read], [facts for _, facts in read]
    finally:
        document.close()


def _read_page(document: Any, index: int) -> tuple[PageItems, PageFacts]:
    """Items of one page; a page that PDFium cannot load is empty and ends up in the warnings."""
    import pypdfium2

    try:
        page = document[index]
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        return [], PageFacts("", 0.0, False)
    try:
        chars = read_chars(text_page.raw)
        share, is_drawn = read_pictures(page)
        items = page_items(chars, read_rules(page)) if chars else []
        # in reading order: digits that are drawn apart from the words around them are not lost
        return items, PageFacts("\n".join(_item_text(item) for item in items), share, is_drawn)
    finally:
        text_page.close()
        page.close()


def _read_scans(
    content: bytes, pages: list[PageItems], facts: Sequence[PageFacts], *, name: str, folder: Path | None
) -> ScanResult:
    """OCR of the pages that need it, put into `pages` where it says more than their text layer."""
    needed = pages_needing_ocr(facts)
    if not needed:
        return ScanResult({}, {})
    document = _open(content, name=name)
    try:
        result = read_scans(
            content, list(needed), lambda number: render_page(document, number - 1), name=name, folder=folder
        )
    except UnreadableFile as error:  # no Tesseract: the pages with text are still worth having
        if not any(pages):
            raise
        return ScanResult({}, dict.fromkeys(needed, str(error)))
    finally:
        document.close()
    used = {}
    for number, scan in result.pages.items():
        wanted = _OCR_LOSS if has_lost_digits(facts[number - 1].text) else _OCR_GAIN
        if scan.chars and len(scan.chars) > wanted * len("".join(facts[number - 1].text.split())):
            pages[number - 1] = page_items(scan.chars, scan.rules)
            used[number] = scan
    return ScanResult(used, result.failed)


def _open(content: bytes, *, name: str) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        reason = str(error).lower()
        if "password" in reason or "security" in reason:
            raise UnreadableFile(f"{name} is protected by a password; save a copy without it.") from error
        raise UnreadableFile(f"{name} is a damaged or cut off PDF; copy the file again from where it came.") from error


def _text_warnings(pages: Sequence[PageItems], facts: Sequence[PageFacts], scans: ScanResult) -> list[str]:
    """What a reader must know: pages that gave no text, doubtful words, and text layers that lost their digits."""
    warnings = []
    for number, (page, fact) in enumerate(zip(pages, facts, strict=True), start=1):
        if number in scans.failed:
            warnings.append(f"page {number} could not be read by OCR: {scans.failed[number]}")
        elif not page and (fact.is_drawn or number in scans.pages):
            warnings.append(f"page {number} has no text that could be read")
        elif number not in scans.pages and has_lost_digits("\n".join(_item_text(item) for item in page)):
            warnings.append(
                f"page {number}: the text layer seems to have lost digits (제 조); check numbers in the file"
            )
    return warnings


def _item_text(item: Line | TableItem) -> str:
    return item.text if isinstance(item, Line) else "\n".join(" ".join(row) for row in item.rows)


def _take_furniture(pages: Sequence[PageItems]) -> list[str]:
    """Running headers and footers, removed from `pages` and returned once each; page numbers are only removed."""
    at_edges: Counter[str] = Counter()
    anywhere: Counter[str] = Counter()
    for page in pages:
        edges = set(_edges(page))
        lines = [(index, item.text) for index, item in enumerate(page) if isinstance(item, Line)]
        anywhere.update({_key(text) for _, text in lines})
        at_edges.update({_key(text) for index, text in lines if index in edges})
    needed = max(3, 0.4 * len(pages))
    texts: dict[str, str] = {}
    for page in pages:
        edges = set(_edges(page))
        kept: PageItems = []
        for index, item in enumerate(page):
            if isinstance(item, Line):
                text = item.text.strip()
                if _PAGE_NUMBER.match(text) or (index in edges and _BARE_NUMBER.match(text)):
                    continue
                # two pages on one sheet put a running header in the middle, so enough repeats count anywhere
                repeated = anywhere[_key(text)] >= 2 * needed or (index in edges and at_edges[_key(text)] >= needed)
                if repeated and read_marker(text) is None:
                    texts.setdefault(_key(text), text)
                    continue
            kept.append(item)
        page[:] = kept
    return list(texts.values())


def _edges(page: PageItems) -> list[int]:
    """Indexes of the highest and lowest lines of a page."""
    lines = [(item.y1, index) for index, item in enumerate(page) if isinstance(item, Line)]
    ordered = [index for _, index in sorted(lines)]
    return ordered[:_EDGE_LINES] + ordered[-_EDGE_LINES:]


def _key(text: str) -> str:
    return re.sub(r"\d+", "#", "".join(text.split()))


def _page_blocks(page: PageItems, number: int, joiner: Joiner, body_size: float) -> list[Block]:
    blocks: list[Block] = []
    run: list[Line] = []

    def close() -> None:
        for text, first in group_lines(run, joiner):
            cleaned = clean_text(text).strip()
            if not cleaned:
                continue
            scale = first.em / body_size
            if scale >= _HEADING_SCALE and len(cleaned) <= _MAX_HEADING_CHARS and not is_sentence(cleaned):
                level = 1 if scale >= 1.5 else 2 if scale >= 1.3 else 3
                blocks.append(Block(kind="heading", text=" ".join(cleaned.split()), level=level, page=number))
            else:
                blocks.append(Block(kind="paragraph", text=cleaned, page=number))
        run.clear()

    for item in page:
        if isinstance(item, Line):
            run.append(item)
            continue
        close()
        blocks.append(table_block([tuple(clean_text(cell) for cell in row) for row in item.rows], page=number))
    close()
    return blocks


def _title(pages: Sequence[PageItems], body_size: float) -> str | None:
    """The first of the biggest lines of the first page with text; metadata too often holds a file name or mojibake."""
    first = next((page for page in pages if page), [])
    lines = [item for item in first if isinstance(item, Line) and 2 <= len(item.text.strip()) <= _MAX_HEADING_CHARS]
    if not lines:
        return None
    biggest = max(line.em for line in lines)
    if biggest < _TITLE_SCALE * body_size:
        return None
    title = next(line for line in lines if line.em >= 0.75 * biggest)
    return close_up(clean_text(title.text)) or None
