"""Masks personal numbers: 주민등록번호 and 외국인등록번호, cards, accounts, passports, driving licences.

Numbers without an unmistakable form of their own (accounts, passports, licences) are masked only on a line that says
what they are. Telephone numbers, business registration numbers (사업자등록번호), amounts, dates and
article numbers stay.
"""

from __future__ import annotations

import re
from collections import Counter

from knowledge.masking_values import replace_spans

_DATE = r"\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_RESIDENT = re.compile(rf"(?<![\d.,-]){_DATE}(?P<sep>[ \t]?[-–—‐‑][ \t]?|)(?P<sex>[1-8])\d{{6}}(?![\d])(?!-\d|[.,]\d)")
_RESIDENT_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
_RESIDENT_WORD = re.compile(r"주민|외국인\s?등록|resident", re.IGNORECASE)

_CARD = re.compile(
    r"(?<![\w.,/-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{5}|\d{15,16})(?![\w/-]|[.,]\d)"
)
_CARD_PREFIX = re.compile(r"4|5[1-5]|2[2-7]|3[4578]|6(?:011|22|4[4-9]|5)|9[0-9]")

_ACCOUNT_WORD = re.compile(r"계좌|예금주|account\s?(?:no|number|#)", re.IGNORECASE)
_ACCOUNT = re.compile(r"(?<![\w.,-])\d{2,6}-\d{2,8}-\d{2,8}(?:-\d{1,6})?(?![\w-])")
_PHONE = re.compile(r"0\d{1,2}-\d{3,4}-\d{4}|1[5-8]\d{2}-\d{4}")
_BUSINESS = re.compile(r"\d{3}-\d{2}-\d{5}")
_PLAIN_ACCOUNT = re.compile(r"계좌\s?(?:번호)?\s?[:：]?\s?(?:[가-힣]{2,8}은행\s?)?(?P<v>\d{10,16})(?!\d)")

_PASSPORT = re.compile(
    r"(?:여권|passport)[^\n]{0,40}?(?<![A-Za-z0-9])(?P<v>[MSROGD]\d{3}[A-Z]\d{4}|[A-Z]{1,2}\d{7,8})(?!\w)",
    re.IGNORECASE,
)
_LICENCE = re.compile(
    r"(?:면허|licen[cs]e)[^\n]{0,40}?(?<![\d-])(?P<v>(?:1[1-9]|2[0-8])-\d{2}-\d{6}-\d{2})(?![\d-])", re.IGNORECASE
)
_HAS_NUMBER = re.compile(r"\d{4}")


def mask_personal_numbers(text: str, counts: Counter[str]) -> str:
    """`text` with personal numbers masked; `counts` grows by what was replaced."""
    if not _HAS_NUMBER.search(text):
        return text
    spans = _resident_numbers(text) + _cards(text)
    if _ACCOUNT_WORD.search(text):
        spans += _accounts(text)
    for kind, pattern in (("passport-number", _PASSPORT), ("driver-licence", _LICENCE)):
        spans += [(*match.span("v"), kind) for match in pattern.finditer(text)]
    return replace_spans(text, spans, counts)


def has_resident_checksum(digits: str) -> bool:
    """True when the 13th digit fits the others, for citizens (1-4) and for foreigners (5-8).

    Numbers given out since October 2020 have no checksum, so a false result proves nothing about a hyphenated one.
    """
    total = sum(int(d) * w for d, w in zip(digits, _RESIDENT_WEIGHTS, strict=False))
    check = (11 - total % 11) % 10
    if digits[6] in "5678":
        check = (check + 2) % 10
    return check == int(digits[12])


def passes_luhn(digits: str) -> bool:
    """True when `digits` pass the check of ISO/IEC 7812."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        digit = int(char) * (2 if place % 2 else 1)
        total += digit - 9 if digit > 9 else digit
    return total % 10 == 0


def _line_around(text: str, start: int, end: int) -> str:
    left = text.rfind("\n", 0, start) + 1
    right = text.find("\n", end)
    return text[left : right if right >= 0 else len(text)]


def _resident_numbers(text: str) -> list[tuple[int, int, str]]:
    """Hyphenated ones with a possible date of birth; without a hyphen the checksum or the word beside it is needed."""
    spans = []
    for match in _RESIDENT.finditer(text):
        if not match["sep"]:
            named = _RESIDENT_WORD.search(_line_around(text, *match.span()))
            if not named and not has_resident_checksum(match[0]):
                continue
        spans.append((*match.span(), "foreigner-number" if match["sex"] in "5678" else "resident-number"))
    return spans


def _cards(text: str) -> list[tuple[int, int, str]]:
    spans = []
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if not _CARD_PREFIX.match(digits) or digits.endswith("000000") or len(set(digits)) < 2:
            continue
        if len(digits) == 15 and not digits.startswith(("34", "37")):
            continue
        if passes_luhn(digits):
            spans.append((*match.span(), "card-number"))
    return spans


def _accounts(text: str) -> list[tuple[int, int, str]]:
    spans = [(*match.span("v"), "account-number") for match in _PLAIN_ACCOUNT.finditer(text)]
    for match in _ACCOUNT.finditer(text):
        number = match[0]
        if _PHONE.fullmatch(number) or _BUSINESS.fullmatch(number) or not 10 <= sum(c.isdigit() for c in number) <= 16:
            continue
        if _ACCOUNT_WORD.search(_line_around(text, *match.span())):
            spans.append((*match.span(), "account-number"))
    return spans
