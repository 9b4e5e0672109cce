"""Log records as JSON (logstash encoder, ECS, structlog, zap, pino, Serilog), and any other object with a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.alerts.payloads.told import Json, Told, at, first, joined, labels_of, sequence, status_of, text

MAX_TEXTS = 200
_PINO = {"10": "debug", "20": "debug", "30": "info", "40": "warning", "50": "error", "60": "critical"}


def read(payload: Json) -> list[Told] | None:
    """What an object of no known system tells; None when no text at all stands in it."""
    error = payload.get("error") or payload.get("err") or payload.get("exception") or payload.get("exc_info")
    stack = first(
        payload.get("stack_trace"), payload.get("stackTrace"), payload.get("stacktrace"), payload.get("stack"),
        payload.get("exception.stacktrace"), payload.get("error.stack_trace"), payload.get("error.stack"),
        payload.get("traceback"), payload.get("trace"), at(error, "stack_trace"), at(error, "stackTrace"),
        at(error, "stack"), at(error, "stacktrace"), at(error, "traceback"), payload.get("exc_info"),
        payload.get("exception"), payload.get("Exception"), payload.get("log"),
    )  # fmt: skip
    message = first(
        payload.get("message"), payload.get("msg"), payload.get("text"), payload.get("error.message"),
        at(error, "message"), payload.get("description"), payload.get("event"), payload.get("error"),
        payload.get("@m"), payload.get("RenderedMessage"),
    )  # fmt: skip
    level = first(payload.get("level"), payload.get("severity"), payload.get("log.level"), at(payload, "log", "level"),
                  payload.get("priority"), payload.get("@l"))  # fmt: skip
    is_record = bool(first(payload.get("logger_name"), payload.get("logger"), payload.get("log.logger"), payload.get("thread_name")))
    others = list(_texts(payload)) if not (message or stack) else []
    if not (message or stack or others):
        return None
    labels = labels_of(payload.get("labels"), payload.get("tags"), _scalars(payload))
    return [
        Told(
            format="log" if is_record else "json",
            title=first(payload.get("title"), payload.get("summary"), message.split("\n", 1)[0], *others[:1]),
            message=message or first(*others),
            text=joined(payload.get("title"), message, stack, *others),
            error_class=first(
                payload.get("error_class"), payload.get("exception_class"), payload.get("error.type"), at(error, "type"),
                at(error, "class"), at(error, "name"), payload.get("exceptionClass"),
            ),
            service=first(
                payload.get("service"), at(payload, "service", "name"), payload.get("service.name"),
                payload.get("app"), payload.get("application"), payload.get("appName"), payload.get("app_name"),
            ),
            environment=first(
                payload.get("environment"), payload.get("env"), payload.get("service.environment"),
                at(payload, "service", "environment"), payload.get("profile"), payload.get("stage"),
            ),
            severity=_PINO.get(level, level),
            status=status_of(first(payload.get("status"), payload.get("state"))),
            rule=first(payload.get("rule"), payload.get("alert"), payload.get("alertname")),
            logger=first(payload.get("logger_name"), payload.get("logger"), payload.get("log.logger")),
            labels=labels,
            revision=first(payload.get("revision"), payload.get("commit"), payload.get("git_commit"), payload.get("release"),
                           payload.get("version")),
            url=first(payload.get("url"), payload.get("link")),
            dedup_key=first(payload.get("dedup_key"), payload.get("fingerprint")),
        )
    ]  # fmt: skip


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
