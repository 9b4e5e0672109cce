"""Faults in bot.sqlite3: which are going on, how often each was told, and where its analysis stands."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bot.alerts.alert import Alert
from bot.alerts.fingerprint import group_of
from bot.alerts.learnt import Background, Ready, decode_background, encode_background, encode_case
from bot.store import Store, moment, timestamp
from bot.stored_forms import decode_reply, encode_reply, encode_scope
from bot.types import Reply, ThreadRef
from knowledge.masking import mask
from knowledge.types import Scope

Noted = Literal["analyse", "counted", "limited", "known"]
Came = Literal["new", "back", "going_on"]
Judged = Literal["", "wrong", "corrected"]
KEEP_OCCURRENCES = timedelta(days=7)
FAILED_AGAIN_AFTER = timedelta(minutes=15)  # a model or a platform that fails for each alert is not asked for each
KNOWN_FOR = timedelta(days=30)  # a trace that was cut off is compared with faults of that time


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When alerts are one fault, and how many analyses an hour may be begun."""

    quiet: timedelta = timedelta(hours=6)  # a fault that was quiet for longer has come back
    window: timedelta = timedelta(hours=24)  # one that goes on for longer than this is analysed anew
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
    last_at: datetime
    earlier: int | None
    post_id: str | None
    reply: Reply | None  # the analysis, from the moment it is ready to be posted
    came: Came = "new"
    judged: Judged = ""


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
            came = self._came(latest, now)
            noted: Noted = "counted"
            if came is not None:
                noted = "limited" if self._over_limit(connection, thread, now) else "analyse"
                number = self._open(connection, alert, key, thread, latest, now, noted, came)
            else:
                assert latest is not None
                number = latest["number"]
                connection.execute(
                    "UPDATE alert_faults SET count = count + 1, last_at = ?, is_changed = 1 WHERE number = ?",
                    (timestamp(now), number),
                )
                if self._may_begin(connection, latest, thread, now):
                    noted = "analyse"  # its analysis stands below this alert, and counts to the limits from now
                    connection.execute(
                        "UPDATE alert_faults SET state = 'open', delivery_key = ?, root_id = ?, first_at = ?,"
                        " reply = NULL, background = NULL, pending_case = NULL WHERE number = ?",
                        (key, thread.root_id, timestamp(now), number),
                    )
            connection.execute("INSERT INTO alert_occurrences VALUES (?, ?, ?)", (key, number, timestamp(now)))
            row = connection.execute("SELECT * FROM alert_faults WHERE number = ?", (number,)).fetchone()
        return noted, _fault(row)

    def going_on(self, alert: Alert, thread: ThreadRef) -> Fault | None:
        """The fault of this channel that `note` would count the alert to; None when it would begin an analysis."""
        with self._store.transaction() as connection:
            latest, now = self._latest(connection, alert, thread), self._clock()
            if latest is None or self._came(latest, now) is not None:
                return None
            begins = self._may_begin(connection, latest, thread, now)
        return None if begins else _fault(latest)

    def is_over_limit(self, thread: ThreadRef) -> bool:
        """Whether a new fault of this channel would only be counted now."""
        with self._store.transaction() as connection:
            return self._over_limit(connection, thread, self._clock())

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

    def prepared(self, fault: Fault, ready: Ready) -> None:
        """Keeps an analysis that is ready to be posted: after a kill it is posted as it is, and no model is asked."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE alert_faults SET reply = ?, background = ?, pending_case = ? WHERE number = ?",
                (
                    encode_reply(ready.reply),
                    encode_background(ready.background),
                    encode_case(ready.case) if ready.case is not None else None,
                    fault.number,
                ),
            )

    def posted(self, fault: Fault, post_id: str, *, scope: Scope, url: str | None) -> None:
        """Records where the analysis stands, and that it may be voted on like any reply of the bot."""
        now = timestamp(self._clock())
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE alert_faults SET post_id = ?, pending_case = CASE WHEN pending_case IS NULL THEN NULL"
                " ELSE json_set(pending_case, '$.url', ?) END WHERE number = ?",
                (post_id, url, fault.number),
            )
            stored = connection.execute("SELECT reply FROM alert_faults WHERE number = ?", (fault.number,)).fetchone()
            reply = decode_reply(stored["reply"]) if stored["reply"] else None
            row = {
                "delivery_id": fault.delivery_key,
                "platform": fault.thread.platform,
                "channel_id": fault.thread.channel_id,
                "root_id": fault.thread.root_id,
                "post_id": post_id,
                "outcome": "analysed",
                "posted_at": now,
                "kind": "alert",
                "scope": encode_scope(scope),
                "question": mask(f"{fault.service} {fault.error_class} {fault.title}".strip()),
                "answer": mask(reply.markdown) if reply else "",
                "evidence_ids": json.dumps([one.chunk_id for one in reply.citations] if reply else []),
            }
            connection.execute(
                f"INSERT OR REPLACE INTO replies ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                tuple(row.values()),
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
                "UPDATE alert_faults SET shown_count = ?, is_changed = (count != ? OR state != ? OR judged != ?)"
                " WHERE number = ?",
                (fault.count, fault.count, fault.state, fault.judged, fault.number),
            )

    def find(self, number: int) -> Fault | None:
        rows = self._store.query("SELECT * FROM alert_faults WHERE number = ?", (number,))
        return _fault(rows[0]) if rows else None

    def in_thread(self, thread: ThreadRef) -> list[Fault]:
        """The faults that are analysed in a thread, the first one first: one post may tell of several."""
        rows = self._store.query(
            "SELECT * FROM alert_faults WHERE platform = ? AND channel_id = ? AND root_id = ? AND post_id IS NOT NULL"
            " ORDER BY number LIMIT 20",
            (thread.platform, thread.channel_id, thread.root_id),
        )
        return [_fault(row) for row in rows]

    def lately_in(self, platform: str, channel_id: str) -> Fault | None:
        """The fault of a channel whose analysis was begun last."""
        rows = self._store.query(
            "SELECT * FROM alert_faults WHERE platform = ? AND channel_id = ? AND post_id IS NOT NULL"
            " ORDER BY number DESC LIMIT 1",
            (platform, channel_id),
        )
        return _fault(rows[0]) if rows else None

    def of_post(
        self, platform: str, *, delivery_key: str = "", post_id: str = "", channel_id: str = ""
    ) -> Fault | None:
        """The fault whose analysis is meant: by the delivery that it answers, else by its post."""
        condition, values = "delivery_key = ?", [delivery_key]
        if not delivery_key:
            condition, values = "post_id = ? AND ? IN ('', channel_id)", [post_id, channel_id]
        rows = self._store.query(
            f"SELECT * FROM alert_faults WHERE platform = ? AND post_id IS NOT NULL AND {condition}"
            " ORDER BY number DESC LIMIT 1",
            (platform, *values),
        )
        return _fault(rows[0]) if rows else None

    def background_of(self, fault: Fault) -> Background | None:
        """What the analysis was made from; None for one of an older version."""
        rows = self._store.query("SELECT background FROM alert_faults WHERE number = ?", (fault.number,))
        return decode_background(rows[0]["background"]) if rows and rows[0]["background"] else None

    def may_tell(self, what: str, thread: ThreadRef, every: timedelta) -> bool:
        """Whether `what` was not said in this channel for that long; from now on it was."""
        now = self._clock()
        with self._store.transaction() as connection:
            told = connection.execute(
                "SELECT told_at FROM alert_told WHERE platform = ? AND channel_id = ? AND what = ?",
                (thread.platform, thread.channel_id, what),
            ).fetchone()
            if told is not None and now - moment(told["told_at"]) < every:
                return False
            connection.execute(
                "INSERT OR REPLACE INTO alert_told VALUES (?, ?, ?, ?)",
                (thread.platform, thread.channel_id, what, timestamp(now)),
            )
        return True

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

    # --- inside ---------------------------------------------------------------------------------

    def _latest(self, connection: sqlite3.Connection, alert: Alert, thread: ThreadRef) -> sqlite3.Row | None:
        place = (thread.platform, thread.channel_id, alert.service or "")
        where = "SELECT * FROM alert_faults WHERE platform = ? AND channel_id = ? AND service = ?"
        row: sqlite3.Row | None = connection.execute(
            f"{where} AND fingerprint = ? ORDER BY number DESC LIMIT 1", (*place, alert.fingerprint)
        ).fetchone()
        if row is not None or not alert.sequence:
            return row
        since = timestamp(self._clock() - KNOWN_FOR)
        rows = connection.execute(
            f"{where} AND last_at >= ? ORDER BY number DESC LIMIT 200", (*place, since)
        ).fetchall()
        groups = [(tuple(json.loads(one["sequence"])), bool(one["is_truncated"])) for one in rows]
        found = group_of(alert.sequence, is_truncated=alert.is_truncated, groups=groups)
        return rows[found] if found is not None else None

    def _came(self, latest: sqlite3.Row | None, now: datetime) -> Came | None:
        """Why a new episode begins; None while the latest one goes on."""
        if latest is None:
            return "new"
        if latest["state"] == "resolved" or moment(latest["last_at"]) < now - self._limits.quiet:
            return "back"
        goes_on = latest["state"] != "limited" and moment(latest["first_at"]) < now - self._limits.window
        return "going_on" if goes_on else None

    def _may_begin(self, connection: sqlite3.Connection, latest: sqlite3.Row, thread: ThreadRef, now: datetime) -> bool:
        """Whether a fault that goes on gets the analysis that it lacks: there is room again, or one failed."""
        if latest["state"] != "limited":
            key = str(latest["delivery_key"])
            delivery = key if key.startswith("alert:") else key.partition("#")[0]  # a post may tell of several
            failed = connection.execute(
                "SELECT 1 FROM inbox WHERE delivery_id = ? AND state IN ('done', 'failed') AND done_at < ?",
                (delivery, timestamp(now - FAILED_AGAIN_AFTER)),
            ).fetchone()
            if latest["post_id"] is not None or failed is None:
                return False
        return not self._over_limit(connection, thread, now)

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
        came: Came,
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
            "came": came,
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
        service=row["service"], fingerprint=row["fingerprint"], error_class=row["error_class"], title=row["title"],
        state=row["state"],
        count=row["count"],
        last_at=moment(row["last_at"]),
        earlier=row["earlier"],
        post_id=row["post_id"],
        reply=decode_reply(row["reply"]) if row["reply"] else None,
        came=row["came"], judged=row["judged"],
    )  # fmt: skip
