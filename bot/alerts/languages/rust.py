"""Rust: panics, with a backtrace where one was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.languages.printed import FindFrames, Printed, run_of, thrown

_HEAD = re.compile(
    r"^thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at "
    r"(?:'(?P<old>.*)', (?P<place>\S+)|(?P<new>\S+\.rs:\d+(?::\d+)?):?)\s*$"
)
_LINE = re.compile(r"^\s*\d+:\s|^\s+at \S+\.rs:\d+|^stack backtrace:")
_MESSAGE_LINES = 12


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A panic that begins at this line."""
    head = _HEAD.match(lines[at].rstrip())
    if head is None:
        return None
    end, message = at + 1, head["old"]
    if message is None:
        while end < min(len(lines), at + _MESSAGE_LINES) and lines[end].strip() and not _LINE.match(lines[end]):
            if lines[end].startswith("note:"):
                break
            end += 1
        message = "\n".join(lines[at + 1 : end])
    if end < len(lines) and lines[end].startswith(("stack backtrace:", "note:")):
        end = run_of(lines, end + 1, _LINE, gaps=1)
    return Printed((thrown("panic", message, find_frames("\n".join(lines[at:end]))),), end, head["thread"])
