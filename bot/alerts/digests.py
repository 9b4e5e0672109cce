"""Posts under which faults beyond the limits are gathered: one an hour and channel, brought up to date by edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.store import Store, moment, timestamp
from bot.types import ThreadRef

KEEP = timedelta(days=2)
MAX_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """One fault of a digest."""

    service: str
    title: str
    count: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a digest says: the faults told most often, how many there are, how many alerts told of them."""

    thread: ThreadRef
    hour: str
    listed: tuple[Gathered, ...]
    faults: int
    alerts: int

    @property
    def delivery_id(self) -> str:
        return digest_delivery(self.hour)


def digest_delivery(hour: str) -> str:
    """The delivery id of the digest of an hour, the same in every channel."""
    return f"alerts-beyond:{hour}"


class Digests:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def find(self, platform: str, channel_id: str, hour: str) -> ThreadRef | None:
        """The thread of the digest of this hour."""
        rows = self._store.query(
            "SELECT root_id FROM alert_digests WHERE platform = ? AND channel_id = ? AND hour = ?",
            (platform, channel_id, hour),
        )
        return ThreadRef(platform=platform, channel_id=channel_id, root_id=rows[0]["root_id"]) if rows else None

    def keep(self, thread: ThreadRef, hour: str) -> None:
        """Records where a digest stands."""
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO alert_digests VALUES (?, ?, ?, ?, 1)",
                (thread.platform, thread.channel_id, hour, thread.root_id),
            )

    def changed(self, thread: ThreadRef) -> bool:
        """Whether the thread is that of a digest, which then does not say everything any more."""
        return self._mark(thread, 1)

    def shown(self, thread: ThreadRef) -> None:
        """Records that a digest says everything."""
        self._mark(thread, 0)

    def to_show(self) -> list[Digest]:
        """Digests that do not say everything."""
        rows = self._store.query("SELECT * FROM alert_digests WHERE is_changed = 1 ORDER BY hour")
        return [
            self._digest(
                ThreadRef(platform=row["platform"], channel_id=row["channel_id"], root_id=row["root_id"]), row["hour"]
            )
            for row in rows
        ]

    def forget_old(self) -> None:
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM alert_digests WHERE hour < ?", (timestamp(self._clock() - KEEP),))

    def _digest(self, thread: ThreadRef, hour: str) -> Digest:
        place = (thread.platform, thread.channel_id, thread.root_id)
        where = "FROM alert_faults WHERE platform = ? AND channel_id = ? AND root_id = ?"
        (sums,) = self._store.query(f"SELECT count(*) n, COALESCE(sum(count), 0) alerts {where}", place)
        rows = self._store.query(f"SELECT * {where} ORDER BY count DESC, number LIMIT {MAX_LISTED}", place)
        listed = tuple(
            Gathered(
                service=row["service"],
                title=row["error_class"] or row["title"],
                count=row["count"],
                last_at=moment(row["last_at"]),
            )
            for row in rows
        )
        return Digest(thread=thread, hour=hour, listed=listed, faults=sums["n"], alerts=sums["alerts"])

    def _mark(self, thread: ThreadRef, changed: int) -> bool:
        with self._store.transaction() as connection:
            return (
                connection.execute(
                    "UPDATE alert_digests SET is_changed = ? WHERE platform = ? AND channel_id = ? AND root_id = ?",
                    (changed, thread.platform, thread.channel_id, thread.root_id),
                ).rowcount
                > 0
            )
