"""Feedback buttons under an answer: what they look like, and proof that a click comes from a button of ours.

A click carries no authentication, but a button's `context` is known to the Mattermost server alone: it is signed with
what the button stands under, and it ends after a while.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.types import Language, Vote

LIFETIME = timedelta(days=30)
VERSION = 1

VOTES: Mapping[Vote, Mapping[Language, str]] = {
    "up": {"ko": "👍 도움이 됐어요", "en": "👍 Helpful"},
    "down": {"ko": "👎 도움이 안 됐어요", "en": "👎 Not helpful"},
    "wrong": {"ko": "❌ 틀렸어요", "en": "❌ Wrong"},
}
REACTIONS: Mapping[str, Vote] = {
    "+1": "up", "thumbsup": "up", "-1": "down", "thumbsdown": "down", "x": "wrong",
}  # fmt: skip
SKIN_TONES = (
    "_medium_light_skin_tone", "_light_skin_tone", "_medium_skin_tone", "_medium_dark_skin_tone", "_dark_skin_tone",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a button stands under."""

    channel_id: str
    root_id: str
    delivery_id: str


class ButtonRefused(Exception):
    """A click that proves nothing; `expired` when it once did."""

    def __init__(self, reason: str, *, expired: bool = False) -> None:
        super().__init__(reason)
        self.expired = expired


class Buttons:
    """Signs and checks. `key` is secret; `address` is where the Mattermost server posts clicks."""

    def __init__(self, key: bytes, address: str) -> None:
        self._key = key
        self._address = address

    def attachment(self, place: Place, language: Language, *, now: datetime) -> dict[str, Any]:
        """A message attachment with one button a vote."""
        return {
            "fallback": "👍 👎 ❌",
            "actions": [
                {
                    "id": f"haechi{vote}",  # letters and digits only: it is part of a path
                    "name": names[language],
                    "type": "button",
                    "integration": {"url": self._address, "context": self.context(place, vote, now=now)},
                }
                for vote, names in VOTES.items()
            ],
        }

    def context(self, place: Place, vote: Vote, *, now: datetime) -> dict[str, Any]:
        """What the server sends back with a click."""
        fields: dict[str, Any] = {
            "version": VERSION,
            "vote": vote,
            "channel_id": place.channel_id,
            "root_id": place.root_id,
            "delivery_id": place.delivery_id,
            "expires_s": int((now + LIFETIME).timestamp()),
        }
        return {**fields, "signature": self._signature(fields)}

    def verified(self, context: object, *, channel_id: str, now: datetime) -> tuple[Place, Vote]:
        """What was clicked, and under which answer. Raises ButtonRefused."""
        if not isinstance(context, dict):
            raise ButtonRefused("the click has no context")
        fields = {key: value for key, value in context.items() if key != "signature"}
        signature = context.get("signature")
        if not isinstance(signature, str) or not hmac.compare_digest(
            self._signature(fields).encode(), signature.encode("utf-8", "surrogatepass")
        ):
            raise ButtonRefused("the signature is wrong")
        vote = next((vote for vote in VOTES if vote == fields.get("vote")), None)
        expires_s = fields.get("expires_s")
        if fields.get("version") != VERSION or vote is None or not isinstance(expires_s, int):
            raise ButtonRefused("the context is of another version")
        if now.timestamp() > expires_s:
            raise ButtonRefused("the button has expired", expired=True)
        if fields.get("channel_id") != channel_id:
            raise ButtonRefused("the button belongs to another channel")
        place = Place(
            channel_id=channel_id, root_id=str(fields.get("root_id")), delivery_id=str(fields.get("delivery_id"))
        )
        return place, vote

    def _signature(self, fields: Mapping[str, Any]) -> str:
        text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def derived_key(token: str) -> bytes:
    """The signing key when none is configured: it changes with the bot's token, which ends old buttons."""
    return hmac.new(token.encode(), b"haechi mattermost buttons", hashlib.sha256).digest()


def vote_of(emoji: str) -> Vote | None:
    """The vote that a reaction means, skin tones aside; None for other reactions."""
    for tone in SKIN_TONES:
        emoji = emoji.removesuffix(tone)
    return REACTIONS.get(emoji)
