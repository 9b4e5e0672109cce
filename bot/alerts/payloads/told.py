"""What a payload or a post tells, before traces are read and services are found; and safe ways into JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.alerts.alert import AlertStatus, Severity

Json = Mapping[str, Any]

MAX_LABELS = 100
MAX_LABEL_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One alert as its system tells it; empty texts where it tells nothing. `rule` is the alerting rule's name, which
    stands for the fault where there is no trace."""

    format: str
    title: str = ""
    text: str = ""  # log text, stack traces, descriptions: everything that is worth reading
    message: str = ""
    error_class: str = ""
    service: str = ""
    environment: str = ""
    severity: str = ""
    status: AlertStatus = "firing"
    rule: str = ""
    logger: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    url: str = ""
    dedup_key: str = ""
    own_files: Mapping[str, bool] = field(default_factory=dict)  # "Pay.java:45" -> own code, where the system knows


def mapping(value: object) -> Json:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[Any]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def objects(value: object) -> Iterator[Json]:
    """The objects of a list."""
    return (item for item in sequence(value) if isinstance(item, Mapping))


def text(value: object) -> str:
    """A text or number as text; anything else gives none."""
    if isinstance(value, bool) or value is None:
        return ""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def at(value: object, *path: str) -> object:
    """What stands under a path of keys; None where there is none."""
    for key in path:
        value = mapping(value).get(key)
    return value


def text_at(value: object, *path: str) -> str:
    """The text under a path of keys; empty where there is none."""
    return text(at(value, *path))


def first(*values: object) -> str:
    """The first text that is not empty."""
    return next((found for value in values if (found := text(value))), "")


def labels_of(*values: object) -> dict[str, str]:
    """Labels from objects, from lists of "key:value", and from lists of pairs; the first of equal names counts."""
    found: dict[str, str] = {}
    for value in values:
        for key, told in _pairs(value):
            if len(found) < MAX_LABELS and told:
                found.setdefault(key, told[:MAX_LABEL_CHARS])
    return found


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield from ((str(key), text(one)) for key, one in value.items())
    elif isinstance(value, str):
        yield from _pairs([part.strip() for part in value.split(",")])
    for item in sequence(value):
        if isinstance(item, str):
            key, separator, told = item.partition(":")
            if separator:
                yield key.strip(), told.strip()
        elif isinstance(item, Mapping):
            name = first(item.get("key"), item.get("name"), item.get("title"))
            if name:
                yield name, text(item.get("value"))
        elif len(pair := sequence(item)) == 2:
            yield text(pair[0]), text(pair[1])


def joined(*parts: object) -> str:
    """Texts on lines of their own, none of them twice."""
    return "\n".join(dict.fromkeys(found for part in parts if (found := text(part))))


_SEVERITIES: tuple[tuple[Severity, re.Pattern[str]], ...] = (
    (
        "critical",
        re.compile(
            r"^(?:critical|crit|fatal|emergency|emerg|panic|p1|p0"
            r"|sev-?[01]|high|disaster|urgent|page|심각|긴급)$",
            re.I,
        ),
    ),
    ("error", re.compile(r"^(?:error|err|severe|major|p2|sev-?2|failure|failed|alert|alarm|오류|에러|장애)$", re.I)),
    ("warning", re.compile(r"^(?:warning|warn|minor|p3|sev-?3|moderate|medium|average|경고|주의)$", re.I)),
    (
        "info",
        re.compile(
            r"^(?:info|information|informational|notice|low|p4|p5"
            r"|sev-?[45]|debug|normal|none|정보)$",
            re.I,
        ),
    ),
)


def severity_of(*told: str) -> Severity:
    """The severity that the first word which names one stands for."""
    for word in told:
        for severity, pattern in _SEVERITIES:
            if pattern.match(word.strip()):
                return severity
    return "unknown"


_RESOLVED = re.compile(
    r"^(?:resolved?|ok|up|recovered|recovery|closed?|normal|fixed|success|inactive|cleared|ended|ignored|archived"
    r"|incident\.resolved?)\b|^(?:완료|해결|복구|정상)",
    re.IGNORECASE,
)


def status_of(*told: str) -> AlertStatus:
    """Whether the first word that is not empty says that a fault is over."""
    word = next((one for one in told if one), "")
    return "resolved" if _RESOLVED.match(word.strip()) else "firing"
