"""Deliveries that were saved before they were acknowledged, and what became of them.

A delivery is worked on at most once at a time and in order within its thread. After a restart what was being worked on
is taken up again; the worker looks for its own post first, so nothing is answered twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from bot.store import Store, timestamp
from bot.types import Attachment, Author, Message, ThreadRef
from knowledge.masking import mask


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A delivery that is being worked on."""

    message: Message
    attempts: int  # this one included
    told: str | None  # "empty", "too_long": admission wants this said instead of an answer


class Inbox:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def save(self, message: Message, *, told: str | None = None) -> bool:
        """Whether the delivery is new; it is on the disk when this returns. Secrets are masked first."""
        payload = json.dumps({"message": _encode(message), "told": told}, ensure_ascii=False)
        with self._store.transaction() as connection:
            inserted = connection.execute(
                "INSERT OR IGNORE INTO inbox (delivery_id, platform, kind, thread_key, payload, received_at)"
                " VALUES (?, ?, 'message', ?, ?, ?)",
                (
                    message.delivery_id,
                    message.thread.platform,
                    thread_key(message.thread),
                    payload,
                    timestamp(self._clock()),
                ),
            )
            return inserted.rowcount == 1

    def resume(self) -> int:
        """How many deliveries were being worked on when the last run ended; they wait again."""
        with self._store.transaction() as connection:
            return connection.execute("UPDATE inbox SET state = 'received' WHERE state = 'working'").rowcount

    def take_next(self, busy_threads: Collection[str]) -> InboxItem | None:
        """The oldest waiting delivery of a thread that is not busy, marked as being worked on."""
        with self._store.transaction() as connection:
            marks = ", ".join("?" * len(busy_threads))
            row = connection.execute(
                f"SELECT seq, payload, attempts FROM inbox WHERE state = 'received' AND thread_key NOT IN ({marks})"
                " ORDER BY seq LIMIT 1",
                tuple(busy_threads),
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE inbox SET state = 'working', attempts = attempts + 1 WHERE seq = ?", (row["seq"],)
            )
        payload = json.loads(row["payload"])
        return InboxItem(message=_decode(payload["message"]), attempts=row["attempts"] + 1, told=payload["told"])

    def finish(self, message: Message, *, post_id: str | None, outcome: str, failed: bool = False) -> None:
        """Records in one transaction that the delivery is done and which post answers it."""
        now = timestamp(self._clock())
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE inbox SET state = ?, outcome = ?, done_at = ? WHERE delivery_id = ?",
                ("failed" if failed else "done", outcome, now, message.delivery_id),
            )
            if post_id is not None:
                thread = message.thread
                connection.execute(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (message.delivery_id, thread.platform, thread.channel_id, thread.root_id, post_id, outcome, now),
                )

    def has_answered(self, thread: ThreadRef) -> bool:
        """Whether the bot has posted in this thread, or is about to."""
        rows = self._store.query(
            "SELECT 1 FROM replies WHERE platform = ? AND channel_id = ? AND root_id = ?"
            " UNION ALL SELECT 1 FROM inbox WHERE thread_key = ? LIMIT 1",
            (thread.platform, thread.channel_id, thread.root_id, thread_key(thread)),
        )
        return bool(rows)

    def counts(self) -> dict[str, int]:
        """state -> number of deliveries."""
        return {
            row["state"]: row["n"] for row in self._store.query("SELECT state, count(*) n FROM inbox GROUP BY state")
        }


def thread_key(thread: ThreadRef) -> str:
    """One text for a thread, to order by."""
    return json.dumps([thread.platform, thread.channel_id, thread.root_id], ensure_ascii=False)


def _encode(message: Message) -> dict[str, Any]:
    attachments = tuple(
        replace(item, text=None if item.text is None else mask(item.text)) for item in message.attachments
    )
    fields = asdict(replace(message, text=mask(message.text), attachments=attachments))
    return {**fields, "posted_at": message.posted_at.isoformat()}


def _decode(fields: dict[str, Any]) -> Message:
    return Message(
        **{
            **fields,
            "thread": ThreadRef(**fields["thread"]),
            "author": Author(**fields["author"]),
            "attachments": tuple(Attachment(**item) for item in fields["attachments"]),
            "posted_at": datetime.fromisoformat(fields["posted_at"]),
        }
    )
