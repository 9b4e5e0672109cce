"""What an alert says, read out of a payload or a post; everything in it is masked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

AlertStatus = Literal["firing", "resolved"]
Severity = Literal["critical", "error", "warning", "info", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFrame:
    """One call of a stack trace; `in_app` is false for the runtime, frameworks and installed packages."""

    file: str  # the end of a path, or a file name
    line: int | None  # from 1
    symbol: str | None
    in_app: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Thrown:
    """One exception of a chain."""

    error_class: str
    message: str
    frames: tuple[TraceFrame, ...]  # innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A stack trace with its causes: the outermost exception first, the root cause last."""

    language: str
    thrown: tuple[Thrown, ...]
    is_truncated: bool
    thread: str | None = None

    @property
    def root(self) -> Thrown:
        return self.thrown[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One fault as one alerting system told it.

    `fingerprint` is equal for the same fault whatever its ids, lines, hosts and times; `sequence` is what it is made
    of, in printed order, so that a trace that was cut off can be compared with a whole one.
    """

    format: str  # "alertmanager", "sentry", "trace" ...
    service: str | None
    environment: str | None
    severity: Severity
    status: AlertStatus
    title: str
    error_class: str | None
    message: str
    traces: tuple[Trace, ...]
    fingerprint: str
    sequence: tuple[str, ...]
    is_truncated: bool
    raw: str  # the masked text, as it was read
    posted_at: datetime
    labels: Mapping[str, str] = field(default_factory=dict)
    revision: str | None = None  # the deployed commit or version, where the alert says it
    url: str | None = None  # the alert in its own system
    dedup_key: str | None = None  # the system's own id of the fault, which its "resolved" repeats

    @property
    def frames(self) -> tuple[TraceFrame, ...]:
        """Frames of all traces, each root cause first, innermost first, without repetition."""
        found: dict[tuple[str, int | None, str | None], TraceFrame] = {}
        for trace in self.traces:
            for thrown in reversed(trace.thrown):
                for frame in thrown.frames:
                    found.setdefault((frame.file, frame.line, frame.symbol), frame)
        return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """One deployment, as POST /deploys told it."""

    service: str
    environment: str | None
    revision: str  # the commit
    repository: str | None
    deployed_at: datetime
