""".NET prints all heads first, outermost first, then the frames of the innermost, of the next one, and so on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.alerts.alert import Thrown, TraceFrame
from bot.alerts.languages.printed import FindFrames, Printed, thrown

_HEAD = re.compile(
    r"^\s*(?:\[ERR(?:OR)?\] |Unhandled exception\.\s+|Unhandled Exception:\s+|처리되지 않은 예외:\s+)?"
    r"(?P<link>\(?(?:Inner Exception #\d+\) |--->\s*(?:\(Inner Exception #(?P<number>\d+)\) )?))?"
    r"(?P<class>(?:[A-Za-z_]\w*+\.)++[A-Z]\w*+(?:`\d+)?(?:\+\w+)?)(?: \([^)]*\))?: ?(?P<message>.*)$"
)
_INLINE_HEAD = re.compile(r"(?<![\w.])(?P<class>(?:[A-Z]\w*+\.)++[A-Z]\w*+)(?: \([^)]*\))?: (?P<message>.*)$")
FRAME = re.compile(
    r"^\s*(?:at|에서|위치:)\s+[\w.<>`+|\[\],$]+"
    r"\((?![\w$-]+\.(?:java|kts?|scala|groovy)\b|Unknown Source\)|Native Method\))"
    r".*\)(?:\s+(?:in|위치:|파일)\s+.+)?\s*$"
)
_INNER_END = re.compile(r"^\s*--- (?:End of inner exception stack trace|내부 예외)")
_END = re.compile(r"^\s*--- (?:End of (?:inner exception )?stack trace|내부 예외|예외가 throw)")
_FRAMEWORK = re.compile(
    r"^\s*(?:at|에서|위치:)\s+(?:System|Microsoft|MS|Npgsql|MySql|MySqlConnector|Newtonsoft|MediatR|Dapper|AutoMapper|Polly"
    r"|Grpc|StackExchange|Serilog|Hangfire|MassTransit|Castle|FluentValidation|Swashbuckle|Xunit|NUnit|Autofac|RabbitMQ"
    r"|Confluent|Amazon|Azure|Google|Elastic|OpenTelemetry|Quartz|NLog|RestSharp|Oracle|MongoDB|Refit|lambda_method)\w*\b"
)
_MESSAGE_LINES = 12


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line; the further members of an aggregate are traces too."""
    heads, here = _heads(lines, at)
    if not heads:
        return _headless(lines, at, find_frames)
    groups, end = _groups(lines, here, find_frames)
    if end == here:
        return None
    chain = [
        thrown(name, message, groups[place] if place < len(groups) else ())
        for place, (name, message) in enumerate(reversed(heads))
    ]
    others: list[tuple[Thrown, ...]] = []
    while end < len(lines) and (head := _HEAD.match(lines[end])) is not None and head["number"]:
        members, here = _heads(lines, end)
        inner, end = _groups(lines, here, find_frames)
        one = [
            thrown(name, message, inner[place] if place < len(inner) else ())
            for place, (name, message) in enumerate(reversed(members))
        ]
        if head["number"] != "0":  # the first one was printed as the cause
            others.append(tuple(reversed(one)))
    return Printed(tuple(reversed(chain)), end, complete=len(groups) >= len(heads), others=tuple(others))


def _headless(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """Frames whose head stands at the end of the line before, or was cut off."""
    if not FRAME.match(lines[at]):
        return None
    groups, end = _groups(lines, at, find_frames)
    frames = [frame for group in groups for frame in group]
    head = _INLINE_HEAD.search(lines[at - 1].rstrip()) if at else None
    if not frames or (head is None and end - at < 2):
        return None
    one = thrown(head["class"], head["message"], frames) if head else thrown("", "", frames)
    return Printed((one,), end, complete=head is not None)


def _heads(lines: Sequence[str], at: int) -> tuple[list[tuple[str, str]], int]:
    """(class, message) of each exception, outermost first, and the line behind the heads."""
    heads: list[tuple[str, str]] = []
    here = at
    while here < len(lines):
        parts = re.split(r"\s(?=--->\s)", lines[here].lstrip(), maxsplit=8)
        matches = [_HEAD.match(part) for part in parts]
        if matches[0] is None or (heads and not matches[0]["link"]):
            break
        heads += [(match["class"], match["message"]) for match in matches if match]
        here += 1
        while here < len(lines) and not any(kind.match(lines[here]) for kind in (FRAME, _HEAD, _END)):
            if not lines[here].strip() or here - at > _MESSAGE_LINES:
                break
            heads[-1] = (heads[-1][0], f"{heads[-1][1]}\n{lines[here].strip()}")
            here += 1
    return heads, here


def _groups(lines: Sequence[str], at: int, find_frames: FindFrames) -> tuple[list[list[TraceFrame]], int]:
    """The frames of each exception, innermost first, and the line behind them."""
    groups: list[list[str]] = [[]]
    here = at
    while here < len(lines) and (FRAME.match(lines[here]) or _END.match(lines[here])):
        if _INNER_END.match(lines[here]):
            groups.append([])
        else:
            groups[-1].append(lines[here])
        here += 1
    return [_frames(group, find_frames) for group in groups], here


def _frames(lines: Sequence[str], find_frames: FindFrames) -> list[TraceFrame]:
    """Frames whose namespace tells whether they are the company's own: their files do not."""
    found: dict[tuple[str, int | None, str | None], TraceFrame] = {}
    for line in lines:
        for frame in find_frames(line):
            own = frame.in_app and not _FRAMEWORK.match(line)
            found.setdefault((frame.file, frame.line, frame.symbol), replace(frame, in_app=own))
    return list(found.values())
