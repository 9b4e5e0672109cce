"""The outside of an HWP 5 file: the OLE container, its header, inflated streams, distribution documents.

Facts: "한글 문서 파일 형식 5.0" and "배포용 문서", revision 1.2, published by Hancom.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from dataclasses import dataclass

import olefile

from knowledge.errors import UnreadableFile
from knowledge.extract.hwp_cipher import decrypt_aes128_ecb, distribution_key
from knowledge.extract.hwp_errors import MAX_STREAM_BYTES, damaged, too_large

MAX_SECTIONS = 2_000
_SIGNATURE = b"HWP Document File"
_SECTION = re.compile(r"Section(\d{1,6})\Z")
_DISTRIBUTE_DOC_DATA = 28
_COMPRESSED, _PASSWORD, _DISTRIBUTION = 0x1, 0x2, 0x4
_DRM = 0x10 | 0x100 | 0x400  # DRM, certificate encryption, certificate DRM
_TRACKED_CHANGES = 0x4000
_TITLE, _WIDE_TEXT = 2, 0x1F
_MAX_SUMMARY_BYTES, _MAX_PROPERTIES = 65_536, 100
# what olefile raises on damaged sector tables is whatever Python raises on them
_OLE_ERRORS = (
    OSError, ValueError, IndexError, TypeError, AttributeError, KeyError, RecursionError, MemoryError, OverflowError,
    struct.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HwpStreams:
    """The inflated and, where needed, decrypted record streams of one file."""

    version: tuple[int, int, int, int]
    doc_info: bytes
    sections: tuple[bytes, ...]
    summary_title: str | None
    is_distribution: bool
    has_tracked_changes: bool


def open_hwp(content: bytes, *, name: str) -> HwpStreams:
    """Streams of an HWP 5 file. Raises UnreadableFile when it is encrypted, damaged or cut off."""
    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            return _streams(ole, name=name)
    except _OLE_ERRORS as error:
        raise damaged(name, str(error) or type(error).__name__) from error


def _streams(ole: olefile.OleFileIO, *, name: str) -> HwpStreams:
    header = _read(ole, "FileHeader", name=name)
    if not header.startswith(_SIGNATURE) or len(header) < 40:
        raise damaged(name, "its file header is not there")
    flags = int.from_bytes(header[36:40], "little")
    if flags & _PASSWORD:
        raise UnreadableFile(
            f"{name} is a Hangul file that is protected by a password; save a copy without the password."
        )
    if flags & _DRM:
        raise UnreadableFile(
            f"{name} is a Hangul file that is encrypted by DRM or a certificate; export an unprotected copy."
        )
    compressed, distribution = bool(flags & _COMPRESSED), bool(flags & _DISTRIBUTION)
    doc_info = _inflate(_read(ole, "DocInfo", name=name), name=name) if compressed else _read(ole, "DocInfo", name=name)
    folder = "ViewText" if distribution else "BodyText"
    sections = []
    for path in _section_paths(ole, folder, name=name):
        raw = _read(ole, path, name=name)
        raw = _decrypt(raw, name=name) if distribution else raw
        sections.append(_inflate(raw, name=name) if compressed else raw)
        if sum(map(len, sections)) > MAX_STREAM_BYTES:
            raise too_large(name)
    minor, build, major = header[34], header[33], header[35]
    return HwpStreams(
        version=(major, minor, build, header[32]),
        doc_info=doc_info,
        sections=tuple(sections),
        summary_title=_summary_title(ole),
        is_distribution=distribution,
        has_tracked_changes=bool(flags & _TRACKED_CHANGES),
    )


def _section_paths(ole: olefile.OleFileIO, folder: str, *, name: str) -> list[str]:
    numbered = []
    for entry in ole.listdir(streams=True, storages=False):
        found = _SECTION.match(entry[1]) if len(entry) == 2 and entry[0] == folder else None
        if found:
            numbered.append((int(found.group(1)), f"{folder}/{entry[1]}"))
    if not numbered or len(numbered) > MAX_SECTIONS:
        raise damaged(name, f"{len(numbered)} sections of text in it")
    return [path for _, path in sorted(numbered)]


def _read(ole: olefile.OleFileIO, path: str, *, name: str) -> bytes:
    if not ole.exists(path):
        raise damaged(name, f"its part {path} is missing")
    size = int(ole.get_size(path))
    data = bytes(ole.openstream(path).read(MAX_STREAM_BYTES))
    if len(data) < size:
        raise damaged(name, f"its part {path} has {len(data)} of {size} bytes")
    return data


def _inflate(data: bytes, *, name: str) -> bytes:
    engine = zlib.decompressobj(-15)
    try:
        inflated = engine.decompress(data, MAX_STREAM_BYTES)
    except zlib.error as error:
        raise damaged(name, "a compressed part cannot be inflated") from error
    if engine.unconsumed_tail:
        raise too_large(name)
    if not engine.eof:
        raise damaged(name, "a compressed part ends too early")
    return inflated


def _decrypt(data: bytes, *, name: str) -> bytes:
    """The real text of a distribution document: one record holds the key, the rest of the stream is encrypted."""
    if len(data) < 4 + 256:
        raise damaged(name, "its text is too short for a distribution document")
    head = int.from_bytes(data[:4], "little")
    if head & 0x3FF != _DISTRIBUTE_DOC_DATA or head >> 20 < 256:
        raise damaged(name, "the key of a distribution document is missing")
    start = 4 + (head >> 20)
    body = data[start:]
    return decrypt_aes128_ecb(body[: len(body) // 16 * 16], distribution_key(data[4 : 4 + 256]))


def _summary_title(ole: olefile.OleFileIO) -> str | None:
    """The title of the summary, None when there is none; it is often a leftover of a template.

    Read by hand: a property set is a list of (number, offset) pairs, and olefile follows damaged ones without end.
    """
    stream = "\x05HwpSummaryInformation"
    try:
        data = bytes(ole.openstream(stream).read(_MAX_SUMMARY_BYTES)) if ole.exists(stream) else b""
        (start,) = struct.unpack_from("<I", data, 44)
        (count,) = struct.unpack_from("<I", data, start + 4)
        for number in range(min(count, _MAX_PROPERTIES)):
            key, offset = struct.unpack_from("<II", data, start + 8 + 8 * number)
            kind, length = struct.unpack_from("<II", data, start + offset) if key == _TITLE else (0, 0)
            if kind == _WIDE_TEXT:
                raw = data[start + offset + 8 : start + offset + 8 + 2 * length]
                return raw.decode("utf-16-le", errors="ignore").split("\x00")[0].strip() or None
    except _OLE_ERRORS:
        return None
    return None
