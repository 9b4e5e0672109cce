"""From a post of a chat channel, or the body of POST /alerts, to alerts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.alerts.alert import Alert
from bot.alerts.services import Services
from bot.types import Message


class BadPayload(ValueError):
    """A body that cannot be read: the HTTP status, and a sentence that says what to do."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read. `skipped` says why there is nothing to analyse; `alerts` may hold resolved ones, which close."""

    alerts: tuple[Alert, ...]
    skipped: str | None = None


def read_post(message: Message, *, services: Services) -> Reading:
    """The alerts of a post of a bot or webhook; never raises for what stands in it."""
    raise NotImplementedError


def read_payload(body: bytes, *, content_type: str, services: Services, posted_at: datetime) -> Reading:
    """The alerts of a body. Raises BadPayload."""
    raise NotImplementedError
