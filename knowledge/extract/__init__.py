"""Files to blocks in reading order: one function, the format decided by the content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowledge.errors import UnreadableFile, UnsupportedFormat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from knowledge.types import Extraction

# format -> module of this package and function in it; imported when a file of that format comes
_EXTRACTORS = {
    "hwp": ("hwp", "extract_hwp"),
    "hwp3": ("hwp3", "extract_hwp3"),
    "hwpx": ("hwpx", "extract_hwpx"),
    "hwpml": ("hwpml", "extract_hwpml"),
    "xlsx": ("sheets", "extract_xlsx"),
    "xls": ("sheets", "extract_xls"),
    "pptx": ("slides", "extract_pptx"),
    "html": ("html", "extract_html"),
    "rtf": ("rtf", "extract_rtf"),
    "csv": ("csv_table", "extract_csv"),
}
EXTRACT_VERSION = "2"  # raise it whenever the blocks of some document change


def extract(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks of `content`; `name` is for messages and as a weak hint between Markdown and plain text.

    `ocr_folder` keeps raw OCR results by the file's sha256, unmasked, so that a file is read by OCR once.

    Raises UnsupportedFormat, which says what the file is, or UnreadableFile, which says what is wrong with it.
    """
    from knowledge.extract.sniff import sniff

    found = sniff(content, name=name)
    if found.format == "docx":
        from knowledge.extract.docx import extract_docx

        return extract_docx(content, name=name)
    if found.format == "pdf":
        from knowledge.extract.pdf import extract_pdf

        return extract_pdf(content, name=name, ocr_folder=ocr_folder)
    if found.format == "doc":
        from knowledge.extract.doc import extract_doc

        return extract_doc(content, name=name, ocr_folder=ocr_folder)
    if found.format == "image":
        from knowledge.extract.images import extract_image

        return extract_image(content, name=name, ocr_folder=ocr_folder)
    if found.format == "text":
        from knowledge.extract.text import extract_text

        return extract_text(content, name=name)
    if found.format in _EXTRACTORS:
        from importlib import import_module

        module, function = _EXTRACTORS[found.format]
        extractor: Callable[..., Extraction] = getattr(import_module(f"knowledge.extract.{module}"), function)
        return extractor(content, name=name)
    if found.format == "encrypted-ooxml":
        raise UnreadableFile(f"{name} is {found.description}; save a copy without the password.")
    if found.format == "ole":
        raise UnreadableFile(
            f"{name} is {found.description} in which no document is found; copy the file again from where it came, or "
            "open it in its program and save it anew."
        )
    raise UnsupportedFormat(
        f"{name} is {found.description}, which this version does not read; "
        "save it as PDF with text, DOCX, Markdown or plain text."
    )
