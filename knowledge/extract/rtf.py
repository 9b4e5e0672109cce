"""RTF: paragraphs, tables, notes and text boxes; code pages by font, so that Korean hex escapes are read right.

Follows "Rich Text Format (RTF) Specification", version 1.9.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.errors import UnreadableFile
from knowledge.extract.page_margins import telling_margins
from knowledge.extract.rtf_reader import BrokenRtf, RtfReader
from knowledge.extract.titles import confirmed_title
from knowledge.types import Extraction

MAX_BYTES = 128 * 1024 * 1024
_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.S
)


def extract_rtf(content: bytes, *, name: str) -> Extraction:
    """Blocks of an RTF document. Raises UnreadableFile when it is cut off, too large or holds no text."""
    if len(content) > MAX_BYTES:
        raise UnreadableFile(f"{name} is larger than {MAX_BYTES // 2**20} MB; split the document or remove it.")
    reader = RtfReader()
    try:
        for kind, word, number in _tokens(content):
            reader.feed(kind, word, number)
            if reader.finished:
                break
        blocks = reader.close()
    except BrokenRtf as error:
        raise UnreadableFile(
            f"{name} is an RTF document that is damaged or cut off ({error}); copy it again from where it came."
        ) from error
    blocks = [*telling_margins(reader.margins, blocks), *blocks]
    if not blocks:
        raise UnreadableFile(
            f"{name} is an RTF document without text (only pictures, or empty); print it to PDF so that it can be read "
            "by OCR, or remove it."
        )
    return Extraction(
        format="rtf",
        extractor="rtf",
        status="ok",
        title=confirmed_title(reader.title, blocks),
        blocks=tuple(blocks),
    )


def _tokens(content: bytes) -> Iterator[tuple[str, bytes, int | None]]:
    """("word" | "symbol" | "open" | "close" | "bytes", text, number) in order; binary data is left out."""
    at = 0
    end = len(content)
    match = _TOKEN.match
    while at < end:
        found = match(content, at)
        if found is None:
            at += 1
            continue
        at = found.end()
        word, number, escape, symbol, brace, text = found.groups()
        if word is not None:
            value = int(number) if number is not None else None
            if word == b"bin" and value is not None and value > 0:
                at += value
            else:
                yield "word", word, value
        elif text is not None:
            yield "bytes", text, None
        elif escape is not None:
            yield "bytes", bytes((int(escape, 16),)), 1
        elif brace is not None:
            yield ("open" if brace == b"{" else "close"), brace, None
        elif symbol is not None:
            yield "symbol", symbol, None
