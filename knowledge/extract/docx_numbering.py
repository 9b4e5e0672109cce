"""Automatic numbers of Word paragraphs (제1조, ①, 가.), which no library puts into the text.

Follows ECMA-376 part 1, 17.9: an abstract definition has nine levels; a numbering instance refers to one and may
override starts and levels; instances of one abstract definition share their counters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_KOREAN_DIGITS = "영일이삼사오육칠팔구"
_HANJA_DIGITS = "零一二三四五六七八九"
_KOREAN_NATIVE_ONES = ("", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉")
_KOREAN_NATIVE_TENS = ("", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔")
_BULLET = "•"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How one level of a numbering counts and is written."""

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    restart: int | None = None  # the level (from 1) above which a paragraph restarts this one; 0 never
    is_legal: bool = False  # all numbers in digits
    suffix: str = "tab"
    paragraph_style: str | None = None


@dataclass(slots=True)
class _Instance:
    abstract_id: str
    start_overrides: dict[int, int] = field(default_factory=dict)
    level_overrides: dict[int, Level] = field(default_factory=dict)


def _value(element: Any, tag: str, default: str | None = None) -> str | None:
    child = element.find(W + tag) if element is not None else None
    return default if child is None else child.get(W + "val", default)


def _integer(text: str | None, default: int) -> int:
    try:
        return int(text) if text is not None else default
    except ValueError:
        return default


class Numbering:
    """Counts while paragraphs are read in document order; build one for each document."""

    def __init__(self, numbering: Any, styles: Any) -> None:
        self._abstract: dict[str, dict[int, Level]] = {}
        self._links: dict[str, str] = {}  # abstract id -> numbering style that holds the real definition
        self._style_abstract: dict[str, str] = {}  # numbering style -> abstract id
        self._instances: dict[str, _Instance] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._overridden: set[tuple[str, int]] = set()
        self._styles = {style.get(W + "styleId"): style for style in styles} if styles is not None else {}
        if numbering is not None:
            self._read(numbering)

    def label(self, paragraph_properties: Any, style_id: str | None) -> str:
        """The number in front of a paragraph with its suffix, "" when it has none. Counts on at each call."""
        number_id, level_index = self._number_of(paragraph_properties, style_id)
        instance = self._instances.get(number_id or "")
        if number_id is None or instance is None:
            return ""
        abstract_id = self._resolve(instance.abstract_id)
        levels = self._levels(instance, abstract_id)
        level = levels.get(level_index, Level())
        counters = self._counters.setdefault(abstract_id, {})
        self._count(counters, levels, number_id, instance, level_index)
        text = self._render(level, levels, counters)
        return text + ("" if level.suffix == "nothing" or not text else " ")

    def _read(self, numbering: Any) -> None:
        for element in numbering.findall(W + "abstractNum"):
            abstract_id = element.get(W + "abstractNumId", "")
            self._abstract[abstract_id] = {
                _integer(level.get(W + "ilvl"), 0): _read_level(level) for level in element.findall(W + "lvl")
            }
            link = _value(element, "numStyleLink")
            if link:
                self._links[abstract_id] = link
            style = _value(element, "styleLink")
            if style:
                self._style_abstract[style] = abstract_id
        for element in numbering.findall(W + "num"):
            instance = _Instance(abstract_id=_value(element, "abstractNumId") or "")
            for override in element.findall(W + "lvlOverride"):
                index = _integer(override.get(W + "ilvl"), 0)
                start = _value(override, "startOverride")
                if start is not None:
                    instance.start_overrides[index] = _integer(start, 1)
                level = override.find(W + "lvl")
                if level is not None:
                    instance.level_overrides[index] = _read_level(level)
            self._instances[element.get(W + "numId", "")] = instance

    def _resolve(self, abstract_id: str) -> str:
        link = self._links.get(abstract_id)
        return self._style_abstract.get(link, abstract_id) if link else abstract_id

    def _levels(self, instance: _Instance, abstract_id: str) -> dict[int, Level]:
        levels = {**self._abstract.get(abstract_id, {}), **instance.level_overrides}
        for index, start in instance.start_overrides.items():
            levels[index] = replace(levels.get(index, Level()), start=start)
        return levels

    def _number_of(self, properties: Any, style_id: str | None) -> tuple[str | None, int]:
        """(numId, level) of a paragraph: its own, else that of its style or the styles this one is based on."""
        direct = properties.find(W + "numPr") if properties is not None else None
        number_id = _value(direct, "numId")
        level = _value(direct, "ilvl")
        seen: set[str] = set()
        while number_id is None and style_id and style_id not in seen:
            seen.add(style_id)
            style = self._styles.get(style_id)
            if style is None:
                break
            style_numbers = style.find(f"{W}pPr/{W}numPr")
            number_id = _value(style_numbers, "numId")
            if number_id is not None and level is None:
                level = self._level_for_style(number_id, style_id) or _value(style_numbers, "ilvl")
            style_id = _value(style, "basedOn")
        if number_id in (None, "0"):
            return None, 0
        return number_id, _integer(level, 0)

    def _level_for_style(self, number_id: str, style_id: str) -> str | None:
        instance = self._instances.get(number_id)
        if instance is None:
            return None
        for index, level in self._levels(instance, self._resolve(instance.abstract_id)).items():
            if level.paragraph_style == style_id:
                return str(index)
        return None

    def _count(
        self, counters: dict[int, int], levels: dict[int, Level], number_id: str, instance: _Instance, index: int
    ) -> None:
        if index in instance.start_overrides and (number_id, index) not in self._overridden:
            self._overridden.add((number_id, index))
            counters[index] = instance.start_overrides[index] - 1
        start = levels.get(index, Level()).start
        counters[index] = counters.get(index, start - 1) + 1
        for deeper in [level for level in counters if level > index]:
            restart = levels.get(deeper, Level()).restart
            if restart is None or (restart > 0 and index < restart):
                del counters[deeper]

    @staticmethod
    def _render(level: Level, levels: dict[int, Level], counters: dict[int, int]) -> str:
        if level.number_format == "bullet":
            return _BULLET if any(not char.isspace() for char in level.text) else ""
        text = level.text
        for index in range(9):
            mark = f"%{index + 1}"
            if mark in text:
                other = levels.get(index, Level())
                number_format = "decimal" if level.is_legal else other.number_format
                text = text.replace(mark, format_number(counters.get(index, other.start), number_format))
        return text.strip()


