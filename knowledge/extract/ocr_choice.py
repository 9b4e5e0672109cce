"""Which reading of a line to believe: Korean and English readings compared, garbage dropped, doubts kept.

Nothing here guesses a number: where two readings of digits differ, the surer one stands and counts as doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowledge.extract.ocr_record import OcrLine
from knowledge.extract.ocr_tesseract import OcrWord

SURE = 60.0  # confidence below which a word is doubtful, 0 to 100
SURE_OF_DIGITS = 80.0
_SURE_OF_LATIN = 88.0
_SURE_OF_LATIN_LINE = 75.0
_GARBAGE = 35.0
_ARTICLE_HEAD = re.compile(r"제\d+조(?:의\d+)?\([^)]{1,40}\)$")
_FIGURE_IN = 0.06  # ink as high as a figure
_LIKE_CIRCLED = "@©®0123456789()<>{}[]『』「」oOQ°|· "
UNREAD = "?"
_LIKE_DOTS = "-:.·ㆍ•*'ㅡ~"
_DASH_IN = (0.05, 0.4)  # highest and widest
_HANGUL = re.compile(r"[가-힣]")
_AMOUNT = re.compile(r"^[\d.,:/%()\[\]<>~+*'’‘\-–—−△▲ ]*\d[\d.,:/%()\[\]<>~+*'’‘\-–—−△▲ ]*$")
_LATIN_WORD = re.compile(r"^[^\w]*(?:[A-Za-z][A-Za-z.&'/-]{3,}|[A-Z]{2,6})[^\w]*$")
_LONG_LATIN = re.compile(r"[A-Za-z]{12,}")
_REPEATED = re.compile(r"([^\W\d])\1{4,}")
_MARKS_ONLY = re.compile(r"^[\s|ㅣ｜_!¦ㆍ·.,:;'\"`~^\-–—=*＊]+$")


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A word that is believed; `doubtful` when a person should look at the page."""

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    gap: int
    doubtful: bool
    is_latin: bool  # the spaces around it are those that Tesseract saw


def choose_words(line: OcrLine, *, dpi: int) -> list[ReadWord]:
    """The words of one line, from left to right; empty for specks and for what is no text.

    Ink in a table cell that could not be read is "?", because an empty cell would say something else.
    """
    words: Sequence[OcrWord] = line.words or line.latin
    if line.leader:
        return [_believed(word) for word in words]
    if not words:
        return []
    if _is_dash(words, dpi):
        first, last = words[0], words[-1]
        return [ReadWord("-", first.x0, first.y0, last.x1, first.y1, -1, False, False)]
    if line.words and line.latin:
        words = _better(line.words, line.latin)
    quality = _quality(words)
    no_digits = not any(char.isdigit() for word in words for char in word.text)
    is_noise = quality < SURE and all(_MARKS_ONLY.match(word.text) for word in words)
    if not line.rings and ((quality < _GARBAGE and no_digits) or is_noise):
        if line.cell and words[0].y1 - words[0].y0 >= _FIGURE_IN * dpi:
            return [ReadWord(UNREAD, words[0].x0, words[0].y0, words[-1].x1, words[0].y1, -1, True, False)]
        return []
    korean = any(_HANGUL.search(word.text) for word in words)
    believed = [_believed(word) for word in words if not _is_garbage(word, korean=korean)]
    return _with_circled(_with_middle_dots(believed, line.dots), _number_rings(line).rings)


