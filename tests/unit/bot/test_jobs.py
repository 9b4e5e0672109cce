"""One queue: who asks joins, no two jobs of a source overlap, a cancel stops, a restart takes up what was left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.job_journal import JobJournal
from bot.jobs import JobQueue
from bot.store import Store
from knowledge.errors import SourceMissing
from knowledge.types import Progress, SyncReport


def now() -> datetime:
    return datetime(2026, 5, 1, tzinfo=UTC)


class Work:
    """Syncs that end when they are let go, and note whether two of one source overlapped."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.begun: list[tuple[str, bool]] = []
        self.running: set[str] = set()
        self.most_at_once = 0
        self.error: Exception | None = None
        self._lock = threading.Lock()

    def __call__(
        self, source: str, force: bool, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> SyncReport:
        with self._lock:
            assert source not in self.running, "two jobs of one source overlap"
            self.running.add(source)
            self.most_at_once = max(self.most_at_once, len(self.running))
            self.begun.append((source, force))
        try:
            progress(Progress(source=source, stage="read", done=1, total=2))
            while not self.let_go.wait(0.002) and not should_stop():
                pass
            if self.error is not None:
                raise self.error
            return SyncReport(
                source=source, added=1, updated=0, deleted=0, unchanged=0, failed=(), duration_s=0.1,
                stopped=should_stop(),
            )  # fmt: skip
        finally:
            with self._lock:
                self.running.discard(source)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "bot.sqlite3", clock=now)


@pytest.fixture
async def work() -> Work:
    return Work()


@pytest.fixture
async def queue(store: Store, work: Work) -> AsyncIterator[JobQueue]:
    queue = JobQueue(work, JobJournal(store, clock=now), clock=now, at_once=2)
    yield queue
    await queue.stop()
    store.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for are plain values of the queue
            await asyncio.sleep(0.002)


async def test_asking_twice_joins_the_running_job_and_sees_its_progress(queue: JobQueue, work: Work) -> None:
    steps: tuple[list[Progress], list[Progress]] = ([], [])
    first = asyncio.create_task(queue.carry_out("rules", by="a", force=False, progress=steps[0].append))
    await until(lambda: bool(steps[0]))
    second = asyncio.create_task(queue.carry_out("rules", by="b", force=False, progress=steps[1].append))
    await until(lambda: bool(steps[1]))
    work.let_go.set()
    (one, _), (other, report) = await first, await second
    assert one.number == other.number
    assert other.requested_by == ("a", "b")
    assert report is not None
    assert (other.state, dict(other.counts or {})["added"], work.begun) == ("done", 1, [("rules", False)])


async def test_who_joined_and_leaves_stops_nobody_elses_job(queue: JobQueue, work: Work) -> None:
    first = asyncio.create_task(queue.carry_out("rules", by="a", force=False, progress=lambda step: None))
    second = asyncio.create_task(queue.carry_out("rules", by="b", force=False, progress=lambda step: None))
    await until(lambda: bool(work.running))
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert work.running
    work.let_go.set()
    assert (await first)[0].state == "done"


async def test_when_the_last_who_waits_leaves_the_job_is_stopped(queue: JobQueue, work: Work) -> None:
    only = asyncio.create_task(queue.carry_out("rules", by="a", force=False, progress=lambda step: None))
    await until(lambda: bool(work.running))
    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    assert [(job.state, job.reason) for job, _ in await queue.recent(5)] == [("cancelled", "cancelled by a")]


async def test_what_must_see_the_newest_state_never_joins_a_job_that_has_begun(queue: JobQueue, work: Work) -> None:
    first = await queue.request("rules", by="schedule")
    await until(lambda: bool(work.running))
    second = await queue.request("rules", by="hook:github", fresh=True)
    third = await queue.request("rules", by="file event", fresh=True)
    assert first.number != second.number == third.number
    work.let_go.set()
    await until(lambda: not queue.is_busy("rules"))
    assert len(work.begun) == 2


async def test_a_forced_sync_waits_behind_an_unforced_one(queue: JobQueue, work: Work) -> None:
    await queue.request("rules", by="schedule")
    await until(lambda: bool(work.running))
    forced = await queue.request("rules", by="a", force=True)
    assert (await queue.request("rules", by="b")).number == forced.number
    work.let_go.set()
    await until(lambda: not queue.is_busy("rules"))
    assert work.begun == [("rules", False), ("rules", True)]


async def test_sources_run_side_by_side_within_the_bound(queue: JobQueue, work: Work) -> None:
    for name in ("a", "b", "c", "d"):
        await queue.request(name, by="schedule")
    await until(lambda: len(work.running) == 2)
    work.let_go.set()
    await until(lambda: len(work.begun) == 4 and not work.running)
    assert work.most_at_once == 2


async def test_a_cancelled_job_says_by_whom_and_one_that_waits_never_begins(queue: JobQueue, work: Work) -> None:
    running = await queue.request("rules", by="schedule")
    await until(lambda: bool(work.running))
    waiting = await queue.request("rules", by="hook:github", fresh=True)
    assert await queue.cancel(waiting.number, by="slack:U1") is not None
    assert await queue.cancel(running.number, by="slack:U1") is not None
    await until(lambda: not queue.is_busy("rules"))
    states = {job.number: (job.state, job.reason) for job, _ in await queue.recent(5)}
    assert set(states.values()) == {("cancelled", "cancelled by slack:U1")}
    assert len(work.begun) == 1
    assert await queue.cancel(running.number, by="slack:U1") is None


async def test_a_failure_is_raised_for_whoever_waits_and_kept_with_its_reason(queue: JobQueue, work: Work) -> None:
    work.error = SourceMissing("The folder is not there")
    work.let_go.set()
    with pytest.raises(SourceMissing):
        await queue.carry_out("rules", by="a", force=False, progress=lambda step: None)
    ((job, _),) = await queue.recent(1)
    assert (job.state, job.reason) == ("failed", "The folder is not there")


async def test_a_job_that_was_running_when_the_process_died_is_taken_up_once(store: Store, work: Work) -> None:
    journal = JobJournal(store, clock=now)
    journal.add("rules", by="a", force=True)  # a process that died left it like this
    assert [job.source for job in journal.close_open()] == ["rules"]
    queue = JobQueue(work, journal, clock=now, at_once=1)
    work.let_go.set()
    assert [job.force for job in await queue.take_up_interrupted()] == [True]
    await until(lambda: not queue.is_busy("rules"))
    assert await queue.take_up_interrupted() == []
    assert [job.state for job, _ in await queue.recent(5)] == ["done", "interrupted"]
    store.close()


async def test_an_orderly_stop_leaves_running_jobs_for_the_next_start(queue: JobQueue, work: Work) -> None:
    await queue.request("rules", by="schedule")
    await until(lambda: bool(work.running))
    await queue.stop()
    assert [job.state for job, _ in await queue.recent(5)] == ["interrupted"]
