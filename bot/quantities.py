"""Amounts in a text: value, unit and bound, whatever the way of writing.

"8만원", "80,000원", "팔만 원", "８０,０００ 원" and "KRW 80,000" are one quantity; "100분의 80", "8할" and "80퍼센트"
are another.
Quantities are compared as values with units, so that 80,000 never passes for 180,000, nor "제15조" for "15일".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from bot.number_words import number_words

Bound = str  # "ge" 이상, "gt" 초과, "le" 이하, "lt" 미만; "lower" and "upper" where the words leave that open

_CIRCLED = {chr(0x2460 + n): n + 1 for n in range(20)}
_SMALL = {"십": 10, "백": 100, "천": 1_000}
_LARGE = {"만": 10_000, "억": 100_000_000, "조": 1_000_000_000_000}
_UNITS: dict[str, str] = {
    "원": "원|won|krw",
    "달러": "달러|불(?=[\\s,.)]|$)|usd|us dollars?|dollars?",
    "유로": "유로|euros?|eur",
    "엔": "엔|yen|jpy",
    "영업일": "영업일|근무일|business days?|working days?",
    "일": "일간|일치|일분|일|days?",
    "개월": "개월간|개월|달(?!러)|months?",
    "년": "년간|년|해|years?(?!\\s+old)",
    "주": "주간|주일|주(?!년|차|기|요)|weeks?",
    "시간": "시간|hours?|hrs?",
    "분": "분간|분(?!의)|minutes?|mins?",
    "밀리초": "밀리초|ms|milliseconds?",
    "초": "초간|초(?!과)|seconds?|secs?|s(?![a-z])",
    "회": "회|번째|번|차례|times|attempts?|retries",
    "명": "명|인(?!치)|사람|people|persons?|employees?|members?",
    "건": "건|cases?",
    "권": "권|책(?!자|임|상|정)|books?|volumes?",
    "개": "개(?!월|년)|가지|곳|items?",
    "세": "세|살|years? old",
    "급": "급|grade",
    "호봉": "호봉",
    "학점": "학점|credits?",
    "학기": "학기|semesters?",
    "점": "점|points?",
    "%p": "%p|퍼센트포인트|percentage points?",
    "%": "%|퍼센트|프로(?![가-힣])|percent|per cent",
    "km": "km|킬로미터",
    "cm": "cm",
    "mm": "mm",
    "m2": "m2|제곱미터|평방미터",
    "m": "m(?![a-z])|미터",
    "kg": "kg|킬로그램",
    "g": "g(?![a-z])|그램",
    "톤": "톤|t(?![a-z])",
    "tb": "tb",
    "gb": "gb|기가바이트",
    "mb": "mb|메가바이트",
    "kb": "kb",
    "쪽": "쪽|페이지|pages?",
    "배": "배",
    "박": "박(?!사)|nights?",
    "끼": "끼|식(?![가-힣])|meals?",
    "평": "평",
    "대": "대(?![가-힣])",
    "장": "장(?![가-힣])|매(?![가-힣])",
    "부": "부(?![가-힣])|copies",
    "차": "차(?![가-힣])",
    "층": "층",
    "등급": "등급",
    "단계": "단계",
    "호": "호",
    "자": "글자|자(?![가-힣])|자(?=[가-힣]?\\s)|자(?=이|를|로|까|를)|characters?",
}
_BASES: dict[str, tuple[str, int | Decimal]] = {
    "년": ("개월", 12),
    "주": ("일", 7),
    "시간": ("분", 60),
    "초": ("분", Decimal(1) / 60),
    "밀리초": ("분", Decimal(1) / 60_000),
    "km": ("m", 1000),
    "cm": ("m", Decimal("0.01")),
    "mm": ("m", Decimal("0.001")),
    "톤": ("kg", 1000),
    "g": ("kg", Decimal("0.001")),
}
_UNIT_ALTERNATIVES = sorted(
    ((alternative, name) for name, pattern in _UNITS.items() for alternative in re.split(r"\|(?![^(]*\))", pattern)),
    key=lambda pair: -len(re.sub(r"\(\?.*", "", pair[0])),
)
_UNIT = re.compile("|".join(f"(?:{alternative})" for alternative, _ in _UNIT_ALTERNATIVES), re.IGNORECASE)
_UNIT_NAMES = [(re.compile(alternative, re.IGNORECASE), name) for alternative, name in _UNIT_ALTERNATIVES]
_NUMBER = re.compile(
    r"(?<![\d.,A-Za-z_])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d]|,\d{3}(?!\d))"
    r"((?:\s?[십백천만억조](?![가-힣])|[십백천만억조](?!월)|"
    r"(?<=[십백천만억조])\s?\d[\d,]*(?=\s?[십백천만억원]|\s|$))*)"
)
_CURRENCY_BEFORE = re.compile(r"(₩|￦|KRW|US\$|\$|USD|€|EUR|¥)\s*$", re.IGNORECASE)
_CURRENCIES = {
    "₩": "원",
    "￦": "원",
    "krw": "원",
    "us$": "달러",
    "$": "달러",
    "usd": "달러",
    "€": "유로",
    "eur": "유로",
    "¥": "엔",
}
_HUNDREDTHS = re.compile(
    r"(\d+)\s?분의\s?(\d+(?:\.\d+)?)|(?<![\d.])(\d)\s?할(?:\s?(\d)\s?푼)?(?![가-힣]{2})|(?<![가-힣])절반"
)
# a counter that is not in the table above: it fits itself alone
_OTHER_COUNTER = re.compile(
    r"(?!이|가|은|는|을|를|의|에|로|으|과|와|도|만|까|부|보|입|인|임|씩|당|간|마|쯤|정|내|분의|및|"
    r"또|중|하|한|할|된|되|대)([가-힣])"
)
_RANGE = re.compile(r"^\s?(?:~|〜|∼|-|–|—|에서|부터|내지|to|and|또는|or)\s?$")
_SCALE_AT_END = re.compile(r"\d([십백천만억조]+)\s?원?$")
_SCALED_PART = re.compile(r"\d[\d,]*(?:\.\d+)?|[십백천만억조]")
_UNIT_NOTE = re.compile(r"단위\s*[:：]?\s*([십백천만억]*)\s*(원|달러|명|일|시간|%|개월|건|km)")
_EXCEEDED_NOT = re.compile(r"\s?(?:을|를)?\s?(?:초과|넘)\S{0,3}\s?(?:수\s?)?(?:는\s?)?(?:없|못|않|아니|안\s)")
_AFTER: tuple[tuple[re.Pattern[str], Bound], ...] = (
    (_EXCEEDED_NOT, "upper"),
    (re.compile(r"\s?(?:이상|or more|or longer|and (?:above|over))", re.IGNORECASE), "ge"),
    (re.compile(r"\s?(?:을|를|이|가)?\s?(?:초과|넘)"), "gt"),
    (re.compile(r"\s?보다\s?(?:더\s?)?(?:많|크|큰|높|길|늦)"), "gt"),
    (re.compile(r"\s?보다\s?(?:더\s?)?(?:적|작|낮|짧|빠르|이르)"), "lt"),
    (re.compile(r"\s?(?:이하|or less|or fewer)", re.IGNORECASE), "le"),
    (re.compile(r"\s?미만"), "lt"),
    (re.compile(r"\s?(?:이내|한도|까지)"), "upper"),
)
_BEFORE: tuple[tuple[re.Pattern[str], Bound], ...] = (
    (re.compile(r"(?:최대|최고|at most|up to|no more than|not more than|maximum of|within|less than|"
    r"fewer than|under|below|smaller than|shorter than)\s*$",
                re.IGNORECASE), "upper"),
    (re.compile(r"(?:최소|최저|at least|no less than|not less than|minimum of|more than|"
    r"over|above|exceeding|longer than|larger than|bigger than|greater than)\s*$", re.IGNORECASE), "lower"),
)  # fmt: skip
_LOWER, _STRICT = frozenset({"ge", "gt", "lower"}), frozenset({"ge", "gt", "le", "lt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with what is said about it; `start` and `end` are places in the text after `plain`."""

    value: Decimal
    unit: str | None
    start: int
    end: int
    bound: Bound | None = None

    @property
    def base(self) -> tuple[str | None, Decimal]:
        """Unit and value in which quantities of different units can be compared: two weeks are 14 days."""
        unit, factor = _BASES.get(self.unit or "", (self.unit, 1))
        return unit, (self.value * factor).normalize()

    def equals(self, other: Quantity) -> bool:
        """Whether both say the same amount; a missing unit fits every unit."""
        if self.unit is None or other.unit is None:
            return self.value == other.value
        (unit, value), (other_unit, other_value) = self.base, other.base
        return unit == other_unit and abs(value - other_value) < Decimal("0.000001")

    def contradicts_bound(self, other: Quantity) -> bool:
        """Whether one is a lower and the other an upper limit, or one includes the number and the other does not."""
        if self.bound is None or other.bound is None:
            return False
        if (self.bound in _LOWER) != (other.bound in _LOWER):
            return True
        return self.bound in _STRICT and other.bound in _STRICT and self.bound != other.bound


