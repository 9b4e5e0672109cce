"""Numbers and dates of spreadsheet cells as a person sees them: 1,234 and 5% and 2024-03-01, not 1234.0 and 0.05.

Follows the number format codes of ECMA-376 part 1, 18.8.31. What a code asks for beyond that (fractions, fill
characters, conditions on colours) falls back to the plain number.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[(?P<bracket>[^\]]*)\]|(?P<general>General)'
    r"|(?P<ampm>AM/PM|A/P|오전/오후)|(?P<date>y+|m+|d+|h+|s+|a{3,4}|g+|e+|b+)(?P<fraction>\.0+)?"
    r"|(?P<number>[0#?,.]+)|(?P<exponent>E[+-])|(?P<other>.)",
    re.I | re.S,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)")
_WEEKDAYS = "월화수목금토일"
_MAX_CODE_CHARS = 300

Token = tuple[str, str]


def shown(value: object, code: str) -> str:
    """`value` as a cell with the number format `code` shows it. Text is left as it is; empty cells give ""."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, dt.datetime | dt.date | dt.time | dt.timedelta):
        return _shown_date(value, code)
    if isinstance(value, int | float):
        return _shown_number(value, code)
    return str(value)


def is_date_code(code: str) -> bool:
    """Whether a number format shows dates or times."""
    return any(kind == "date" for kind, _ in _tokens(code.split(";")[0][:_MAX_CODE_CHARS]))


def plain_number(value: float) -> str:
    """A number in the General format: no trailing zeros, no exponent below 10^15."""
    if value != value or value in (float("inf"), float("-inf")):
        return "#NUM!"
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    text = format(value, ".11g")
    return format(Decimal(text), "f") if "e" in text and 1e-12 < abs(value) < 1e15 else text


@lru_cache(maxsize=4096)
def _tokens(section: str) -> tuple[Token, ...]:
    """(kind, text) pairs; literals merged as kind "literal"."""
    found: list[Token] = []
    for match in _TOKEN.finditer(section):
        kind = match.lastgroup or ""
        if kind == "fraction":
            kind = "date"
        if match["quoted"] is not None or match["escaped"] is not None or match["other"] is not None:
            found.append(("literal", match["quoted"] or match["escaped"] or match["other"] or ""))
        elif match["bracket"] is not None:
            bracket = match["bracket"]
            if bracket.startswith("$"):
                found.append(("literal", bracket[1:].split("-")[0]))
            elif bracket.lower() in ("h", "hh", "m", "mm", "s", "ss"):
                found.append(("elapsed", bracket.lower()))
        elif match["date"] is not None:
            found.append(("date", match["date"].lower()))
        elif kind:
            found.append((kind, match.group()))
    return tuple(found)


def _section(code: str, value: float) -> tuple[str, bool]:
    """The part of a code that applies to `value`, and whether it shows the sign itself."""
    sections = _split(code[:_MAX_CODE_CHARS])
    for section in sections[:3]:
        condition = re.match(r"\s*(?:\[[^\]]*\])*?\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]", section)
        if condition and _holds(value, condition.group(1), float(condition.group(2))):
            return section, False
    if any(_CONDITION.search(section.split('"')[0]) and "[" in section for section in sections[:2]):
        return sections[-1], False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], False


def _split(code: str) -> list[str]:
    """Sections at semicolons that stand outside of quotes."""
    return re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', code)


def _holds(value: float, sign: str, limit: float) -> bool:
    return {
        "<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit, "=": value == limit,
        "<>": value != limit,
    }[sign]  # fmt: skip


def _shown_number(value: int | float, code: str) -> str:
    if code in ("", "General", "@") or value != value or value in (float("inf"), float("-inf")):
        return plain_number(value)
    section, signed = _section(code, value)
    tokens = _tokens(section)
    kinds = [kind for kind, _ in tokens]
    if "elapsed" in kinds:
        return _elapsed(tokens, dt.timedelta(days=min(max(float(value), 0.0), 2_958_465.0)))
    if "date" in kinds:
        return _shown_date(_from_serial(value), code)
    if "general" in kinds or "exponent" in kinds or ("number" in kinds and "/" in section):
        plain = plain_number(abs(value) if signed else value)
        if "general" not in kinds:
            return plain
        return "".join(plain if kind == "general" else text for kind, text in tokens if kind != "number").strip()
    if "number" not in kinds:
        return "".join(text for kind, text in tokens if kind == "literal").strip() if tokens else ""
    return _filled(tokens, value, signed=signed)


