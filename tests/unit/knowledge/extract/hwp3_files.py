"""Small HWP 3 files for tests, as Hancom's specification of the 3.0 format describes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.unit.knowledge.extract.hwp_files import deflated

_VOWELS = (3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 26, 27, 28, 29)
END = 13
Part = str | bytes  # text, or the bytes of a control together with what follows it; a control takes four places


def code(char: str) -> int:
    if "가" <= char <= "힣":
        first, rest = divmod(ord(char) - 0xAC00, 588)
        vowel, final = divmod(rest, 28)
        return 0x8000 | first + 2 << 10 | _VOWELS[vowel] << 5 | (final + 1 if final <= 16 else final + 2)
    return ord(char)


def paragraph(*parts: Part, own_shapes: bool = False) -> bytes:
    places = sum(len(part) if isinstance(part, str) else 4 for part in parts) + 1
    head = struct.pack("<BHHBBIB", 0, places, 1, own_shapes, 0, 0, 0) + bytes(31) + bytes(187) + bytes(14)
    shapes = (bytes(1) + bytes(31)) * places if own_shapes else b""
    text = b""
    for part in parts:
        text += b"".join(struct.pack("<H", code(char)) for char in part) if isinstance(part, str) else part
    return head + shapes + text + struct.pack("<H", END)


def paragraphs(*items: bytes) -> bytes:
    """A list: it ends with an empty paragraph."""
    return b"".join(items) + bytes(43)


def control(number: int, *rest: bytes) -> bytes:
    return struct.pack("<HIH", number, 0, number) + b"".join(rest)


def tab() -> bytes:
    return struct.pack("<HHHH", 9, 0, 0, 9)


def table(cells: Sequence[tuple[int, int, int, int, bytes]], caption: bytes = b"") -> bytes:
    """Cells as (x, y, width, height, list of paragraphs)."""
    head = bytearray(84)
    head[80:82] = struct.pack("<H", len(cells))
    places = b"".join(struct.pack("<HHHHHH", 0, 0, x, y, w, h) + bytes(15) for x, y, w, h, _ in cells)
    return control(10, bytes(head), places, *(content for *_, content in cells), caption or paragraphs())


def note(content: bytes) -> bytes:
    return control(17, bytes(14), content)


def header(content: bytes) -> bytes:
    return control(16, bytes(10), content)


def drawing(content: bytes) -> bytes:
    """A drawn object with a text box in it."""
    frame = struct.pack("<I", 24) + bytes(24)
    box = struct.pack("<IH", 88, 6) + bytes(86) + struct.pack("<II", 0, len(content)) + content
    head = bytearray(348)
    head[:4] = struct.pack("<I", len(frame + box))
    head[74] = 3
    return control(11, bytes(head), frame + box, paragraphs())


def hwp3(body: bytes, *, compressed: bool = True, encrypted: bool = False, title: str = "") -> bytes:
    info = bytearray(128)
    info[96] = encrypted
    info[124] = compressed
    summary = b"".join(struct.pack("<H", code(char)) for char in title).ljust(1008, b"\0")
    fonts = (struct.pack("<H", 1) + bytes(40)) * 7
    styles = struct.pack("<H", 1) + bytes(238)
    stream = fonts + styles + body
    signature = b"HWP Document File V3.00 \x1a\x01\x02\x03\x04\x05"
    return signature + bytes(info) + summary + (deflated(stream) if compressed else stream)
