"""Logging: lines for people, or JSON lines, on standard error; JSON lines in the data folder; secrets masked in all.

Every line carries what is bound in structlog's context, so one delivery id runs from the delivery to the reply.
Tracebacks go where JSON lines go, and to a person's screen only with --debug.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Literal

import structlog

from knowledge.masking import mask

LOG_NAME = "haechi.log"
LOG_MAX_BYTES = 10 * 1024 * 1024
LOG_KEPT = 3
SHORTEST_SECRET_CHARS = 6
HIDDEN = "[masked:secret]"

LogFormat = Literal["text", "json"]

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_NOISY = ("chromadb", "httpx", "httpcore", "urllib3", "asyncio", "uvicorn", "opentelemetry", "posthog")
_OWN_KEYS = ("timestamp", "level", "logger", "delivery", "trace", "error_id")  # made by us; nothing to mask in them
_hidden: list[str] = []  # the values of configured secrets, longest first


def configure_console(level: str, *, tracebacks: bool = False, form: LogFormat = "text") -> None:
    """Sends log lines of `level` and above to standard error; replaces what was configured before."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    console = logging.StreamHandler(sys.stderr)
    console.setLevel(level.upper())
    console.setFormatter(_formatter(_json_steps() if form == "json" else _text_steps(tracebacks=tracebacks)))
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.addHandler(console)
    root.setLevel(level.upper())
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING if level != "debug" else logging.DEBUG)


def hide(secrets: Iterable[str]) -> None:
    """From now on no log line holds one of these texts, whatever its form: what is configured as a secret."""
    known = {*_hidden, *(text for text in secrets if len(text) >= SHORTEST_SECRET_CHARS)}
    _hidden[:] = sorted(known, key=len, reverse=True)


def announcer(form: LogFormat) -> Callable[[str], None]:
    """Shows what `haechi run` says to whoever started it: on standard output, or as log lines where those are JSON."""
    if form == "json":
        log = structlog.get_logger(__name__)
        return lambda line: log.info(line)
    return lambda line: print(line, flush=True)


def add_log_file(folder: Path) -> logging.Handler:
    """Writes log lines of level info and above to a file in the data folder too, rotated by size."""
    handler = logging.handlers.RotatingFileHandler(
        folder / LOG_NAME, maxBytes=LOG_MAX_BYTES, backupCount=LOG_KEPT, encoding="utf-8", delay=True
    )
    handler.setLevel(logging.INFO)
    handler.setFormatter(_formatter(_json_steps()))
    root = logging.getLogger()
    root.addHandler(handler)
    if root.level > logging.INFO or root.level == logging.NOTSET:
        root.setLevel(logging.INFO)
    return handler


def remove_log_file(handler: logging.Handler) -> None:
    """Ends what `add_log_file` began."""
    logging.getLogger().removeHandler(handler)
    handler.close()


def _formatter(steps: list[structlog.typing.Processor]) -> structlog.stdlib.ProcessorFormatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *steps],
    )


def _json_steps() -> list[structlog.typing.Processor]:
    return [
        structlog.processors.format_exc_info,
        _mask_values,
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    ]


def _text_steps(*, tracebacks: bool) -> list[structlog.typing.Processor]:
    renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=28)
    return [structlog.processors.format_exc_info if tracebacks else _name_error, _mask_values, renderer]


def _mask_values(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Masks every text of a log line, those in lists and tables too."""
    for key, value in event.items():
        event[key] = _without_configured(value) if key in _OWN_KEYS else _masked(value)
    return event


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask(_without_configured(value))
    if isinstance(value, Mapping):
        return {_masked(key): _masked(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_masked(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return mask(_without_configured(str(value)))


def _without_configured(value: Any) -> Any:
    if isinstance(value, str):
        for secret in _hidden:
            value = value.replace(secret, HIDDEN)
    return value


def _name_error(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """In place of a traceback, the class and the text of the error: the traceback is for the file."""
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()
    error = found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException):
        event["error"] = f"{type(error).__name__}: {error}"
    return event
