"""Masks personal numbers: 주민등록번호 and 외국인등록번호 (`masking_resident`), cards, accounts, passports, licences.

Numbers without an unmistakable form of their own (accounts, passports, licences) are masked only on a line that says
what they are. Telephone numbers, business registration numbers (사업자등록번호), amounts, dates and
article numbers stay.
"""

from __future__ import annotations

import re
from collections import Counter

from knowledge.masking_resident import resident_numbers
from knowledge.masking_values import replace_spans

# The look behind stands after the first digit, which lets the search skip to digits quickly.
_CARD = re.compile(r"\d(?<![\w.,/-]\d)\d{3}(?:([ -])\d{4}\1\d{4}\1\d{4}|([ -])\d{6}\2\d{5}|\d{11,12})(?![\w/-]|[.,]\d)")
_CARD_PREFIX = re.compile(r"4|5[1-5]|2[2-7]|3[4578]|6(?:011|22|4[4-9]|5)|9[0-9]")

_ACCOUNT_WORD = re.compile(r"계좌|예금주|account\s?(?:no|number|#)", re.IGNORECASE)
_ACCOUNT = re.compile(r"\d(?<![\w.,-]\d)\d{1,5}-\d{2,8}-\d{2,8}(?:-\d{1,6})?(?![\w-])")
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
_ACCOUNT_HINTS = ("계좌", "예금주", "ccount", "ACCOUNT")
_NAMED_NUMBERS = (
    ("passport-number", ("여권", "assport", "PASSPORT"), _PASSPORT),
    ("driver-licence", ("면허", "icen", "ICEN"), _LICENCE),
)
_HAS_NUMBER = re.compile(r"\d{4}|\d \d \d")


def mask_personal_numbers(text: str, counts: Counter[str]) -> str:
    """`text` with personal numbers masked; `counts` grows by what was replaced."""
    if not _HAS_NUMBER.search(text):
        return text
    spans = resident_numbers(text) + _cards(text)
    if any(hint in text for hint in _ACCOUNT_HINTS):
        spans += _accounts(text)
    for kind, hints, pattern in _NAMED_NUMBERS:
        if not any(hint in text for hint in hints):
            continue
        spans += [(*match.span("v"), kind) for match in pattern.finditer(text)]
    return replace_spans(text, spans, counts)


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
