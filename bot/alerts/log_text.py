"""Log text as it was before chat, JSON and log collectors wrapped it: the lines of each stream by themselves.

What is undone: JSON escapes, HTML entities, colour codes, quoting, code fences, prefixes that every line carries
(time stamps, container and thread names), lines that a width cut, traces whose line breaks were lost, and streams that
took turns line by line.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.alerts.line_breaks import with_line_breaks, without_hard_wraps, without_word_wraps

MAX_LINES = 20_000
MAX_LINE_CHARS = 2_000  # keeps the time of patterns that look ahead in a line within bounds
_MAX_PREFIXES = 4
_MAX_BEFORE_RECORD = 300  # characters of a prefix before a record in JSON
_MAX_TEXTS = 100

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ESCAPE = re.compile(r"\\([\"\\/bfnrt]|u[0-9a-fA-F]{4})")
_ESCAPES = {"n": "\n", "t": "\t", "r": "", "b": "", "f": "", '"': '"', "\\": "\\", "/": "/"}
_RECORD_EDGE = re.compile(r"(?<!\\)\"\s*(?:[,:}]\s*\"?|$)")
_ESCAPED_FRAME = re.compile(
    r"\\n(?:\\+t|\s{2,})?\s*(?:at |File \\*\"|#\d+ |Caused by|\.\.\. \d|from |goroutine |\d+: )"
)
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_FENCE = re.compile(r"^\s*`{3,}\w*\s*$")
_EDGE_FENCE = re.compile(r"^\s*`{3,}(?!\w*\s*$)|(?<=\S)`{3,}\s*$")
_QUOTE = re.compile(r"^(?:>|&gt;) ?")
# 2024-05-01T12:00:00.123456789Z stdout F ..., 2024/05/01 12:00:00 ..., [12:00:00] ..., and for syslog May  1 ...
_TIME = r"\[?(?:\d{4}[-/.]\d{2}[-/.]\d{2}[T ])?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|\s?[+-]\d{2}:?\d{2}|\sUTC|\sKST)?\]?"
_SYSLOG = re.compile(
    rf"^(?:<\d{{1,3}}>)?(?:[A-Z][a-z]{{2}}\s+\d{{1,2}} \d{{2}}:\d{{2}}:\d{{2}} [\w.-]+ (?P<app>[\w./-]+(?:\[\w+\])?)"
    rf"|{_TIME} (?:[\w.-]+ )?(?P<stream>[\w./-]+\[[\w.]+\])): ?"
)
_SYSLOG_5424 = re.compile(rf"^<\d{{1,3}}>1 {_TIME} \S+ (?P<stream>\S+ \S+) \S+ (?:-|\[[^\]]*\])+ ?")
_CONTAINER = re.compile(rf"^(?:{_TIME}\s+)?(?:stdout|stderr) [FP] ")
_COMPOSE = re.compile(r"^(?P<stream>[A-Za-z][\w.-]*[\w])\s*\| ?")
_POD = re.compile(r"^\[(?P<stream>(?:pod/)?[\w./-]+-[a-z0-9]{5,10}(?:[ /][\w.-]+)?)\] ")
_STERN = re.compile(
    r"^(?P<stream>[a-z][a-z0-9-]*-(?=[a-z0-9]*\d)[a-z0-9]{5,10}(?:-[a-z0-9]{5})? [a-z][a-z0-9-]*) (?:[│|] ?)?"
)
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
_REQUEST = re.compile(
    r"^\[(?P<stream>[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9a-f]{16})\] ?"
)
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
    lines = _without_doubled_breaks(lines)
    found = []
    for name, own in _without_prefixes(without_hard_wraps(lines, prefix=_common_prefix(lines))):
        split = [piece for line in own for piece in with_line_breaks(line)]
        joined = [line[:MAX_LINE_CHARS] for line in without_word_wraps(split)][:MAX_LINES]
        if any(line.strip() for line in joined):
            found.append(Stream(name=name, lines=tuple(joined)))
    return found


def _unescaped_line(line: str) -> str:
    """A line with JSON escapes undone, twice where it was escaped twice, and a record taken apart."""
    for _ in range(3):
        if not (
            _ESCAPED_FRAME.search(line)
            or ((line.count("\\n") >= 2 or _UNICODE_ESCAPE.search(line)) and "\\" not in _ESCAPE.sub("", line))
        ):
            break
        told = _told_by_record(line)
        if told is not None:
            return told
        if '{"' in line:
            line = _RECORD_EDGE.sub("\n", line)  # a record that was cut off: its texts stand between quotes
        line = _ESCAPE.sub(_letter, line)
        if "\n" in line and not _ESCAPED_FRAME.search(line):
            break
    return line.strip('"') if line[:1] == line[-1:] == '"' else line


def _told_by_record(line: str) -> str | None:
    """The texts of a record in JSON, below what stands before it; None where there is none with lines in it."""
    start = line.find("{")
    if not 0 <= start <= _MAX_BEFORE_RECORD:
        return None
    try:
        record, end = json.JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return None
    texts = _texts(record)
    if not any("\n" in one for one in texts):
        return None
    return "\n".join([line[:start], *texts, line[end:]])


def _texts(record: object) -> list[str]:
    """The texts of an object, the longest ones last, without walking deep into hostile ones."""
    waiting: list[object] = [record]
    found: list[str] = []
    while waiting and len(found) < _MAX_TEXTS:
        value = waiting.pop(0)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, Mapping):
            waiting += list(value.values())[:_MAX_TEXTS]
        elif isinstance(value, list):
            waiting += value[:_MAX_TEXTS]
    return sorted(found, key=lambda one: one.count("\n"))


def _letter(match: re.Match[str]) -> str:
    plain = _ESCAPES.get(match[1])
    if plain is not None:
        return plain
    code = int(match[1][1:], 16)
    return "" if 0xD800 <= code <= 0xDFFF or (code < 32 and code not in (9, 10)) else chr(code)


def _without_doubled_breaks(lines: list[str]) -> list[str]:
    """Lines without the blank one that follows each, where a collector wrote every break twice."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < 4 or any(b - a == 1 for a, b in pairwise(filled)):
        return lines
    return [line for number, line in enumerate(lines) if line.strip() or not number or not lines[number - 1].strip()]


