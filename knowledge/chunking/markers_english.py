"""What a line of an English regulation opens: a chapter, an article, an appendix, the addenda.

As in Korean only line starts count, and what follows the number decides: "Article 5 of the Rules", "Appendix A shows"
go on in small letters and are references.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LEAD = r"^(?:#{1,6}\s+)?(?:\*\*\s*)?[\[<(]?\s*"
_NUMBER = r"(?P<number>\d{1,3}(?:[-.]\d{1,3})?|[IVXL]{1,6}|[A-Z](?:-\d{1,2})?)(?![\w])"
_HEAD = re.compile(
    _LEAD + rf"(?P<unit>Article|Chapter|Part|Appendix|Annex|Schedule|Attachment"
    rf"|Exhibit)\s+(?:No\.?\s*)?{_NUMBER}(?P<rest>.*)$",
    re.S | re.I,
)
_UNNUMBERED = re.compile(
    r"^(?:#{1,6}\s+)?(?P<unit>Addend(?:a|um)|Supplementary Provisions?|Appendix)\b\s*(?P<rest>.*)$", re.S | re.I
)
_TITLE = re.compile(r"\s*\((?P<title>[^()]{2,80})\)\s*(?P<rest>.*)$", re.S)
_SEPARATOR = re.compile(r"\s*[\])>]?\s*[.:–—-]?\s*")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}
_MAX_TITLE_CHARS = 80
_SMALL_WORDS = frozenset(["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"])


class EnglishHead(NamedTuple):
    """`unit` is capitalised: "Article", "Appendix", "Addenda"; Roman numerals are digits but for appendices."""

    unit: str
    number: str
    title: str
    rest: str
    weak: bool


def read_english(line: str) -> EnglishHead | None:
    """What `line` opens, or None for text and references."""
    found = _HEAD.match(line)
    if found is None:
        return _read_unnumbered(line)
    unit, number, rest = found["unit"].capitalize(), found["number"], found["rest"]
    if found["unit"].islower() or (len(number) == 1 and number.islower()):
        return None
    is_appendix = unit not in ("Article", "Chapter", "Part")
    number = number.upper()
    if number[0] in _ROMAN and set(number) <= set(_ROMAN) and (not is_appendix or len(number) > 1):
        number = str(_roman(number))
    if not is_appendix and not number[0].isdigit():
        return None
    titled = _TITLE.match(rest)
    if titled:
        if titled["rest"][:1].islower() or titled["rest"][:1] in (",", ";", ")"):
            return None
        return EnglishHead(unit, number, titled["title"].strip(), titled["rest"], False)
    text = rest[_end_of_separator(rest) :].strip(" *#\t")
    if not text:
        return EnglishHead(unit, number, "", "", unit == "Article")
    if rest[:1] not in ".: –—-])>\t" or text[0].islower() or rest[:1] == ",":
        return None
    separated = bool(re.match(r"\s*[.:–—-]", rest))
    is_named = _is_title(text) or (is_appendix and separated)
    if len(text) > _MAX_TITLE_CHARS or text.rstrip().endswith((".", ";", ",")) or not is_named:
        return EnglishHead(unit, number, "", text, True) if unit == "Article" and separated else None
    return EnglishHead(unit, number, text, "", False)


def _end_of_separator(rest: str) -> int:
    found = _SEPARATOR.match(rest)
    return found.end() if found else 0


def _read_unnumbered(line: str) -> EnglishHead | None:
    found = _UNNUMBERED.match(line)
    if found is None or found["unit"][0].islower() or len(line) > _MAX_TITLE_CHARS:
        return None
    rest = found["rest"].strip()
    if rest and rest[0] not in "<([:":
        return None
    unit = "Appendix" if found["unit"].casefold() == "appendix" else "Addenda"
    return EnglishHead(unit, "", rest.lstrip(": "), "", False)


def _is_title(text: str) -> bool:
    """Whether most words begin large, as in titles: "General Provisions on Leave"; or the line has few words."""
    words = [word for word in re.findall(r"[A-Za-z][\w'’-]*", text) if word.casefold() not in _SMALL_WORDS]
    if not words:
        return False
    return sum(word[0].isupper() for word in words) * 2 > len(words) or len(words) <= 4


def _roman(text: str) -> int:
    values = [_ROMAN[char] for char in text]
    return sum(-v if any(w > v for w in values[i + 1 : i + 2]) else v for i, v in enumerate(values))
