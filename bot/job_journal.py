"""The jobs of the queue and the webhook deliveries that were taken, as bot.sqlite3 keeps them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.store import Store, moment, timestamp
from bot.types import Job
from knowledge.masking import mask

KEPT_JOBS = 2_000
KEPT_DELIVERIES = timedelta(days=7)  # hosts send again for a few days at most
MAX_REASON_CHARS = 1_000


class JobJournal:
    """May be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def add(self, source: str, *, by: str, force: bool) -> Job:
        """A new job that waits."""
        now = self._clock()
        with self._store.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO jobs (source, force, state, requested_by, requested_at) VALUES (?, ?, 'waiting', ?, ?)",
                (source, int(force), json.dumps([by], ensure_ascii=False), timestamp(now)),
            )
            number = int(cursor.lastrowid or 0)
            connection.execute(
                "DELETE FROM jobs WHERE number <= ? AND state NOT IN ('waiting', 'running')", (number - KEPT_JOBS,)
            )
        return Job(number=number, source=source, force=force, state="waiting", requested_by=(by,), requested_at=now)

    def save(self, job: Job) -> None:
        """Keeps `job` in place of what was kept under its number."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET force = ?, state = ?, requested_by = ?, started_at = ?, finished_at = ?,"
                " duration_s = ?, counts = ?, reason = ? WHERE number = ?",
                (
                    int(job.force),
                    job.state,
                    json.dumps(job.requested_by, ensure_ascii=False),
                    timestamp(job.started_at) if job.started_at else None,
                    timestamp(job.finished_at) if job.finished_at else None,
                    job.duration_s,
                    json.dumps(dict(job.counts)) if job.counts is not None else None,
                    mask(job.reason)[:MAX_REASON_CHARS] if job.reason else None,
                    job.number,
                ),
            )

    def recent(self, limit: int) -> list[Job]:
        """The newest jobs first."""
        return [_as_job(row) for row in self._store.query("SELECT * FROM jobs ORDER BY number DESC LIMIT ?", (limit,))]

    def close_open(self) -> list[Job]:
        """Marks the jobs that an earlier process left as interrupted, and returns them."""
        left = self._store.query("SELECT * FROM jobs WHERE state IN ('waiting', 'running') ORDER BY number")
        if left:
            with self._store.transaction() as connection:
                connection.execute(
                    "UPDATE jobs SET state = 'interrupted', finished_at = ?, reason = ?"
                    " WHERE state IN ('waiting', 'running')",
                    (timestamp(self._clock()), "the process that worked on it ended"),
                )
        return [_as_job(row) for row in left]

    def take_interrupted(self) -> list[Job]:
        """Interrupted jobs that nothing has made up for since, marked as taken up: each is given once."""
        rows = self._store.query(
            "SELECT * FROM jobs j WHERE state = 'interrupted' AND resumed = 0 AND NOT EXISTS"
            " (SELECT 1 FROM jobs later WHERE later.source = j.source AND later.number > j.number"
            "  AND later.state = 'done' AND later.force >= j.force) ORDER BY number"
        )
        with self._store.transaction() as connection:
            connection.execute("UPDATE jobs SET resumed = 1 WHERE state = 'interrupted'")
        return [_as_job(row) for row in rows]

    # --- webhooks ---------------------------------------------------------------------------------

    def jobs_of_delivery(self, delivery: str) -> list[int] | None:
        """The jobs that a delivery asked for; None when it is new."""
        rows = self._store.query("SELECT jobs FROM hook_deliveries WHERE delivery = ?", (delivery,))
        return json.loads(rows[0]["jobs"]) if rows else None

    def keep_delivery(self, delivery: str, jobs: Sequence[int]) -> None:
        """Remembers a delivery for as long as its host may send it again."""
        now = self._clock()
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM hook_deliveries WHERE received_at < ?", (timestamp(now - KEPT_DELIVERIES),))
            connection.execute(
                "INSERT OR REPLACE INTO hook_deliveries (delivery, received_at, jobs) VALUES (?, ?, ?)",
                (delivery, timestamp(now), json.dumps(list(jobs))),
            )


def _as_job(row: sqlite3.Row) -> Job:
    return Job(
        number=row["number"],
        source=row["source"],
        force=bool(row["force"]),
        state=row["state"],
        requested_by=tuple(json.loads(row["requested_by"])),
        requested_at=moment(row["requested_at"]),
        started_at=moment(row["started_at"]) if row["started_at"] else None,
        finished_at=moment(row["finished_at"]) if row["finished_at"] else None,
        duration_s=row["duration_s"],
        counts=json.loads(row["counts"]) if row["counts"] else None,
        reason=row["reason"],
    )
