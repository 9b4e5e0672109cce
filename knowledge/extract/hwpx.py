"""HWPX (KS X 6101): a ZIP of XML, written by Hangul 2014 and later and by public offices."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from xml.etree.ElementTree import Element

from knowledge.errors import UnreadableFile
from knowledge.extract.docx_package import check_package
from knowledge.extract.hwp_errors import damaged, no_text
from knowledge.extract.hwp_numbering import Numbering
from knowledge.extract.hwp_xml import XmlBodyReader, attribute, local, parse_xml, read_numbering_xml
from knowledge.extract.page_margins import telling_margins
from knowledge.extract.titles import confirmed_title
from knowledge.types import Block, Extraction

_SECTION = re.compile(r"Contents/section(\d{1,6})\.xml\Z", re.I)
_MAX_SECTION_BYTES = 100 * 1024 * 1024
_MAX_MANIFEST_BYTES = 4 * 1024 * 1024


def extract_hwpx(content: bytes, *, name: str) -> Extraction:
    """Blocks of a HWPX file. Raises UnreadableFile when it is encrypted, damaged, too large or holds no text."""
    check_package(content, name=name)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            reader, blocks = _body(archive, name=name)
            title = _title(archive, name=name)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise damaged(name, str(error)) from error
    blocks = [*telling_margins(reader.margins, blocks), *blocks]
    if not blocks:
        raise no_text(name)
    return Extraction(
        format="hwpx",
        extractor="hwpx",
        status="ok",
        title=confirmed_title(title, blocks),
        blocks=tuple(blocks),
    )


def _body(archive: zipfile.ZipFile, *, name: str) -> tuple[XmlBodyReader, list[Block]]:
    _refuse_encrypted(archive, name=name)
    sections = _section_paths(archive)
    if not sections:
        raise UnreadableFile(f"{name} is a Hangul file (HWPX) without a section of text; save it anew in Hangul.")
    reader = XmlBodyReader(numbering=_numbering(archive, name=name))
    blocks: list[Block] = []
    for path in sections:
        blocks.extend(reader.paragraphs(_parse(archive, path, name=name)))
    return reader, blocks


def _parse(archive: zipfile.ZipFile, path: str, *, name: str) -> Element:
    if archive.getinfo(path).file_size > _MAX_SECTION_BYTES:
        raise UnreadableFile(
            f"{name}: {path} unzips to more than {_MAX_SECTION_BYTES // 2**20} MB; split the document or remove it."
        )
    with archive.open(path) as stream:
        return parse_xml(io.BytesIO(stream.read()), name=name)


def _refuse_encrypted(archive: zipfile.ZipFile, *, name: str) -> None:
    """Raises UnreadableFile when the manifest says that parts are encrypted; without a manifest nothing is."""
    path = "META-INF/manifest.xml"
    if path not in archive.namelist() or archive.getinfo(path).file_size > _MAX_MANIFEST_BYTES:
        return
    if b"encryption-data" in archive.read(path):
        raise UnreadableFile(
            f"{name} is a Hangul file (HWPX) that is protected by a password; save a copy without the password."
        )


def _section_paths(archive: zipfile.ZipFile) -> list[str]:
    """Sections in order of their numbers, which is the order of reading."""
    found = [(int(match.group(1)), path) for path in archive.namelist() if (match := _SECTION.match(path))]
    return [path for _, path in sorted(set(found))]


def _numbering(archive: zipfile.ZipFile, *, name: str) -> Numbering:
    path = "Contents/header.xml"
    return read_numbering_xml(_parse(archive, path, name=name)) if path in archive.namelist() else Numbering()


def _title(archive: zipfile.ZipFile, *, name: str) -> str | None:
    path = "Contents/content.hpf"
    if path not in archive.namelist():
        return None
    try:
        package = _parse(archive, path, name=name)
    except (UnreadableFile, zipfile.BadZipFile, zlib.error, EOFError):
        return None  # the text is whole, and without a title a document goes by its file's name
    for element in package.iter():
        if local(element) == "title":
            return (element.text or attribute(element, "content")).strip() or None
    return None
