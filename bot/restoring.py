"""What a restored inbox must know so that nobody is answered twice, and nobody long after the question."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from bot.errors import StoreError
from bot.store import timestamp

STATE_PLATFORM = "haechi"  # in platform_state: what belongs to the bot itself
RESTORED_AT = "restored_at"
OLDEST_ANSWERED = timedelta(hours=24)


def keep_what_is_newer(restored: Path, previous: Path, now: datetime) -> None:
    """Changes `restored`, a copy of bot.sqlite3 about to be used, by what `previous` knows that is newer.

    Every delivery that was seen stays known, with its reply; platforms go on where they were. What is still open is
    looked up on its platform before it is answered, and given up when it is older than OLDEST_ANSWERED.
    """
    try:
        with closing(sqlite3.connect(restored, isolation_level=None)) as connection:
            connection.execute("ATTACH DATABASE ? AS previous", (str(previous),))
            connection.execute("BEGIN IMMEDIATE")
            _merge(connection, "inbox", ignored=("seq",), condition="")
            connection.execute(
                "UPDATE inbox SET state = p.state, outcome = p.outcome, done_at = p.done_at, reply = NULL"
                " FROM previous.inbox p WHERE p.delivery_id = inbox.delivery_id AND p.state IN ('done', 'failed')"
                " AND inbox.state IN ('received', 'working')"
            )
            _merge(connection, "replies", ignored=(), condition="")
            connection.execute(
                "INSERT OR REPLACE INTO platform_state SELECT p.* FROM previous.platform_state p"
                " LEFT JOIN platform_state r ON r.platform = p.platform AND r.key = p.key"
                " WHERE p.platform <> ? AND (r.key IS NULL OR r.changed_at < p.changed_at)",
                (STATE_PLATFORM,),
            )
            connection.execute(
                "UPDATE inbox SET state = 'failed', outcome = 'too old after a restore', done_at = ?, reply = NULL"
                " WHERE state IN ('received', 'working') AND received_at < ?",
                (timestamp(now), timestamp(now - OLDEST_ANSWERED)),
            )
            connection.execute(
                "UPDATE inbox SET state = 'received', postponed = postponed + 1, not_before = NULL"
                " WHERE state IN ('received', 'working')"
            )
            connection.execute(
                "INSERT OR REPLACE INTO platform_state VALUES (?, ?, ?, ?)",
                (STATE_PLATFORM, RESTORED_AT, timestamp(now), timestamp(now)),
            )
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise StoreError(
            f"The backup's bot.sqlite3 cannot be brought up to date: {error}; take another one."
        ) from error


def _merge(connection: sqlite3.Connection, table: str, *, ignored: tuple[str, ...], condition: str) -> None:
    """Rows that only `previous` has, in the columns that both have: the backup may be older."""
    columns = [
        {row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({table})")}
        for schema in ("main", "previous")
    ]
    names = ", ".join(sorted((columns[0] & columns[1]) - set(ignored)))
    connection.execute(f"INSERT OR IGNORE INTO main.{table} ({names}) SELECT {names} FROM previous.{table} {condition}")
