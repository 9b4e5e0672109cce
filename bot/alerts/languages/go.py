"""Go: panics with the stack of their goroutine, and stacks that a logger or an error carries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.alert import TraceFrame
from bot.alerts.languages.printed import FindFrames, Printed, run_of, thrown

_PANIC = re.compile(r"^(?P<kind>panic|fatal error): (?P<message>.*)$")
_LOGGED = re.compile(
    r"(?:panic serving [^:\s]+:\d+|panic recovered|recovered from panic|Recovery\]):\s*(?P<message>.*)$"
)
_ROUTINE = re.compile(r"^goroutine (?P<thread>\d+)(?: \S+=\S+)* \[(?P<state>[^\]]*)\]:")
_PLACE = re.compile(r"^\s+\S+\.go:\d+(?: \+0x[0-9a-f]+)?\s*$|^/\S+\.go:\d+(?: \+0x[0-9a-f]+)?\s*$")
_FUNCTION = re.compile(
    r"^panic\(.*\)\s*$|^[\w./\-@]+(?:\.\(\*?\w+(?:\[\.\.\.\])?\))?\.[\w.]+(?:\[\.\.\.\])?(?:\(.*\))?\s*$"
)
_LINE = re.compile(f"{_PLACE.pattern}|{_FUNCTION.pattern}|^created by ")
# /app/items.go:33 (0x8f2000) above (*Items).List: page := must(c)
_RECOVERED = re.compile(r"^\S+\.go:\d+ \(0x[0-9a-f]+\)\s*$|^\s+[\w.()*\[\]]+: ")
_ENDS_WITH_WORDS = re.compile(r"^(?:\S.*: )?(?P<message>\S.*)$")
_PANICKING = ("panic", "gopanic", "goPanicIndex", "panicmem", "sigpanic", "panicdivide", "Stack")


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A panic that begins at this line, or the stack of an error."""
    head = _PANIC.match(lines[at]) or _LOGGED.search(lines[at])
    if head is None:
        return _carried(lines, at, find_frames)
    start = at + 1
    messages = [head["message"]]
    while start < min(len(lines), at + 12) and not _ROUTINE.match(lines[start]):
        if lines[start].startswith(("panic:", "\tpanic:")):
            messages.append(lines[start].strip())
        start += 1
    routine = _ROUTINE.match(lines[start]) if start < len(lines) else None
    if routine is None:
        return _recovered(lines, at, find_frames)
    end = run_of(lines, start + 1, _LINE)
    kind = head.groupdict().get("kind") or "panic"
    kind = "runtime error" if "runtime error:" in head["message"] else kind
    message = "\n".join(messages).removeprefix("runtime error: ")
    frames = _frames(lines[start + 1 : end], find_frames)
    return Printed((thrown(kind, message, frames),), end, f"goroutine {routine['thread']}") if frames else None


def _recovered(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """What the recovery of a web framework prints: places, each with a function and its source line below."""
    head = _LOGGED.search(lines[at])
    message = [head["message"]] if head and head["message"] else []
    start = at + 1
    while start < min(len(lines), at + 12) and not _RECOVERED.match(lines[start]):
        start += 1
    end = run_of(lines, start, _RECOVERED)
    frames = [frame for frame in find_frames("\n".join(lines[start:end])) if frame.symbol not in _PANICKING]
    return Printed((thrown("panic", "\n".join([*message, *lines[at + 1 : start]]), frames),), end) if frames else None


def _carried(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """What `%+v` of an error or a structured logger prints: functions, each with its place below."""
    if not _is_call(lines, at):
        return None
    end = run_of(lines, at, _LINE)
    frames = _frames(lines[at:end], find_frames)
    routine = _ROUTINE.match(lines[at - 1]) if at else None
    if not frames:
        return None
    before = _ENDS_WITH_WORDS.match(lines[at - 1].strip()) if at and routine is None else None
    message = before["message"] if before else ""
    thread = f"goroutine {routine['thread']}" if routine else None
    return Printed((thrown("error" if before else "", message, frames),), end, thread, complete=before is not None)


def _is_call(lines: Sequence[str], at: int) -> bool:
    return at + 1 < len(lines) and _FUNCTION.match(lines[at]) is not None and _PLACE.match(lines[at + 1]) is not None


def _frames(lines: Sequence[str], find_frames: FindFrames) -> list[TraceFrame]:
    """Innermost first, without what only brings the panic about and without the line that started the goroutine."""
    body: list[str] = []
    skip = False
    for line in lines:
        if line.startswith("created by "):
            skip = True
        elif not skip or not _PLACE.match(line):
            skip = False
            body.append(line)
    return [frame for frame in find_frames("\n".join(body)) if frame.symbol not in _PANICKING]
