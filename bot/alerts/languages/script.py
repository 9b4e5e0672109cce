"""JavaScript and TypeScript in Node and browsers; causes follow as `[cause]:` or `Caused by:`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.alert import Thrown
from bot.alerts.languages.printed import FindFrames, Printed, first_frame, thrown

_HEAD = re.compile(
    r"^(?:error:\s+)?(?:Uncaught\s+|Unhandled(?:Promise)?\s?Rejection\w*:?\s+|\[?Error\]?:?\s+(?=\w+Error:))?"
    r"(?:\(in promise\)\s+)?"
    r"(?P<link>\s*(?:\[cause\]|Caused by):\s+)?(?P<class>(?:[A-Z]\w*)?(?:Error|Exception|Rejection|Warning|Fault)\w*)"
    r"(?: \[[\w-]+\])?(?::\s(?P<message>.*?))?(?:\s*\{)?$"
)
_OTHER_HEAD = re.compile(r"^(?P<class>[A-Z][\w$]*(?:\.[A-Z][\w$]*)*): (?P<message>.*)$")
# ERROR TypeError: ..., as loggers of frameworks print it
_INLINE_HEAD = re.compile(r"(?<![\w.$])(?P<class>[A-Z]\w*(?:Error|Exception)): (?P<message>.*)$")
FRAME = re.compile(
    r"^\s*at\s\S.*:\d+(?::\d+)?\)?(?:\s*\{)?\s*$"
    r"|^\s*[\w$.<>/\[\]*]*(?:(?:global|module|eval) code)?@(?:\S+:\d+(?::\d+)?|\[native code\])\s*$"
    r"|^\s*at (?:async |new )*[\w.$<>\[\] ]+ \((?:<anonymous>|native|index \d+)\)\s*$"
)


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line; frames below a line that names no known kind of error are read too."""
    chain: list[Thrown] = []
    here = at
    while here < len(lines):
        head = _HEAD.match(lines[here].rstrip())
        if head is None or (chain and head["link"] is None):
            break
        first = first_frame(lines, here + 1, FRAME, reach=8)
        if first is None:
            break
        end = _frames_end(lines, first)
        message = [head["message"] or "", *lines[here + 1 : first]]
        chain.append(thrown(head["class"], "\n".join(message), find_frames("\n".join(lines[first:end]))))
        here = end
    if chain and chain[0].frames:
        return Printed(tuple(chain), here)
    return _headless(lines, at, find_frames)


def _headless(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    if not FRAME.match(lines[at]):
        return None
    end = _frames_end(lines, at)
    frames = find_frames("\n".join(lines[at:end]))
    before = lines[at - 1].rstrip() if at else ""
    head = _OTHER_HEAD.match(before) or _INLINE_HEAD.search(before)
    if not frames or (head is None and end - at < 2):
        return None
    one = thrown(head["class"], head["message"], frames) if head else thrown("", "", frames)
    return Printed((one,), end, complete=head is not None)


def _frames_end(lines: Sequence[str], at: int) -> int:
    end = at
    while end < len(lines) and (FRAME.match(lines[end]) or lines[end].strip().startswith("at async ")):
        end += 1
    return end
