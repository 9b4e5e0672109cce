"""Deliveries that were saved before they were acknowledged, and what became of them.

A delivery is worked on at most once at a time and in order within its thread: one that waits for its platform holds up
its own thread and no other. After a restart what was being worked on is taken up again; whoever works on it looks for
the bot's own post first, so nothing is answered twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bot.store import Store, moment, timestamp
from bot.stored_forms import decode_delivery, decode_reply, decode_scope, encode_delivery, encode_reply, encode_scope
from bot.types import Author, Command, Message, Reply, ThreadRef
from knowledge.masking import mask
from knowledge.types import Scope

InboxKind = Literal["message", "command", "alert"]
Lane = Literal["slow", "quick", "long", "alert"]
"""What waits for what: questions are "slow", for they may wait for a language model; what is told or shown at once is
"quick"; reading sources again is "long"; alerts have a lane of their own."""

SUSPECT_AFTER = 2  # crashes: from then on a delivery is worked on while no other suspect is
LONGEST_POSTPONED = timedelta(seconds=300)  # what waits longer was put off before the clock was set back
WITHDRAWN = "withdrawn"  # the outcome of a question that was deleted before it was answered

_OPEN = "state IN ('received', 'working')"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A delivery that is being worked on."""

    delivery: Message | Command
    kind: InboxKind
    lane: Lane
    told: str | None  # "empty", "too_long": admission wants this said instead of an answer
    postponed: int  # how often the platform could not be reached so far
    crashes: int  # how often the process ended in the middle of it
    reply: Reply | None  # what is to be posted, when an earlier attempt got that far
    scope: Scope | None  # that this reply was made from
    received_at: datetime

    @property
    def delivery_id(self) -> str:
        return self.delivery.delivery_id

    @property
    def thread(self) -> ThreadRef:
        return self.delivery.thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What is kept of a reply, so that a vote on it can be understood later."""

    post_id: str
    question: str = ""
    answer: str = ""
    evidence_ids: tuple[str, ...] = ()
    scope: Scope | None = None


class Inbox:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    # --- saving ---------------------------------------------------------------------------------

    def save(
        self,
        delivery: Message | Command,
        *,
        kind: InboxKind = "message",
        lane: Lane = "slow",
        told: str | None = None,
        reply: Reply | None = None,
        outcome: str | None = None,
    ) -> bool:
        """Whether the delivery is new; it is on the disk when this returns. Secrets are masked first.

        A `reply` is all that will be said. With an `outcome` it is done already: it is kept so that a second delivery
        of it is known.
        """
        now = timestamp(self._clock())
        values: dict[str, str | int | None] = {
            "delivery_id": delivery.delivery_id,
            "platform": delivery.thread.platform,
            "kind": kind,
            "lane": lane,
            "thread_key": order_key(delivery),
            "author_id": delivery.author.id,
            "said_at": timestamp(delivery.posted_at) if isinstance(delivery, Message) else now,
            "told": told,
            "payload": encode_delivery(delivery),
            "reply": None if reply is None else encode_reply(reply),
            "state": "received" if outcome is None else "done",
            "outcome": outcome,
            "received_at": now,
            "done_at": None if outcome is None else now,
        }
        with self._store.transaction() as connection:
            # what was said before a restore may have been answered by the state that was replaced: whoever works on
            # it then looks for the bot's own post first
            restored = connection.execute(
                "SELECT 1 FROM platform_state WHERE platform = 'haechi' AND key = 'restored_at' AND value > ?",
                (values["said_at"],),
            ).fetchone()
            values["postponed"] = 0 if restored is None else 1
            inserted = connection.execute(
                f"INSERT OR IGNORE INTO inbox ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
            return inserted.rowcount == 1

    def withdraw(self, message: Message) -> bool:
        """Whether this message, which was deleted, still waited for its answer or is being answered. One that waits is
        done; whoever works on it asks `is_withdrawn` when the answer finds no place."""
        now = timestamp(self._clock())
        where = "thread_key = ? AND kind = 'message' AND json_extract(payload, '$.id') = ?"
        where += " AND outcome IS NULL AND state = ?"
        values = (thread_key(message.thread), message.id)
        with self._store.transaction() as connection:
            waiting = connection.execute(
                f"UPDATE inbox SET state = 'done', outcome = ?, done_at = ?, reply = NULL WHERE {where}",
                (WITHDRAWN, now, *values, "received"),
            )
            working = connection.execute(f"UPDATE inbox SET outcome = ? WHERE {where}", (WITHDRAWN, *values, "working"))
            return waiting.rowcount + working.rowcount > 0

    def is_withdrawn(self, delivery_id: str) -> bool:
        """Whether the message was deleted meanwhile."""
        return bool(
            self._store.query("SELECT 1 FROM inbox WHERE delivery_id = ? AND outcome = ?", (delivery_id, WITHDRAWN))
        )

    def knows(self, delivery_id: str) -> bool:
        """Whether the delivery was saved before."""
        return bool(self._store.query("SELECT 1 FROM inbox WHERE delivery_id = ?", (delivery_id,)))

    # --- working --------------------------------------------------------------------------------

    def resume(self) -> int:
        """How many deliveries were being worked on when the last run ended; they wait again."""
        with self._store.transaction() as connection:
            return connection.execute(
                "UPDATE inbox SET state = 'received', crashes = crashes + 1 WHERE state = 'working'"
            ).rowcount

    def take_next(self, lane: Lane) -> InboxItem | None:
        """The oldest delivery of a lane that is due and the first of its thread, marked as being worked on.

        Within a thread the order is that in which things were said: deliveries overtake each other when connections
        drop and what was missed is caught up. Of those in whose middle the process has ended again and again only one
        is worked on at a time: the others were there by chance, and must not be given up for what one of them does.
        """
        with self._store.transaction() as connection:
            now = self._clock()
            row = connection.execute(
                "SELECT * FROM inbox i WHERE state = 'received' AND lane = ?"
                " AND (not_before IS NULL OR not_before <= ? OR not_before > ?)"
                f" AND (crashes < {SUSPECT_AFTER} OR NOT EXISTS (SELECT 1 FROM inbox s WHERE s.state = 'working'"
                f" AND s.crashes >= {SUSPECT_AFTER}))"
                f" AND NOT EXISTS (SELECT 1 FROM inbox e WHERE e.thread_key = i.thread_key AND e.{_OPEN}"
                " AND (e.state = 'working' OR (e.said_at, e.seq) < (i.said_at, i.seq))) ORDER BY seq LIMIT 1",
                (lane, timestamp(now), timestamp(now + LONGEST_POSTPONED)),
            ).fetchone()
            if row is None:
                return None
            connection.execute("UPDATE inbox SET state = 'working' WHERE seq = ?", (row["seq"],))
        return InboxItem(
            delivery=decode_delivery(row["payload"]),
            kind=row["kind"],
            lane=row["lane"],
            told=row["told"],
            postponed=row["postponed"],
            crashes=row["crashes"],
            reply=decode_reply(row["reply"]) if row["reply"] else None,
            scope=decode_scope(row["scope"]),
            received_at=moment(row["received_at"]),
        )

    def keep_reply(self, delivery_id: str, reply: Reply, scope: Scope | None) -> None:
        """Keeps what is to be posted, so that a retry posts the same and asks no model again."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE inbox SET reply = ?, scope = ? WHERE delivery_id = ?",
                (encode_reply(reply), encode_scope(scope), delivery_id),
            )

    def postpone(self, delivery_id: str, *, until: datetime) -> None:
        """Lets the delivery wait until then, and those behind it in its thread."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE inbox SET state = 'received', postponed = postponed + 1, not_before = ? WHERE delivery_id = ?",
                (timestamp(until), delivery_id),
            )

    def next_due(self) -> datetime | None:
        """When the first of the deliveries that wait for their platform is due."""
        (row,) = self._store.query(
            f"SELECT MIN(not_before) AS due FROM inbox WHERE {_OPEN} AND state = 'received' AND not_before > ?",
            (timestamp(self._clock()),),
        )
        return moment(row["due"]) if row["due"] else None

    def finish(self, item: InboxItem, *, outcome: str, answered: Answered | None = None, failed: bool = False) -> None:
        """Records in one transaction that the delivery is done and which post answers it."""
        now = timestamp(self._clock())
        thread = item.thread
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE inbox SET state = ?, outcome = ?, done_at = ?, reply = NULL WHERE delivery_id = ?",
                ("failed" if failed else "done", outcome, now, item.delivery_id),
            )
            if answered is None:
                return
            row = {
                "delivery_id": item.delivery_id,
                "platform": thread.platform,
                "channel_id": thread.channel_id,
                "root_id": thread.root_id,
                "post_id": answered.post_id,
                "outcome": outcome,
                "posted_at": now,
                "kind": item.kind,
                "scope": encode_scope(answered.scope),
                "question": mask(answered.question),
                "answer": mask(answered.answer),
                "evidence_ids": json.dumps(answered.evidence_ids),
            }
            connection.execute(
                f"INSERT OR REPLACE INTO replies ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                tuple(row.values()),
            )
            connection.execute(  # votes that came between the post and this record
                "UPDATE feedback SET question = ?, answer = ?, evidence_ids = ?"
                " WHERE platform = ? AND delivery_id = ? AND question = '' AND answer = ''",
                (row["question"], row["answer"], row["evidence_ids"], thread.platform, item.delivery_id),
            )

    # --- looking --------------------------------------------------------------------------------

    def has_answered(self, thread: ThreadRef, *, before: datetime) -> bool:
        """Whether the bot had answered somebody in this thread, or was about to, at the moment `before`; what it says
        about alerts and to commands does not count. What was said earlier and comes late is no follow-up."""
        moment_before = timestamp(before)
        rows = self._store.query(
            "SELECT 1 FROM replies WHERE platform = ? AND channel_id = ? AND root_id = ? AND kind = 'message'"
            " AND posted_at <= ?"
            " UNION ALL SELECT 1 FROM inbox WHERE thread_key = ? AND kind = 'message' AND said_at <= ? LIMIT 1",
            (
                thread.platform, thread.channel_id, thread.root_id, moment_before,
                thread_key(thread), moment_before,
            ),
        )  # fmt: skip
        return bool(rows)

    def scopes_of(self, thread: ThreadRef) -> dict[str, Scope]:
        """post id -> the scope it was made from, for the bot's own posts in this thread whose scope is known."""
        rows = self._store.query(
            "SELECT post_id, scope FROM replies WHERE platform = ? AND channel_id = ? AND root_id = ?"
            " AND scope IS NOT NULL",
            (thread.platform, thread.channel_id, thread.root_id),
        )
        known = ((row["post_id"], decode_scope(row["scope"])) for row in rows)
        return {post_id: scope for post_id, scope in known if scope is not None}

    def asked_since(self, since: datetime, *, platform: str, author: Author | None = None) -> list[datetime]:
        """When questions were accepted after `since`, oldest first: those of one person, or of everybody everywhere."""
        rows = self._store.query(
            "SELECT received_at FROM inbox WHERE received_at > ? AND told IS NULL AND lane = 'slow'"
            + (" AND platform = ? AND author_id = ?" if author else "")
            + " ORDER BY received_at",
            (timestamp(since), platform, author.id) if author else (timestamp(since),),
        )
        return [moment(row["received_at"]) for row in rows]

    def was_told(self, told: str, since: datetime, *, platform: str, author: Author) -> bool:
        """Whether this person has been told that since then."""
        return bool(
            self._store.query(
                "SELECT 1 FROM inbox WHERE platform = ? AND author_id = ? AND received_at > ? AND told = ?"
                " AND outcome IS NOT 'not told again' LIMIT 1",
                (platform, author.id, timestamp(since), told),
            )
        )

    def counts(self) -> dict[str, int]:
        """state -> number of deliveries."""
        return {
            row["state"]: row["n"] for row in self._store.query("SELECT state, count(*) n FROM inbox GROUP BY state")
        }


def thread_key(thread: ThreadRef) -> str:
    """One text for a thread, to order by."""
    return json.dumps([thread.platform, thread.channel_id, thread.root_id], ensure_ascii=False)


def order_key(delivery: Message | Command) -> str:
    """What a delivery waits its turn in: its thread, or itself for a command that was given outside of threads."""
    if not delivery.thread.root_id:
        return json.dumps([delivery.thread.platform, delivery.delivery_id], ensure_ascii=False)
    return thread_key(delivery.thread)
