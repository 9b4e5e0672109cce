"""Value objects of the error memory: what is remembered of an analysis, and what is recalled for a fault."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

CaseState = Literal["valid", "wrong", "replaced"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedText:
    """One piece of evidence of a case: where it stood, what it said, and the hash of that."""

    source: str
    uri: str
    revision: str
    start_line: int | None
    end_line: int | None
    symbol: str | None
    text: str
    text_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCase:
    """What is to be remembered of one analysis."""

    service: str
    error_class: str
    fingerprint: str
    message: str
    summary: str
    cause: str
    fix: str
    cited: tuple[CitedText, ...]
    origin: str
    url: str | None = None
    is_correction: bool = False
    sources: tuple[str, ...] = ()  # besides those of `cited`: where the words of a person may stem from


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCase:
    """A remembered case. `is_stale`: code that it cites has changed since."""

    number: int
    service: str
    error_class: str
    fingerprint: str
    message: str
    summary: str
    cause: str
    fix: str
    cited: tuple[CitedText, ...]
    sources: tuple[str, ...]
    origin: str
    url: str | None
    is_correction: bool
    state: CaseState
    learnt_at: datetime
    is_stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A case for a fault: the same fault, the same class, or only similar; `score` is higher for nearer ones."""

    case: ErrorCase
    match: Literal["same", "class", "similar"]
    score: float
