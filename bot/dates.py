"""Dates and times of day in a text, whatever the way of writing; parts that are not said stay open."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTH_NAMES = (
    "january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september sep sept, "
    "october oct, november nov, december dec"
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split(","), 1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_FULL = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)\s?(?:년|[./-])\s?(?P<m>\d{1,2})\s?(?:월|[./-])\s?(?P<d>\d{1,2})(?!\d)\s?(?:일(?!간)|\.)?"
    r"|(?<![\d.])'?(?P<yy>\d\d)\.\s?(?P<mm>\d{1,2})\.\s?(?P<dd>\d{1,2})(?:\.|(?![\d.]))"
)
_ENGLISH = re.compile(
    rf"\b(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y1>(?:19|20)\d\d))?"
    rf"|(?<!\d)(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})\b\.?(?:,?\s+(?P<y2>(?:19|20)\d\d))?"
    rf"|\b(?P<m3>{_MONTH})\.?\s+(?P<y3>(?:19|20)\d\d)",
    re.IGNORECASE,
)
_YEAR_MONTH = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?:\s?년\s?(?P<m>\d{1,2})\s?월|-(?P<m2>0[1-9]|1[0-2])(?![\d-]))")
_MONTH_DAY = re.compile(r"(?<!\d)(?P<m>\d{1,2})\s?월\s?(?P<d>\d{1,2})\s?일")
_YEAR = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)\s?년(?!\s?\d)(?!간|\s?이상|\s?동안)|\b(?:in|since|until|of|by)\s(?P<y2>(?:19|20)\d\d)\b"
)
_ONLY_MONTH = re.compile(r"(?<!\d)(?P<m>\d{1,2})\s?월(?!간)(?!\s?\d)")
_TIME = re.compile(
    r"(?P<half>오전|오후|낮|밤|저녁|새벽)?\s?(?<!\d)(?P<h>\d{1,2})\s?시(?!간)(?:\s?(?P<min>\d{1,2})\s?분|\s?(?P<hf>반))?"
    r"|(?P<half2>오전|오후)?\s?(?<![\d:])(?P<h2>\d{1,2}):(?P<min2>[0-5]\d)(?![:\d])(?:\s?(?P<ap2>[ap])\.?m\b\.?)?"
    r"|(?<![\d:])(?P<h3>\d{1,2})\s?(?P<ap3>[ap])\.?m\b\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as far as it was said."""

    year: int | None
    month: int | None
    day: int | None

    def is_part_of(self, other: PartialDate) -> bool:
        """Whether all that this one says, the other one says too."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(own is None or own == others for own, others in pairs)

    def __str__(self) -> str:
        return "-".join(str(part) for part in (self.year, self.month, self.day) if part is not None)


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day in minutes; `is_open` when morning or afternoon was not said."""

    minutes: int
    is_open: bool

    def equals(self, other: ClockTime) -> bool:
        if self.is_open or other.is_open:
            return self.minutes % 720 == other.minutes % 720
        return self.minutes == other.minutes

    def __str__(self) -> str:
        return f"{self.minutes // 60:02}:{self.minutes % 60:02}"


def take_dates(text: str) -> tuple[list[PartialDate], str]:
    """The dates of a text that went through `plain`, and the text with blanks in their places."""
    found: list[PartialDate] = []

    def note(year: str | None, month: str | None, day: str | None, match: re.Match[str]) -> str:
        y, m, d = (int(part) if part else None for part in (year, month, day))
        if y is not None and y < 100:
            y += 2000
        if (m is not None and not 1 <= m <= 12) or (d is not None and not 1 <= d <= 31):
            return match[0]
        found.append(PartialDate(y, m, d))
        return " " * len(match[0])

    text = _FULL.sub(lambda m: note(m["y"] or m["yy"], m["m"] or m["mm"], m["d"] or m["dd"], m), text)
    text = _ENGLISH.sub(lambda m: note(m["y1"] or m["y2"] or m["y3"], _month_of(m), m["d1"] or m["d2"], m), text)
    text = _YEAR_MONTH.sub(lambda m: note(m["y"], m["m"] or m["m2"], None, m), text)
    text = _MONTH_DAY.sub(lambda m: note(None, m["m"], m["d"], m), text)
    text = _YEAR.sub(lambda m: note(m["y"] or m["y2"], None, None, m), text)
    text = _ONLY_MONTH.sub(lambda m: note(None, m["m"], None, m), text)
    return found, text


def take_times(text: str) -> tuple[list[ClockTime], str]:
    """The times of day of a text that went through `plain`, and the text with blanks in their places."""
    found: list[ClockTime] = []

    def note(match: re.Match[str]) -> str:
        hour = int(match["h"] or match["h2"] or match["h3"])
        minute = int(match["min"] or match["min2"] or (30 if match["hf"] else 0))
        half = (match["half"] or match["half2"] or match["ap2"] or match["ap3"] or "").lower()
        if hour > 24 or minute > 59:
            return match[0]
        if half in ("오후", "p", "저녁", "밤", "낮") and hour < 12:
            hour += 12
        said = bool(half) or hour > 12 or (match["h2"] or "").startswith("0")
        found.append(ClockTime(hour * 60 + minute, not said))
        return " " * len(match[0])

    return found, _TIME.sub(note, text)


def _month_of(match: re.Match[str]) -> str:
    return str(_MONTHS[(match["m1"] or match["m2"] or match["m3"]).lower()])
