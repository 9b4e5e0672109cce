"""Brings what a backup of bot.sqlite3 holds into the one in use. What the bot has done and heard since stays: nobody is
answered twice, nobody long after the question, and no delivery, vote, alert or line of the audit is forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from bot.erasure import erase_from
from bot.store import Store, timestamp

STATE_PLATFORM = "haechi"  # in platform_state: what belongs to the bot itself
RESTORED_AT = "restored_at"
OLDEST_ANSWERED = timedelta(hours=24)
_HISTORY = "schema_migrations"
_LOGS = {"audit_log": "at", "query_log": "asked_at"}  # numbered rows without a key of their own -> their time
_NUMBERED = {"inbox": "seq", "web_posts": "seq"}  # rows with a key -> the number that orders them
_TOGETHER = (("alert_", "incoming_alerts"), ("admin_",))  # refer to one another by numbers: all of them or none


def bring_back(store: Store, backup: Path, now: datetime, *, clock: Callable[[], datetime]) -> None:
    """Adds to `store` what only `backup`, a copy of a bot.sqlite3, holds, in one transaction.

    What was still open there is looked up on its platform before it is answered, and given up when it is older than
    OLDEST_ANSWERED. Raises StoreError, with nothing changed, for a backup that is damaged or newer.
    """
    Store.open(backup, clock=clock).close()  # brings an older one up to date
    with store.beside(backup, "backup") as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        tables = [row[0] for row in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
        own = [name for name in tables if not name.startswith("sqlite_") and name != _HISTORY]
        groups = [[name for name in own if name.startswith(prefixes)] for prefixes in _TOGETHER]
        kept = {name for group in groups if not all(_is_empty(connection, one) for one in group) for name in group}
        _add_inbox(connection, now)
        _ready_alerts(connection)
        for table in own:
            if table in _LOGS:
                _add_unlike(connection, table, time=_LOGS[table])
            elif table == "jobs":
                _add_jobs(connection)
            elif table == "platform_state":
                _add_platform_state(connection)
            elif table not in kept:
                _add_missing(connection, table, number=_NUMBERED.get(table))
        _erase_again(connection)
        for table in ("alert_verdicts", "alert_forgotten"):  # the memory of the backup may not know of them
            connection.execute(f"UPDATE main.{table} SET applied_at = NULL")
        connection.execute(
            "INSERT OR REPLACE INTO platform_state VALUES (?, ?, ?, ?)",
            (STATE_PLATFORM, RESTORED_AT, timestamp(now), timestamp(now)),
        )


def _add_inbox(connection: sqlite3.Connection, now: datetime) -> None:
    """Readies the open deliveries of the backup, a file of its own that is thrown away afterwards, to be added."""
    connection.execute(
        "UPDATE backup.inbox SET state = 'failed', outcome = 'too old after a restore', done_at = ?, reply = NULL"
        " WHERE state IN ('received', 'working') AND received_at < ?",
        (timestamp(now), timestamp(now - OLDEST_ANSWERED)),
    )
    connection.execute(
        "UPDATE backup.inbox SET state = 'received', postponed = postponed + 1, not_before = NULL"
        " WHERE state IN ('received', 'working')"
    )


def _ready_alerts(connection: sqlite3.Connection) -> None:
    """Lets alerts that waited for their channel be looked for there first: they may have been posted since."""
    connection.execute(
        "UPDATE backup.incoming_alerts SET tried_at = COALESCE(tried_at, received_at) WHERE state = 'waiting'"
    )


def _add_jobs(connection: sqlite3.Connection) -> None:
    """The history of syncs, where there is none yet. What ran when the backup was taken runs no more."""
    if _is_empty(connection, "jobs"):
        connection.execute(
            "UPDATE backup.jobs SET state = 'interrupted', resumed = 1 WHERE state IN ('waiting', 'running')"
        )
        _add_missing(connection, "jobs", number=None)


def _add_platform_state(connection: sqlite3.Connection) -> None:
    """How far platforms have been read: the later word counts."""
    connection.execute(
        "INSERT OR REPLACE INTO main.platform_state SELECT b.* FROM backup.platform_state b"
        " LEFT JOIN main.platform_state m ON m.platform = b.platform AND m.key = b.key"
        " WHERE b.platform <> ? AND (m.key IS NULL OR m.changed_at < b.changed_at)",
        (STATE_PLATFORM,),
    )


def _add_missing(connection: sqlite3.Connection, table: str, *, number: str | None) -> None:
    """Rows whose key is not there yet, under their number if that is free, else under the next one."""
    condition = " WHERE channel_id IN (SELECT id FROM main.web_channels)" if table == "web_posts" else ""
    for skipped in ((), (number,)) if number is not None else ((),):
        names = ", ".join(_columns(connection, table, without=skipped))
        connection.execute(
            f"INSERT OR IGNORE INTO main.{table} ({names}) SELECT {names} FROM backup.{table}{condition}"
        )


def _add_unlike(connection: sqlite3.Connection, table: str, *, time: str) -> None:
    """Rows that are not there in these words."""
    names = ", ".join(_columns(connection, table, without=("id",)))
    connection.execute(
        f"INSERT INTO main.{table} ({names}) SELECT {names} FROM backup.{table} EXCEPT SELECT {names} FROM main.{table}"
        f" ORDER BY {time}"
    )


def _erase_again(connection: sqlite3.Connection) -> None:
    """Whoever was erased stays erased: the backup may be older than that."""
    for (detail,) in connection.execute("SELECT detail FROM main.audit_log WHERE action = 'erase'").fetchall():
        platform, _, rest = detail.partition(":")
        erase_from(connection, platform, rest.rpartition(": ")[0])


def _columns(connection: sqlite3.Connection, table: str, *, without: tuple[str | None, ...]) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})") if row[1] not in without]


def _is_empty(connection: sqlite3.Connection, table: str) -> bool:
    return connection.execute(f"SELECT 1 FROM main.{table} LIMIT 1").fetchone() is None
