"""Numbers with their units, and the numbered labels of regulations, as tokens whatever the way of writing.

"2만5천원", "25,000원", "이만오천원" give 25000 and 25000원; "10 km" gives 10 and 10km; "한 달" gives 1 and 1개월;
"제 12 조의 2" gives 제12조의2, and "별표 제1호" gives 별표 and 별표1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_UNIT_WORDS = """
    퍼센트 프로 포인트 킬로미터 미터 만원 천원 개월 시간 학점 학기 호봉 영업일 근무일 일간 주간 년간 연간 주일
    평방미터 달러 유로 일 주 월 년 분 초 원 회 번 명 인 세 급 권 배 할 점 대 톤 건 개 장 차 등 조 항 호 km kg
    cm mm gb mb kb ms m g t h s usd p
"""
_UNIT_NAMES = {
    "퍼센트": "pct", "프로": "pct", "%": "pct", "킬로미터": "km", "미터": "m", "usd": "달러", "톤": "t",
    "일간": "일", "년간": "년", "연간": "년", "주일": "주", "주간": "주", "p": "포인트",
}  # fmt: skip
_MULTIPLIERS = {"십": 10, "백": 100, "천": 1_000, "만": 10_000, "억": 100_000_000}
_NUMBER = re.compile(
    r"(?<![0-9A-Za-z_.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>(?:[십백천만억]\s?(?:\d[\d,]*)?)*)"
    r"\s?(?P<unit>%|" + "|".join(_UNIT_WORDS.split()) + r")?(?![0-9A-Za-z_])"
)
_NATIVE_DAYS = {
    "하루": "1일", "이틀": "2일", "사흘": "3일", "나흘": "4일", "닷새": "5일", "엿새": "6일", "이레": "7일",
    "여드레": "8일", "아흐레": "9일", "열흘": "10일", "보름": "15일", "일주일": "7일", "반년": "6개월",
}  # fmt: skip
_NATIVE_DAY = re.compile("|".join(_NATIVE_DAYS))
_NATIVE_NUMBERS = {
    "한": 1, "두": 2, "세": 3, "석": 3, "네": 4, "넉": 4,
    "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10,
}  # fmt: skip
_NATIVE_UNIT = re.compile(rf"(?<![가-힣])({'|'.join(_NATIVE_NUMBERS)})\s?(달|개월|시간|번|명|살|주|해)(?![가-힣]{{3}})")
_NATIVE_UNIT_NAMES = {"달": "개월", "살": "세", "해": "년"}
_SINO_WON = re.compile(r"(?<![가-힣])([일이삼사오육칠팔구십백천만억]{2,})\s?원(?![가-힣]{2})")
_SINO_DIGITS = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", 1)}
_FRACTION = re.compile(r"(\d+)\s?분의\s?(\d+)")
_LABELS = re.compile(
    r"제\s?(?P<number>\d+)\s?(?P<unit>조|장|절|항|호|관|편)(?:\s?의\s?(?P<branch>\d+))?"
    r"|(?P<appendix>별표|별지|별첨|서식|부록|붙임)\s?(?:제\s?)?(?P<count>\d+)(?:\s?호)?(?:\s?의\s?(?P<sub>\d+))?"
)


def label_tokens(text: str, taken: list[Span]) -> Iterator[str]:
    """Tokens of "제N조의M" and "별표 N"; their places are added to `taken`."""
    for match in _LABELS.finditer(text):
        taken.append(match.span())
        if match["number"]:
            branch = f"의{match['branch']}" if match["branch"] else ""
            yield f"제{match['number']}{match['unit']}{branch}"
        else:
            sub = f"의{match['sub']}" if match["sub"] else ""
            yield match["appendix"]
            yield f"{match['appendix']}{match['count']}{sub}"


def number_tokens(text: str, taken: list[Span]) -> Iterator[str]:
    """Tokens of numbers in digits that stand in none of the spans `taken`; their places are added to it."""
    labels = list(taken)
    for match in _NUMBER.finditer(text):
        value = _amount(match["digits"], match["scale"])
        if value is None or _overlaps(match.span(), labels):
            continue
        taken.append(match.span())
        yield _digits(value)
        if unit := match["unit"]:
            yield _with_unit(value, unit.casefold())


def korean_number_tokens(text: str, taken: list[Span]) -> Iterator[str]:
    """Tokens of numbers in Korean words, the same that digits give; most of their places are added to `taken`."""
    for match in _NATIVE_UNIT.finditer(text):
        taken.append(match.span())
        number = str(_NATIVE_NUMBERS[match[1]])
        yield number
        yield number + _NATIVE_UNIT_NAMES.get(match[2], match[2])
    for match in _SINO_WON.finditer(text):
        taken.append(match.span())
        number = str(_sino_value(match[1]))
        yield number
        yield f"{number}원"
    for match in _FRACTION.finditer(text):
        yield f"{match[1]}분의{match[2]}"
    for match in _NATIVE_DAY.finditer(text):
        yield _NATIVE_DAYS[match.group()]


def is_number(word: str) -> bool:
    """Whether the whole word is a number, with or without a unit."""
    return _NUMBER.fullmatch(word) is not None


def _overlaps(span: Span, spans: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in spans)


def _with_unit(value: float, unit: str) -> str:
    if unit in ("만원", "천원"):
        return _digits(value * _MULTIPLIERS[unit[0]]) + "원"
    return _digits(value) + _UNIT_NAMES.get(unit, unit)


def _digits(value: float) -> str:
    """The number without separators; the decimal point becomes an "o", at which no tokenizer splits."""
    return str(int(value)) if value == int(value) else f"{value:.6f}".rstrip("0").replace(".", "o")


def _amount(digits: str, scale: str) -> float | None:
    """The value of "2만5천"; None when there are more digits than a number in a document has."""
    if len(digits) > 18 or len(scale) > 18:
        return None
    total, current = 0.0, float(digits.replace(",", ""))
    for multiplier, more in re.findall(r"([십백천만억])\s?(\d[\d,]*)?", scale):
        total, current = total + current * _MULTIPLIERS[multiplier], 0.0
        if more:
            current = float(more.replace(",", ""))
    return total + current


def _sino_value(word: str) -> int:
    """The value of a number in Sino-Korean words: "이만오천" -> 25000."""
    total = section = digit = 0
    for letter in word:
        if letter in _SINO_DIGITS:
            digit = _SINO_DIGITS[letter]
        elif letter in "만억":
            total += ((section + digit) or 1) * _MULTIPLIERS[letter]
            section = digit = 0
        else:
            section += (digit or 1) * _MULTIPLIERS[letter]
            digit = 0
    return total + section + digit
