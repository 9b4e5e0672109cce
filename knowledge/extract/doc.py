"""Word 95 and 97-2003 documents: checked here, converted by LibreOffice, read as DOCX; pictures only go through OCR."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from pathlib import Path

from knowledge.errors import NoText, UnreadableFile
from knowledge.extract.embedded_pictures import text_or_pictures
from knowledge.extract.office import convert
from knowledge.types import Extraction

_WORD_97, _WORD_95 = 0xA5EC, 0xA5DC
_OLDER_WORDS = frozenset([0xA5DB, 0xA59B, 0xA59C, 0xFE37])  # Word 2 and earlier
_FIB_FLAGS_AT = 0x0A  # [MS-DOC] 2.5.2 FibBase
_ENCRYPTED, _OBFUSCATED = 0x0100, 0x8000


def extract_doc(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks in reading order. Raises UnreadableFile for damaged and protected documents and without LibreOffice."""
    from knowledge.extract.docx import extract_docx

    _check_header(content, name=name)
    converted = convert(content, name=name, suffix=".doc", to="docx")

    def read() -> Extraction:
        extraction = extract_docx(converted, name=name)
        return replace(extraction, format="doc", extractor=f"libreoffice + {extraction.extractor}")

    return text_or_pictures(
        read, lambda: pages_of_pictures(converted, content, name=name, suffix=".doc", ocr_folder=ocr_folder)
    )


def pages_of_pictures(docx: bytes, content: bytes, *, name: str, suffix: str, ocr_folder: Path | None) -> Extraction:
    """The pages of a document that has pictures, as its form in `docx` shows. Raises NoText where it has none."""
    if not _has_pictures(docx):
        raise NoText(f"{name} holds neither text nor pictures; put a version with text in its place.")
    return extract_as_pages(content, name=name, suffix=suffix, ocr_folder=ocr_folder)


def extract_as_pages(content: bytes, *, name: str, suffix: str, ocr_folder: Path | None) -> Extraction:
    """Blocks of the document as it would be printed: for documents whose text stands in pictures.

    Raises UnreadableFile when OCR finds no text either.
    """
    from knowledge.extract.pdf import extract_pdf

    pages = convert(content, name=name, suffix=suffix, to="pdf")
    try:
        extraction = extract_pdf(pages, name=name, ocr_folder=ocr_folder)
    except NoText as error:
        raise NoText(
            f"{name} holds only pictures, in which OCR finds no text; put a version with text in its place."
        ) from error
    return replace(extraction, format=suffix.removeprefix("."), extractor=f"libreoffice + {extraction.extractor}")


def _check_header(content: bytes, *, name: str) -> None:
    """Raises UnreadableFile for what LibreOffice would ask a password for, or make nonsense of."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            start = ole.openstream("WordDocument").read(32)
    except (OSError, ValueError, IndexError, TypeError, AttributeError, KeyError, RecursionError, MemoryError) as error:
        # olefile meets damaged sector tables with whatever Python raises on them
        raise UnreadableFile(f"{name} is a damaged or cut off Word document; copy the file again.") from error
    if len(start) < 12:
        raise UnreadableFile(f"{name} is a damaged or cut off Word document; copy the file again.")
    (kind,) = struct.unpack_from("<H", start, 0)
    (flags,) = struct.unpack_from("<H", start, _FIB_FLAGS_AT)
    if kind not in (_WORD_97, _WORD_95) and kind not in _OLDER_WORDS:
        raise UnreadableFile(f"{name} does not start like a Word document; open it in Word and save it as DOCX.")
    if flags & (_ENCRYPTED | _OBFUSCATED):
        raise UnreadableFile(f"{name} is protected by a password; save a copy without it.")


def _has_pictures(docx: bytes) -> bool:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(docx)) as archive:
        return any(name.startswith("word/media/") for name in archive.namelist())
