"""Log text as it was before chat, JSON and log collectors wrapped it: the lines of each stream by themselves.

What is undone: JSON escapes, HTML entities, colour codes, quoting, code fences, prefixes that every line carries
(time stamps, container and thread names), lines that a chat wrapped, and streams that took turns line by line.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_LINES = 20_000
MAX_LINE_CHARS = 2_000  # keeps the time of patterns that look ahead in a line within bounds

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ESCAPED_BREAK = re.compile(r"(?<!\\)\\(?:r\\)?n(?=\\?t|\s|[A-Z\"#]|at |File |Caused|\\?$)")
_FENCE = re.compile(r"^\s*`{3,}\w*\s*$")
_QUOTE = re.compile(r"^(?:>|&gt;) ?")
# 2024-05-01T12:00:00.123456789Z stdout F ..., 2024/05/01 12:00:00 ..., [12:00:00] ..., and for syslog May  1 ...
_TIME = r"\[?(?:\d{4}[-/.]\d{2}[-/.]\d{2}[T ])?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|\s?[+-]\d{2}:?\d{2}|\sUTC|\sKST)?\]?"
_SYSLOG = re.compile(r"^[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2} \S+ (?P<stream>[\w./-]+(?:\[\d+\])?): ")
_CONTAINER = re.compile(rf"^(?:{_TIME}\s+)?(?:stdout|stderr) [FP] ")
_COMPOSE = re.compile(r"^(?P<stream>[A-Za-z][\w.-]*[\w])\s*\| ?")
_POD = re.compile(r"^\[(?P<stream>(?:pod/)?[\w./-]+-[a-z0-9]{5,10}(?:[ /][\w.-]+)?)\] ")
_ANDROID = re.compile(
    r"^(?:\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+\s+\d+\s+\d+\s+)?"
    r"[VDIWEF][ /](?P<stream>[\w.$ -]{1,40}?)(?:\(\s*\d+\))?\s*: "
)
_THREAD = re.compile(
    rf"^(?:{_TIME}\s+)?\[(?P<stream>[\w.$#:@ -]+-\d+[\w.#-]*)\]\s"
    r"(?=\s*(?:at |Caused by|\.\.\. |[\w.$]+(?:Exception|Error)))"
)
_PREFIXES = (_SYSLOG, _COMPOSE, _POD, _ANDROID, _THREAD)
_UNFINISHED = re.compile(r"^\s*at [\w.$<>/@-]+(?:\([\w$.-]*(?::\d*)?)?$|^\s*File \"[^\"\n]*$")
_FRAME_START = re.compile(r"^\s*(?:at\s|File \"|#\d+\s|\.\.\. \d+|Caused by|from\s+\S+:\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The lines of one source: a container, a process or a thread; `name` is None where no line names one."""

    name: str | None
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def read_streams(text: str) -> list[Stream]:
    """The streams of a post or a payload's text, in order of their first line. Empty text gives none."""
    lines = [_QUOTE.sub("", line) for line in _unwrapped(text).splitlines()[:MAX_LINES] if not _FENCE.match(line)]
    streams: dict[str | None, list[str]] = {}
    last: str | None = None
    prefix = _common_prefix(lines)
    for line in lines:
        line = _CONTAINER.sub("", line, count=1)
        match = prefix.match(line) if prefix is not None else None
        if match is not None:
            last = match["stream"].strip()
            line = line[match.end() :]
        streams.setdefault(last if prefix is not None else None, []).append(line)
    joined = {name: _join_wrapped(own) for name, own in streams.items()}
    joined = {name: [line[:MAX_LINE_CHARS] for line in own] for name, own in joined.items()}
    return [Stream(name=name, lines=tuple(own)) for name, own in joined.items() if any(line.strip() for line in own)]


def _unwrapped(text: str) -> str:
    text = _COLOUR.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).replace("\u2028", "\n").replace("\xa0", " ")
    if text.count("\n") < 3 and (text.count("\\n") >= 2 or "\\n\\tat " in text or '\\n  File \\"' in text):
        text = _unescaped(text)
    if "&lt;" in text or "&gt;" in text or "&amp;" in text or "&quot;" in text:
        text = html.unescape(text)
    return text


def _unescaped(text: str) -> str:
    """`text` with JSON escapes undone, twice where it was escaped twice."""
    for _ in range(2):
        if "\\n" not in text:
            break
        try:
            text = str(json.loads(f'"{text}"'))
        except ValueError:
            text = _ESCAPED_BREAK.sub("\n", text).replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
    return text


def _common_prefix(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The kind of prefix that most lines carry; a single line that looks like one is part of the text."""
    filled = [line for line in lines if line.strip()]
    for pattern in _PREFIXES:
        carrying = sum(pattern.match(_CONTAINER.sub("", line, count=1)) is not None for line in filled)
        if carrying >= 2 and carrying * 2 >= len(filled):
            return pattern
    return None


def _join_wrapped(lines: Sequence[str]) -> list[str]:
    """Lines with the ends of frames joined that a fixed width cut off."""
    joined: list[str] = []
    for line in lines:
        if joined and line.strip() and _UNFINISHED.match(joined[-1]) and not _FRAME_START.match(line):
            joined[-1] += line.strip()
        else:
            joined.append(line)
    return joined
