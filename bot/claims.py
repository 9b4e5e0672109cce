"""What a sentence claims: amounts, dates, times, numbered places of regulations, identifiers, paths and addresses."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from bot.dates import ClockTime, PartialDate, take_dates, take_times
from bot.labels import Label, take_labels
from bot.quantities import Quantity, plain, quantities_of

_LIST_NUMBER = re.compile(
    r"^[ \t>]*(?:#{1,6}\s+)?(?:[(]?\d{1,2}[.)](?=\s|\*)|[-*•+]|[①-⑳])[ \t]*(?:\*\*)?(?:\d{1,2}[.)]\s+)?", re.MULTILINE
)
_EVIDENCE_NUMBER = re.compile(
    r"(?:^|(?<=· ))[ \t]*(?:#{1,6}[ \t]+)?(?:\(?\d{1,2}[.)]|"
    r"\d{1,2}(?:\.\d{1,2})+\.?)(?=[ \t]+\D)",
    re.MULTILINE,
)
_STEP = re.compile(
    r"\*\*\s*(?:step|단계)\s*\d+\s*\*\*|^\s*(?:step\s+\d+|\d+\s?단계)\s*[:.]", re.IGNORECASE | re.MULTILINE
)
_CODE = re.compile(r"`([^`\n]+)`")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_PHONE = re.compile(
    r"(?<![\d-])(?:\+?\d{1,3}-)?\d{2,4}-\d{3,4}-\d{4}(?![\d-])|(?<![\d-])1\d{3}-\d{4}(?![\d-])|"
    r"(?:내선(?:\s?번호)?|extension|ext\.?)\s?\d{2,5}",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"\bv?\d+\.\d+\.\d+(?:[-.+]\w+)*\b|\bv\d+(?:\.\d+)*\b|"
    r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\d.])",
    re.ASCII,
)
_PATH_LINE = re.compile(r"(?<=[\w/])\.(?P<ext>[A-Za-z]{1,6}):(?:L)?(?P<a>\d+)(?:\s?[-~–]\s?(?:L)?(?P<b>\d+))?")
_LINES = re.compile(
    r"\blines?\s+(\d+)(?:\s?(?:-|–|~|to)\s?(\d+))?|\bL(\d+)\b|"
    r"(?<!\d)(\d+)(?:\s?[-~]\s?(\d+))?\s?(?:번째\s)?(?:줄|행|라인)(?![가-힣]{2})"
)
_IDENTIFIER = re.compile(
    r"(?<![\w/.])(?:~|\.{1,2})?/?(?:[\w.-]+/)+[\w.-]*\w(?:\(\))?|"  # a path
    r"\b[\w-]+\.(?:py|java|kt|kts|ts|tsx|js|jsx|go|swift|sol|sql|sh|yml|yaml|json|toml|md|html|css|"
    r"xml|gradle|env|txt|"
    r"docx?|hwpx?|pdf|xlsx?|pptx?|csv|conf|ini|properties)\b|"  # a file
    r"\b[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)+\b(?:\(\))?|"  # a.b, A::b
    r"\b[A-Za-z_]\w*\(\)|"  # f()
    r"\b_*[a-z0-9]+(?:_[a-z0-9]+)+\b|\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b|"  # snake_case, CONSTANT_CASE
    r"(?<![\w-])--[a-z][\w-]+|"  # an option
    r"\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b",  # camelCase, PascalCase
    re.ASCII,  # a Korean particle after a name is not part of it
)
_PARTICLES = re.compile(r"[가-힣]{1,6}")
_RULED_OUT_AFTER = re.compile(r"\s?(?:이|가)?\s?(?:아니라|아니고|아닌\s)|\s?대신")
_RULED_OUT_BEFORE = re.compile(r"\bnot\s$|\brather than\s$|\binstead of\s$", re.IGNORECASE)
_NOT_NAMES = frozenset({"e.g", "i.e", "and/or", "vs", "etc", "n/a", "tcp/ip", "i/o", "ci/cd", "a.m", "p.m"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What must stand in the evidence. `text` is what is left when everything but the quantities is taken out; the
    places of the quantities count in it, and it is as long as the text that went through `plain`."""

    quantities: tuple[Quantity, ...]
    dates: tuple[PartialDate, ...]
    times: tuple[ClockTime, ...]
    labels: tuple[Label, ...]
    names: tuple[str, ...]
    lines: tuple[int, ...]  # numbers of lines of code
    text: str
    spoken: str  # the whole sentence, as long as `text`

    @property
    def is_empty(self) -> bool:
        return not (self.quantities or self.dates or self.times or self.labels or self.names or self.lines)


