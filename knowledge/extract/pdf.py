"""PDF with a text layer to blocks."""

from __future__ import annotations

from typing import Any

from knowledge.errors import UnreadableFile
from knowledge.extract.decoding import clean_text
from knowledge.types import Block, Extraction


def extract_pdf(content: bytes, *, name: str) -> Extraction:
    """Blocks in reading order with page numbers. Raises UnreadableFile for damaged, protected and scanned files."""
    document = _open(content, name=name)
    blocks: list[Block] = []
    warnings: list[str] = []
    try:
        for number in range(len(document)):
            page = document[number]
            text = clean_text(page.get_textpage().get_text_range())
            if not text.strip():
                warnings.append(f"page {number + 1} has no text layer (a scan?)")
                continue
            blocks.extend(
                Block(kind="paragraph", text=line.strip(), page=number + 1) for line in text.split("\n") if line.strip()
            )
    finally:
        document.close()
    if not blocks:
        raise UnreadableFile(
            f"{name} has no text layer on any page (a scan?); OCR is not available yet in this version, "
            "put a version with text in its place."
        )
    return Extraction(
        format="pdf",
        extractor="pypdfium2",
        status="partial" if warnings else "ok",
        title=None,
        blocks=tuple(blocks),
        warnings=tuple(warnings),
    )


def _open(content: bytes, *, name: str) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(f"{name}: {error}") from error
