"""Log records as JSON (logstash encoder, ECS, structlog, zap, pino, Serilog), and any other object with a message.

Keys are compared without case. What an object does not tell itself, the objects within it may tell, outer ones first.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice

from bot.alerts.alert import AlertStatus
from bot.alerts.log_line import find_log_line
from bot.alerts.payloads.told import Json, Told, at, first, joined, labels_of, mapping, sequence, status_of, text

MAX_TEXTS = 200
MAX_OBJECTS = 60
_STACK = ("stack_trace", "stacktrace", "stack", "exception.stacktrace", "error.stack_trace", "error.stack", "traceback")
_STACK_TOO = ("trace", "exc_info", "exception", "log", "@x")
_MESSAGE = ("message", "msg", "text", "error.message")
_MESSAGE_TOO = ("description", "event", "error", "@m", "renderedmessage", "summary", "output", "details", "reason")
_TITLE = ("title", "summary", "subject", "alert_name", "alertname", "name")
_LEVEL = ("level", "lvl", "severity", "log.level", "@l", "priority", "urgency", "criticality", "state", "status")
_LOGGER = ("logger_name", "logger", "log.logger")
_CLASS = ("error_class", "exception_class", "error.type", "exceptionclass")
_SERVICE = ("service", "service.name", "service_name", "app", "application", "appname", "app_name")
_ENVIRONMENT = ("environment", "env", "service.environment", "profile", "stage")
_RULE = ("alertrule", "rule_name", "rulename", "policy_name", "monitor_name", "alertname", "alert_name")
_WORDS = re.compile(r"[^\W\d_]{3}")
_RELEASE = re.compile(r"v?\d+\.\d+\.\d+|[0-9a-f]{7,40}$|\d{8}")
_PINO = {"10": "debug", "20": "debug", "30": "info", "40": "warning", "50": "error", "60": "critical"}


def read(payload: Json) -> list[Told] | None:
    """What an object of no known system tells; None when no text at all stands in it."""
    within = [*_objects(payload)]
    outer = within[0]
    error = next((v for k in ("error", "err", "exception", "exc_info") if isinstance(v := outer.get(k), Mapping)), {})
    stack = first(
        _told(outer, _STACK), _told(_lower(error), _STACK), _told(outer, _STACK_TOO), _any(within[1:], _STACK)
    )
    message = _message(outer, error, within) or stack.split("\n", 1)[0]
    logged = find_log_line(message.split("\n", 1)[:1])
    if logged is not None:
        message = "\n".join([logged.message, *message.split("\n")[1:]])
    title = first(_told(outer, _TITLE[:-1]), message.split("\n", 1)[0])
    others = [one for one in _texts(payload) if _WORDS.search(one)] if not (message or stack) else []
    about = _about(outer)
    if not (message or stack or others):
        return None
    service = outer.get("service")
    return [
        Told(
            format="log" if _told(outer, (*_LOGGER, "thread_name")) else "json",
            title=title or first(*others),
            message=message or first(*others),
            text=joined(outer.get("title"), "" if stack.startswith(message) else message, stack, *others),
            error_class=first(_told(outer, _CLASS), *(at(error, key) for key in ("type", "class", "name"))),
            service=first(at(service, "name"), _told(outer, _SERVICE), _any(within[1:], _SERVICE), _entity(outer)),
            environment=first(at(service, "environment"), _told(outer, _ENVIRONMENT), _any(within[1:], _ENVIRONMENT)),
            severity=_level(outer, within) or (logged.level if logged else ""),
            status=_status(outer),
            rule=first(_told(outer, ("rule", "alert", "alertname")), at(outer, "rule", "name"), _any(about, _RULE)),
            logger=first(_told(outer, _LOGGER), logged.logger if logged else ""),
            labels=labels_of(payload.get("labels"), payload.get("tags"), _scalars(payload)),
            revision=_told(outer, ("revision", "commit", "git_commit", "release")),
            url=_told(outer, ("url", "link", "issueurl")),
            dedup_key=first(
                _told(outer, ("dedup_key", "fingerprint")), _any(about, ("incident_id", "alertid", "alert_id"))
            ),
        )
    ]


def _level(outer: Json, within: list[Json]) -> str:
    """The first level that is told by a word; numbers are levels in records of pino alone."""
    is_pino = "msg" in outer and ("time" in outer or "pid" in outer)
    told = (
        *(outer.get(key) for key in _LEVEL),
        at(outer, "log", "level"),
        *(one.get(k) for one in within for k in _LEVEL),
    )
    for level in map(text, told):
        if level and (is_pino or not level.isdigit()):
            return _PINO.get(level, "") if level.isdigit() else level
    return ""


def _message(outer: Json, error: Json, within: list[Json]) -> str:
    """What went wrong, in words; ids and names only where nothing else is told."""
    return first(
        _told(outer, _MESSAGE),
        at(error, "message"),
        _told(outer, ("title",)),
        _told(outer, _MESSAGE_TOO) if len(within) == 1 or ("event" in outer and "level" in outer) else "",
        _any(within[1:], (*_MESSAGE, "title", *_MESSAGE_TOO)),
        _told(outer, _MESSAGE_TOO),
        _told(outer, _TITLE),
    )


def _status(outer: Json) -> AlertStatus:
    """By the state that is told; Uptime Kuma tells it by a number."""
    told = first(
        *(one.get(key) for one in _about(outer) for key in ("monitorcondition", "actiongroup", "state", "status"))
    )
    beat = mapping(outer.get("heartbeat"))
    if "monitor" in outer and "status" in beat:
        return "resolved" if text(beat.get("status")) == "1" else "firing"
    return status_of(_told(outer, ("status", "state", "event_action")), told, _told(outer, ("action",)))


def _about(outer: Json) -> list[Json]:
    """The objects in which monitors of clouds tell of the incident itself."""
    found = [mapping(outer.get(key)) for key in ("incident", "alert", "data", "issue")]
    found.append(mapping(at(outer, "data", "essentials")))
    return [_lower(one) for one in found if one]


def _entity(outer: Json) -> str:
    """The one thing that is said to be concerned."""
    concerned = sequence(outer.get("impactedentities"))
    return text(concerned[0]) if len(concerned) == 1 else ""


def _told(given: Json, keys: tuple[str, ...]) -> str:
    """The first text that stands under one of `keys`; empty where there is none."""
    return first(*(given.get(key) for key in keys))


def _any(within: list[Json], keys: tuple[str, ...]) -> str:
    """The same for several objects."""
    return next((found for one in within if (found := _told(one, keys))), "")


def _lower(given: Json) -> Json:
    return {str(key).casefold(): value for key, value in given.items()}


def _objects(payload: Json) -> Iterator[Json]:
    """The object and those within it, the outer ones first, their keys in small letters."""
    waiting: deque[object] = deque([payload])
    for _ in range(MAX_OBJECTS):
        if not waiting:
            return
        value = waiting.popleft()
        if isinstance(value, Mapping):
            yield _lower(value)
        inner = value.values() if isinstance(value, Mapping) else sequence(value)
        waiting += [one for one in islice(inner, MAX_OBJECTS) if isinstance(one, Mapping | list)]


def _scalars(payload: Json) -> dict[str, str]:
    """Plain values as labels; "version" is that of the format as often as that of the service."""
    plain = ((str(key), text(value)) for key, value in payload.items())
    return {key: one for key, one in plain if one and len(one) <= 200 and (key != "version" or _RELEASE.match(one))}


def _texts(payload: Json) -> Iterator[str]:
    """The texts of an object, outermost first, without walking deep into hostile ones."""
    waiting: deque[object] = deque([payload])
    for _ in range(MAX_TEXTS):
        if not waiting:
            return
        value = waiting.popleft()
        if isinstance(value, str) and value.strip():
            yield value
        elif isinstance(value, Mapping):
            waiting += list(value.values())[:MAX_TEXTS]
        else:
            waiting += list(sequence(value))[:MAX_TEXTS]
