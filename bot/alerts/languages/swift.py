"""Swift: runtime errors with their place, and the frames of a crash below."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.languages.printed import FindFrames, Printed, run_of, thrown

_HEAD = re.compile(
    r"^(?:(?:\S+/)?[\w+-]+\.swift:\d+: )?(?P<class>Fatal error|Precondition failed"
    r"|Assertion failed)(?:: (?P<message>.*?))?"
    r"(?:: file \S+\.swift, line \d+)?\s*$"
)
FRAME = re.compile(
    r"^\s*\d+\s+\S.*\s0x[0-9a-f]+\s|^\s*\d+ \[?[\w. ]*\S* (?:in|at) .*\.swift:\d+|^Thread \d+ Crashed"
    r"|^\s*at \S+\.swift:\d+|^\s*\d+\s+0x[0-9a-f]+\s"
)


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A crash that begins at this line."""
    head = _HEAD.match(lines[at])
    if head is None:
        return None
    end = run_of(lines, at + 1, FRAME, gaps=2)
    frames = find_frames("\n".join(lines[at:end]))
    return Printed((thrown(head["class"], head["message"], frames),), end) if frames else None
