""".NET prints all heads first, outermost first, then the frames of the innermost, of the next one, and so on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.alerts.alert import TraceFrame
from bot.alerts.languages.printed import FindFrames, Printed, thrown

_HEAD = re.compile(
    r"^\s*(?:Unhandled exception\.\s+|Unhandled Exception:\s+|처리되지 않은 예외:\s+)?"
    r"(?P<link>\(?(?:Inner Exception #\d+\) |--->\s*\(?))?"
    r"(?P<class>(?:[A-Z]\w*+\.)++[A-Z]\w*+)(?: \([^)]*\))?: (?P<message>.*)$"
)
FRAME = re.compile(r"^\s*(?:at|에서)\s+[\w.<>`+|\[\],$]+\(.*\)(?:\s+(?:in|위치:|파일)\s+.+)?\s*$")
_INNER_END = re.compile(r"^\s*--- (?:End of inner exception stack trace|내부 예외)")
_END = re.compile(r"^\s*--- (?:End of (?:inner exception )?stack trace|내부 예외|예외가 throw)")
_FRAMEWORK = re.compile(
    r"^\s*(?:at|에서)\s+(?:System|Microsoft|MS|Npgsql|MySql|MySqlConnector|Newtonsoft|MediatR|Dapper|AutoMapper|Polly"
    r"|Grpc|StackExchange|Serilog|Hangfire|MassTransit|Castle|FluentValidation|Swashbuckle|Xunit|NUnit|Autofac|RabbitMQ"
    r"|Confluent|Amazon|Azure|Google|Elastic|OpenTelemetry|lambda_method)\b"
)
_MESSAGE_LINES = 12


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line."""
    heads, here = _heads(lines, at)
    if not heads:
        return None
    groups: list[list[str]] = [[]]
    start = here
    while here < len(lines) and (FRAME.match(lines[here]) or _END.match(lines[here])):
        if _INNER_END.match(lines[here]):
            groups.append([])
        else:
            groups[-1].append(lines[here])
        here += 1
    if here == start:
        return None
    chain = [
        thrown(name, message, _frames(groups[place], find_frames) if place < len(groups) else ())
        for place, (name, message) in enumerate(reversed(heads))
    ]
    return Printed(tuple(reversed(chain)), here, complete=len(groups) >= len(heads))


def _heads(lines: Sequence[str], at: int) -> tuple[list[tuple[str, str]], int]:
    """(class, message) of each exception, outermost first, and the line behind the heads."""
    heads: list[tuple[str, str]] = []
    here = at
    while here < len(lines):
        parts = re.split(r"\s(?=--->\s)", lines[here], maxsplit=8)
        matches = [_HEAD.match(part) for part in parts]
        if matches[0] is None or (heads and not matches[0]["link"]):
            break
        heads += [(match["class"], match["message"]) for match in matches if match]
        here += 1
        while here < len(lines) and not FRAME.match(lines[here]) and not _HEAD.match(lines[here]):
            if not lines[here].strip() or here - at > _MESSAGE_LINES:
                break
            here += 1
    return heads, here


def _frames(lines: Sequence[str], find_frames: FindFrames) -> list[TraceFrame]:
    """Frames whose namespace tells whether they are the company's own: their files do not."""
    found: dict[tuple[str, int | None, str | None], TraceFrame] = {}
    for line in lines:
        for frame in find_frames(line):
            own = frame.in_app and not _FRAMEWORK.match(line)
            found.setdefault((frame.file, frame.line, frame.symbol), replace(frame, in_app=own))
    return list(found.values())
