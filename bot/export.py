"""What was asked, answered and thought, as JSON rows: masked once more, because rules for masking grow."""

from __future__ import annotations

import json
from typing import Any

from bot.errors import BotError
from bot.store import Store
from knowledge.masking import mask

PAGE = 200
# kind -> table, column of its time, columns, condition
_KINDS: dict[str, tuple[str, str, str, str]] = {
    "answers": (
        "replies",
        "posted_at",
        "delivery_id, platform, channel_id, root_id, post_id, kind, outcome, question, answer, evidence_ids, posted_at",
        "kind = 'message'",
    ),
    "questions": (
        "query_log",
        "asked_at",
        "delivery_id, origin, asker, question, searched, route, outcome, probability, evidence_ids, cited_ids, took_ms,"
        " degraded, faults, model, skipped_models, asked_at",
        "1",
    ),
    "feedback": (
        "feedback",
        "given_at",
        "platform, delivery_id, author_id, vote, comment, question, answer, evidence_ids, given_at",
        "1",
    ),
    "audit": ("audit_log", "at", "at, actor, action, detail", "1"),
    "alerts": (
        "inbox LEFT JOIN replies USING (delivery_id)",
        "received_at",
        "inbox.delivery_id, inbox.platform, inbox.thread_key, inbox.state, inbox.outcome, inbox.received_at,"
        " inbox.done_at, replies.question AS alert, replies.post_id",
        "inbox.kind = 'alert'",
    ),
}
KINDS = tuple(_KINDS)
_JSON = ("evidence_ids", "cited_ids", "took_ms", "degraded", "faults", "skipped_models")


def export_page(store: Store, kind: str, *, since: str | None, after: int) -> tuple[list[dict[str, Any]], int | None]:
    """At most PAGE rows after the row `after`, and the number to go on from; None at the end. Raises BotError."""
    if kind not in _KINDS:
        raise BotError(f"There is no export of {kind!r}; there is one of {', '.join(KINDS)}.")
    table, time, columns, condition = _KINDS[kind]
    first = table.split()[0]
    rows = store.query(
        f"SELECT {first}.rowid AS _row, {columns} FROM {table} WHERE {condition} AND {first}.rowid > ?"
        f" AND {first}.{time} >= ? ORDER BY {first}.rowid LIMIT ?",
        (after, since or "", PAGE),
    )
    found = [{key: _shown(key, row[key]) for key in row.keys() if key != "_row"} for row in rows]  # noqa: SIM118
    return found, int(rows[-1]["_row"]) if len(rows) == PAGE else None


def _shown(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    masked = mask(value)
    return json.loads(masked) if key in _JSON else masked
