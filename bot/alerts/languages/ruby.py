"""Ruby: uncaught exceptions as the interpreter prints them, and as Rails and others log them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.alert import Thrown
from bot.alerts.languages.printed import FindFrames, Printed, next_filled, run_of, thrown

_FILE = r"[^\s:]+\.(?:rb|rake|ru|erb|haml|slim)"
_LOG = r"(?:.{0,160}?\b(?:WARN|ERROR|FATAL|INFO)\b[\s:-]+|\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\S*(?: [+-]\d{4})? - )?"
_HEAD = re.compile(
    rf"^(?P<place>{_FILE}:\d+):in [`'](?P<symbol>[^'`]+)': (?P<message>.*) \((?P<class>[A-Z][\w:]*)\)\s*$"
)
_LOGGED = re.compile(
    rf"^{_LOG}(?P<class>[A-Z]\w*+(?:::[A-Z]\w*+)++|[A-Z]\w*(?:Error|Exception|NotFound|Invalid))(?::\s"
    r"| \(| - )(?P<message>.*?)\)?:?\s*$"
)
FRAME = re.compile(rf"^{_LOG}\s*(?:\d+:\s+)?(?:from\s+)?{_FILE}:\d+(?::in [`'][^'`]*')?\s*$")


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line: what was thrown, then its causes, each with a head of its own."""
    chain: list[Thrown] = []
    here = at
    while here < len(lines):
        head = _HEAD.match(lines[here])
        if head is not None:
            end = run_of(lines, here + 1, FRAME)
            frames = find_frames("\n".join(lines[here:end]))
        else:
            head, first = _LOGGED.match(lines[here]), next_filled(lines, here + 1)
            if chain or head is None or first is None or not FRAME.match(lines[first]):
                break
            end = run_of(lines, first, FRAME)
            frames = find_frames("\n".join(lines[first:end]))
        chain.append(thrown(head["class"], head["message"], frames))
        here = end
    return Printed(tuple(chain), here) if chain else None