@lru_cache(maxsize=2048)
def claims_of(sentence: str, *, is_evidence: bool = False) -> Claims:
    """What a sentence without its markers claims. List numbers are no claims, but in evidence they are paragraphs."""
    if is_evidence:
        text = plain(_EVIDENCE_NUMBER.sub(_blank, sentence))
    else:
        text = plain(_STEP.sub(_blank, _LIST_NUMBER.sub(_blank, sentence)))
    spoken = text
    names: list[str] = []
    lines: list[int] = []

    def take_lines(match: re.Match[str]) -> str:
        lines.extend(int(number) for number in match.groups() if number)
        return " " * len(match[0])

    def take_path_lines(match: re.Match[str]) -> str:
        lines.extend(int(number) for number in (match["a"], match["b"]) if number)
        return f".{match['ext']}".ljust(len(match[0]))

    def take_name(match: re.Match[str]) -> str:
        name = (match[1] if match.re is _CODE else match[0]).strip()
        if match.re is _PHONE and name[:1].isalpha():  # an extension has another word in front in another language
            name = re.sub(r"\D", "", name)
        if name and name.lower() not in _NOT_NAMES:
            names.append(name)
            return " " * len(match[0])
        return match[0]

    text = _PATH_LINE.sub(take_path_lines, text)
    text = _LINES.sub(take_lines, text)
    for pattern in (_CODE, _EMAIL, _PHONE):
        text = pattern.sub(take_name, text)
    labels, text = take_labels(text)
    dates, text = take_dates(text)
    times, text = take_times(text)
    for pattern in (_VERSION, _IDENTIFIER):
        text = pattern.sub(take_name, text)
    return Claims(
        quantities=tuple(q for q in quantities_of(text) if is_evidence or not _is_ruled_out(q, text)),
        dates=tuple(dates),
        times=tuple(times),
        labels=tuple(labels),
        names=tuple(dict.fromkeys(name.removesuffix("()") for name in names)),
        lines=tuple(lines),
        text=text,
        spoken=spoken,
    )


def _is_ruled_out(quantity: Quantity, text: str) -> bool:
    """Whether a number is named only to say that it is another one: "20일이 아니라 15일"."""
    return (
        _RULED_OUT_AFTER.match(text, quantity.end) is not None
        or _RULED_OUT_BEFORE.search(text[: quantity.start][-8:]) is not None
    )


def evidence_amounts(text: str) -> frozenset[Decimal]:
    """The values of the amounts that a stretch of evidence claims, without their units: names and dates are none."""
    return frozenset(quantity.value for quantity in claims_of(text, is_evidence=True).quantities)


def numbers_of(text: str) -> frozenset[Decimal]:
    """The values of all amounts of a text, without their units."""
    return frozenset(quantity.value for quantity in quantities_of(plain(text)))


def without_amounts(claims: Claims) -> str:
    """The words of a sentence: its text without names, places, dates and amounts."""
    text = claims.text
    for quantity in claims.quantities:
        ending = _PARTICLES.match(text, quantity.end)
        end = ending.end() if ending else quantity.end
        text = text[: quantity.start] + " " * (end - quantity.start) + text[end:]
    return text


def squeeze(text: str) -> str:
    """NFKC without white space, in lower case: for comparing what was written with different spacing."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).lower()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