_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ENGLISH_SCALE = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s(thousand|million|billion)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """NFKC with "①" as "제1항" and plain dashes and spaces: the text in which places are counted."""
    named = re.sub("[①-⑳]", lambda match: f" 제{_CIRCLED[match[0]]}항 ", text)
    named = _ENGLISH_SCALE.sub(lambda m: f"{Decimal(m[1].replace(',', '')) * _SCALES[m[2].lower()]:f}", named)
    return unicodedata.normalize("NFKC", named.replace("₩", "KRW ").replace("￦", "KRW ")).replace("\u2060", "")


def quantities_of(text: str) -> list[Quantity]:
    """All quantities of a text that went through `plain`, in order."""
    found: list[Quantity] = []
    taken: list[tuple[int, int]] = []
    for match in _HUNDREDTHS.finditer(text):
        found.append(Quantity(value=_share(match), unit="%", start=match.start(), end=match.end()))
        taken.append(match.span())
    for start, end, value, unit in number_words(text):
        if not _overlaps(start, end, taken):
            found.append(Quantity(value=value.normalize(), unit=unit_name(unit), start=start, end=end))
            taken.append((start, end))
    for match in _NUMBER.finditer(text):
        quantity = None if _overlaps(*match.span(), taken) else _in_digits(match, text)
        if quantity is not None:
            found.append(quantity)
    found.sort(key=lambda quantity: quantity.start)
    return [_with_bound(quantity, text) for quantity in _share_units(found, text)]


