"""Stack traces in log text: the chain of exceptions, root cause last, each with its frames, innermost first.

Frames are read by the one reader of frames that search uses too (`knowledge.api.find_frames`); what surrounds them is
read in `languages/`: where a trace begins and ends, what was thrown, and what caused it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot.alerts.alert import Thrown, Trace, TraceFrame
from bot.alerts.languages import dotnet, go, jvm, php, python, ruby, rust, script, swift
from bot.alerts.languages.printed import Printed, Reader, thrown
from bot.alerts.log_text import Stream
from bot.alerts.ownership import is_in_app
from knowledge.api import find_frames as frames_of

MAX_TRACES = 50
MAX_FRAMES = 200
MAX_MESSAGE_CHARS = 2_000

# The order matters where one language's lines look like another's: what is more specific comes first.
READERS: tuple[tuple[str, Reader], ...] = (
    ("python", python.read),
    ("go", go.read),
    ("rust", rust.read),
    ("php", php.read),
    ("swift", swift.read),
    ("jvm", jvm.read),
    ("dotnet", dotnet.read),
    ("ruby", ruby.read),
    ("javascript", script.read),
)
_CUT = re.compile(r"(?:…|\[?\(?(?:truncated|생략|cut off)\)?\]?|\.{3})\s*$", re.IGNORECASE)
_CLASS_IN_TEXT = re.compile(
    r"(?<![\w.$])(?P<class>(?:[A-Za-z_]\w*(?:\.|::|\\))*[A-Z]\w*(?:Error|Exception|Failure|NotFound|Timeout))\b"
    r"(?::\s(?P<message>[^\n]{0,300}))?"
)
# The frames with which a whole stack ends.
_BOTTOM = re.compile(
    r"java\.lang\.Thread\.run|\.main\(|<module>|\{main\}|goexit|__rust_begin_short_backtrace|<main>|Main\(|thrown in "
    r"|\.\.\. \d+ (?:more|common)|threading\.py|_bootstrap|ActivityThread|node:internal|CoroutineScheduler"
    r"|processTicksAndRejections|created by |_start\b|\bstart \+ \d+"
)


def trace_frames(language: str, text: str) -> list[TraceFrame]:
    """The frames of a piece of a trace of this language, innermost first, each marked as own or not."""
    return [
        TraceFrame(file=frame.file, line=frame.line, symbol=frame.symbol, in_app=is_in_app(frame.file, frame.symbol))
        for frame in frames_of(text, language)[:MAX_FRAMES]
    ]


def read_traces(stream: Stream) -> list[Trace]:
    """Every stack trace of a stream, in order; empty when there is none."""
    found: list[Trace] = []
    lines = stream.lines
    at = 0
    while at < len(lines) and len(found) < MAX_TRACES:
        for language, reader in READERS:
            printed = reader(lines, at, partial(trace_frames, language))
            if printed is not None and printed.end > at:
                found.append(_as_trace(language, printed, lines, at, stream.name))
                found += [replace(found[-1], thrown=_shortened(other)) for other in printed.others]
                at = printed.end
                break
        else:
            at += 1
    return found[:MAX_TRACES]


def read_loose(text: str) -> Trace | None:
    """The frames of a text whose lines were broken or lost beyond what the readers undo; None when there are none."""
    found = {name: trace_frames(name, text) for name, _ in READERS}
    language = max(found, key=lambda name: len(found[name]))
    if not found[language]:
        return None
    head = _CLASS_IN_TEXT.search(text[:MAX_MESSAGE_CHARS])
    one = thrown(head["class"] if head else "", (head["message"] or "") if head else "", found[language])
    return Trace(language=language, thrown=_shortened((one,)), is_truncated=True)


def _shortened(chain: Sequence[Thrown]) -> tuple[Thrown, ...]:
    return tuple(replace(one, message=one.message.strip()[:MAX_MESSAGE_CHARS]) for one in chain)


def _as_trace(language: str, printed: Printed, lines: Sequence[str], start: int, stream: str | None) -> Trace:
    body = [line for line in lines[start : printed.end] if line.strip()]
    behind = [line for line in lines[printed.end :] if line.strip()]
    cut = any(_CUT.search(line) for line in (*body[-1:], *behind[:1]))
    bottom = any(_BOTTOM.search(line) for line in body[-3:])
    is_truncated = not printed.complete or cut or (not behind and not bottom and language != "python")
    return Trace(
        language=language,
        thrown=_shortened(printed.thrown),
        is_truncated=is_truncated,
        thread=printed.thread or stream,
    )
