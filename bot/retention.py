"""How long each kind of record is kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.settings_operations import RetentionSettings
from bot.store import Store, timestamp


def apply_periods(store: Store, periods: RetentionSettings, now: datetime) -> dict[str, int]:
    """kind -> rows removed. A period of 0 days keeps everything. What is open is never removed.

    Deliveries are kept at least as long as platforms may send them again (`deliveries_days` is 31 or more, catching up
    looks back 30 days at most); the records of replies as long, because they say which threads are the bot's.
    """

    def before(days: int) -> str:
        return timestamp(now - timedelta(days=days))

    steps = {
        "questions": (periods.questions_days, "DELETE FROM query_log WHERE asked_at < ?"),
        "answers": (
            periods.questions_days,
            "UPDATE replies SET question = '', answer = '', evidence_ids = '[]' WHERE posted_at < ? AND answer <> ''",
        ),
        "feedback": (periods.feedback_days, "DELETE FROM feedback WHERE given_at < ?"),
        "audit": (periods.audit_days, "DELETE FROM audit_log WHERE at < ?"),
        "deliveries": (
            periods.deliveries_days,
            "DELETE FROM inbox WHERE received_at < ? AND state IN ('done', 'failed')",
        ),
        "replies": (
            periods.deliveries_days,
            "DELETE FROM replies WHERE posted_at < ? AND answer = ''"
            " AND delivery_id NOT IN (SELECT delivery_id FROM inbox)",
        ),
        "posts": (
            periods.posts_days,
            "DELETE FROM web_posts WHERE (channel_id, root_id) IN (SELECT channel_id, root_id FROM web_posts"
            " GROUP BY channel_id, root_id HAVING MAX(posted_at) < ? AND MIN(delivered) = 1)",
        ),
    }
    removed: dict[str, int] = {}
    for kind, (days, sql) in steps.items():
        if days:
            with store.transaction() as connection:  # one each: a delivery that arrives waits for one of them at most
                removed[kind] = connection.execute(sql, (before(days),)).rowcount
    with store.transaction() as connection:
        connection.execute("DELETE FROM web_votes WHERE post_id NOT IN (SELECT id FROM web_posts)")
    return removed
