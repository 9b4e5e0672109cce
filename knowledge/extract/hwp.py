"""HWP 5 (Hangul 2002 and later): own reader, because merged cells, notes and distribution documents must be whole.

Facts: "한글 문서 파일 형식 5.0", revision 1.2 and 1.3, published by Hancom.
"""

from __future__ import annotations

from knowledge.extract.hwp_body import BodyReader
from knowledge.extract.hwp_container import open_hwp
from knowledge.extract.hwp_errors import damaged, no_text
from knowledge.extract.hwp_numbering import read_numbering
from knowledge.extract.hwp_records import BrokenRecords, read_tree
from knowledge.extract.page_margins import telling_margins
from knowledge.extract.titles import confirmed_title
from knowledge.types import Block, Extraction


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