def _filled(tokens: tuple[Token, ...], value: float, *, signed: bool) -> str:
    pattern = "".join(text for kind, text in tokens if kind == "number")
    percents = sum(text.count("%") for kind, text in tokens if kind == "literal")
    thousands = len(pattern) - len(pattern.rstrip(","))
    whole, _, decimals = pattern.rstrip(",").partition(".")
    try:
        amount = Decimal(repr(value)) * (Decimal(100) ** percents) / (Decimal(1000) ** thousands)
        places = sum(char in "0#?" for char in decimals)
        amount = amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        return plain_number(value)
    digits = format(abs(amount), f"{',' if ',' in whole else ''}.{places}f")
    optional = len(decimals) - len(decimals.rstrip("#"))
    if optional and "." in digits:
        head, _, tail = digits.partition(".")
        kept = tail[: places - optional] + tail[places - optional :].rstrip("0")
        digits = f"{head}.{kept}" if kept else head
    wanted = whole.count("0")
    head, dot, tail = digits.partition(".")
    if "," not in whole:
        head = head.zfill(wanted)
    if wanted == 0 and head == "0" and not tail.strip("0") and not dot:
        head = ""
    number = ("-" if amount < 0 and not signed else "") + head + dot + tail
    parts: list[str] = []
    for kind, text in tokens:
        if kind == "number":
            parts.append(number)
            number = ""
        elif kind == "literal":
            parts.append(text)
    return "".join(parts).strip()


def _from_serial(value: float) -> dt.datetime | dt.timedelta:
    """A serial day number of the 1900 date system; out of range numbers give the last day that a sheet can show."""
    if 0 <= value < 1:
        return dt.timedelta(days=value)
    day = min(max(float(value), 1.0), 2_958_465.0)
    return dt.datetime(1899, 12, 30) + dt.timedelta(days=day)  # noqa: DTZ001  # a sheet's dates have no time zone


def _shown_date(value: dt.datetime | dt.date | dt.time | dt.timedelta, code: str) -> str:
    section = _split(code[:_MAX_CODE_CHARS])[0]
    tokens = _tokens(section)
    kinds = {kind for kind, _ in tokens}
    if isinstance(value, dt.timedelta):
        if "elapsed" in kinds:
            return _elapsed(tokens, value)
        value = (dt.datetime(1899, 12, 30) + value).time()  # noqa: DTZ001
    if "date" not in kinds or (
        isinstance(value, dt.time) and re.search("[yd]", "".join(t for k, t in tokens if k == "date"))
    ):
        return _iso(value)
    return _clocked(tokens, value)


def _iso(value: dt.datetime | dt.date | dt.time) -> str:
    if isinstance(value, dt.datetime):
        if value.time() == dt.time(0):
            return value.date().isoformat()
        return value.replace(microsecond=0).isoformat(sep=" ")
    return value.replace(microsecond=0).isoformat() if isinstance(value, dt.time) else value.isoformat()


def _elapsed(tokens: tuple[Token, ...], value: dt.timedelta) -> str:
    seconds = round(value.total_seconds())
    parts: list[str] = []
    for kind, text in tokens:
        if kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0]]
            parts.append(str(seconds // unit).zfill(len(text)))
            seconds %= unit
        elif kind == "date" and text[0] in "ms":
            unit = 60 if text[0] == "m" else 1
            parts.append(str(seconds // unit).zfill(len(text)))
            seconds %= unit
        elif kind == "literal":
            parts.append(text)
    return "".join(parts).strip()


def _clocked(tokens: tuple[Token, ...], value: dt.datetime | dt.date | dt.time) -> str:
    day = value if isinstance(value, dt.date) else None
    clock = value.time() if isinstance(value, dt.datetime) else value if isinstance(value, dt.time) else dt.time(0)
    halves = any(kind == "ampm" for kind, _ in tokens)
    parts: list[str] = []
    for number, (kind, text) in enumerate(tokens):
        if kind == "ampm":
            parts.append(("오전" if clock.hour < 12 else "오후") if "오" in text else "AM" if clock.hour < 12 else "PM")
        elif kind == "date":
            minutes = text[0] == "m" and _is_minutes(tokens, number)
            parts.append(_clock_part(text, clock, halves) if minutes or text[0] in "hs" else _day_part(text, day))
        elif kind in ("literal", "number"):
            parts.append(text)
    return "".join(parts).strip()


def _is_minutes(tokens: tuple[Token, ...], number: int) -> bool:
    """An "m" behind hours or in front of seconds means minutes."""
    before = [text[0] for kind, text in tokens[:number] if kind in ("date", "elapsed")]
    after = [text[0] for kind, text in tokens[number + 1 :] if kind in ("date", "elapsed")]
    return before[-1:] == ["h"] or after[:1] == ["s"]


def _clock_part(text: str, clock: dt.time, halves: bool) -> str:
    number = {"h": (clock.hour % 12 or 12) if halves else clock.hour, "m": clock.minute, "s": clock.second}[text[0]]
    return str(number).zfill(min(2, len(text)))


def _day_part(text: str, day: dt.date | None) -> str:
    if day is None:
        return ""
    letter, length = text[0], len(text)
    if letter in "ye":
        return f"{day.year:04d}" if length > 2 or letter == "e" else f"{day.year % 100:02d}"
    if letter == "m":
        names = day.strftime("%B") if length == 4 else day.strftime("%b")
        return names if length in (3, 4) else str(day.month).zfill(min(2, length))
    if letter == "d":
        names = day.strftime("%A") if length == 4 else day.strftime("%a")
        return names if length >= 3 else str(day.day).zfill(length)
    if letter == "a":
        return _WEEKDAYS[day.weekday()] + ("요일" if length == 4 else "")
    return ""
