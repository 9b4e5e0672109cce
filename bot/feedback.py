"""Votes on answers: the last one of each person counts, kept with the question, the answer and its evidence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.store import Store, timestamp
from bot.types import Author, FeedbackGiven, ThreadRef
from knowledge.masking import mask


class Feedback:
    """The votes in bot.sqlite3."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def save(self, given: FeedbackGiven) -> bool:
        """Whether the vote was on a final reply of the bot. It takes the place of an earlier one of the same person; a
        vote that is taken back goes only when it is the last one. A reply that was posted a moment ago may not be
        recorded yet: bot.inbox completes the vote then."""
        with self._store.transaction() as connection:
            reply = connection.execute(
                "SELECT * FROM replies WHERE platform = ? AND "
                + ("delivery_id = ?" if given.delivery_id else "post_id = ? AND ? IN ('', channel_id)"),
                (given.platform, given.delivery_id)
                if given.delivery_id
                else (given.platform, given.reply_id, given.channel_id),
            ).fetchone()
            if reply is None and given.delivery_id:
                reply = connection.execute(
                    "SELECT delivery_id, '' AS question, '' AS answer, '[]' AS evidence_ids FROM inbox"
                    " WHERE platform = ? AND delivery_id = ? AND state IN ('received', 'working')",
                    (given.platform, given.delivery_id),
                ).fetchone()
            if reply is None:
                return False
            key = (given.platform, reply["delivery_id"], given.author.id)
            if given.taken_back:
                connection.execute(
                    "DELETE FROM feedback WHERE platform = ? AND delivery_id = ? AND author_id = ? AND vote = ?",
                    (*key, given.vote),
                )
                return True
            connection.execute(
                "INSERT OR REPLACE INTO feedback (platform, delivery_id, author_id, vote, comment, question, answer,"
                " evidence_ids, given_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *key,
                    given.vote,
                    mask(given.comment),
                    reply["question"],
                    reply["answer"],
                    reply["evidence_ids"],
                    timestamp(self._clock()),
                ),
            )
            return True

    def last_answer_to(self, author: Author, thread: ThreadRef) -> str | None:
        """The delivery that the bot's last reply to this person answers, in this thread, or in the whole channel when
        no thread is told."""
        rows = self._store.query(
            "SELECT r.delivery_id FROM replies r JOIN inbox i ON i.delivery_id = r.delivery_id WHERE r.platform = ?"
            " AND r.channel_id = ? AND ? IN ('', r.root_id) AND i.author_id = ? ORDER BY r.posted_at DESC LIMIT 1",
            (thread.platform, thread.channel_id, thread.root_id, author.id),
        )
        return str(rows[0]["delivery_id"]) if rows else None

    def counts(self) -> dict[str, int]:
        """vote -> how many people hold it."""
        return {
            row["vote"]: row["n"] for row in self._store.query("SELECT vote, count(*) n FROM feedback GROUP BY vote")
        }
