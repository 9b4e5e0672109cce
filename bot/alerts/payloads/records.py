"""Log records as JSON (logstash encoder, ECS, structlog, zap, pino, Serilog), and any other object with a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.alerts.payloads.told import Json, Told, at, first, joined, labels_of, sequence, status_of, text

MAX_TEXTS = 200
_STACK = (
    "stack_trace", "stackTrace", "stacktrace", "stack", "exception.stacktrace", "error.stack_trace", "error.stack",
    "traceback", "trace", "exc_info", "exception", "Exception", "log",
)  # fmt: skip
_STACK_OF_ERROR = ("stack_trace", "stackTrace", "stack", "stacktrace", "traceback")
_MESSAGE = ("message", "msg", "text", "error.message", "description", "event", "error", "@m", "RenderedMessage")
_LEVEL = ("level", "severity", "log.level")
_LOGGER = ("logger_name", "logger", "log.logger")
_CLASS = ("error_class", "exception_class", "error.type")
_CLASS_TOO = ("exceptionClass",)
_SERVICE = ("service.name", "app", "application", "appName", "app_name")
_ENVIRONMENT = ("environment", "env", "service.environment")
_PINO = {"10": "debug", "20": "debug", "30": "info", "40": "warning", "50": "error", "60": "critical"}


def read(payload: Json) -> list[Told] | None:
    """What an object of no known system tells; None when no text at all stands in it."""
    error = payload.get("error") or payload.get("err") or payload.get("exception") or payload.get("exc_info")
    stack = _told(payload, _STACK[:9]) or _told(error, _STACK_OF_ERROR) or _told(payload, _STACK[9:])
    message = _told(payload, _MESSAGE[:4]) or first(at(error, "message")) or _told(payload, _MESSAGE[4:])
    level = _told(payload, _LEVEL) or first(at(payload, "log", "level"), payload.get("priority"), payload.get("@l"))
    others = list(_texts(payload)) if not (message or stack) else []
    if not (message or stack or others):
        return None
    return [
        Told(
            format="log" if _told(payload, (*_LOGGER, "thread_name")) else "json",
            title=first(payload.get("title"), payload.get("summary"), message.split("\n", 1)[0], *others[:1]),
            message=message or first(*others),
            text=joined(payload.get("title"), message, stack, *others),
            error_class=_told(payload, _CLASS) or _told(error, ("type", "class", "name")) or _told(payload, _CLASS_TOO),
            service=first(payload.get("service"), at(payload, "service", "name")) or _told(payload, _SERVICE),
            environment=_told(payload, _ENVIRONMENT)
            or first(at(payload, "service", "environment"), payload.get("profile"), payload.get("stage")),
            severity=_PINO.get(level, level),
            status=status_of(first(payload.get("status"), payload.get("state"))),
            rule=_told(payload, ("rule", "alert", "alertname")),
            logger=_told(payload, _LOGGER),
            labels=labels_of(payload.get("labels"), payload.get("tags"), _scalars(payload)),
            revision=_told(payload, ("revision", "commit", "git_commit", "release", "version")),
            url=_told(payload, ("url", "link")),
            dedup_key=_told(payload, ("dedup_key", "fingerprint")),
        )
    ]


def _told(given: object, keys: tuple[str, ...]) -> str:
    """The first text that stands under one of `keys`; empty where there is none."""
    return first(*(at(given, key) for key in keys))


def _scalars(payload: Json) -> dict[str, str]:
    return {str(key): one for key, value in payload.items() if (one := text(value)) and len(one) <= 200}


def _texts(payload: Json) -> Iterator[str]:
    """The texts of an object, outermost first, without walking deep into hostile ones."""
    waiting: list[object] = [payload]
    for _ in range(MAX_TEXTS):
        if not waiting:
            return
        value = waiting.pop(0)
        if isinstance(value, str) and value.strip():
            yield value
        elif isinstance(value, Mapping):
            waiting += list(value.values())[:MAX_TEXTS]
        else:
            waiting += list(sequence(value))[:MAX_TEXTS]
