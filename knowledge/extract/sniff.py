"""What a file is, told from its bytes alone: extensions lie (RTF and DOCX come named .doc, HWPML comes named .hwp)."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass

from knowledge.errors import UnreadableFile

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HWP3_MAGIC = b"HWP Document File V3.00"
_PDF_START = re.compile(rb"\s*(?:\xef\xbb\xbf)?%PDF-")

# first bytes -> (format, what to call it in front of a reader)
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (_HWP3_MAGIC, "hwp3", "a Hangul 3 document (HWP 3.x)"),
    (b"{\\rtf", "rtf", "an RTF document"),
    (b"\x89PNG\r\n\x1a\n", "image", "a PNG image"),
    (b"\xff\xd8\xff", "image", "a JPEG image"),
    (b"GIF87a", "image", "a GIF image"),
    (b"GIF89a", "image", "a GIF image"),
    (b"II*\x00", "image", "a TIFF image"),
    (b"MM\x00*", "image", "a TIFF image"),
    (b"\x1f\x8b", "archive", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "archive", "a RAR archive"),
    (b"BZh", "archive", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "archive", "an xz archive"),
    (b"\x7fELF", "binary", "a program (ELF)"),
    (b"SQLite format 3\x00", "binary", "an SQLite database"),
    (b"OggS", "binary", "an audio or video file"),
    (b"ID3", "binary", "an audio file"),
)

_ZIP_KINDS: tuple[tuple[str, str, str], ...] = (
    ("word/document.xml", "docx", "a Word document (DOCX)"),
    ("xl/workbook.xml", "xlsx", "an Excel workbook (XLSX)"),
    ("xl/workbook.bin", "xlsb", "a binary Excel workbook (XLSB)"),
    ("ppt/presentation.xml", "pptx", "a PowerPoint presentation (PPTX)"),
    ("Contents/section0.xml", "hwpx", "a Hangul document (HWPX)"),
    ("Contents/content.hpf", "hwpx", "a Hangul document (HWPX)"),
)

_OLE_KINDS: tuple[tuple[str, str, str], ...] = (
    ("FileHeader", "hwp", "a Hangul document (HWP 5)"),
    ("EncryptedPackage", "encrypted-ooxml", "an Office document that is protected by a password"),
    ("WordDocument", "doc", "a Word 97-2003 document (DOC)"),
    ("Workbook", "xls", "an Excel 97-2003 workbook (XLS)"),
    ("Book", "xls", "an Excel 95 workbook (XLS)"),
    ("PowerPoint Document", "ppt", "a PowerPoint 97-2003 presentation (PPT)"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sniffed:
    """`format` is a short name ("pdf", "docx", "text" ...); `description` completes "this is ..."."""

    format: str
    description: str


TEXT = Sniffed(format="text", description="plain text")


def sniff(content: bytes, *, name: str) -> Sniffed:
    """What `content` is; "text" when nothing else fits. Raises UnreadableFile for empty content and broken archives."""
    if not content.strip(b"\x00 \t\r\n"):
        raise UnreadableFile(f"{name} is empty ({len(content)} bytes); put the real file in its place or remove it.")
    head = content[:1024]
    if _PDF_START.match(head) or (b"%PDF-" in head and b"endobj" in content):  # junk in front is tolerated by readers
        return Sniffed(format="pdf", description="a PDF document")
    if content.startswith(_OLE_MAGIC):
        return _sniff_ole(content)
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _sniff_zip(content, name=name)
    for magic, kind, description in _MAGIC:
        if content.startswith(magic):
            return Sniffed(format=kind, description=description)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Sniffed(format="image", description="a WebP image")
    if content[:2] == b"BM" and len(content) > 26 and int.from_bytes(content[2:6], "little") == len(content):
        return Sniffed(format="image", description="a BMP image")
    if content[:2] == b"MZ" and b"This program" in head:
        return Sniffed(format="binary", description="a Windows program")
    return _sniff_markup(head) or _sniff_loosely(content, name=name) or TEXT


def _sniff_ole(content: bytes) -> Sniffed:
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            for stream, kind, description in _OLE_KINDS:
                if ole.exists(stream):
                    return Sniffed(format=kind, description=description)
    except (OSError, ValueError, IndexError, TypeError, AttributeError, KeyError, RecursionError, MemoryError):
        # olefile meets damaged sector tables with whatever Python raises on them
        return Sniffed(format="ole", description="a damaged Office or Hangul file (OLE container)")
    return Sniffed(format="ole", description="an OLE container of an unknown kind")


def _sniff_zip(content: bytes, *, name: str) -> Sniffed:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            mimetype = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (
        zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, RuntimeError, KeyError,
    ) as error:  # fmt: skip
        raise UnreadableFile(
            f"{name} starts like a ZIP-based document (DOCX, HWPX, XLSX) but is damaged or cut off ({error}); "
            "copy the file again from where it came."
        ) from error
    for member, kind, description in _ZIP_KINDS:
        if member in names:
            return Sniffed(format=kind, description=description)
    if b"hwp+zip" in mimetype:
        return Sniffed(format="hwpx", description="a Hangul document (HWPX)")
    if mimetype.startswith(b"application/vnd.oasis"):
        return Sniffed(format="odf", description="an OpenDocument file (ODT, ODS, ODP)")
    if mimetype.startswith(b"application/epub"):
        return Sniffed(format="epub", description="an EPUB book")
    return Sniffed(format="archive", description="a ZIP archive")


def _sniff_markup(head: bytes) -> Sniffed | None:
    """HTML or XML by its opening; None for anything else."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = head.replace(b"\x00", b"")[2:].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return Sniffed(format="html", description="an HTML page")
    if start.startswith((b"<?xml", b"<hwpml")):
        if b"<hwpml" in start:
            return Sniffed(format="hwpml", description="a Hangul document in XML form (HWPML)")
        if b"<html" in start or b"<!doctype html" in start:
            return Sniffed(format="html", description="an HTML page")
        if b"worddocument" in start:
            return Sniffed(format="wordml", description="a Word 2003 XML document")
        return Sniffed(format="xml", description="an XML file")
    return None


def _sniff_loosely(content: bytes, *, name: str) -> Sniffed | None:
    """HTML fragments and pages behind server code; CSV, which nothing but its name tells from other text."""
    from knowledge.extract.html import looks_like_html

    lower = name.lower()
    if not lower.endswith((".md", ".markdown")) and looks_like_html(content[:8192]):
        return Sniffed(format="html", description="an HTML page")
    if lower.endswith((".csv", ".tsv")):
        return Sniffed(format="csv", description="a CSV table")
    return None
