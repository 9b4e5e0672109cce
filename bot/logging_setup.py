"""Logging: lines for people on standard error, JSON lines in the data folder, secrets masked in both.

Every line carries what is bound in structlog's context, so one delivery id runs from the delivery to the reply.
Tracebacks go to the file alone.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from knowledge.masking import mask

LOG_NAME = "haechi.log"
LOG_MAX_BYTES = 10 * 1024 * 1024
LOG_KEPT = 3

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_NOISY = ("chromadb", "httpx", "httpcore", "urllib3", "asyncio", "uvicorn", "opentelemetry", "posthog")


def configure_console(level: str, *, tracebacks: bool = False) -> None:
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
    renderer = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback, pad_event_to=28
    )
    steps: list[structlog.typing.Processor] = [_mask_values, _name_error if not tracebacks else _keep, renderer]
    console.setFormatter(_formatter(steps))
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.addHandler(console)
    root.setLevel(level.upper())
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING if level != "debug" else logging.DEBUG)


def add_log_file(folder: Path) -> logging.Handler:
    """Writes log lines of level info and above to a file in the data folder too, rotated by size."""
    handler = logging.handlers.RotatingFileHandler(
        folder / LOG_NAME, maxBytes=LOG_MAX_BYTES, backupCount=LOG_KEPT, encoding="utf-8", delay=True
    )
    handler.setLevel(logging.INFO)
    handler.setFormatter(
        _formatter(
            [
                structlog.processors.format_exc_info,
                _mask_values,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ]
        )
    )
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


def _mask_values(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Masks every text of a log line; ids and levels have nothing to mask and stay as they are."""
    for key, value in event.items():
        if isinstance(value, str) and key not in ("timestamp", "level", "logger"):
            event[key] = mask(value)
    return event


def _name_error(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """In place of a traceback, the class and the text of the error: the traceback is for the file."""
    found = event.pop("exc_info", None)
    error = found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException):
        event["error"] = f"{type(error).__name__}: {error}"
    return event


def _keep(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return event
