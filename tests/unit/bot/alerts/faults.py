"""Variants of one fault as they arrive from day to day; tests/fixtures/alerts/faults/README.md has the form of a fault."""

from __future__ import annotations

import html
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

from tests.unit.bot.alerts.samples import FIXTURES

_HOLE = re.compile(r"\{(msg|id|uuid|time|host|pod|ip|thread|addr|n|L(\d+))\}")


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A fault by its text with holes, and its message in two languages."""

    name: str
    text: str
    messages: dict[str, str]


def faults_of(name: str) -> list[FaultKind]:
    """The faults of tests/fixtures/alerts/faults/NAME.txt."""
    return _read(FIXTURES / "faults" / f"{name}.txt")


def _read(path: Path) -> list[FaultKind]:
    found = []
    for part in path.read_text(encoding="utf-8").split("%% fault ")[1:]:
        name, _, rest = part.partition("\n")
        messages = dict(re.findall(r"^%% (en|ko) (.*)$", rest, re.MULTILINE))
        text = "\n".join(line for line in rest.split("\n") if not line.startswith("%% ")).strip("\n")
        found.append(FaultKind(name, text, messages))
    return found


def variants(fault: FaultKind) -> dict[str, str]:
    """Ten occurrences, by what differs in them."""
    plain = _filled(fault, 0)
    return {
        "first": plain,
        "other ids and times": _filled(fault, 1),
        "lines shifted by an edit": _filled(fault, 2, shift=23),
        "another host": "\n".join(f"[pod/shop-5c9b7d6f4-k2k9d/app] {line}" for line in _filled(fault, 3).split("\n")),
        "truncated tail": _truncated(_filled(fault, 4)),
        "another language": _filled(fault, 5, language="ko"),
        "other threads and lambdas": _filled(fault, 6),
        "in a log record": json.dumps(
            {"@timestamp": "2026-03-04T11:00:00Z", "level": "ERROR", "hostname": "shop-7", "message": _filled(fault, 7)}
        ),
        "in a post": f"*Error* in prod\n```\n{_filled(fault, 8, shift=4)}\n```",
        "all of it": _truncated(f"shop (stg) failed again:\n{_filled(fault, 9, shift=117, language='ko')}"),
    }


def other_variants(fault: FaultKind) -> dict[str, str]:
    """Ten more, in other clothes."""
    lines = _filled(fault, 15, shift=1000).split("\n")
    return {
        "first": _filled(fault, 10),
        "through syslog": "\n".join(
            f"Mar  4 10:00:0{n % 10} shop-{n % 3} shop[77]: {line}" for n, line in enumerate(lines)
        ),
        "escaped": json.dumps(_filled(fault, 11))[1:-1],
        "a third is cut off": _truncated(_filled(fault, 12), 2 / 3),
        "one line": " ".join(line.strip() for line in _filled(fault, 13, shift=9).split("\n") if line.strip()),
        "as html": html.escape(_filled(fault, 14, language="ko")),
        "after other lines": f"shop started\nGET / 200\n{_filled(fault, 16, language='ko')}\nGET / 200",
        "Korean heading, cut": _truncated(
            f"[운영] 오류 발생 ({16}건)\n{_filled(fault, 17, shift=-3, language='ko')}", 9 / 10
        ),
        "in a record of its own shape": json.dumps(
            {"ts": 1772413200, "host": "shop-8", "lvl": "error", "log": _filled(fault, 18, shift=2)}
        ),
        "coloured, in quotes": "\n".join(f"> \x1b[31m{line}\x1b[0m" for line in _filled(fault, 19).split("\n")),
    }


def _truncated(text: str, part: float = 4 / 5) -> str:
    """Cut off in the middle of a line, as systems with a limit do; one line is left whole."""
    return text if text.count("\n") < 2 else text[: int(len(text) * part)] + "…"


def _filled(fault: FaultKind, number: int, *, shift: int = 0, language: str = "en") -> str:
    chance = random.Random(f"{fault.name}{number}")
    n = chance.randrange(1, 40) + number
    values = {
        "id": lambda: str(chance.randrange(2, 90_000)),
        "uuid": lambda: "-".join(f"{chance.getrandbits(bits):0{bits // 4}x}" for bits in (32, 16, 16, 16, 48)),
        "time": lambda: f"2026-03-{1 + number:02} {chance.randrange(24):02}:{chance.randrange(60):02}:07.{number}23",
        "host": lambda: f"stock-{chance.randrange(9)}.internal:80{chance.randrange(10, 99)}",
        "pod": lambda: f"shop-{chance.getrandbits(36):09x}-{chance.choice('bcdfg')}2x4z",
        "ip": lambda: f"10.{chance.randrange(256)}.{chance.randrange(256)}.{chance.randrange(256)}",
        "thread": lambda: chance.choice(["nio-8080-exec-{}", "pool-2-thread-{}", "worker-{}"]).format(n),
        "addr": lambda: f"0x{chance.getrandbits(40):x}",
        "n": lambda: str(n),
    }

    def value(match: re.Match[str]) -> str:
        if match[2]:
            return str(int(match[2]) + shift)
        return values[match[1]]()

    return _HOLE.sub(value, fault.text.replace("{msg}", fault.messages[language]))
