"""Deliveries and replies as JSON in bot.sqlite3; what people wrote is masked before it gets there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import date, datetime
from typing import Any

from bot.types import Attachment, Author, Citation, Command, Message, Reply, ThreadRef
from knowledge.masking import mask
from knowledge.types import Locator, Scope

_DAYS = ("valid_from", "valid_until")  # of a locator


def encode_delivery(delivery: Message | Command) -> str:
    """JSON of a delivery without its secrets."""
    if isinstance(delivery, Command):
        return _json({"command": asdict(replace(delivery, args=mask(delivery.args)))})
    attachments = tuple(
        replace(item, text=None if item.text is None else mask(item.text)) for item in delivery.attachments
    )
    fields = asdict(replace(delivery, text=mask(delivery.text), attachments=attachments))
    return _json({**fields, "posted_at": delivery.posted_at.isoformat()})


def decode_delivery(text: str) -> Message | Command:
    """The delivery that `encode_delivery` wrote."""
    fields = json.loads(text)
    if "command" in fields:
        command = fields["command"]
        return Command(**{**command, **_people(command)})
    return Message(
        **{
            **fields,
            **_people(fields),
            "attachments": tuple(Attachment(**item) for item in fields["attachments"]),
            "posted_at": datetime.fromisoformat(fields["posted_at"]),
        }
    )


def encode_reply(reply: Reply) -> str:
    """JSON of a reply."""
    fields = asdict(reply)
    for name in ("citations", "nearest"):
        fields[name] = [encode_citation(citation) for citation in getattr(reply, name)]
    return _json(fields)


def decode_reply(text: str) -> Reply:
    """The reply that `encode_reply` wrote."""
    fields = json.loads(text)
    return Reply(
        **{
            **fields,
            "thread": ThreadRef(**fields["thread"]),
            "citations": tuple(decode_citation(item) for item in fields["citations"]),
            "nearest": tuple(decode_citation(item) for item in fields["nearest"]),
            "notices": tuple(fields["notices"]),
        }
    )


def encode_citation(citation: Citation) -> dict[str, Any]:
    """The fields of a citation as JSON values."""
    fields = asdict(citation)
    for key in _DAYS:
        day = fields["locator"][key]
        fields["locator"][key] = None if day is None else day.isoformat()
    return fields


def decode_citation(fields: Mapping[str, Any]) -> Citation:
    """The citation that `encode_citation` wrote."""
    locator: dict[str, Any] = {}
    for key, value in fields["locator"].items():
        if key in _DAYS and value is not None:
            locator[key] = date.fromisoformat(value)
        else:
            locator[key] = tuple(value) if isinstance(value, list) else value
    return Citation(**{**fields, "locator": Locator(**locator)})


def encode_scope(scope: Scope | None) -> str | None:
    """JSON of the sources of a scope; "null" stands for all of them, None for a scope that is not known."""
    if scope is None:
        return None
    return _json(None if scope.sources is None else sorted(scope.sources))


def decode_scope(text: str | None) -> Scope | None:
    """The scope that `encode_scope` wrote."""
    if text is None:
        return None
    names = json.loads(text)
    return Scope.everything() if names is None else Scope.of(*names)


def _people(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"thread": ThreadRef(**fields["thread"]), "author": Author(**fields["author"])}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
