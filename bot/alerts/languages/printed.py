"""What the readers of stack traces share: what they return, and how they walk through lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.alerts.alert import Thrown, TraceFrame

FindFrames = Callable[[str], Sequence[TraceFrame]]

MESSAGE_REACH = 20  # lines that a message may have before its frames


@dataclass(frozen=True, slots=True)
class Printed:
    """A stretch of lines that one reader recognised: the chain, outermost first, and the line behind its last one.

    `complete` is false where the text itself shows that its end or its head is missing. `others` are traces that were
    printed within this one (the members of an exception group).
    """

    thrown: tuple[Thrown, ...]
    end: int
    thread: str | None = None
    complete: bool = True
    others: tuple[tuple[Thrown, ...], ...] = ()


Reader = Callable[[Sequence[str], int, FindFrames], Printed | None]


def run_of(lines: Sequence[str], at: int, belongs: re.Pattern[str], *, gaps: int = 0) -> int:
    """The line behind a run of lines that match; up to `gaps` others may stand between two of them."""
    end = seen = at
    while seen < len(lines) and seen - end <= gaps:
        if belongs.match(lines[seen]):
            end = seen + 1
        seen += 1
    return end


def next_filled(lines: Sequence[str], at: int, *, reach: int = 3) -> int | None:
    """The next line that is not blank, within `reach` lines."""
    for number in range(at, min(len(lines), at + reach)):
        if lines[number].strip():
            return number
    return None


def first_frame(
    lines: Sequence[str],
    at: int,
    frame: re.Pattern[str],
    *,
    boundary: re.Pattern[str] | None = None,
    reach: int = MESSAGE_REACH,
) -> int | None:
    """The first line that is a frame, behind a message of several lines; None when a boundary comes first."""
    for number in range(at, min(len(lines), at + reach)):
        if frame.match(lines[number]):
            return number
        if boundary is not None and boundary.match(lines[number]):
            return None
    return None


def thrown(error_class: str, message: str | None, frames: Sequence[TraceFrame]) -> Thrown:
    """One exception of a chain."""
    return Thrown(error_class=error_class, message=(message or "").strip(), frames=tuple(frames))
