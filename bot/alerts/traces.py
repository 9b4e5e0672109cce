"""Stack traces in log text: the chain of exceptions, root cause last, each with its frames, innermost first.

Frames are read by the one reader of frames that search uses too (`find_frames`); here stands what surrounds them: where
a trace begins and ends, what was thrown, and what caused it, in each language's own way of printing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.alerts.alert import Thrown, Trace, TraceFrame
from bot.alerts.log_text import Stream

MAX_TRACES = 50
MAX_MESSAGE_CHARS = 2_000

FindFrames = Callable[[str], Sequence[TraceFrame]]

_CLASS = r"(?:[A-Za-z_][\w$]*[.\\:]{1,2})*[A-Za-z_][\w$]*"
_JVM_FRAME = re.compile(r"^\s*at\s+[\w.$<>/@-]+\(.*\)?\s*$")
_JVM_HEAD = re.compile(
    r"^(?P<gap>\s*)(?:Exception in thread \"(?P<thread>[^\"]*)\"\s+)?(?P<link>Caused by: |Suppressed: |Wrapped by: )?"
    r"(?P<class>(?:[a-zA-Z_][\w$]*\.)*[A-Z][\w$]*)(?::\s(?P<message>.*))?$"
)
_JVM_MORE = re.compile(r"^\s*\.\.\. \d+ (?:common frames omitted|more)")
_JVM_BOUNDARY = re.compile(r"^\s*(?:\(Coroutine boundary\)|Caused by:|Suppressed:)")
_PY_START = re.compile(r"^\s*\+? ?(?:Exception Group )?Traceback \(most recent call last\):\s*$")
_PY_FRAME = re.compile(r'^\s*\|?\s*File "[^"]+", line \d+')
_PY_END = re.compile(rf"^(?:\s*\| ?)?(?P<class>{_CLASS})(?::\s?(?P<message>.*))?$")
_PY_CHAIN = re.compile(
    r"^\s*(?:During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:)\s*$"
)
_JS_HEAD = re.compile(
    r"^(?:Uncaught\s+|Unhandled(?:Promise)?Rejection\w*:?\s+|\[?Error\]?:?\s+(?=\w+Error:))?(?:\(in promise\)\s+)?"
    r"(?P<link>(?:\s*\[cause\]|Caused by):\s+)?(?P<class>(?:[A-Z]\w*)?(?:Error|Exception|Rejection|Warning|Fault)\w*)"
    r"(?: \[[\w-]+\])?(?::\s(?P<message>.*))?(?:\s*\{)?$"
)
_JS_FRAME = re.compile(
    r"^\s*at\s.+:\d+(?::\d+)?\)?(?:\s*\{)?\s*$|^\s*[\w$.<>/\[\]]*@\S+:\d+(?::\d+)?\s*$|^\s*at (?:async )?[\w.$<>\[\] ]+ \(<anonymous>\)"
)
_GO_PANIC = re.compile(r"^(?:panic|fatal error): (?P<message>.*)$")
_GO_LOGGED = re.compile(r"panic serving [^:]+:\d+: (?P<message>.*)$")
_GO_ROUTINE = re.compile(r"^goroutine (?P<thread>\d+)(?: \S+=\S+)* \[(?P<state>[^\]]*)\]:")
_GO_LINE = re.compile(r"^\s*\S+\.go:\d+|^[\w./\-]+(?:\.\(\*?\w+\))?\.[\w.]+\(.*\)\s*$|^created by ")
_RUST_HEAD = re.compile(
    r"^thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at (?:'(?P<old>.*)', (?P<place>\S+)|(?P<new>\S+\.rs:\d+(?::\d+)?):?)\s*$"
)
_RUST_LINE = re.compile(r"^\s*\d+:\s|^\s+at \S+\.rs:\d+|^stack backtrace:")
_CS_HEAD = re.compile(
    r"^\s*(?:Unhandled exception\.\s+|처리되지 않은 예외:\s+)?(?P<link>\(?(?:Inner Exception #\d+\) |--->\s*\(?))?"
    r"(?P<class>(?:[A-Z]\w*\.)+[A-Z]\w*)(?: \([^)]*\))?: (?P<message>.*)$"
)
_CS_FRAME = re.compile(r"^\s*(?:at|에서)\s+[\w.<>`+|\[\],$]+\(.*\)(?:\s+(?:in|위치:|파일)\s+.+)?\s*$")
_CS_END = re.compile(r"^\s*--- (?:End of (?:inner exception )?stack trace|내부 예외)")
_RUBY_HEAD = re.compile(
    r"^(?P<place>\S+\.(?:rb|rake|ru|erb):\d+):in [`'](?P<symbol>[^'`]+)': (?P<message>.*) \((?P<class>[A-Z][\w:]*)\)\s*$"
)
_RUBY_LOGGED = re.compile(
    r"^(?P<class>[A-Z]\w*(?:::[A-Z]\w*)+|[A-Z]\w*(?:Error|Exception|NotFound|Invalid))(?::\s| \()(?P<message>.*?)\)?:?\s*$"
)
_RUBY_FRAME = re.compile(r"^\s*(?:\d+:\s+)?(?:from\s+)?\S+\.(?:rb|rake|ru|erb):\d+(?::in [`'].*)?\s*$")
_PHP_HEAD = re.compile(
    r"(?:PHP )?(?:Fatal error|Warning|Notice|Parse error|Recoverable fatal error):\s+(?:Uncaught (?:exception ')?)?"
    r"(?:(?P<class>\\?[A-Z]\w*(?:\\\w+)*?(?:Error|Exception|Throwable)\w*)'?(?:: | with message '))?(?P<message>.*?)'?"
    r" in (?P<place>\S+\.(?:php|phtml|inc)(?::\d+| on line \d+))\s*$"
)
_PHP_LOGGED = re.compile(
    r"(?P<class>\\?(?:[A-Z]\w*\\)*[A-Z]\w*(?:Error|Exception))(?:\(code: \d+\))?: (?P<message>.*?) "
    r"(?:in|at) (?P<place>\S+\.php:\d+)\)?\s*$"
)
_PHP_NEXT = re.compile(r"^Next (?P<class>\\?[A-Z][\w\\]*): (?P<message>.*) in (?P<place>\S+\.php:\d+)\s*$")
_PHP_FRAME = re.compile(r"^\s*#\d+\s|^Stack trace:|^\s*thrown in ")
_SWIFT_HEAD = re.compile(
    r"^(?:\S+\.swift:\d+: )?(?P<class>Fatal error|Precondition failed|Assertion failed)(?:: (?P<message>.*?))?"
    r"(?:: file \S+\.swift, line \d+)?\s*$"
)
_SWIFT_FRAME = re.compile(
    r"^\s*\d+\s+\S+\s+0x[0-9a-f]+\s|^\s*\d+ \[?[\w. ]*\S* (?:in|at) .*\.swift:\d+|^Thread \d+ Crashed|^\s*at \S+\.swift:\d+"
)
_CUT = re.compile(r"(?:…|\[?\(?(?:truncated|생략|cut off)\)?\]?|\.{3})\s*$", re.IGNORECASE)
_BOTTOM = re.compile(
    r"java\.lang\.Thread\.run|\.main\(|<module>|\{main\}|goexit|__rust_begin_short_backtrace|<main>|Main\(|\.\.\. \d+ (?:more|common)"
    r"|threading\.py|_bootstrap|ActivityThread|node:internal|CoroutineScheduler|processTicksAndRejections"
)


@dataclass(frozen=True, slots=True)
class _Printed:
    """A stretch of lines that one language's reader recognised: the chain as printed, and where it ended."""

    thrown: tuple[Thrown, ...]
    end: int  # the line behind the last one
    thread: str | None = None
    complete: bool = True