def _read_level(element: Any) -> Level:
    restart = _value(element, "lvlRestart")
    legal = element.find(W + "isLgl")
    number_format = _value(element, "numFmt", "decimal") or "decimal"
    return Level(
        start=_integer(_value(element, "start"), 1),
        number_format=number_format,
        text=_value(element, "lvlText") or "",
        restart=_integer(restart, 0) if restart is not None else None,
        is_legal=legal is not None and legal.get(W + "val", "1") not in ("0", "false", "off"),
        suffix=_value(element, "suff", "tab") or "tab",
        paragraph_style=_value(element, "pStyle"),
    )


def format_number(number: int, number_format: str) -> str:
    """`number` as Word writes it in `number_format` (ST_NumberFormat); formats not known here come out in digits."""
    if number_format == "none":
        return ""
    if number < 1:
        return str(number)
    cyclic = {"ganada": _GANADA, "chosung": _CHOSUNG, "lowerLetter": "abcdefghijklmnopqrstuvwxyz"}
    cyclic["upperLetter"] = cyclic["lowerLetter"].upper()
    if number_format in cyclic:
        letters = cyclic[number_format]
        return letters[(number - 1) % len(letters)] * ((number - 1) // len(letters) + 1)
    if number_format in ("upperRoman", "lowerRoman"):
        roman = _roman(number)
        return roman if number_format == "upperRoman" else roman.lower()
    if number_format in ("decimalEnclosedCircle", "decimalEnclosedCircleChinese", "ideographEnclosedCircle"):
        return _circled(number)
    if number_format == "decimalEnclosedParen":
        return chr(0x2474 + number - 1) if number <= 20 else f"({number})"
    if number_format == "decimalEnclosedFullstop":
        return chr(0x2488 + number - 1) if number <= 20 else f"{number}."
    if number_format in ("decimalFullWidth", "decimalFullWidth2"):
        return "".join(chr(ord("０") + int(digit)) for digit in str(number))
    if number_format == "decimalZero":
        return f"{number:02d}"
    if number_format == "numberInDash":
        return f"- {number} -"
    if number_format == "koreanDigital":
        return "".join(_KOREAN_DIGITS[int(digit)] for digit in str(number))
    if number_format in ("koreanDigital2", "ideographDigital", "japaneseDigitalTenThousand"):
        return "".join(_HANJA_DIGITS[int(digit)] for digit in str(number))
    if number_format == "koreanCounting":
        return _counted(number, _KOREAN_DIGITS, "십백천")
    if number_format in ("japaneseCounting", "chineseCounting", "chineseCountingThousand", "taiwaneseCounting"):
        return _counted(number, _HANJA_DIGITS, "十百千")
    if number_format == "koreanLegal" and number < 100:
        return _KOREAN_NATIVE_TENS[number // 10] + _KOREAN_NATIVE_ONES[number % 10]
    return str(number)


def _circled(number: int) -> str:
    if number <= 20:
        return chr(0x2460 + number - 1)
    if number <= 35:
        return chr(0x3251 + number - 21)
    if number <= 50:
        return chr(0x32B1 + number - 36)
    return f"({number})"


def _roman(number: int) -> str:
    if number >= 4000:
        return str(number)
    pairs = (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
        (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    )  # fmt: skip
    text = ""
    for value, letters in pairs:
        count, number = divmod(number, value)
        text += letters * count
    return text


def _counted(number: int, digits: str, units: str) -> str:
    """Sino-Korean numbers: 십일, 이십, 백오; a leading one is left out before a unit."""
    if number >= 10_000:
        return str(number)
    text = ""
    for power, unit in ((1000, units[2]), (100, units[1]), (10, units[0])):
        digit, number = divmod(number, power)
        if digit:
            text += ("" if digit == 1 else digits[digit]) + unit
    return text + (digits[number] if number else "")
