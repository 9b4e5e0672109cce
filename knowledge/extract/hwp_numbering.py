"""Automatic numbers of HWP paragraphs (1., 가., 제1조, ①): kept in the styles of DocInfo, not in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from knowledge.extract.hwp_records import BULLET, DOCUMENT_PROPERTIES, NUMBERING, PARA_SHAPE, Record, read_records

_SYLLABLES = "가나다라마바사아자차카타파하"
_JAMO = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_SINO = "일이삼사오육칠팔구십"
_HANJA = "一二三四五六七八九十"
_STEMS, _HANJA_STEMS = "갑을병정무기경신임계", "甲乙丙丁戊己庚辛壬癸"
_PLACEHOLDER = re.compile(r"\^(\d{1,2}|[nN])")
_HEAD_BYTES = 12  # properties, width, distance, character shape
_LEVELS = 7
_MAX_HEADING_CHARS = 80
_SENTENCE_ENDS = ("다.", "다", ".", ",", ";", "것", "음", "함")
_MAX_NUMBERINGS = 10_000


def format_number(number: int, style: int) -> str:
    """`number` (from 1) as HWP's number style shows it: 0 digits, 1 ①, 2 I, 4 A, 8 가, 9 ㉮; digits beyond its end."""
    if number < 1 or style == 0:
        return str(number)
    if style in (2, 3):
        return _roman(number) if style == 2 else _roman(number).lower()
    if style in (4, 5):
        return _cycled("ABCDEFGHIJKLMNOPQRSTUVWXYZ" if style == 4 else "abcdefghijklmnopqrstuvwxyz", number)
    if style in (8, 10, 15, 16):
        letters = {8: _SYLLABLES, 10: _JAMO, 15: _STEMS, 16: _HANJA_STEMS}[style]
        return _cycled(letters, number)
    if style in (12, 13):
        return _counted(_SINO if style == 12 else _HANJA, number)
    circled = {1: (0x2460, 20), 6: (0x24B6, 26), 7: (0x24D0, 26), 9: (0x326E, 14), 11: (0x3260, 14), 14: (0x3280, 10)}
    first, count = circled.get(style, (0, 0))
    return chr(first + number - 1) if number <= count else str(number)


def _cycled(letters: str, number: int) -> str:
    return letters[(number - 1) % len(letters)] * ((number - 1) // len(letters) % 5 + 1)


def _counted(digits: str, number: int) -> str:
    if number >= 100:
        return str(number)
    tens, ones = divmod(number, 10)
    head = "" if tens == 0 else digits[9] if tens == 1 else digits[tens - 1] + digits[9]
    return head + (digits[ones - 1] if ones else "")


def _roman(number: int) -> str:
    if number >= 4000:
        return str(number)
    text = ""
    for value, letters in (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
        (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):  # fmt: skip
        while number >= value:
            text, number = text + letters, number - value
    return text


def is_heading(text: str) -> bool:
    """Whether an outline paragraph reads like a title; many documents number whole sentences with outline styles."""
    return len(text) <= _MAX_HEADING_CHARS and "\n" not in text and not text.endswith(_SENTENCE_ENDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One of a numbering's levels: a text with ^1 to ^7 in it, the style and the first number."""

    text: str
    style: int
    start: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands in front of a paragraph: kind 1 outline, 2 number, 3 bullet; `level` from 1."""

    kind: int
    level: int
    reference: int  # of the numbering or bullet, from 1


@dataclass(slots=True)
class Numbering:
    """Styles of one document and its running counters; ask for the paragraphs in reading order."""

    heads: list[Head | None] = field(default_factory=list)
    numberings: list[tuple[Level, ...]] = field(default_factory=list)
    bullets: list[str] = field(default_factory=list)
    section_count: int = 0
    outline: int = 0  # the numbering that outline paragraphs of this section use, from 1
    _counters: dict[int, list[int]] = field(default_factory=dict)

    def head(self, para_shape: int) -> Head | None:
        """The head of paragraphs with this shape, None when they have none."""
        return self.heads[para_shape] if para_shape < len(self.heads) else None

    def label(self, head: Head) -> str:
        """The number or bullet in front of the next paragraph with this head; "" where there is none."""
        if head.kind == 3:
            return self.bullets[head.reference - 1] if 1 <= head.reference <= len(self.bullets) else "•"
        key = self.outline if head.kind == 1 else head.reference
        if not 1 <= key <= len(self.numberings):
            return ""
        levels = self.numberings[key - 1]
        if head.level > len(levels):
            return ""
        counters = self._counters.setdefault(key, [0] * _LEVELS)
        at = head.level - 1
        counters[at] = counters[at] + 1 if counters[at] else levels[at].start
        counters[at + 1 :] = [0] * (_LEVELS - at - 1)

        def number(found: re.Match[str]) -> str:
            if not found.group(1).isdigit():
                return ".".join(str(counters[n] or levels[n].start) for n in range(head.level))
            wanted = int(found.group(1)) - 1
            if not 0 <= wanted < len(levels):
                return ""
            return format_number(counters[wanted] or levels[wanted].start, levels[wanted].style)

        return _PLACEHOLDER.sub(number, levels[at].text)


def read_numbering(doc_info: bytes) -> Numbering:
    """Heads, numberings and bullets of a DocInfo stream. Raises BrokenRecords."""
    found = Numbering()
    for tag, level, data in read_records(doc_info):
        record = Record(tag, level, data)
        if tag == DOCUMENT_PROPERTIES:
            found.section_count = record.u16(0)
        elif tag == PARA_SHAPE:
            properties = record.u32(0)
            kind = properties >> 23 & 3
            head = Head(kind=kind, level=(properties >> 25 & 7) + 1, reference=record.u16(30)) if kind else None
            found.heads.append(head)
        elif tag == NUMBERING and len(found.numberings) < _MAX_NUMBERINGS:
            found.numberings.append(_levels(record))
        elif tag == BULLET and len(found.bullets) < _MAX_NUMBERINGS:
            found.bullets.append(_bullet(record.u16(_HEAD_BYTES)))
    return found


def _bullet(code: int) -> str:
    from knowledge.extract.hwp_text import readable

    shown = readable(chr(code)) if 0x20 < code < 0xD800 or 0xE000 <= code < 0xFFFE else ""
    return shown or "•"


def _levels(record: Record) -> tuple[Level, ...]:
    at = 0
    heads: list[tuple[str, int]] = []
    for _ in range(_LEVELS):
        style = record.u32(at) >> 5 & 0xF
        text, at = record.string(at + _HEAD_BYTES)
        heads.append((text, style))
    first = record.u16(at, 1)
    at += 2
    starts = [record.u32(at + 4 * n, 1) for n in range(_LEVELS)]
    starts[0] = starts[0] if len(record.data) >= at + 4 else first
    return tuple(
        Level(text=text, style=style, start=start if start < 100_000 else 1)
        for (text, style), start in zip(heads, starts, strict=True)
    )
