"""24 simulated hours of the whole machinery: schedules, the queue, real syncs, reconciling and what is removed at night."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.audit import AuditLog
from bot.compose_schedule import Freshness
from bot.services import Services, open_services
from bot.settings import load_settings
from knowledge.types import Scope
from tests.unit.bot.company import write_company

CONFIG = """
data_dir = "data"

[[sources]]
name = "rules"
kind = "documents"
path = "rules"

[[sources]]
name = "shop"
kind = "repository"
path = "shop"

[embedding]
documents = ["hash"]
code = ["hash"]

[ingest]
workers = 1

[schedule]
timezone = "Europe/Berlin"
documents = "1h"
repositories = "*/30 * * * *"
reconcile = "30 2 * * *"
jitter_s = 20.0
watch = false

[retention]
audit_days = 30
"""
START = datetime(2026, 10, 24, 22, 10, tzinfo=UTC)  # 0:10 in Berlin; at 3:00 that night the clock goes back an hour
LIMIT_S = 300.0


class Day:
    """A clock that goes on only while nothing is to be done."""

    def __init__(self, services: Services) -> None:
        self.now = START
        self._services = services

    def __call__(self) -> datetime:
        return self.now

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(0)  # what was begun a moment ago is in the queue then
        while any(self._services.queue.is_busy(name) for name in ("rules", "shop")):  # noqa: ASYNC110 - has no event
            await asyncio.sleep(0.005)
        self.now += timedelta(seconds=max(seconds, 0.001))
        if self.now >= START + timedelta(hours=24):
            raise asyncio.CancelledError


class Watching:
    """Notes how many syncs of each source ran, and whether two of one ever did at once."""

    def __init__(self, services: Services) -> None:
        self.ran: Counter[str] = Counter()
        self.overlapped: list[str] = []
        self._running: set[str] = set()
        self._lock = threading.Lock()
        self._inner = services.queue._run
        services.queue._run = self._run

    def _run(self, source, force, progress, should_stop):
        with self._lock:
            if source in self._running:
                self.overlapped.append(source)
            self._running.add(source)
            self.ran[source] += 1
        try:
            return self._inner(source, force, progress, should_stop)
        finally:
            with self._lock:
                self._running.discard(source)


@pytest.fixture
async def services(tmp_path: Path):
    write_company(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "haechi.toml").write_text(CONFIG, encoding="utf-8")
    async with open_services(load_settings(tmp_path / "haechi.toml")) as found:
        yield found


async def test_in_a_day_with_a_change_of_the_clock_everything_runs_as_often_as_it_should(services):
    day = Day(services)
    services.readiness.clock = day
    AuditLog(services.store, clock=lambda: START - timedelta(days=31)).record("slack:U1", "reindex", "too old tomorrow")
    AuditLog(services.store, clock=lambda: START - timedelta(days=29)).record("slack:U1", "reindex", "kept")
    watching = Watching(services)
    reconciled: list[datetime] = []
    inner = services.knowledge.maintenance.reconcile

    def reconcile():
        reconciled.append(day.now)
        return inner()

    services.knowledge.maintenance.reconcile = reconcile
    freshness = Freshness(services, clock=day, wait=day.wait)
    async with asyncio.timeout(LIMIT_S):
        await freshness.run()
        await freshness._reconciling
    assert watching.ran == {"rules": 23, "shop": 48}
    assert watching.overlapped == []
    jobs = await services.queue.recent(200)
    assert {job.state for job, _ in jobs} == {"done"}
    assert len(jobs) == 23 + 48
    assert len(reconciled) == 1
    assert [row["detail"] for row in services.store.query("SELECT detail FROM audit_log")] == ["kept"]
    shown = services.knowledge.list_documents(scope=Scope.everything())
    assert len(shown) == 3