def unit_note(text: str) -> tuple[Decimal, str | None]:
    """What a table's numbers are multiplied by, and their unit: "(단위: 천원)" gives 1000 and 원."""
    match = _UNIT_NOTE.search(text)
    if not match:
        return Decimal(1), None
    return scaled_value(f"1{match[1]}") or Decimal(1), unit_name(match[2])


def unit_name(word: str) -> str | None:
    """The unit that a word begins with: "days" -> 일, "명이" -> 명."""
    return next((name for pattern, name in _UNIT_NAMES if pattern.match(word)), None)


def scaled_value(text: str) -> Decimal | None:
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


def _in_digits(match: re.Match[str], text: str) -> Quantity | None:
    if len(match[0]) > 40:
        return None
    value = scaled_value(match[0])
    if value is None:
        return None
    gap = re.compile(r"\s?-?").match(text, match.end())
    after = gap.end() if gap else match.end()
    unit_match = _UNIT.match(text, after)
    currency = _CURRENCY_BEFORE.search(text[max(0, match.start() - 6) : match.start()])
    end = match.end()
    unit = _CURRENCIES[currency[1].lower()] if currency else None
    if unit is None and unit_match and not _runs_on(text, unit_match):
        unit, end = unit_name(unit_match[0] + text[unit_match.end() : unit_match.end() + 3]), unit_match.end()
    elif unit is None and (counter := _OTHER_COUNTER.match(text, match.end())):
        unit = f"~{counter[1]}"
    return Quantity(value=value, unit=unit, start=match.start(), end=end)


def _runs_on(text: str, unit: re.Match[str]) -> bool:
    """Whether a Latin unit is only the beginning of a word: "3 minor changes" has no minutes."""
    following = text[unit.end() : unit.end() + 1]
    return unit[0][-1].isascii() and unit[0][-1].isalpha() and following.isascii() and following.isalpha()


def _share(match: re.Match[str]) -> Decimal:
    if match[1]:
        return (Decimal(match[2]) * 100 / Decimal(match[1])).normalize() if Decimal(match[1]) else Decimal(0)
    return Decimal(int(match[3]) * 10 + int(match[4] or 0)).normalize() if match[3] else Decimal(50)


def _share_units(found: Sequence[Quantity], text: str) -> list[Quantity]:
    """The first number of "3~5일" is one of days, too; so is that of "3만~5만원" with what it is multiplied by."""
    shared = list(found)
    for number in range(len(shared) - 2, -1, -1):
        first, second = shared[number], shared[number + 1]
        if first.unit is None and second.unit is not None and _RANGE.match(text[first.end : second.start]):
            scale = _SCALE_AT_END.search(text[first.end - 1 : first.end] + text[second.start : second.end])
            bare = text[first.start : first.end].replace(",", "").isdigit()
            factor = scaled_value(f"1{scale[1]}") if scale and bare else None
            in_scale = factor is not None and first.value * factor < second.value
            value = (first.value * factor).normalize() if in_scale and factor else first.value
            shared[number] = replace(first, unit=second.unit, value=value)
    return shared


def _with_bound(quantity: Quantity, text: str) -> Quantity:
    after, before = text[quantity.end : quantity.end + 14], text[max(0, quantity.start - 22) : quantity.start]
    bound = next((name for pattern, name in _AFTER if pattern.match(after)), None)
    bound = bound or next((name for pattern, name in _BEFORE if pattern.search(before)), None)
    return replace(quantity, bound=bound) if bound else quantity


def _overlaps(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in spans)
