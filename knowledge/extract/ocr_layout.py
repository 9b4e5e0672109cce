"""A page as OCR saw it, in the form in which the PDF reader takes pages: glyphs and ruling lines in points.

So scans go the same way as text layers: tables by their lines, columns, paragraphs, running headers.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.extract.decoding import clean_text
from knowledge.extract.ocr_choice import UNREAD, ReadWord, choose_words
from knowledge.extract.ocr_record import OcrRecord
from knowledge.extract.pdf_chars import Char, Rule
from knowledge.extract.scan_tables import to_rule

_SPACE_EMS = 0.27  # a wider gap in the ink is a space
_SPACE_RANGE_EMS = (0.18, 0.42)  # within which the spaces of a page may set themselves apart
_ENOUGH_GAPS = 30
_LEAST_LETTERS = 2
_LEAST_TOKENS, _NOISE_SHARE = 4, 0.5  # readable pages stay below 0.2, spoiled ones come above 0.7
_DOTTED_GROUPS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{3})+(?![\d.])")  # 500.000: a comma that lost its tail
_SIZE_EMS = 1.2  # height of a glyph's box, as in text layers
_HANGUL_WORD = re.compile(r"^[가-힣]{2,}$")
_ARTICLE_NUMBER = re.compile(r"(?<![가-힣])제([\d|lI!ｌ]{1,4})(?=조)")
_LABEL_START = re.compile(r"(?:^|[^가-힣])제\d+$")
_LABEL_UNITS = "조항호장절편관"
_ROOM_AROUND_ONE = 1.35  # the figure 1 keeps more white around it than others
_BARS = str.maketrans("|lI!ｌ", "11111")


@dataclass(frozen=True, slots=True)
class OcrPage:
    """`doubtful` are words as they stand in the text that were read with low confidence, those with digits first."""

    chars: tuple[Char, ...]
    rules: tuple[Rule, ...]
    doubtful: tuple[str, ...]
    dropped: int  # stretches of ink that could not be read
    is_noise: bool = False  # most of what was read are no words: a photograph, or too poor a scan


def lay_out(record: OcrRecord) -> OcrPage:
    """Glyphs of the page in points from the lower left corner, in reading order within each line."""
    lines = _without_lone_leaders(record, [choose_words(line, dpi=record.dpi) for line in record.lines])
    if sum(char.isalnum() for words in lines for word in words for char in word.text) < _LEAST_LETTERS:
        lines = []  # a picture in which a corner looks like a letter
    ems = [_em(words) for words in lines if words and any(_HANGUL_WORD.match(word.text) for word in words)]
    usual = statistics.median(ems) if ems else 0.15 * record.dpi
    border = _space_border([word.gap / _em(words) for words in lines for word in words[1:]])
    scale = 72 / record.dpi
    chars: list[Char] = []
    doubtful: dict[str, None] = {}
    count = noise = 0
    for words in lines:
        if not words:
            continue
        em = _em(words)
        if not 0.5 * usual <= em <= 3 * usual:
            em = usual
        tokens = _tokens(words, border * em)
        count += len(tokens)
        noise += sum(_is_noise(token.text) for token in tokens)
        doubtful.update(
            dict.fromkeys(token.text for token in tokens if token.doubtful and _is_worth_a_look(token.text))
        )
        middle = record.height - (words[0].y0 + words[0].y1) / 2
        order = len(chars) + 1 if not chars else chars[-1].order + 2  # lines are no neighbours in the text layer
        for token in tokens:
            step = (token.x1 - token.x0) / len(token.text)
            for index, letter in enumerate(token.text):
                chars.append(
                    Char(
                        letter,
                        (token.x0 + index * step) * scale,
                        (middle - em * _SIZE_EMS / 2) * scale,
                        (token.x0 + (index + 1) * step) * scale,
                        (middle + em * _SIZE_EMS / 2) * scale,
                        em * _SIZE_EMS * scale,
                        order,
                        index == 0 and token.spaced,
                    )
                )
                order += 1
    if count >= _LEAST_TOKENS and noise > _NOISE_SHARE * count:
        return OcrPage((), (), (), len(lines), is_noise=True)
    rules = tuple(to_rule(rule, record.height, record.dpi) for rule in record.rules)
    ordered = sorted(doubtful, key=lambda text: not any(char.isdigit() for char in text))
    return OcrPage(tuple(chars), rules, tuple(ordered), sum(1 for words in lines if not words))


def _without_lone_leaders(record: OcrRecord, lines: list[list[ReadWord]]) -> list[list[ReadWord]]:
    """The lines without rows of dots beside which no text stands: rims of pictures and shading."""
    read = [words[0] for line, words in zip(record.lines, lines, strict=True) if words and not line.leader]

    def leads(words: list[ReadWord]) -> bool:
        middle = (words[0].y0 + words[0].y1) / 2
        return any(word.y0 <= middle <= word.y1 for word in read)

    return [words if not line.leader or leads(words) else [] for line, words in zip(record.lines, lines, strict=True)]


def _is_noise(text: str) -> bool:
    """Single Latin letters and signs: what OCR makes of stains."""
    if len(text) == 1:
        return not (text.isdigit() or "가" <= text <= "힣")
    return not any(char.isalnum() for char in text)


def _is_worth_a_look(text: str) -> bool:
    """Single letters tell a reader nothing; figures always count."""
    return (
        text == UNREAD or any(char.isdigit() for char in text) or sum(char.isalpha() for char in text) >= _LEAST_LETTERS
    )


@dataclass(frozen=True, slots=True)
class _Token:
    """What stands between two spaces, or a piece of it with its own place on the line."""

    text: str
    x0: float
    x1: float
    spaced: bool
    doubtful: bool


def _em(words: Sequence[ReadWord]) -> float:
    """Width of a Hangul letter in pixels; from the height of the line where there is none."""
    height = words[0].y1 - words[0].y0
    pitches = [(word.x1 - word.x0) / len(word.text) for word in words if _HANGUL_WORD.match(word.text)]
    if not pitches:
        return 0.95 * height
    return min(statistics.median(pitches), 1.15 * height)


def _tokens(words: Sequence[ReadWord], border: float) -> list[_Token]:
    groups: list[list[ReadWord]] = []
    for word in words:
        between_latin = bool(groups) and groups[-1][-1].is_latin and word.is_latin
        before = "".join(part.text for part in groups[-1]) if groups else ""
        wide = border * _ROOM_AROUND_ONE if before.endswith("1") or word.text.startswith("1") else border
        is_label = _LABEL_START.search(before) is not None and word.text[0] in _LABEL_UNITS
        if groups and not between_latin and (0 <= word.gap < wide or is_label):
            groups[-1].append(word)
        else:
            groups.append([word])
    tokens = []
    for number, group in enumerate(groups):
        text = clean_text(_repaired("".join(word.text for word in group)))
        if text.strip():
            x0, x1 = group[0].x0, max(word.x1 for word in group)
            doubtful = any(word.doubtful for word in group) or _DOTTED_GROUPS.search(text) is not None
            tokens.append(_Token(text, float(x0), float(max(x1, x0 + 1)), number > 0, doubtful))
    return tokens


def _repaired(text: str) -> str:
    """Bars in the number of an article are ones: 제|조, 제l3조."""
    return _ARTICLE_NUMBER.sub(lambda found: "제" + found.group(1).translate(_BARS), text)


def _space_border(shares: Sequence[float]) -> float:
    """Ems from which a gap is a space: the border that parts the gaps of the page best (Otsu 1979)."""
    ordered = sorted(share for share in shares if 0 <= share <= 1.0)
    if len(ordered) < _ENOUGH_GAPS:
        return _SPACE_EMS
    total = sum(ordered)
    best, border, below = 0.0, _SPACE_EMS, 0.0
    for index, (smaller, larger) in enumerate(itertools.pairwise(ordered), start=1):
        below += smaller
        rest = len(ordered) - index
        between = index * rest * (below / index - (total - below) / rest) ** 2
        middle = (smaller + larger) / 2
        if between > best and _SPACE_RANGE_EMS[0] <= middle <= _SPACE_RANGE_EMS[1]:
            best, border = between, middle
    return border
