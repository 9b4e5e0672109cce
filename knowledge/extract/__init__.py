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
    "text": ("text", "extract_text"),
    "docx": ("docx", "extract_docx"),
    "doc": ("doc", "extract_doc"),
    "pdf": ("pdf", "extract_pdf"),
    "image": ("images", "extract_image"),
    "hwp": ("hwp", "extract_hwp"),
    "hwp3": ("hwp3", "extract_hwp3"),
    "hwpx": ("hwpx", "extract_hwpx"),
    "hwpml": ("hwpml", "extract_hwpml"),
    "xlsx": ("sheets", "extract_xlsx"),
    "xls": ("sheets", "extract_xls"),
    "pptx": ("slides", "extract_pptx"),
    "ppt": ("ppt", "extract_ppt"),
    "odf": ("odf", "extract_odf"),
    "wordml": ("odf", "extract_wordml"),
    "html": ("html", "extract_html"),
    "rtf": ("rtf", "extract_rtf"),
    "csv": ("csv_table", "extract_csv"),
}
_WITH_OCR = frozenset(["doc", "pdf", "image", "pptx", "ppt"])  # extractors that send pictures through OCR themselves
_WITH_PICTURES = frozenset(["docx", "hwp", "hwpx", "xlsx", "odf"])  # their pictures are read when there is no text
_REMEDIES = {  # what to do with formats that are not read
    "xlsb": "save it in Excel as an Excel workbook (XLSX)",
    "archive": "unpack it into the folder",
    "epub": "export it as PDF with text or as HTML",
    "binary": "exclude it",
}
EXTRACT_VERSION = "2"  # raise it whenever the blocks of some document change


def extract(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks of `content`; `name` is for messages and as a weak hint between Markdown and plain text.

    `ocr_folder` keeps raw OCR results by the file's sha256, unmasked, so that a file is read by OCR once.

    Raises UnsupportedFormat, which says what the file is, or UnreadableFile, which says what is wrong with it.
    """
    from knowledge.extract.sniff import sniff

    found = sniff(content, name=name)
    if found.format in _EXTRACTORS:
        return _with_extractor(found.format, content, name, ocr_folder)
    if found.format == "encrypted-ooxml":
        raise UnreadableFile(f"{name} is {found.description}; save a copy without the password.")
    if found.format == "ole":
        raise UnreadableFile(
            f"{name} is {found.description} in which no document is found; copy the file again from where it came, or "
            "open it in its program and save it anew."
        )
    remedy = _REMEDIES.get(found.format, "save it as PDF with text, DOCX, Markdown or plain text")
    raise UnsupportedFormat(f"{name} is {found.description}, which this version does not read; {remedy}.")


def _with_extractor(kind: str, content: bytes, name: str, ocr_folder: Path | None) -> Extraction:
    from importlib import import_module

    module, function = _EXTRACTORS[kind]
    extractor: Callable[..., Extraction] = getattr(import_module(f"knowledge.extract.{module}"), function)
    if kind in _WITH_OCR:
        return extractor(content, name=name, ocr_folder=ocr_folder)
    if kind not in _WITH_PICTURES:
        return extractor(content, name=name)
    from knowledge.extract.embedded_pictures import extract_pictures, text_or_pictures

    return text_or_pictures(
        lambda: extractor(content, name=name),
        lambda: extract_pictures(content, name=name, kind=kind, ocr_folder=ocr_folder),
    )
