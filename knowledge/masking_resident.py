"""Finds 주민등록번호 and 외국인등록번호 however they are written: a birth date, a separator, seven digits.

A hyphen of any kind between the halves is enough. Other separators, none at all, and halves in two table cells need
the checksum, or a word on the line that says what the number is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_DATE = r"(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_HYPHENS = "-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_RUN = re.compile(r"\d{7,}")  # the seven digits, alone or written together with the date
_GOES_ON = re.compile(r"-\d|[.,]\d")
_BLANK = "(?:[ \t\u00a0]|<br ?/?>|&nbsp;)"
_BACK = "(?:뒷|뒤)[ ]?(?:7[ ]?)?(?:자리|번호)"
_WRITTEN_TOGETHER = re.compile(rf"(?P<date>{_DATE})[1-8]\d{{6}}")
# What stands before the seven digits; `sure` needs no checksum and no word that says what the number is.
_BEFORE = re.compile(
    rf"(?<![\d.,-])(?P<date>{_DATE})(?P<sep>(?P<sure>{_BLANK}{{0,3}}[{_HYPHENS}]{{1,2}}{_BLANK}{{0,3}}"
    rf"|{_BLANK}*[{_HYPHENS}]{_BLANK}*\n{_BLANK}*|{_BLANK}*\n{_BLANK}*[{_HYPHENS}]{_BLANK}*"
    rf"|(?!\d)[^\d]{{0,40}}?{_BACK}[^\d\n]{{0,20}})"
    rf"|{_BLANK}{{0,3}}[./_~·ㆍ∙|,(]{_BLANK}{{0,3}}|{_BLANK}{{1,4}}|{_BLANK}*\n{_BLANK}*)\Z"
)
_BEFORE_CHARS = 90
_BACK_HALF = re.compile(rf"{_BACK}[^\d\n]{{0,20}}\Z")
_SPACED = re.compile(rf"\d(?: \d){{5}} ?[{_HYPHENS}]? ?[1-8](?: \d){{6}}(?! ?\d)")
_PARTED = re.compile(rf"\d(?<![\d.,-]\d)\d{{5}} ?[{_HYPHENS}] ?(?P<sex>[1-8]) \d{{6}}(?!\d)")
# a date written with signs, right behind the name of the number
_TOLD_DATE = re.compile(
    r"(?:주민|민번|외국인)[^\d\n]{0,20}(?P<date>(?:19|20)?\d{2}[./-] ?(?:0[1-9]|1[0-2])[./-] ?(?:0[1-9]|[12]\d|3[01]))"
    rf"\.?{_BLANK}{{0,3}}[{_HYPHENS}/,]?{_BLANK}{{0,3}}\Z"
)
_NUMBER_SIGNS = (".", ",", "-")
_SPACED_WORDS = ("주민", "민번", "등록번호", "외국인")
_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
_WORD = re.compile(
    r"주민|민번|외국인\s?등록|(?<!업자)(?<!법인)등록\s?번호|[앞뒷]\s?자리|resident|\bRRN\b|\bSSN\b", re.IGNORECASE
)
_COMPANY = re.compile(r"법인[ ]?(?:등록)?[ ]?번호[^\d\n가-힣]{0,6}\Z")
_DATE_CELL = re.compile(rf"(?:.*[^\d.,-])?(?P<date>{_DATE})\s*[{_HYPHENS}]?\s*", re.DOTALL)
_TAIL_CELL = re.compile(rf"\s*[{_HYPHENS}]?\s*(?P<tail>[1-8]\d{{6}})(?!\d)")
_SIGN_CELL = re.compile(rf"\s*[{_HYPHENS}]?\s*")

Span = tuple[int, int, str]


def has_resident_checksum(digits: str) -> bool:
    """True when the 13th digit fits the others, for citizens (1-4) and for foreigners (5-8).

    Numbers given out since October 2020 have no checksum, so a false result proves nothing about a hyphenated one.
    """
    total = sum(int(d) * w for d, w in zip(digits, _WEIGHTS, strict=False))
    check = (11 - total % 11) % 10
    if digits[6] in "5678":
        check = (check + 2) % 10
    return check == int(digits[12])


def resident_numbers(text: str) -> list[Span]:
    """(start, end, kind) of every number; of one that goes over two lines, of both halves."""
    spans: list[Span] = []
    for run in _RUN.finditer(text):
        length = run.end() - run.start()
        if length > 15 or _GOES_ON.match(text, run.end()):
            continue
        if length in (13, 15):
            together = _WRITTEN_TOGETHER.fullmatch(run[0])
            if together and text[run.start() - 1 : run.start()] not in _NUMBER_SIGNS and _named(text, run, run[0]):
                spans.append((*run.span(), _kind(run[0][-7:])))
        elif length == 7 and run[0][0] in "12345678":
            spans += _halves(text, run)
    if any(word in text for word in _SPACED_WORDS):
        for match in _PARTED.finditer(text):
            if _WORD.search(_lines_around(text, *match.span())):
                spans.append((*match.span(), _kind(match["sex"])))
        for match in _SPACED.finditer(text):
            digits = re.sub(r"\D", "", match[0])
            if re.fullmatch(_DATE, digits[:6]) and _named(text, match, digits):
                spans.append((*match.span(), _kind(digits[6:])))
    return spans


def _halves(text: str, tail: re.Match[str]) -> list[Span]:
    """Spans of the number whose last seven digits `tail` could be: one, or two when other things stand between."""
    start = max(0, tail.start() - _BEFORE_CHARS)
    before = text[start : tail.start()]
    kind = _kind(tail[0])
    match = _BEFORE.search(before)
    if match is None:
        told = _TOLD_DATE.search(before)
        if told:
            return [(start + told.start("date"), tail.end(), kind)]
        return [(*tail.span(), kind)] if _BACK_HALF.search(before) else []
    if _COMPANY.search(before, 0, match.start()):
        return []
    if match["sure"] is None and not _named(text, tail, match["date"] + tail[0]):
        return []
    first, end = start + match.start("date"), start + match.end("date")
    if re.search(r"[\n|]|자리|번호", match["sep"]):
        return [(first, end, kind), (*tail.span(), kind)]
    return [(first, tail.end(), kind)]


def _named(text: str, match: re.Match[str], digits: str) -> bool:
    return _is_meant(digits, _lines_around(text, max(0, match.start() - 20), match.end()))


def masked_number_cells(rows: Sequence[Sequence[str]]) -> dict[tuple[int, int], str]:
    """Cells, by row and column, that hold halves or single digits of a number, with these masked."""
    found: dict[tuple[int, int], str] = {}
    heads = " ".join(cell for row in rows[:2] for cell in row)
    for number, row in enumerate(rows):
        if not any(c.isdigit() for cell in row for c in cell):
            continue
        words = f"{' '.join(row)} {heads}"
        for column, cell in enumerate(row):
            date = _DATE_CELL.fullmatch(cell)
            behind = column + 1
            if date is None:
                continue
            if behind < len(row) and row[behind] and _SIGN_CELL.fullmatch(row[behind]):
                behind += 1  # a cell for the hyphen alone
            tail = _TAIL_CELL.match(row[behind]) if behind < len(row) else None
            if tail and _is_meant(date["date"] + tail["tail"], words):
                mask = f"[masked:{_kind(tail['tail'])}]"
                found[number, column] = cell[: date.start("date")] + mask + cell[date.end("date") :]
                start, end = tail.span("tail")
                found[number, behind] = row[behind][:start] + mask + row[behind][end:]
        found |= {(number, column): mask for column, mask in _single_digits(row, words)}
    return found


def _single_digits(row: Sequence[str], words: str) -> list[tuple[int, str]]:
    """Columns of a form with one digit a cell."""
    places = [column for column, cell in enumerate(row) if len(cell.strip()) == 1 and cell.strip().isdecimal()]
    if len(places) != 13 or places[-1] - places[0] > 13:
        return []
    digits = "".join(row[column].strip() for column in places)
    if not re.fullmatch(rf"{_DATE}[1-8]\d{{6}}", digits) or not _is_meant(digits, words):
        return []
    return [(column, f"[masked:{_kind(digits[6:])}]") for column in places]


def _is_meant(digits: str, words: str) -> bool:
    return _WORD.search(words) is not None or has_resident_checksum(digits[-13:])


def _kind(tail: str) -> str:
    return "foreigner-number" if tail[0] in "5678" else "resident-number"


def _lines_around(text: str, start: int, end: int) -> str:
    """The lines of a match, as far as they say what the number is."""
    left = text.rfind("\n", 0, start) + 1
    right = text.find("\n", end)
    return text[max(left, start - 200) : min(right if right >= 0 else len(text), end + 200)]
