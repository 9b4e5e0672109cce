"""Alerts that came by HTTP, in bot.sqlite3: on the disk before their sender hears that they were taken."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from bot.alerts.alert import Alert
from bot.errors import BotError
from bot.store import Store, moment, timestamp
from bot.types import ThreadRef

MAX_WAITING = 20_000
KEEP_DONE = timedelta(days=2)
GIVE_UP_AFTER = timedelta(days=7)
MAX_CRASHES = 3

_ALERT = TypeAdapter(Alert)

Place = tuple[str, str]
"""A platform and a channel; both are empty where no channel is configured for an alert."""
NOWHERE: Place = ("", "")


class IntakeFull(BotError):
    """So many alerts wait for their platforms that no more are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One alert on its way to its channel. `alert` is None when what was stored cannot be read any more."""

    number: int
    key: str
    alert: Alert | None
    place: Place
    root_id: str | None
    tried_at: datetime | None
    crashes: int
    received_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a body became: `is_new` is false for a repeat within the window, which makes nothing."""

    id: str
    is_new: bool


class AlertIntake:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], datetime],
        place_of: Callable[[Alert], Place],
        repeat_window: timedelta,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._store = store
        self._clock = clock
        self._place_of = place_of
        self._window = repeat_window
        self._max_waiting = max_waiting

    # --- coming in ------------------------------------------------------------------------------

    def taken_before(self, identity: str) -> Taken | None:
        """The body of this identity that was taken within the window."""
        rows = self._store.query(*self._lately(identity))
        return Taken(id=rows[0]["id"], is_new=False) if rows else None

    def take(self, alerts: Sequence[Alert], identity: str) -> Taken:
        """Saves the alerts of a body; they are on the disk when this returns. Raises StoreError and IntakeFull."""
        now = self._clock()
        body_id = f"{identity}-{int(now.timestamp() * 1000):x}"
        with self._store.transaction() as connection:
            known = connection.execute(*self._lately(identity)).fetchone()
            if known is not None:
                return Taken(id=known["id"], is_new=False)
            (waiting,) = connection.execute("SELECT count(*) FROM incoming_alerts WHERE state = 'waiting'").fetchone()
            if alerts and waiting + len(alerts) > self._max_waiting:
                raise IntakeFull(f"{waiting} alerts wait for their channels; `haechi status` says why.")
            connection.execute(
                "INSERT OR IGNORE INTO alert_bodies VALUES (?, ?, ?)", (body_id, identity, timestamp(now))
            )
            for number, alert in enumerate(alerts):
                key = f"alert:{body_id}" if number == 0 else f"alert:{body_id}#{number + 1}"
                connection.execute(
                    "INSERT INTO incoming_alerts (delivery_key, alert, platform, channel_id, received_at)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (key, encode_alert(alert), *self._place_of(alert), timestamp(now)),
                )
        return Taken(id=body_id, is_new=True)

    # --- on the way to the channel --------------------------------------------------------------

    def resume(self) -> int:
        """How many alerts an earlier run left; those without a post are sent where the settings say now."""
        rows = self._store.query("SELECT * FROM incoming_alerts WHERE state = 'waiting'")
        with self._store.transaction() as connection:
            for row in rows:
                alert = decode_alert(row["alert"]) if row["root_id"] is None else None
                if alert is not None and (place := self._place_of(alert)) != (row["platform"], row["channel_id"]):
                    connection.execute(
                        "UPDATE incoming_alerts SET platform = ?, channel_id = ?, tried_at = NULL WHERE number = ?",
                        (*place, row["number"]),
                    )
        return len(rows)

    def next_waiting(self, platform: str, *, after: int, blocked: Sequence[Place]) -> Incoming | None:
        """The oldest alert behind `after` that waits for a channel of a platform that is not blocked."""
        elsewhere = " AND NOT (platform = ? AND channel_id = ?)" * len(blocked)
        rows = self._store.query(
            f"SELECT * FROM incoming_alerts WHERE state = 'waiting' AND platform = ? AND number > ?{elsewhere}"
            " ORDER BY number LIMIT 1",
            (platform, after, *(name for place in blocked for name in place)),
        )
        return _incoming(rows[0]) if rows else None

    def trying(self, one: Incoming) -> None:
        """Records that it is about to be posted, and when that was first tried. A process that dies of it again and
        again gives it up."""
        self._update(one, "crashes = crashes + 1, tried_at = COALESCE(tried_at, ?)", timestamp(self._clock()))

    def posted(self, one: Incoming, thread: ThreadRef) -> None:
        """Records where its post stands."""
        self._update(one, "root_id = ?", thread.root_id)

    def postponed(self, one: Incoming) -> None:
        """Records that its platform did not take it: it goes on waiting."""
        self._update(one, "crashes = 0")

    def placed(self, one: Incoming) -> None:
        """Records that the inbox has it; the alert is kept until that is done with it."""
        self._update(one, "state = 'placed', done_at = ?", timestamp(self._clock()))

    def done(self, ended: Sequence[tuple[Incoming, str]], *, failed: bool = False) -> None:
        """Records the end of alerts that need no analysis of their own, each with its outcome."""
        state, now = "failed" if failed else "done", timestamp(self._clock())
        with self._store.transaction() as connection:
            connection.executemany(
                f"UPDATE incoming_alerts SET state = '{state}', alert = '', outcome = ?, done_at = ? WHERE number = ?",
                [(outcome, now, one.number) for one, outcome in ended],
            )

    def find(self, key: str) -> Alert | None:
        """The alert of a delivery that was placed."""
        rows = self._store.query("SELECT alert FROM incoming_alerts WHERE delivery_key = ?", (key,))
        return decode_alert(rows[0]["alert"]) if rows else None

    # --- looking --------------------------------------------------------------------------------

    def waiting(self) -> Mapping[Place, tuple[int, datetime]]:
        """place -> (how many alerts wait for it, since when the oldest does)."""
        rows = self._store.query(
            "SELECT platform, channel_id, count(*) n, min(received_at) oldest FROM incoming_alerts"
            " WHERE state = 'waiting' GROUP BY platform, channel_id"
        )
        return {(row["platform"], row["channel_id"]): (row["n"], moment(row["oldest"])) for row in rows}

    def forget_old(self) -> int:
        """How many alerts were given up because they waited too long; what is done is removed after a while."""
        now = self._clock()
        with self._store.transaction() as connection:
            given_up = connection.execute(
                "UPDATE incoming_alerts SET state = 'failed', alert = '', outcome = 'waited too long', done_at = ?"
                " WHERE state = 'waiting' AND received_at < ?",
                (timestamp(now), timestamp(now - GIVE_UP_AFTER)),
            ).rowcount
            connection.execute(
                "DELETE FROM incoming_alerts WHERE done_at < ? AND delivery_key NOT IN"
                " (SELECT delivery_id FROM inbox WHERE state IN ('received', 'working'))",
                (timestamp(now - KEEP_DONE),),
            )
            connection.execute(
                "DELETE FROM alert_bodies WHERE received_at < ?", (timestamp(now - max(KEEP_DONE, self._window)),)
            )
        return given_up

    # --- inside ---------------------------------------------------------------------------------

    def _lately(self, identity: str) -> tuple[str, tuple[str, str]]:
        return (
            "SELECT id FROM alert_bodies WHERE identity = ? AND received_at > ? ORDER BY received_at DESC LIMIT 1",
            (identity, timestamp(self._clock() - self._window)),
        )

    def _update(self, one: Incoming, assignment: str, *values: object) -> None:
        with self._store.transaction() as connection:
            connection.execute(f"UPDATE incoming_alerts SET {assignment} WHERE number = ?", (*values, one.number))


def encode_alert(alert: Alert) -> str:
    """JSON of an alert, which is masked already."""
    return _ALERT.dump_json(alert).decode()


def decode_alert(text: str) -> Alert | None:
    """The alert that `encode_alert` wrote; None when it was taken away, or an older version wrote it otherwise."""
    if not text:
        return None
    try:
        return _ALERT.validate_json(text)
    except ValidationError:
        return None


def _incoming(row: sqlite3.Row) -> Incoming:
    return Incoming(
        number=row["number"],
        key=row["delivery_key"],
        alert=decode_alert(row["alert"]),
        place=(row["platform"], row["channel_id"]),
        root_id=row["root_id"],
        tried_at=moment(row["tried_at"]) if row["tried_at"] else None,
        crashes=row["crashes"],
        received_at=moment(row["received_at"]),
    )
