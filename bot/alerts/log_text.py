"""Log text as it was before chat, JSON and log collectors wrapped it: the lines of each stream by themselves.

What is undone: JSON escapes, HTML entities, colour codes, quoting, code fences, prefixes that every line carries
(time stamps, container and thread names), lines that a width cut, traces whose line breaks were lost, and streams that
took turns line by line.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.alerts.line_breaks import with_line_breaks, without_hard_wraps, without_word_wraps

MAX_LINES = 20_000
MAX_LINE_CHARS = 2_000  # keeps the time of patterns that look ahead in a line within bounds
_MAX_PREFIXES = 4

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ESCAPED_BREAK = re.compile(r"(?<!\\)\\(?:r\\)?n(?=\\?t|\s|[A-Z\"#]|at |File |Caused|from |[a-z_][\w.$/]*[.:/(]|\d+:|\\?$|\\\")")
_ESCAPED_FRAME = re.compile(r"\\n(?:\\+t|\s{2,})?\s*(?:at |File \\*\"|#\d+ |Caused by|\.\.\. \d|from |goroutine |\d+: )")
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_FENCE = re.compile(r"^\s*`{3,}\w*\s*$")
_EDGE_FENCE = re.compile(r"^\s*`{3,}(?=\S)|(?<=\S)`{3,}\s*$")
_QUOTE = re.compile(r"^(?:>|&gt;) ?")
# 2024-05-01T12:00:00.123456789Z stdout F ..., 2024/05/01 12:00:00 ..., [12:00:00] ..., and for syslog May  1 ...
_TIME = r"\[?(?:\d{4}[-/.]\d{2}[-/.]\d{2}[T ])?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|\s?[+-]\d{2}:?\d{2}|\sUTC|\sKST)?\]?"
_SYSLOG = re.compile(
    rf"^(?:<\d{{1,3}}>(?:1 )?)?(?:[A-Z][a-z]{{2}}\s+\d{{1,2}} \d{{2}}:\d{{2}}:\d{{2}}|{_TIME}) (?:\S+ )?"
    r"(?P<stream>[\w./-]+(?:\[[\w.]+\])?): ?"
)
_SYSLOG_5424 = re.compile(rf"^<\d{{1,3}}>1 {_TIME} \S+ (?P<stream>\S+ \S+) \S+ (?:-|\[[^\]]*\])+ ?")
_CONTAINER = re.compile(rf"^(?:{_TIME}\s+)?(?P<stream>stdout|stderr) [FP] ")
_COMPOSE = re.compile(r"^(?P<stream>[A-Za-z][\w.-]*[\w])\s*\| ?")
_POD = re.compile(r"^\[(?P<stream>(?:pod/)?[\w./-]+-[a-z0-9]{5,10}(?:[ /][\w.-]+)?)\] ")
_STERN = re.compile(r"^(?P<stream>[a-z][a-z0-9-]*-(?=[a-z0-9]*\d)[a-z0-9]{5,10}(?:-[a-z0-9]{5})? [a-z][a-z0-9-]*) (?:[│|] ?)?")
_ANDROID = re.compile(
    r"^(?:\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+\s+\d+\s+\d+\s+)?"
    r"[VDIWEF][ /](?P<stream>[\w.$ -]{1,40}?)(?:\(\s*\d+\))?\s*: "
)
# AndroidRuntime: at ..., where a report left time and level out
_TAG = re.compile(
    r"^(?!Suppressed|Caused|Error:)(?P<stream>[A-Z][A-Za-z0-9_.$-]{2,40}): "
    r"(?=\s*(?:at |Caused by|\.\.\. |FATAL EXCEPTION|Process: |[a-z][\w$]*\.[\w.$]+(?:Exception|Error)))"
)
_THREAD = re.compile(
    rf"^(?:{_TIME}\s+)?\[(?P<stream>[\w.$#:@ -]+-\d+[\w.#-]*)\]\s"
    r"(?=\s*(?:at |Caused by|\.\.\. |[\w.$]+(?:Exception|Error)))"
)
_REQUEST = re.compile(r"^\[(?P<stream>[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9a-f]{16})\] ?")
_CLOCK = re.compile(rf"^(?P<time>{_TIME})(?:\t| (?! ?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)))")
_PREFIXES = (_CONTAINER, _SYSLOG_5424, _SYSLOG, _COMPOSE, _POD, _STERN, _ANDROID, _THREAD, _REQUEST, _TAG, _CLOCK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The lines of one source: a container, a process or a thread; `name` is None where no line names one."""

    name: str | None
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def unescaped(text: str) -> str:
    """`text` with its escapes undone: what is read from here on may show what no mask has seen yet."""
    text = _COLOUR.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).replace("\u2028", "\n").replace("\xa0", " ")
    if "\\n" in text or "\\u00" in text:
        text = "\n".join(_unescaped_line(line) for line in text.split("\n"))
    if "&lt;" in text or "&gt;" in text or "&amp;" in text or "&quot;" in text or "&#" in text:
        text = html.unescape(text)
    return text


def read_streams(text: str) -> list[Stream]:
    """The streams of an unescaped text, in order of their first line. Empty text gives none."""
    lines = [_QUOTE.sub("", line) for line in text.splitlines()[:MAX_LINES]]
    lines = [_EDGE_FENCE.sub("", line) for line in lines if not _FENCE.match(line)]
    streams: dict[tuple[str, ...], list[str]] = {(): without_hard_wraps(lines)}
    for _ in range(_MAX_PREFIXES):
        pattern = _common_prefix([line for own in streams.values() for line in own])
        if pattern is None:
            break
        streams = _without_prefix(streams, pattern)
    found = []
    for name, own in streams.items():
        split = [piece for line in own for piece in with_line_breaks(line)]
        joined = [line[:MAX_LINE_CHARS] for line in without_word_wraps(split)][:MAX_LINES]
        if any(line.strip() for line in joined):
            found.append(Stream(name=name[-1] if name else None, lines=tuple(joined)))
    return found


def _unescaped_line(line: str) -> str:
    """A line with JSON escapes undone, twice where it was escaped twice."""
    for _ in range(3):
        breaks = line.count("\\n")
        if not (breaks >= 2 or (breaks and _ESCAPED_FRAME.search(line)) or _UNICODE_ESCAPE.search(line)):
            break
        try:
            line = str(json.loads(f'"{line}"'))
        except ValueError:
            if breaks:
                line = _ESCAPED_BREAK.sub("\n", line).replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
            line = _UNICODE_ESCAPE.sub(_letter, line)
        if "\n" in line and "\\n" not in line:
            break
    return line


def _letter(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return "" if 0xD800 <= code <= 0xDFFF or code < 32 else chr(code)


def _common_prefix(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The kind of prefix that most lines carry; a single line that looks like one is part of the text."""
    filled = [line for line in lines if line.strip()]
    for pattern in _PREFIXES:
        carrying = sum(pattern.match(line) is not None for line in filled)
        if carrying >= 2 and carrying * 2 >= len(filled):
            return pattern
    return None


def _without_prefix(streams: dict[tuple[str, ...], list[str]], pattern: re.Pattern[str]) -> dict[tuple[str, ...], list[str]]:
    """The streams by what this prefix names; a line without it belongs to the one before."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, lines in streams.items():
        own = name
        for line in lines:
            match = pattern.match(line)
            if match is not None:
                told = match.groupdict().get("stream")
                own = (*name, told.strip()) if told and pattern is not _CONTAINER else name
                line = line[match.end() :]
            found.setdefault(own, []).append(line)
    return found
