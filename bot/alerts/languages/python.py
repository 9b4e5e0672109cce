"""Python prints causes first and the innermost call last; chains are turned round: the root cause comes last."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.alerts.alert import Thrown
from bot.alerts.languages.printed import FindFrames, Printed, next_filled, thrown

_START = re.compile(r"^\s*Traceback \(most recent call last\):\s*$")
_GROUP = re.compile(r"^\s*\+ Exception Group Traceback \(most recent call last\):\s*$")
FRAME = re.compile(r'^\s*File "[^"\n]+", line \d+')
_END = re.compile(r"^(?P<class>(?:[A-Za-z_]\w*+\.)*+[A-Za-z_]\w*+)(?::\s?(?P<message>.*))?$")
_CHAIN = re.compile(
    r"^\s*(?:During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:)\s*$"
)
_MARKS = re.compile(r"^\s*[~^]+[~^ ]*$")
_MARGIN = re.compile(r"^\s*\| ?|^\s*\+ (?=Exception Group)")
_SECTION = re.compile(r"^\s*(?:\+-)?\+-+(?: (?:\d+|\.\.\.) -+)?\s*$")


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line; frames without their first line are read too."""
    if _GROUP.match(lines[at]):
        return _read_group(lines, at, find_frames)
    printed: list[Thrown] = []
    here, complete = at, True
    while here < len(lines):
        start = here
        if _START.match(lines[here]):
            start = here + 1
        elif not FRAME.match(lines[here]) or printed:
            break
        end = _frames_end(lines, start)
        if end == start:
            break
        last = _end_of(lines[end]) if end < len(lines) else None
        complete = last is not None
        message, here = _message(lines, end, last)
        frames = find_frames("\n".join(lines[start:end]))
        printed.append(thrown(last["class"] if last else "", message, frames))
        chained = next_filled(lines, here)
        if chained is None or not _CHAIN.match(lines[chained]):
            break
        following = next_filled(lines, chained + 1)
        here = chained + 1 if following is None else following
        complete = False  # until what was announced has been read
    if not printed:
        return None
    return Printed(tuple(reversed(printed)), here, complete=complete)


def _end_of(line: str) -> re.Match[str] | None:
    """The line that names the exception. Plain words are none: "done" below a trace was not thrown."""
    match = _END.match(line.rstrip())
    if match is None:
        return None
    last = match["class"].rpartition(".")[2]
    is_class = "." in match["class"] or last[:1].isupper() or last.endswith(("error", "timeout", "exception"))
    return match if is_class else None


def _frames_end(lines: Sequence[str], at: int) -> int:
    """Behind the frames and the source lines below them, which are indented deeper unless a chat took that away."""
    end = at
    while end < len(lines):
        line = lines[end]
        if end > at and _MARKS.match(line):  # below what failed within the source line
            end += 1
            continue
        is_source = end > at and (line[:1] in (" ", "\t") or _END.match(line) is None) and bool(line.strip())
        if FRAME.match(line) or (is_source and (line[:1] in (" ", "\t") or _frame_follows(lines, end))):
            end += 1
        else:
            break
    return end


def _frame_follows(lines: Sequence[str], at: int) -> bool:
    """Whether a frame, or the line that names the exception, comes next."""
    after = at + 2 if at + 1 < len(lines) and _MARKS.match(lines[at + 1]) else at + 1
    following = lines[after] if after < len(lines) else ""
    return FRAME.match(following) is not None or (FRAME.match(lines[at - 1]) is not None and bool(_end_of(following)))


def _message(lines: Sequence[str], at: int, last: re.Match[str] | None) -> tuple[str, int]:
    """The message, which may go on in indented lines, and the line behind it."""
    if last is None:
        return "", at
    end = at + 1
    while end < len(lines) and lines[end].strip() and lines[end][:1] in (" ", "\t") and not FRAME.match(lines[end]):
        end += 1
    return "\n".join([last["message"] or "", *lines[at + 1 : end]]), end


def _read_group(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """An exception group: its own trace, with the first member as its cause; the other members are traces too."""
    end = at + 1
    while end < len(lines) and lines[end].lstrip()[:1] in ("|", "+"):
        end += 1
    sections: list[list[str]] = [["Traceback (most recent call last):"]]
    for line in lines[at + 1 : end]:
        if _SECTION.match(line):
            sections.append([])
        else:
            sections[-1].append(_MARGIN.sub("", line))
    read_sections = [_chain_of(section, find_frames) for section in sections if section]
    chains = [chain for chain in read_sections if chain]
    if not chains:
        return None
    first = chains[1] if len(chains) > 1 else ()
    closed = lines[end - 1].lstrip().startswith("+--")
    return Printed((*chains[0], *first), end, complete=closed, others=tuple(chains[2:]))


def _chain_of(section: Sequence[str], find_frames: FindFrames) -> tuple[Thrown, ...]:
    """The chain of one part of a group; a member without frames is only named."""
    start = next((n for n, line in enumerate(section) if _START.match(line) or FRAME.match(line)), None)
    if start is not None:
        printed = read(section, start, find_frames)
        return printed.thrown if printed is not None else ()
    named = next((match for line in section if (match := _end_of(line))), None)
    return (thrown(named["class"], named["message"], ()),) if named else ()