_Reader = Callable[[Sequence[str], int, FindFrames], _Printed | None]


def read_traces(stream: Stream, find_frames: FindFrames) -> list[Trace]:
    """Every stack trace of a stream, in order; empty when there is none."""
    found: list[Trace] = []
    lines = stream.lines
    at = 0
    while at < len(lines) and len(found) < MAX_TRACES:
        for language, reader in _READERS:
            printed = reader(lines, at, find_frames)
            if printed is not None and printed.end > at:
                found.append(_as_trace(language, printed, lines, at, stream.name))
                at = printed.end
                break
        else:
            at += 1
    return found


def _as_trace(language: str, printed: _Printed, lines: Sequence[str], start: int, stream: str | None) -> Trace:
    thrown = tuple(replace(one, message=one.message.strip()[:MAX_MESSAGE_CHARS]) for one in printed.thrown)
    body = [line for line in lines[start : printed.end] if line.strip()]
    ends_text = not any(line.strip() for line in lines[printed.end :])
    cut = bool(body) and _CUT.search(body[-1]) is not None
    bottom = any(_BOTTOM.search(line) for line in body[-3:])
    is_truncated = not printed.complete or cut or (ends_text and not bottom and len(body) > 3)
    return Trace(language=language, thrown=thrown, is_truncated=is_truncated, thread=printed.thread or stream)


