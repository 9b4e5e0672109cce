"""Faults in bot.sqlite3: which are going on, how often each was told, and where its analysis stands."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bot.alerts.alert import Alert, Deploy
from bot.alerts.fingerprint import group_of
from bot.store import Store, moment, timestamp
from bot.stored_forms import decode_reply, encode_reply
from bot.types import Reply, ThreadRef
from knowledge.masking import mask

Noted = Literal["analyse", "counted", "limited", "known"]
KEEP_OCCURRENCES = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When alerts are one fault, and how many analyses an hour may be begun."""

    window: timedelta = timedelta(hours=6)
    channel_per_hour: int = 60
    total_per_hour: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One episode of a fault; `earlier` is the number of the one before it."""

    number: int
    thread: ThreadRef
    delivery_key: str
    service: str
    fingerprint: str
    error_class: str
    title: str
    state: str
    count: int
    first_at: datetime
    last_at: datetime
    earlier: int | None
    post_id: str | None
    reply: Reply | None


class FaultStore:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime], limits: Limits) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits

    def note(self, alert: Alert, key: str, thread: ThreadRef) -> tuple[Noted, Fault]:
        """What becomes of one alert, and its fault. The same delivery is noted once, however often it comes."""
        now = self._clock()
        with self._store.transaction() as connection:
            known = connection.execute(
                "SELECT f.* FROM alert_occurrences o JOIN alert_faults f ON f.number = o.fault"
                " WHERE o.delivery_key = ?",
                (key,),
            ).fetchone()
            if known is not None:
                opened = known["delivery_key"] == key and known["post_id"] is None and known["state"] != "limited"
                return ("analyse" if opened else "known"), _fault(known)
            latest = self._latest(connection, alert, thread)
            noted: Noted = "counted"
            if latest is None or latest["state"] == "resolved" or moment(latest["last_at"]) < now - self._limits.window:
                noted = "limited" if self._over_limit(connection, thread, now) else "analyse"
                number = self._open(connection, alert, key, thread, latest, now, noted)
            else:
                number = latest["number"]
                connection.execute(
                    "UPDATE alert_faults SET count = count + 1, last_at = ?, is_changed = 1 WHERE number = ?",
                    (timestamp(now), number),
                )
            connection.execute("INSERT INTO alert_occurrences VALUES (?, ?, ?)", (key, number, timestamp(now)))
            row = connection.execute("SELECT * FROM alert_faults WHERE number = ?", (number,)).fetchone()
        return noted, _fault(row)

    def resolve(self, alert: Alert, thread: ThreadRef) -> Fault | None:
        """The fault that a resolved notice ends; None when none of it is going on."""
        with self._store.transaction() as connection:
            row = connection.execute(
                "SELECT * FROM alert_faults WHERE platform = ? AND channel_id = ? AND state != 'resolved' AND"
                " ((dedup_key IS NOT NULL AND dedup_key = ?) OR (service = ? AND fingerprint = ?))"
                " ORDER BY number DESC LIMIT 1",
                (thread.platform, thread.channel_id, alert.dedup_key, alert.service or "", alert.fingerprint),
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE alert_faults SET state = 'resolved', is_changed = 1 WHERE number = ?", (row["number"],)
            )
        return _fault(row)

    def posted(self, fault: Fault, post_id: str, reply: Reply | None) -> None:
        """Records the analysis, once it stands in its thread."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE alert_faults SET post_id = ?, reply = ? WHERE number = ?",
                (post_id, encode_reply(reply) if reply else None, fault.number),
            )

    def changed(self) -> list[Fault]:
        """Faults whose analysis shows an old count or state."""
        return [
            _fault(row)
            for row in self._store.query(
                "SELECT * FROM alert_faults WHERE is_changed = 1 AND post_id IS NOT NULL ORDER BY last_at LIMIT 50"
            )
        ]

    def shown(self, fault: Fault) -> None:
        """Records that the analysis shows this count; what was counted meanwhile is shown later."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE alert_faults SET shown_count = ?, is_changed = (count != ? OR state != ?) WHERE number = ?",
                (fault.count, fault.count, fault.state, fault.number),
            )

    def find(self, number: int) -> Fault | None:
        rows = self._store.query("SELECT * FROM alert_faults WHERE number = ?", (number,))
        return _fault(rows[0]) if rows else None

    def in_thread(self, thread: ThreadRef) -> Fault | None:
        """The latest fault that is analysed in a thread."""
        rows = self._store.query(
            "SELECT * FROM alert_faults WHERE platform = ? AND channel_id = ? AND root_id = ?"
            " ORDER BY number DESC LIMIT 1",
            (thread.platform, thread.channel_id, thread.root_id),
        )
        return _fault(rows[0]) if rows else None

    def counts_since(self, since: datetime, thread: ThreadRef) -> tuple[int, int]:
        """(alerts, faults) of a channel since then."""
        (row,) = self._store.query(
            "SELECT count(*) AS alerts, count(DISTINCT o.fault) AS faults FROM alert_occurrences o"
            " JOIN alert_faults f ON f.number = o.fault WHERE o.at >= ? AND f.platform = ? AND f.channel_id = ?",
            (timestamp(since), thread.platform, thread.channel_id),
        )
        return row["alerts"], row["faults"]

    def forget_old(self) -> None:
        """Removes occurrences that no delivery repeats any more; the faults with their counts stay."""
        with self._store.transaction() as connection:
            connection.execute(
                "DELETE FROM alert_occurrences WHERE at < ?", (timestamp(self._clock() - KEEP_OCCURRENCES),)
            )

    def note_deploy(self, deploy: Deploy) -> None:
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO deploys VALUES (?, ?, ?, ?, ?)",
                (
                    deploy.service,
                    deploy.environment or "",
                    deploy.revision,
                    deploy.repository or "",
                    timestamp(deploy.deployed_at),
                ),
            )

    def deploys_of(self, service: str, environment: str | None, until: datetime) -> list[Deploy]:
        """The last two deployments up to a moment, the latest first."""
        rows = self._store.query(
            "SELECT * FROM deploys WHERE service = ? AND environment IN ('', ?) AND deployed_at <= ?"
            " ORDER BY deployed_at DESC LIMIT 2",
            (service, environment or "", timestamp(until)),
        )
        return [
            Deploy(
                service=row["service"],
                environment=row["environment"] or None,
                revision=row["revision"],
                repository=row["repository"] or None,
                deployed_at=moment(row["deployed_at"]),
            )
            for row in rows
        ]

    # --- inside ---------------------------------------------------------------------------------

    def _latest(self, connection: sqlite3.Connection, alert: Alert, thread: ThreadRef) -> sqlite3.Row | None:
        place = (thread.platform, thread.channel_id, alert.service or "")
        where = "SELECT * FROM alert_faults WHERE platform = ? AND channel_id = ? AND service = ?"
        row: sqlite3.Row | None = connection.execute(
            f"{where} AND fingerprint = ? ORDER BY number DESC LIMIT 1", (*place, alert.fingerprint)
        ).fetchone()
        if row is not None or not alert.sequence:
            return row
        since = timestamp(self._clock() - self._limits.window)
        rows = connection.execute(
            f"{where} AND last_at >= ? AND state != 'resolved' ORDER BY number DESC LIMIT 200", (*place, since)
        ).fetchall()
        groups = [(tuple(json.loads(one["sequence"])), bool(one["is_truncated"])) for one in rows]
        found = group_of(alert.sequence, is_truncated=alert.is_truncated, groups=groups)
        return rows[found] if found is not None else None

    def _over_limit(self, connection: sqlite3.Connection, thread: ThreadRef, now: datetime) -> bool:
        since = timestamp(now - timedelta(hours=1))
        (total, channel) = connection.execute(
            "SELECT count(*), count(CASE WHEN platform = ? AND channel_id = ? THEN 1 END) FROM alert_faults"
            " WHERE first_at > ? AND state != 'limited'",
            (thread.platform, thread.channel_id, since),
        ).fetchone()
        return bool(total >= self._limits.total_per_hour or channel >= self._limits.channel_per_hour)

    def _open(
        self,
        connection: sqlite3.Connection,
        alert: Alert,
        key: str,
        thread: ThreadRef,
        latest: sqlite3.Row | None,
        now: datetime,
        noted: Noted,
    ) -> int:
        values = {
            "platform": thread.platform,
            "channel_id": thread.channel_id,
            "root_id": thread.root_id,
            "delivery_key": key,
            "service": alert.service or "",
            "fingerprint": alert.fingerprint,
            "sequence": json.dumps(alert.sequence, ensure_ascii=False),
            "is_truncated": int(alert.is_truncated),
            "dedup_key": alert.dedup_key,
            "error_class": mask(alert.error_class or ""),
            "title": mask(alert.title)[:300],
            "state": "limited" if noted == "limited" else "open",
            "first_at": timestamp(now),
            "last_at": timestamp(now),
            "earlier": latest["number"] if latest is not None else None,
        }
        inserted = connection.execute(
            f"INSERT INTO alert_faults ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        )
        return int(inserted.lastrowid or 0)


def _fault(row: sqlite3.Row) -> Fault:
    return Fault(
        number=row["number"],
        thread=ThreadRef(platform=row["platform"], channel_id=row["channel_id"], root_id=row["root_id"]),
        delivery_key=row["delivery_key"],
        service=row["service"],
        fingerprint=row["fingerprint"],
        error_class=row["error_class"],
        title=row["title"],
        state=row["state"],
        count=row["count"],
        first_at=moment(row["first_at"]),
        last_at=moment(row["last_at"]),
        earlier=row["earlier"],
        post_id=row["post_id"],
        reply=decode_reply(row["reply"]) if row["reply"] else None,
    )
