"""Erases what one person asked and said. What remains: that deliveries were dealt with, so that none is answered again,
and the audit log, which says who gave which command."""

from __future__ import annotations

import sqlite3

from bot.store import Store

ERASED = "erased"
_THEIRS = "SELECT delivery_id FROM inbox WHERE platform = ? AND author_id = ?"


def erase_person(store: Store, platform: str, person: str) -> dict[str, int]:
    """kind -> how many records of the person were erased, in one transaction. Questions still open are not answered."""
    with store.transaction() as connection:
        return erase_from(connection, platform, person)


def erase_from(connection: sqlite3.Connection, platform: str, person: str) -> dict[str, int]:
    """The same, within a transaction that is open."""
    key = (platform, person)
    counts = {
        "questions": _count(
            connection,
            f"DELETE FROM query_log WHERE (origin = ? AND asker = ?) OR delivery_id IN ({_THEIRS})", (*key, *key),
        ),
        "answers": _count(
            connection,
            f"UPDATE replies SET question = '', answer = '', evidence_ids = '[]' WHERE delivery_id IN ({_THEIRS})",
            key,
        ),
        "feedback": _count(connection, "DELETE FROM feedback WHERE platform = ? AND author_id = ?", key),
    }  # fmt: skip
    counts["feedback"] += _count(  # votes of others on this person's questions stay as votes
        connection,
        f"UPDATE feedback SET question = '', answer = '', comment = '' WHERE delivery_id IN ({_THEIRS})",
        key,
    )  # fmt: skip
    actor = person if person.startswith(f"{platform}:") else f"{platform}:{person}"
    connection.execute("UPDATE alert_verdicts SET author_id = '' WHERE author_id = ?", (actor,))  # the cause stays
    if platform == "web":
        counts["posts"] = _erase_posts(connection, person)
    counts["deliveries"] = _count(
        connection,
        "UPDATE inbox SET author_id = '', payload = '{}', reply = NULL,"
        " outcome = CASE WHEN state IN ('received', 'working') THEN 'erased' ELSE outcome END,"
        " done_at = COALESCE(done_at, received_at),"
        " state = CASE WHEN state IN ('received', 'working') THEN 'failed' ELSE state END"
        " WHERE platform = ? AND author_id = ?",
        key,
    )
    return counts


def _erase_posts(connection: sqlite3.Connection, person: str) -> int:
    """Their posts and the answers to them keep their place in the thread, without text, sources and name."""
    connection.execute("DELETE FROM web_votes WHERE author_id = ?", (person,))
    answers = _count(
        connection,
        "UPDATE web_posts SET text = ?, extras = '{}' WHERE is_bot = 1 AND (private_to = ? OR delivery_id IN"
        " (SELECT delivery_id FROM web_posts WHERE is_bot = 0 AND author_id = ?))",
        (f"({ERASED})", person, person),
    )
    own = _count(
        connection,
        "UPDATE web_posts SET text = ?, extras = '{}', author_id = ?, author_name = ?, client_key = NULL, delivered = 1"
        " WHERE is_bot = 0 AND author_id = ?",
        (f"({ERASED})", ERASED, ERASED, person),
    )
    return own + answers


def _count(connection: sqlite3.Connection, sql: str, params: tuple[str, ...]) -> int:
    return connection.execute(sql, params).rowcount