def _common_prefix(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The kind of prefix that most lines carry; a single line that looks like one is part of the text."""
    filled = [line for line in lines if line.strip()]
    for pattern in _PREFIXES:
        carrying = sum(pattern.match(line) is not None for line in filled)
        if carrying >= 2 and carrying * 2 >= len(filled):
            return pattern
    return None


def without_prefix(line: str) -> str:
    """A single line without what quoting, a container, a pod or syslog put before it."""
    line = _QUOTE.sub("", line)
    for pattern in (_CONTAINER, _SYSLOG_5424, _SYSLOG, _COMPOSE, _POD, _STERN):
        match = pattern.match(line)
        if match is not None:
            line = line[match.end() :]
    return line


def _without_prefixes(
    lines: list[str], name: str | None = None, depth: int = _MAX_PREFIXES
) -> list[tuple[str | None, list[str]]]:
    """(name, lines) of each stream, without the prefixes of all its lines, one after the other."""
    pattern = _common_prefix(lines) if depth else None
    if pattern is None:
        return [(name, without_hard_wraps(lines) if depth < _MAX_PREFIXES else lines)]
    streams: dict[str | None, list[str]] = {}
    own = name
    for line in lines:
        match = pattern.match(line)
        if match is not None:  # a line without it belongs to the one before
            told = match.groupdict()
            own = (told.get("stream") or told.get("app") or name or "").strip() or None
            line = line[match.end() :]
        streams.setdefault(own, []).append(line)
    return [part for told, part_lines in streams.items() for part in _without_prefixes(part_lines, told, depth - 1)]