def _number_rings(line: OcrLine) -> OcrLine:
    """The line with its circled numbers settled: a number that could not be read is 1 where it opens an article."""
    rings: list[tuple[int, int, int]] = []
    for x0, x1, read in line.rings:
        text = "".join(word.text for word in line.words if word.x1 <= x0 + (x1 - x0) // 2)
        opens = not rings and _ARTICLE_HEAD.match(text) is not None
        rings.append((x0, x1, read or (1 if opens else 0)))
    return replace(line, rings=tuple(rings))


def _with_circled(words: Sequence[ReadWord], rings: Sequence[tuple[int, int, int]]) -> list[ReadWord]:
    """Circled numbers put where the ink shows them, in place of what the models made of them."""
    result = list(words)
    for x0, x1, number in rings:
        if not number or not result:
            continue
        reach = (x1 - x0) // 3
        kept: list[ReadWord] = []
        place = 0
        for word in result:
            middle = (word.x0 + word.x1) / 2
            if x0 - reach <= middle <= x1 + reach and not _HANGUL.search(word.text):
                continue
            if word.x0 <= x1 and x0 - reach <= word.x0 and _HANGUL.search(word.text):
                stripped = word.text.lstrip(_LIKE_CIRCLED)
                word = replace(word, text=stripped or word.text, x0=min(x1 + 1, word.x1 - 1))
            kept.append(word)
            if middle < x0:
                place = len(kept)
        sample = result[0]
        circled = ReadWord(chr(0x245F + number), x0, sample.y0, x1, sample.y1, x1 - x0, False, False)
        if place < len(kept):
            kept[place] = replace(kept[place], gap=max(kept[place].gap, (x1 - x0) // 2))
        kept.insert(place, circled)
        result = kept
    return result


def _better(korean: Sequence[OcrWord], latin: Sequence[OcrWord]) -> Sequence[OcrWord]:
    if _quality(latin) >= _SURE_OF_LATIN_LINE and _quality(latin) > _quality(korean) + 10:
        return latin
    sure_hangul = len(_joined(korean)) > 1 and any(
        _HANGUL.search(word.text) and word.confidence >= SURE for word in korean
    )
    if sure_hangul or _quality(latin) < SURE:
        return _with_latin_words(korean, latin)
    korean_text, latin_text = _joined(korean), _joined(latin)
    if len(korean_text) == 1 and _HANGUL.match(korean_text):  # a figure that stands alone is often read as Hangul
        is_figure = _AMOUNT.match(latin_text) and _quality(latin) >= max(90.0, _quality(korean))
        return latin if is_figure else korean
    if _AMOUNT.match(korean_text):
        if not _AMOUNT.match(latin_text):
            return korean
        if _digits(korean_text) == _digits(latin_text):  # commas are read as points by the Korean model
            sure = max(_quality(korean), _quality(latin))
            return [replace(word, confidence=max(word.confidence, sure)) for word in latin]
        winner, loser = (latin, korean) if _quality(latin) >= _quality(korean) else (korean, latin)
        if _quality(loser) >= SURE and _quality(winner) < 95:
            return [replace(word, confidence=min(word.confidence, SURE_OF_DIGITS - 1)) for word in winner]
        return winner
    if _quality(latin) > _quality(korean) or _AMOUNT.match(latin_text):
        return latin
    return _with_latin_words(korean, latin)


def _with_latin_words(korean: Sequence[OcrWord], latin: Sequence[OcrWord]) -> list[OcrWord]:
    """The Korean reading with Latin words put where it shows none or doubtful Hangul."""
    sure = [word for word in latin if word.confidence >= _SURE_OF_LATIN and _LATIN_WORD.match(word.text)]
    words = list(korean)
    for word in sure:
        under = [index for index, other in enumerate(words) if word.x0 < (other.x0 + other.x1) / 2 < word.x1]
        if not under or under != list(range(under[0], under[-1] + 1)):
            continue
        replaced = words[under[0] : under[-1] + 1]
        if any(_HANGUL.search(other.text) and other.confidence >= SURE for other in replaced):
            continue
        gap = replaced[0].gap
        words[under[0] : under[-1] + 1] = [replace(word, gap=gap)]
    return words


def _with_middle_dots(words: Sequence[ReadWord], dots: Sequence[int]) -> list[ReadWord]:
    """Middle dots where the ink shows a blot at half height: in place of the sign read there, or between letters."""
    result = list(words)
    for dot in dots:
        for index, word in enumerate(result):
            following = result[index + 1] if index + 1 < len(result) else None
            if word.x0 <= dot <= (following.x0 if following else word.x1):
                dotted = _dotted(word, dot, following)
                if dotted is not None:
                    result[index] = replace(word, text=dotted)
                    break
    return result


def _dotted(word: ReadWord, dot: int, following: ReadWord | None) -> str | None:
    """The text of the word with a dot at that place, None where the next word begins with the sign or none fits."""
    text = word.text
    step = (word.x1 - word.x0) / len(text)
    near = [
        (abs(word.x0 + (index + 0.5) * step - dot), index) for index, letter in enumerate(text) if letter in _LIKE_DOTS
    ]
    if near and min(near)[0] <= max(step, 0.6 * (word.y1 - word.y0)):
        place = min(near)[1]
        if text[place - 1 : place].isdigit() and text[place + 1 : place + 2].isdigit():
            return None  # a decimal point or part of a date
        return f"{text[:place]}·{text[place + 1 :]}"
    if following is not None and following.text[0] in _LIKE_DOTS:
        return None
    place = min(round((dot - word.x0) / step), len(text))
    after = text[place : place + 1] or (following.text[:1] if following else "")
    between_hangul = place > 0 and _HANGUL.match(text[place - 1]) and _HANGUL.match(after)
    return f"{text[:place]}·{text[place:]}" if between_hangul else None


def _is_dash(words: Sequence[OcrWord], dpi: int) -> bool:
    """A flat stroke of ink, whatever it was read as."""
    height, width = words[0].y1 - words[0].y0, words[-1].x1 - words[0].x0
    return height <= _DASH_IN[0] * dpi and 2 * height < width <= _DASH_IN[1] * dpi


def _is_garbage(word: OcrWord, *, korean: bool) -> bool:
    if _REPEATED.search(word.text):
        return True
    return korean and word.confidence < SURE and _LONG_LATIN.search(word.text) is not None


def _believed(word: OcrWord) -> ReadWord:
    floor = SURE_OF_DIGITS if any(char.isdigit() for char in word.text) else SURE
    doubtful = word.confidence < floor and any(char.isalnum() for char in word.text)
    is_latin = re.search(r"[A-Za-z]", word.text) is not None and not _HANGUL.search(word.text)
    return ReadWord(word.text, word.x0, word.y0, word.x1, word.y1, word.gap, doubtful, is_latin)


def _quality(words: Sequence[OcrWord]) -> float:
    length = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.confidence for word in words) / length if length else 0.0


def _joined(words: Sequence[OcrWord]) -> str:
    return " ".join(word.text for word in words)


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())
