"""Rust: panics, with a backtrace where one was asked for, and the reports of error crates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.languages.printed import FindFrames, Printed, run_of, thrown

_HEAD = re.compile(
    r"^(?:.{0,120}\s)?thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at "
    r"(?:'(?P<old>.*)', (?P<place>\S+)|(?P<new>\S+\.rs:\d+(?::\d+)?):?(?:\s(?P<same>\S.*))?)\s*$"
)
_REPORT = re.compile(r"^Error: (?P<message>.*)$")
_BACKTRACE = re.compile(r"^\s*(?:stack backtrace|Stack backtrace|BACKTRACE|Backtrace):?", re.IGNORECASE)
_LINE = re.compile(r"^\s*\d+:\s|^\s*at \S+\.rs:\d+|^stack backtrace:")
_MESSAGE_LINES = 12


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A panic that begins at this line, or a report with a backtrace."""
    head = _HEAD.match(lines[at].rstrip())
    if head is None:
        return _report(lines, at, find_frames)
    end, message = at + 1, head["old"] or head["same"]
    if message is None:
        while end < min(len(lines), at + _MESSAGE_LINES) and lines[end].strip() and not _LINE.match(lines[end]):
            if lines[end].startswith("note:"):
                break
            end += 1
        message = "\n".join(lines[at + 1 : end])
    if end < len(lines) and (_BACKTRACE.match(lines[end]) or lines[end].startswith("note:")):
        end = run_of(lines, end + 1, _LINE, gaps=1)
    return Printed((thrown("panic", message, find_frames("\n".join(lines[at:end]))),), end, head["thread"])


def _report(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """What anyhow and eyre print: the error, its causes by number, and the backtrace of the innermost."""
    head = _REPORT.match(lines[at])
    if head is None:
        return None
    start = next((n for n in range(at + 1, min(len(lines), at + 30)) if _BACKTRACE.match(lines[n])), None)
    if start is None:
        return None
    end = run_of(lines, start + 1, _LINE, gaps=1)
    frames = find_frames("\n".join(lines[start + 1 : end]))
    return Printed((thrown("Error", head["message"], frames),), end) if frames else None
