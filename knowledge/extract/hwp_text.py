"""Text of one HWP 5 paragraph: characters, line ends and the places where controls stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.extract.decoding import clean_text

TAB = 9
_EXTENDED = frozenset({1, 2, 3, 11, 12, 14, 15, 16, 17, 18, 21, 22, 23})
_WIDE = _EXTENDED | frozenset({4, 5, 6, 7, 8, 9, 19, 20})  # take eight places
_ONE_PLACE = {10: "\n", 24: "-", 30: " ", 31: " "}
_SPECIAL = re.compile(r"[\x00-\x1f]")
_WIDE_CHARS = 8
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEYOND_BASIC_PLANE = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")

# Symbol fonts and Hancom's own symbols stand in the private use areas; what they show as, where it matters to a reader.
_SYMBOLS = {
    0xF06C: "●", 0xF06D: "○", 0xF06E: "■", 0xF06F: "□", 0xF070: "□", 0xF071: "□", 0xF072: "□", 0xF075: "◆",
    0xF076: "❖", 0xF09F: "•", 0xF0A0: "•", 0xF0A1: "○", 0xF0A2: "○", 0xF0A7: "▪", 0xF0A8: "□", 0xF0B7: "•",
    0xF0D8: "▶", 0xF0DC: "◈", 0xF0E0: "→", 0xF0E8: "→", 0xF0F0: "⇒", 0xF0FC: "✓", 0xF0FE: "☑",
    0xF09E: "·", 0xF53A: "한", 0xF85E: "ㆍ", 0xF02EF: "·", 0xF02F0: "·", 0xF03C5: "□", 0xF012B: "㊞",
    0xF0852: "“", 0xF0853: "”",
}  # fmt: skip
_LOGO = dict(zip(range(0xF03EF, 0xF03F5), "한글과컴퓨터", strict=True))  # the maker's name as pictures of syllables
_LINE_DRAWING = range(0xF07F3, 0xF0852)  # Hancom's own, in runs of a hundred to rule off a page
_CIRCLED = ((0xF02B1, 0x2460, 20), (0xF02CE, 0x2776, 10))  # first private code, first character, how many
_MARK_IN_WORD = re.compile(r"(?<=[가-힣])(\(주\d+\))([가-힣]+)")
_LONG_RULE = re.compile(r"([─━═_])\1{3,}")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")


@dataclass(frozen=True, slots=True)
class ControlPlace:
    """A control stands here: the n-th of the paragraph's extended controls, from 0, and its character code."""

    number: int
    code: int


def paragraph_parts(data: bytes) -> Iterator[str | ControlPlace]:
    """Text and control places of a PARA_TEXT payload in order; the text is not yet cleaned."""
    text = data[: len(data) // 2 * 2].decode("utf-16-le", errors="surrogatepass")
    at = start = number = 0
    if _BEYOND_BASIC_PLANE.search(text):
        yield from _parts_of_units(data)
        return
    for found in _SPECIAL.finditer(text):
        place = found.start()
        if place < at:
            continue  # inside a control
        code = ord(found.group())
        if place > start:
            yield text[start:place]
        if code in _WIDE:
            at = start = place + _WIDE_CHARS
            if code == TAB:
                yield "\t"
            elif code in _EXTENDED:
                yield ControlPlace(number, code)
                number += 1
        else:
            at = start = place + 1
            if code in _ONE_PLACE:
                yield _ONE_PLACE[code]
    if start < len(text):
        yield text[start:]


def _parts_of_units(data: bytes) -> Iterator[str | ControlPlace]:
    """The same for text with characters beyond the basic plane: places are 16-bit units there, not characters."""
    plain: list[int] = []
    at = number = 0
    count = len(data) // 2
    while at < count:
        code = data[2 * at] | data[2 * at + 1] << 8
        if code >= 32:
            plain.append(code)
            at += 1
            continue
        if plain:
            yield _from_units(plain)
            plain = []
        if code in _WIDE:
            at += _WIDE_CHARS
            if code == TAB:
                yield "\t"
            elif code in _EXTENDED:
                yield ControlPlace(number, code)
                number += 1
        else:
            at += 1
            if code in _ONE_PLACE:
                yield _ONE_PLACE[code]
    if plain:
        yield _from_units(plain)


def _from_units(units: list[int]) -> str:
    return b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", errors="ignore")


def readable(text: str) -> str:
    """`text` cleaned for a reader: NFC, no control characters, private-use symbols as what they show or dropped."""
    if _PRIVATE.search(text):
        text = _PRIVATE.sub(lambda found: _symbol(ord(found.group())), text)
    text = _LONG_RULE.sub(lambda found: found.group(1) * 3, text)
    text = text.replace("\u00a0", " ").replace(
        "\u1112\u119e\u11ab", "한"
    )  # "한글" in its old spelling; nobody searches for it so
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="ignore")
    text = clean_text(text)
    return "\n".join(line.strip() for line in text.split("\n")).strip()


def notes_behind_words(text: str) -> str:
    """`text` with each mark of a note moved behind the word that it stands in, so that search finds the word."""
    return _MARK_IN_WORD.sub(r"\2\1", text)


def _symbol(code: int) -> str:
    if code in _SYMBOLS:
        return _SYMBOLS[code]
    if code in _LOGO:
        return _LOGO[code]
    if code in _LINE_DRAWING:
        return "─"
    for first, shown, count in _CIRCLED:
        if first <= code < first + count:
            return chr(shown + code - first)
    return ""
