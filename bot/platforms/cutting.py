"""Where one long line may be cut: after a sentence, at a space, else between characters as people see them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

LONGEST_WHOLE = 2000  # of a link or code span that is looked for behind the place of a cut
_ZERO_WIDTH_JOINER = "\u200d"

_WHOLE = re.compile(
    r"!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"  # [text](address)
    r"|\[\d{1,3}\]"  # the marker of a source
    r"|<https?://[^<>\s]+>|https?://[^\s<>]+"
    r"|`[^`\n]+`"
    r"|\*\*[^*\n]+\*\*"
)
_SENTENCE_END = re.compile(r"[.!?。！？…](?:[\"'”’)\]]|\[\d{1,3}\])*\s+")
_SPACE = re.compile(r"\s+")


def cut_line(line: str, room: int, measure: Callable[[str], int], *, code: bool) -> tuple[str, str]:
    """(a head of at most `room`, the rest without leading blanks); the head is at least one character.

    In code nothing but the borders of characters counts, and every blank stays.
    """
    end = max(1, _longest_prefix(line, room, measure))
    if end >= len(line):
        return line, ""
    if code:
        cut = _character_border(line, end)
        return line[:cut], line[cut:]
    window = line[: end + LONGEST_WHOLE]
    whole = [(found.start(), found.end()) for found in _WHOLE.finditer(window)]

    def inside(place: int) -> bool:
        return any(start < place < stop for start, stop in whole)

    for pattern, earliest in ((_SENTENCE_END, end // 2), (_SPACE, end // 4)):
        places = [found.end() for found in pattern.finditer(window, 0, min(end + 1, len(window)))]
        for place in reversed(places):
            if earliest < place <= end and not inside(place):
                return line[:place].rstrip() or line[:place], line[place:].lstrip()
    cut = _character_border(line, end)
    for start, stop in whole:
        if start < cut < stop and start > 0:
            cut = start
    return line[:cut], line[cut:]


def _longest_prefix(line: str, room: int, measure: Callable[[str], int]) -> int:
    low, high = 0, min(len(line), max(room, 0))  # every character counts at least one
    if measure(line[:high]) <= room:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(line[:middle]) <= room else (low, middle - 1)
    return low


def _character_border(line: str, end: int) -> int:
    """The last border at or before `end` that parts no character as people see it (letters with their marks, emoji
    with their modifiers, flags, Hangul written in single letters); `end` itself when there is none."""
    place = end
    while place > 0 and not _is_border(line, place):
        place -= 1
    return place or end


def _is_border(line: str, place: int) -> bool:
    before, after = line[place - 1], line[place]
    if after == _ZERO_WIDTH_JOINER or before == _ZERO_WIDTH_JOINER:
        return False
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if "\U000e0020" <= after <= "\U000e007f":  # tags behind a flag
        return False
    if _is_regional(before) and _is_regional(after):
        run = place
        while run > 0 and _is_regional(line[run - 1]):
            run -= 1
        return (place - run) % 2 == 0
    return not (_is_jamo(before) and "\u1160" <= after <= "\u11ff")


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7a3"