def _run(lines: Sequence[str], at: int, belongs: re.Pattern[str], *, gaps: int = 0) -> int:
    """The line behind a run of lines that match; up to `gaps` others may stand between two of them."""
    end = seen = at
    while seen < len(lines) and seen - end <= gaps:
        if belongs.match(lines[seen]):
            end = seen + 1
        seen += 1
    return end


def _thrown(error_class: str, message: str | None, frames: Sequence[TraceFrame]) -> Thrown:
    return Thrown(error_class=error_class, message=message or "", frames=tuple(frames))


# --- one reader for each way of printing ----------------------------------------------------------


def _jvm(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    """Java and Kotlin: a head, frames, then causes, each with its own."""
    chain: list[Thrown] = []
    thread = None
    here = at
    while here < len(lines):
        head = _JVM_HEAD.match(lines[here].rstrip())
        if head is None or (not chain and head["link"] is None and not _throwable(head["class"])):
            break
        if chain and head["link"] is None:
            break
        first = _first_frame(lines, here + 1, _JVM_FRAME)
        if first is None and not (head["link"] and chain):
            break
        message = [head["message"] or "", *lines[here + 1 : first if first is not None else here + 1]]
        end = here + 1 if first is None else _jvm_frames_end(lines, first)
        if not (head["link"] or "").startswith("Suppressed"):
            chain.append(_thrown(head["class"], "\n".join(message), find_frames("\n".join(lines[here + 1 : end]))))
        thread = thread or head["thread"]
        here = end
    if not chain:
        return _bare_jvm(lines, at, find_frames)
    return _Printed(tuple(chain), here, thread)


def _bare_jvm(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    """Frames whose head was cut off."""
    if not _JVM_FRAME.match(lines[at]) or (".java" not in lines[at] and ".kt" not in lines[at]):
        return None
    end = _jvm_frames_end(lines, at)
    frames = find_frames("\n".join(lines[at:end]))
    return _Printed((_thrown("", "", frames),), end, complete=False) if end - at >= 2 and frames else None


def _jvm_frames_end(lines: Sequence[str], at: int) -> int:
    end = at
    while end < len(lines) and (
        _JVM_FRAME.match(lines[end]) or _JVM_MORE.match(lines[end]) or lines[end].strip() == "(Coroutine boundary)"
    ):
        end += 1
    return end


def _throwable(name: str) -> bool:
    last = name.rpartition(".")[2]
    return "." in name or last.endswith(("Exception", "Error", "Throwable", "Failure"))


def _first_frame(lines: Sequence[str], at: int, frame: re.Pattern[str], *, reach: int = 20) -> int | None:
    """The first line that is a frame, behind a message of several lines; None when another head comes first."""
    for number in range(at, min(len(lines), at + reach)):
        if frame.match(lines[number]):
            return number
        if _JVM_BOUNDARY.match(lines[number]):
            return None
    return None


def _python(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    """Python prints the cause first: the chain is turned round, so that the root cause comes last."""
    printed: list[Thrown] = []
    here, complete = at, True
    while here < len(lines):
        start = here
        if _PY_START.match(lines[here]):
            start = here + 1
        elif not _PY_FRAME.match(lines[here]) or printed:
            break
        end = _python_frames_end(lines, start)
        if end == start:
            break
        last = _PY_END.match(lines[end]) if end < len(lines) else None
        complete = last is not None
        message, behind = _python_message(lines, end, last)
        frames = find_frames("\n".join(lines[start:end]))
        printed.append(_thrown(last["class"] if last else "", message, frames))
        here = behind
        chained = _next_filled(lines, here)
        if chained is None or not _PY_CHAIN.match(lines[chained]):
            break
        following = _next_filled(lines, chained + 1)
        here = chained + 1 if following is None else following
    if not printed:
        return None
    return _Printed(tuple(reversed(printed)), here, complete=complete)


def _python_frames_end(lines: Sequence[str], at: int) -> int:
    """Behind the frames and the source lines below them, which are indented deeper."""
    end = at
    while end < len(lines) and (_PY_FRAME.match(lines[end]) or (end > at and lines[end][:1] in (" ", "\t", "|"))):
        end += 1
    return end


def _python_message(lines: Sequence[str], at: int, last: re.Match[str] | None) -> tuple[str, int]:
    if last is None:
        return "", at
    end = at + 1
    while end < len(lines) and lines[end].strip() and lines[end][:1] in (" ", "\t"):  # a message of several lines
        end += 1
    return "\n".join([last["message"] or "", *lines[at + 1 : end]]), end


def _next_filled(lines: Sequence[str], at: int) -> int | None:
    for number in range(at, min(len(lines), at + 3)):
        if lines[number].strip():
            return number
    return None


def _script(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    """Node and browsers; causes follow as `[cause]:` or `Caused by:`."""
    chain: list[Thrown] = []
    here = at
    while here < len(lines):
        head = _JS_HEAD.match(lines[here].rstrip())
        if head is None or (chain and head["link"] is None):
            break
        first = _first_frame(lines, here + 1, _JS_FRAME, reach=8)
        if first is None:
            break
        end = _run(lines, first, _JS_FRAME)
        message = [head["message"] or "", *lines[here + 1 : first]]
        chain.append(_thrown(head["class"], "\n".join(message), find_frames("\n".join(lines[first:end]))))
        here = end
    return _Printed(tuple(chain), here) if chain and chain[0].frames else None


def _go(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    head = _GO_PANIC.match(lines[at]) or _GO_LOGGED.search(lines[at])
    if head is None:
        return None
    start = at + 1
    messages = [head["message"]]
    while start < min(len(lines), at + 12) and not _GO_ROUTINE.match(lines[start]):
        if lines[start].startswith(("panic:", "\tpanic:")):
            messages.append(lines[start].strip())
        start += 1
    if start >= len(lines) or not _GO_ROUTINE.match(lines[start]):
        return None
    routine = _GO_ROUTINE.match(lines[start])
    end = _run(lines, start + 1, _GO_LINE)
    body = "\n".join(line for line in lines[start + 1 : end] if not line.startswith("created by "))
    kind = "runtime error" if "runtime error:" in head["message"] else lines[at].partition(":")[0].split()[-1]
    frames = [frame for frame in find_frames(body) if frame.symbol not in ("panic", "gopanic")]
    thread = f"goroutine {routine['thread']}" if routine else None
    return _Printed((_thrown(kind, "\n".join(messages), frames),), end, thread) if frames else None


def _rust(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    head = _RUST_HEAD.match(lines[at].rstrip())
    if head is None:
        return None
    end, message = at + 1, head["old"]
    if message is None:
        while end < len(lines) and lines[end].strip() and not _RUST_LINE.match(lines[end]) and end - at < 12:
            if lines[end].startswith("note:"):
                break
            end += 1
        message = "\n".join(lines[at + 1 : end])
    if end < len(lines) and lines[end].startswith(("stack backtrace:", "note:")):
        end = _run(lines, end + 1, _RUST_LINE)
    return _Printed((_thrown("panic", message, find_frames("\n".join(lines[at:end]))),), end, head["thread"])


def _csharp(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    """.NET prints all heads first, outermost first, then the frames of the innermost, of the next one, and so on."""
    heads: list[tuple[str, str]] = []
    here = at
    while here < len(lines):
        parts = re.split(r"\s--->\s", lines[here]) if not heads else [lines[here]]
        matches = [_CS_HEAD.match(part) for part in parts]
        if not matches[0] or (heads and not matches[0]["link"]):
            break
        heads += [(match["class"], match["message"]) for match in matches if match]
        here += 1
        while here < len(lines) and not _CS_FRAME.match(lines[here]) and not _CS_HEAD.match(lines[here]):
            if not lines[here].strip() or here - at > 12:
                break
            here += 1
    if not heads:
        return None
    groups: list[list[str]] = [[]]
    start = here
    while here < len(lines) and (_CS_FRAME.match(lines[here]) or _CS_END.match(lines[here])):
        if "inner exception" in lines[here] or "내부 예외" in lines[here]:
            groups.append([])
        else:
            groups[-1].append(lines[here])
        here += 1
    if here == start:
        return None
    innermost_first = list(reversed(heads))
    thrown = [
        _thrown(name, message, find_frames("\n".join(groups[place])) if place < len(groups) else ())
        for place, (name, message) in enumerate(innermost_first)
    ]
    return _Printed(tuple(reversed(thrown)), here)


def _ruby(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    head = _RUBY_HEAD.match(lines[at])
    if head is not None:
        end = _run(lines, at + 1, _RUBY_FRAME, gaps=0)
        return _Printed((_thrown(head["class"], head["message"], find_frames("\n".join(lines[at:end]))),), end)
    logged = _RUBY_LOGGED.match(lines[at])
    first = _next_filled(lines, at + 1)
    if logged is None or first is None or not _RUBY_FRAME.match(lines[first]):
        return None
    end = _run(lines, first, _RUBY_FRAME)
    return _Printed((_thrown(logged["class"], logged["message"], find_frames("\n".join(lines[first:end]))),), end)


def _php(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    """PHP prints the cause first and `Next` what it led to; the last one printed is the outermost."""
    head = _PHP_HEAD.search(lines[at]) or _PHP_LOGGED.search(lines[at])
    if head is None:
        return None
    printed: list[Thrown] = []
    here = at
    match: re.Match[str] | None = head
    while match is not None:
        end = _run(lines, here + 1, _PHP_FRAME, gaps=1)
        frames = find_frames("\n".join([f"in {match['place']}", *lines[here + 1 : end]]))
        printed.append(_thrown((match["class"] or "PHP error").lstrip("\\"), match["message"], frames))
        here = end
        following = _next_filled(lines, here)
        match = _PHP_NEXT.match(lines[following]) if following is not None else None
        here = following if match is not None and following is not None else here
    return _Printed(tuple(reversed(printed)), here)


def _swift(lines: Sequence[str], at: int, find_frames: FindFrames) -> _Printed | None:
    head = _SWIFT_HEAD.match(lines[at])
    if head is None:
        return None
    end = _run(lines, at + 1, _SWIFT_FRAME, gaps=2)
    frames = find_frames("\n".join(lines[at:end]))
    return _Printed((_thrown(head["class"], head["message"], frames),), end) if frames else None


_READERS: tuple[tuple[str, _Reader], ...] = (
    ("python", _python),
    ("go", _go),
    ("rust", _rust),
    ("php", _php),
    ("swift", _swift),
    ("jvm", _jvm),
    ("dotnet", _csharp),
    ("ruby", _ruby),
    ("javascript", _script),
)


def languages() -> Iterator[str]:
    """The languages whose traces are read."""
    return (language for language, _ in _READERS)
