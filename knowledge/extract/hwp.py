"""HWP 5 (Hangul 2002 and later): own reader, because merged cells, notes and distribution documents must be whole.

Facts: "한글 문서 파일 형식 5.0", revision 1.2 and 1.3, published by Hancom.
"""

from __future__ import annotations

from knowledge.errors import UnreadableFile
from knowledge.extract.hwp_body import BodyReader
from knowledge.extract.hwp_container import damaged, open_hwp
from knowledge.extract.hwp_numbering import read_numbering
from knowledge.extract.hwp_records import BrokenRecords, read_tree
from knowledge.extract.page_margins import telling_margins
from knowledge.types import Block, Extraction

_TITLE_MUST_STAND_IN_FIRST_CHARS = 3_000


def extract_hwp(content: bytes, *, name: str) -> Extraction:
    """Blocks of an HWP 5 file. Raises UnreadableFile when it is encrypted, damaged, cut off or holds no text."""
    streams = open_hwp(content, name=name)
    blocks: list[Block] = []
    warnings: list[str] = []
    try:
        numbering = read_numbering(streams.doc_info)
        reader = BodyReader(numbering=numbering)
        for section in streams.sections:
            blocks.extend(reader.section(read_tree(section)))
    except (BrokenRecords, RecursionError) as error:
        raise damaged(name, str(error)) from error
    if numbering.section_count > len(streams.sections):
        raise damaged(name, f"{len(streams.sections)} of {numbering.section_count} sections are there")
    if streams.has_tracked_changes:
        warnings.append("tracked changes are on: deleted text may still be in here; accept the changes and save anew")
    blocks = [*telling_margins(reader.margins, blocks), *blocks]
    if not blocks:
        raise no_text(name)
    return Extraction(
        format="hwp",
        extractor="hwp5 (distribution)" if streams.is_distribution else "hwp5",
        status="ok",
        title=confirmed_title(streams.summary_title, blocks),
        blocks=tuple(blocks),
        warnings=tuple(warnings),
    )


def no_text(name: str) -> UnreadableFile:
    """The error for a document without a single word."""
    return UnreadableFile(
        f"{name} is a Hangul document without text (only pictures, or blank); export it as PDF so that it can be read "
        "by OCR, or remove it."
    )


def confirmed_title(title: str | None, blocks: list[Block]) -> str | None:
    """`title` where the document's beginning says the same; a template's leftover title would mislead."""
    wanted = "".join(title.split()) if title else ""
    if len(wanted) < 4:
        return None
    seen = ""
    for block in blocks:
        seen += "".join((block.text + "".join(cell for row in block.rows for cell in row)).split())
        if wanted in seen:
            return " ".join(title.split()) if title else None
        if len(seen) > _TITLE_MUST_STAND_IN_FIRST_CHARS:
            return None
    return None
