"""Lines of a PDF to paragraphs: wrapped lines joined, with or without a space, as the writer meant them.

Korean text wraps inside words, so a line end says nothing about a word end. Files written by word processors draw the
space at the line end when there is one; for others the words of the document itself decide.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from knowledge.chunking.markers import read_marker
from knowledge.extract.pdf_layout import Line

_LIST_START = re.compile(
    r"^(?:[①-⑳㉑-㉟⑴-⒇⒈-⒛ⓐ-ⓩ㈎-㈛㉮-㉻]|\d{1,2}[.)](?!\d)\s*\S|\(\d{1,2}\)|\(?[가-하][.)]\s|[ivxIVX]{1,4}[.)]\s|[A-Za-z][.)]\s|"
    r"[○◦●◎•▪■□◆◇▶▷※☞✓✔◈★☆·*ㅇㆍ▸]\s?|[-–—]\s|㈜\s|\(?주\s*\d*\)|주\s*[:：\d]|비고|[<【\[〈]\s?별|Ⅰ|Ⅱ|Ⅲ|Ⅳ|Ⅴ|Ⅵ|Ⅶ|Ⅷ|Ⅸ|Ⅹ)"
)
_DATE_START = re.compile(r"^\d{1,2}\.\s*\d{1,2}[.,\s]")
# what never stands alone in front of a word
_ENDINGS = frozenset(
    (
        *("의", "을", "를", "은", "는", "에", "로", "과", "와", "도", "만", "서", "며", "고", "여", "다"),
        *("에서", "에게", "으로", "까지", "부터", "에는", "으로서", "한다", "된다", "하여", "하는"),
    )
)
_HANGUL = re.compile(r"[가-힣]")
_OPEN = {"<": ">", "(": ")", "〈": "〉", "「": "」", "｢": "｣"}
_SENTENCE_END = re.compile(r"[.。:：;>〉]$")


class Joiner:
    """Knows the words of one document and whether its line ends can be trusted."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._words: Counter[str] = Counter()
        drawn = wraps = long = flush = 0
        for line, following in itertools.pairwise(lines):
            self._words.update(line.text.split()[1:-1])
            room = (line.right - line.x1) / line.em
            if following.flow == line.flow and room < 2:
                wraps += 1
                drawn += following.first.order == line.last.order + 1 and following.first.drawn_space
            long += room < 6
            flush += room < 1.3
        self._trusts_spaces = wraps > 0 and drawn > 0.1 * wraps
        # where lines break between letters, all of them end within a letter of the edge
        self._is_flush = long > 0 and flush > 0.8 * long

    def continues(self, before: Line, line: Line, text: str) -> bool:
        """Whether `line` goes on with the paragraph `text`, whose last line is `before`."""
        if before.flow != line.flow or abs(before.size - line.size) > 0.2 * line.size:
            return False
        if before.y0 - line.y1 > 1.3 * line.size or line.y0 >= before.y1:
            return False
        marker = read_marker(line.text)
        if marker is not None and not marker.weak:
            return False
        if marker is not None and _SENTENCE_END.search(text):
            return False
        if _LIST_START.match(line.text) and not (_unclosed(text) and _DATE_START.match(line.text)):
            return False
        opening = read_marker(text) if len(text) < 60 else None
        if opening is not None and opening.kind != "article":
            return False
        room = before.right - before.x1
        if self._is_flush:
            return room < 2.2 * line.em or _unclosed(text)
        first_word = line.text.split()[0]
        return room < (len(first_word) + 1) * line.em

    def join(self, text: str, before: Line, line: Line) -> str:
        """`text` with the text of `line` behind it."""
        if not (_HANGUL.match(text[-1:]) and _HANGUL.match(line.text[:1])):
            return _join_others(text, line.text, drawn=self._drawn(before, line))
        drawn = self._drawn(before, line)
        if self._trusts_spaces and drawn is not None:
            return f"{text} {line.text}" if drawn else text + line.text
        return text + (" " if self._is_word_border(text, line.text) else "") + line.text

    @staticmethod
    def _drawn(before: Line, line: Line) -> bool | None:
        return line.first.drawn_space if line.first.order == before.last.order + 1 else None

    def _is_word_border(self, text: str, following: str) -> bool:
        last, first = text.split()[-1], following.split()[0]
        joined, apart = self._words[last + first], min(self._words[last], self._words[first])
        if joined or apart:
            return apart > joined
        if first.rstrip(".,") in _ENDINGS:
            return False
        if self._words[last] and len(last) > 1:
            return True
        return not self._is_flush


def _join_others(text: str, following: str, *, drawn: bool | None) -> str:
    if text.endswith("-") and text[-2:-1].isalpha() and following[:1].islower() and following[:1].isascii():
        return text[:-1] + following
    if text[-1:] in ".?!," and _HANGUL.match(following[:1]):
        return f"{text} {following}"
    if drawn is False and (text[-1:] in "([<〈「｢·ㆍ/" or following[:1] in ")]>〉」｣,.·ㆍ/"):
        return text + following
    if text[-1:] in "([〈「｢" or following[:1] in ")]〉」｣,.":
        return text + following
    if _HANGUL.match(following[:1]) and text[-1:] in ")」｣\"'”’":  # a particle behind a bracket
        return text + ("" if drawn is False else " ") + following
    if drawn is False and (_HANGUL.match(text[-1:]) or _HANGUL.match(following[:1])):
        return text + following
    return f"{text} {following}"


def _unclosed(text: str) -> bool:
    tail = text[-120:]
    return any(tail.rfind(opening) > tail.rfind(closing) for opening, closing in _OPEN.items())


def group_lines(lines: Iterable[Line], joiner: Joiner) -> list[tuple[str, Line]]:
    """(text, first line) of the paragraphs that consecutive lines make."""
    paragraphs: list[tuple[str, Line]] = []
    before: Line | None = None
    for line in lines:
        if before is not None and joiner.continues(before, line, paragraphs[-1][0]):
            text, first = paragraphs[-1]
            paragraphs[-1] = (joiner.join(text, before, line), first)
        else:
            paragraphs.append((line.text, line))
        before = line
    return paragraphs
