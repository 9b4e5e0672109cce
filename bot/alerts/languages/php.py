"""PHP prints the cause first and `Next` what it led to; the last one printed is the outermost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.alerts.alert import Thrown, TraceFrame
from bot.alerts.languages.printed import FindFrames, Printed, next_filled, run_of, thrown

_CLASS = r"\\?(?:[A-Z]\w*+\\)*+[A-Z]\w*"
_HEAD = re.compile(
    rf"(?:PHP )?(?:Fatal error|Warning|Notice|Parse error|Recoverable fatal error):\s+(?:Uncaught (?:exception ')?)?"
    rf"(?:(?P<class>{_CLASS}(?:Error|Exception|Throwable|NotFound)|(?<=Uncaught ){_CLASS})'?(?:: | with message '))?"
    r"(?P<message>.*?)'? in (?P<place>\S+\.(?:php|phtml|inc)(?::\d+| on line \d+))\s*$"
)
_LOGGED_OBJECT = re.compile(
    rf"\[object\] \((?P<class>{_CLASS})\(code: [^)]{{0,20}}\): (?P<message>.*?) at (?P<place>\S+\.php:\d+)\)"
)
_LOGGED = re.compile(
    rf"(?P<class>{_CLASS}(?:Error|Exception))(?:\(code: \d+\))?: (?P<message>.*?) "
    r"(?:in|at) (?P<place>\S+\.php:\d+)\)?(?:\"\}.*)?\s*$"
)
_OPENING = re.compile(r"^(?:\[[^\]]{1,60}\] )?(?:PHP )?(?:Fatal error|Warning|Notice):\s")
_ENDINGS = (".php", ".phtml", ".inc")
_NEXT = re.compile(rf"^Next (?P<class>{_CLASS}): (?P<message>.*) in (?P<place>\S+\.php:\d+)\s*$")
FRAME = re.compile(r"^\s*#\d+\s|^\[?stacktrace\]?\s*$|^Stack trace:|^\s*thrown in ", re.IGNORECASE)
_CALL = re.compile(
    r"^\s*#\d+ (?P<place>\S+\(\d+\)|\[internal function\]|\{main\})(?:: (?P<call>[\w\\{}]+(?:(?:->|::)[\w\\{}]+)?))?"
)


def read(lines: Sequence[str], at: int, find_frames: FindFrames) -> Printed | None:
    """A chain that begins at this line."""
    match, here = _head(lines, at)
    if match is None:
        return None
    printed: list[Thrown] = []
    while match is not None:
        end = run_of(lines, here + 1, FRAME, gaps=1)
        end = next((number for number in range(here + 1, end) if _NEXT.match(lines[number])), end)
        name = (match["class"] or "PHP error").lstrip("\\")
        printed.append(
            thrown(
                name, match["message"].replace('\\"', '"'), _frames(match["place"], lines[here + 1 : end], find_frames)
            )
        )
        here = end
        following = next_filled(lines, here)
        match = _NEXT.match(lines[following]) if following is not None else None
        here = following if match is not None and following is not None else here
    return Printed(tuple(reversed(printed)), here)


def _head(lines: Sequence[str], at: int) -> tuple[re.Match[str] | None, int]:
    """The head and its last line: a long one is wrapped before it comes to its place."""
    if any(ending in lines[at] for ending in _ENDINGS):
        line = lines[at]
        return _HEAD.search(line) or _LOGGED_OBJECT.search(line) or _LOGGED.search(line), at
    if _OPENING.match(lines[at]) and at + 1 < len(lines) and any(ending in lines[at + 1] for ending in _ENDINGS):
        whole = (f"{lines[at].rstrip()}{between}{lines[at + 1].lstrip()}" for between in (" ", ""))
        return next((match for line in whole if (match := _HEAD.search(line))), None), at + 1
    return None, at


def _frames(place: str, lines: Sequence[str], find_frames: FindFrames) -> list[TraceFrame]:
    """Places with the function that they stand in, which PHP prints on the line below: what was called there."""
    places = [*find_frames(f"in {place}")[:1]]
    symbols: list[str | None] = []
    for line in lines:
        call = _CALL.match(line)
        if call is None:
            continue
        symbols.append(_symbol(call["call"]))
        found = find_frames(line)
        if found:
            places.append(found[0])
        elif call["place"] != "{main}":
            symbols.pop()  # an internal function calls back: the place is unknown
    symbols += [None] * len(places)
    named: dict[tuple[str, int | None], TraceFrame] = {}
    for frame, symbol in zip(places, symbols, strict=False):
        # The place of an internal function, or of a handler, is that of the function which called it.
        before = named.get((frame.file, frame.line))
        named[(frame.file, frame.line)] = replace(frame, symbol=symbol or (before.symbol if before else None))
    return list(named.values())


def _symbol(call: str | None) -> str | None:
    """App\\Order->pay as Order.pay."""
    if not call or "{closure" in call or call in ("require", "include", "require_once", "include_once"):
        return None
    return re.sub(r"->|::", ".", call.rpartition("\\")[2])
