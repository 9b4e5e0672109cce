"""What a sentence claims: its numbers as values, its article labels, identifiers and paths.

"8만원", "80,000원" and "８０,０００ 원" are one number. Numbers are compared as values, so that 80,000 never passes
for 180,000.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_SMALL = {"십": 10, "백": 100, "천": 1_000}
_LARGE = {"만": 10_000, "억": 100_000_000}
_NUMBER = re.compile(
    r"(?<![\d.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"((?:[십백천만억]+(?:\d[\d,]*|\s\d[\d,]*(?=[십백천만억]))?)*)"
)
_SCALED_PART = re.compile(r"\d[\d,]*(?:\.\d+)?|[십백천만억]")
_UNIT_NOTE = re.compile(r"단위\s*[:：]?\s*([십백천만억]+)\s*원")
_LIST_NUMBER = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+", re.MULTILINE)
_ARTICLE = re.compile(
    r"제\s?\d+\s?(?:조|장|절|항|호)(?:\s?의\s?\d+)?|(?:별표|별지|서식|부칙)\s?(?:제\s?)?\d+(?:\s?의\s?\d+)?"
)
_CODE = re.compile(r"`([^`\n]+)`")
_IDENTIFIER = re.compile(
    r"(?<![\w/.])(?:[\w-]+/)+[\w.-]+\w|"  # a path
    r"\b[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)+\b(?:\(\))?|"  # a.b, A::b
    r"\b[A-Za-z_]\w*\(\)|"  # f()
    r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b|\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b|"  # snake_case, CONSTANT_CASE
    r"\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b",  # camelCase, PascalCase
    re.ASCII,  # a Korean particle after a name is not part of it
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Numbers as values, and names that must stand in the evidence as they are written."""

    numbers: frozenset[Decimal]
    identifiers: tuple[str, ...]


def claims_of(sentence: str) -> Claims:
    """What a sentence without its markers claims."""
    text = _LIST_NUMBER.sub("", unicodedata.normalize("NFKC", sentence))
    names: list[str] = []

    def take(match: re.Match[str]) -> str:
        names.append((match[1] if match.re is _CODE else match[0]).strip())
        return " "

    for pattern in (_CODE, _ARTICLE, _IDENTIFIER):
        text = pattern.sub(take, text)
    names = [name.removesuffix("()") for name in names]
    return Claims(numbers=numbers_of(text), identifiers=tuple(dict.fromkeys(name for name in names if name)))


def numbers_of(text: str) -> frozenset[Decimal]:
    """All numbers of a text as values."""
    values = (_scaled(match[0]) for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)))
    return frozenset(value for value in values if value is not None)


def unit_of(text: str) -> Decimal:
    """What the amounts of a table are multiplied by: "(단위: 천원)" gives 1000, nothing gives 1."""
    match = _UNIT_NOTE.search(unicodedata.normalize("NFKC", text))
    return (_scaled(f"1{match[1]}") or Decimal(1)) if match else Decimal(1)


def squeeze(text: str) -> str:
    """NFKC without white space, in lower case: for comparing what was written with different spacing."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).lower()


def _scaled(text: str) -> Decimal | None:
    """ "2만5천" -> 25000, "3천만" -> 30000000, "1억 2,000만" -> 120000000."""
    total = section = Decimal(0)
    current: Decimal | None = None
    for match in _SCALED_PART.finditer(text):
        part = match[0]
        if part in _SMALL:
            section += (1 if current is None else current) * _SMALL[part]
            current = None
        elif part in _LARGE:
            section += current or 0
            total += (section or 1) * _LARGE[part]
            section, current = Decimal(0), None
        else:
            try:
                current = Decimal(part.replace(",", ""))
            except InvalidOperation:
                return None
    return (total + section + (current or 0)).normalize()
