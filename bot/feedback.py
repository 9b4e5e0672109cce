"""Votes on answers: the last one of each person counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.store import Store, timestamp
from bot.types import FeedbackGiven
from knowledge.masking import mask


class Feedback:
    """The votes in bot.sqlite3."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def save(self, given: FeedbackGiven) -> None:
        """Keeps the vote, in place of an earlier one of the same person on the same reply."""
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO feedback (reply_id, author_id, vote, comment, given_at) VALUES (?, ?, ?, ?, ?)",
                (given.reply_id, given.author.id, given.vote, mask(given.comment), timestamp(self._clock())),
            )
