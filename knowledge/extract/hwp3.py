"""HWP 3 (Hangul 3.0 to 97): a header, then one deflated stream of fonts, styles and paragraphs."""

from __future__ import annotations

import zlib

from knowledge.errors import UnreadableFile
from knowledge.extract.hwp3_chars import hwp3_char
from knowledge.extract.hwp3_reader import BrokenHwp3, Bytes, Hwp3Reader
from knowledge.extract.hwp_errors import MAX_STREAM_BYTES, damaged, no_text, too_large
from knowledge.extract.page_margins import telling_margins
from knowledge.extract.titles import confirmed_title
from knowledge.types import Extraction

_SIGNATURE_BYTES, _INFO_BYTES, _SUMMARY_BYTES = 30, 128, 1008
_TITLE_PLACES = 56
_FONT_LANGUAGES, _FONT_BYTES, _STYLE_BYTES = 7, 40, 238


def extract_hwp3(content: bytes, *, name: str) -> Extraction:
    """Blocks of an HWP 3 file. Raises UnreadableFile when it is encrypted, damaged, cut off or holds no text."""
    reader = Hwp3Reader()
    try:
        head = Bytes(content)
        head.take(_SIGNATURE_BYTES)
        info = head.take(_INFO_BYTES)
        if any(info[96:98]):
            raise UnreadableFile(
                f"{name} is a Hangul 3 file that is protected by a password; open it in Hangul and save a copy without "
                "the password."
            )
        summary = head.take(_SUMMARY_BYTES)
        head.take(int.from_bytes(info[126:128], "little"))
        rest = content[head.at :]
        stream = Bytes(_inflated(rest, name=name) if info[124] else rest)
        for _ in range(_FONT_LANGUAGES):
            stream.take(stream.number(2) * _FONT_BYTES)
        stream.take(stream.number(2) * _STYLE_BYTES)
        blocks = reader.paragraph_list(stream)
    except (BrokenHwp3, RecursionError) as error:
        raise damaged(name, str(error)) from error
    blocks = [*telling_margins(reader.margins, blocks), *blocks]
    if not blocks:
        raise no_text(name)
    lost = reader.lost_boxes
    return Extraction(
        format="hwp3",
        extractor="hwp3",
        status="partial" if lost else "ok",
        title=confirmed_title(_title(summary), blocks),
        blocks=tuple(blocks),
        warnings=(f"{lost} drawings could not be read to their end; text boxes in them may be missing",)
        if lost
        else (),
    )


def _inflated(data: bytes, *, name: str) -> bytes:
    engine = zlib.decompressobj(-15)
    try:
        inflated = engine.decompress(data, MAX_STREAM_BYTES)
    except zlib.error as error:
        raise damaged(name, "its text cannot be inflated") from error
    if engine.unconsumed_tail and not engine.eof:
        raise too_large(name)
    if not engine.eof:
        raise damaged(name, "its text ends too early")
    return inflated


def _title(summary: bytes) -> str | None:
    codes = [int.from_bytes(summary[at : at + 2], "little") for at in range(0, 2 * _TITLE_PLACES, 2)]
    if 0 in codes:
        codes = codes[: codes.index(0)]
    return "".join(map(hwp3_char, codes)).strip() or None
