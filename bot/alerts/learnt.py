"""What is kept of an analysis besides its post: the case to be remembered, and what follow-ups in its thread rest on.

Everything in it is masked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from bot.types import Reply
from knowledge.masking import mask
from knowledge.types_cases import CitedText, NewCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What an analysis was made from. Chunks are looked up again when they are needed, within the scope of then."""

    topic: str  # class, message and service of the fault
    chunk_ids: tuple[str, ...]  # most likely place first
    framed_ids: tuple[str, ...]  # those of them that the alert's own frames led to
    since: datetime | None  # the deployment before the one that ran
    error_class: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An analysis that has not been posted yet."""

    reply: Reply
    background: Background
    case: NewCase | None  # None for what is not remembered


def masked_case(case: NewCase) -> NewCase:
    """The case without secrets and personal numbers."""
    return replace(
        case,
        service=mask(case.service),
        error_class=mask(case.error_class),
        message=mask(case.message),
        summary=mask(case.summary),
        cause=mask(case.cause),
        fix=mask(case.fix),
        cited=tuple(replace(one, text=mask(one.text)) for one in case.cited),
    )


def encode_case(case: NewCase) -> str:
    """JSON of a case without its secrets."""
    return json.dumps(asdict(masked_case(case)), ensure_ascii=False)


def decode_case(text: str) -> NewCase:
    """The case that `encode_case` wrote."""
    fields: Mapping[str, Any] = json.loads(text)
    return NewCase(**{**fields, "cited": tuple(CitedText(**one) for one in fields["cited"])})


def encode_background(background: Background) -> str:
    """JSON of a background."""
    fields = asdict(background)
    fields["since"] = background.since.isoformat() if background.since else None
    for name in ("topic", "message"):
        fields[name] = mask(fields[name])
    return json.dumps(fields, ensure_ascii=False)


def decode_background(text: str) -> Background:
    """The background that `encode_background` wrote."""
    fields: Mapping[str, Any] = json.loads(text)
    return Background(
        **{
            **fields,
            "chunk_ids": tuple(fields["chunk_ids"]),
            "framed_ids": tuple(fields["framed_ids"]),
            "since": datetime.fromisoformat(fields["since"]) if fields["since"] else None,
        }
    )
