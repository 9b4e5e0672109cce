"""Payloads and posts with what must be read out of them; tests/fixtures/alerts/README.md has their form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from bot.alerts.alert import Alert
from bot.alerts.reading import Reading, read_payload, read_post
from bot.alerts.services import Service, Services
from bot.platforms.mattermost_messages import flattened_attachments
from bot.platforms.slack_text import raw_text, readable
from bot.types import Author, Message, ThreadRef
from tests.unit.bot.alerts.samples import FIXTURES

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SERVICES = Services(
    (
        Service(name="checkout-api", aliases=("checkout",)),
        Service(name="ledger", aliases=("원장",)),
    )
)


@dataclass(frozen=True, slots=True)
class Case:
    """One payload (`kind` body or text) or post (slack, mattermost) and the alerts that it tells of."""

    name: str
    kind: str
    author: str
    payload: Any
    alerts: tuple[dict[str, Any], ...]
    skipped: str | None


@cache
def cases() -> tuple[Case, ...]:
    """Every case of tests/fixtures/alerts/payloads, by file and place."""
    return tuple(
        Case(
            f"{path.stem}:{one['name']}",
            one["kind"],
            one.get("author", ""),
            one["payload"],
            tuple(one["alerts"]),
            one.get("skipped"),
        )
        for path in sorted((FIXTURES / "payloads").glob("*.json"))
        for one in json.loads(path.read_text(encoding="utf-8"))
    )


def text_of(case: Case) -> str:
    """What the channel's adapter makes of a post."""
    if case.kind == "slack":
        return readable(raw_text(case.payload), names={}, bot_user_id="U0")
    return "\n\n".join(one for one in (case.payload["message"], flattened_attachments(case.payload)) if one)


def post_of(text: str, author: str = "alerts") -> Message:
    """A post of a webhook."""
    return Message(
        id="1",
        thread=ThreadRef(platform="slack", channel_id="C1", root_id="1"),
        text=text,
        mentions_bot=False,
        author=Author(id="B1", display_name=author, is_bot=True),
        is_direct=False,
        attachments=(),
        posted_at=NOON,
        delivery_id="C1:1",
    )


def reading_of(case: Case) -> Reading:
    """What is read, through the same door as in the product."""
    if case.kind in ("slack", "mattermost"):
        return read_post(post_of(text_of(case), case.author), services=SERVICES)
    is_text = case.kind == "text"
    body = case.payload.encode() if is_text else json.dumps(case.payload).encode()
    kind = "text/plain" if is_text else "application/json"
    return read_payload(body, content_type=kind, services=SERVICES, posted_at=NOON)


def told_of(alert: Alert, keys: dict[str, Any]) -> dict[str, Any]:
    """Those properties of an alert that a case names; of frames the company's own ones."""
    found: dict[str, Any] = {}
    for key in keys:
        if key == "frames":
            own = [f for f in alert.frames if f.in_app]
            found[key] = [f"{f.file}:{'' if f.line is None else f.line} {f.symbol or ''}".strip() for f in own]
        elif key == "rule":
            found[key] = next((token[2:] for token in alert.sequence if token.startswith("R:")), None)
        else:
            found[key] = getattr(alert, key)
    return found
