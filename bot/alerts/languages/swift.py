"""Swift: runtime errors with their place, crash reports of Apple's systems, and the backtraces of servers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.languages.printed import FindFrames, Printed, run_of, thrown

_HEAD = re.compile(
    r"^(?:.{0,120}?\s)?(?:(?:\S+/)?[\w+-]+\.swift:\d+: )?(?P<class>Fatal error|Precondition failed"
    r"|Assertion failed)(?:: (?P<message>.*?))?"
    r"(?:: file \S+\.swift, line \d+)?\s*$"
)
_REPORT = re.compile(r"^Exception Type:\s+(?P<class>\w+)(?: \((?P<message>\w+)\))?")
_CRASHED = re.compile(r"^Thread \d+ (?:\".*\" )?[Cc]rashed(?:::.*)?:?\s*")
FRAME = re.compile(
    r"^\s*\d+\s+(?:\[\w+\] )*\S.*\s0x[0-9a-f]+\s|^\s*\d+ (?:\[[\w ]+\] )*.*\s(?:in|at) .*\.swift:\d+|^Thread \d+ "
    r"|^\s*at \S+\.swift:\d+|^\s*\d+\s+(?:\[\w+\] )*0x[0-9a-f]+\s|^\s*\d+\s+[\w.]+\s+0x[0-9a-f]+|^\s*\d*\s*│"
    r"|^\s*\d+ \S.* in [\w.-]+\s*$"
)
_HEADER_LINES = 30  # of a crash report before the thread that crashed


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A crash that begins at this line."""
    head = _HEAD.match(lines[at])
    if head is None:
        return _report(lines, at, find_frames)
    end = run_of(lines, at + 1, FRAME, gaps=2)
    frames = find_frames("\n".join(lines[at:end]))
    return Printed((thrown(head["class"], head["message"], frames),), end) if frames else None


def _report(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A crash report: the frames of the thread that crashed."""
    head = _REPORT.match(lines[at])
    if head is None:
        return None
    reach = range(at + 1, min(len(lines), at + _HEADER_LINES))
    start = next((number for number in reach if _CRASHED.match(lines[number])), None)
    if start is None:
        return None
    end = run_of(lines, start + 1, FRAME)
    frames = find_frames("\n".join(lines[start + 1 : end]))
    said = next((m[1] for n in range(at, start) if (m := re.match(r"^\s*(?:.*: )?(Fatal error: .*)$", lines[n]))), None)
    return Printed((thrown(head["class"], said or head["message"], frames),), end) if frames else None
