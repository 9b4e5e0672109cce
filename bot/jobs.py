"""The one queue of syncs: every way of asking for a sync ends here.

A source has at most one running job and one that waits; sources run side by side within a bound. Whoever asks for what
waits or runs already joins it and sees its progress. What has to see the newest state of a source (a webhook, a file
event) never joins a job that has begun, because that one may have looked before the change: it joins or makes the next.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic

import structlog

from bot.errors import BotError
from bot.job_journal import JobJournal
from bot.types import Job, JobState
from knowledge.errors import KnowledgeError
from knowledge.types import Progress, SyncReport

RunSync = Callable[[str, bool, Callable[[Progress], None], Callable[[], bool]], SyncReport]
"""(source, force, progress, should_stop) -> report; called in a thread. Raises KnowledgeError."""

ENDED = "the process ended before it was done"

log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class QueuedJob:
    """A job with those who wait for it."""

    job: Job
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    cancelled_by: str | None = None
    is_kept: bool = False  # somebody asked who does not wait for it, so it is not given up when others leave
    followers: list[Callable[[Progress], None]] = field(default_factory=list)
    last_step: Progress | None = None
    report: SyncReport | None = None
    error: BaseException | None = None


class JobQueue:
    """Lives in one event loop. `run` does the work of one job, in a thread."""

    def __init__(self, run: RunSync, journal: JobJournal, *, clock: Callable[[], datetime], at_once: int) -> None:
        self._run = run
        self._journal = journal
        self._clock = clock
        self._places = asyncio.Semaphore(at_once)
        self._waiting: dict[str, QueuedJob] = {}
        self._running: dict[str, QueuedJob] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asking = asyncio.Lock()
        self._leaving = False
        self.on_ended: list[Callable[[Job], None]] = []  # told of every job that is over, in the event loop

    # --- asking -----------------------------------------------------------------------------------

    async def request(self, source: str, *, by: str, force: bool = False, fresh: bool = False) -> Job:
        """The job that will do it, made or joined; it goes on whoever waits for it. `fresh`: it must begin from now
        on."""
        queued = await self._queued(source, by=by, force=force, fresh=fresh)
        queued.is_kept = True
        return queued.job

    async def carry_out(
        self, source: str, *, by: str, force: bool, progress: Callable[[Progress], None]
    ) -> tuple[Job, SyncReport | None]:
        """The job once it is over, with its report if it came that far. Raises what the sync raised.

        Cancelled, it leaves the job to the others who asked; when there are none, the job is stopped and waited for.
        """
        queued = await self._queued(source, by=by, force=force, fresh=False)
        queued.followers.append(progress)
        if queued.last_step is not None:
            progress(queued.last_step)
        try:
            await queued.ended.wait()
        except asyncio.CancelledError:
            queued.followers.remove(progress)
            if not queued.followers and not queued.is_kept:
                await self._stop(queued, by)
                await _ended_in_any_case(queued)
            raise
        if queued.error is not None:
            raise queued.error
        return queued.job, queued.report

    async def cancel(self, number: int, *, by: str) -> Job | None:
        """The job that is being stopped; None when no such job waits or runs."""
        for queued in self._living():
            if queued.job.number == number:
                await self._stop(queued, by)
                return queued.job
        return None

    async def cancel_source(self, source: str, *, by: str) -> list[Job]:
        """The jobs of one source that are being stopped."""
        found = [queued for queued in self._living() if queued.job.source == source]
        for queued in found:
            await self._stop(queued, by)
        return [queued.job for queued in found]

    async def recent(self, limit: int) -> list[tuple[Job, Progress | None]]:
        """Newest first, with how far those have got that run."""
        steps = {queued.job.number: queued.last_step for queued in self._living()}
        jobs = await asyncio.to_thread(self._journal.recent, limit)
        return [(job, steps.get(job.number)) for job in jobs]

    async def take_up_interrupted(self) -> list[Job]:
        """Asks again for what an earlier process did not finish."""
        left = await asyncio.to_thread(self._journal.take_interrupted)
        return [await self.request(job.source, by="restart", force=job.force) for job in left]

    @property
    def current_step(self) -> Progress | None:
        """How far a running job has got; None while nothing runs."""
        return next((q.last_step for q in self._running.values() if q.last_step is not None), None)

    def is_busy(self, source: str) -> bool:
        """Whether a job of this source waits or runs."""
        return source in self._waiting or source in self._running

    async def stop(self) -> None:
        """Takes no new job, stops the running ones between documents, and leaves all of them for the next start."""
        self._leaving = True
        for queued in self._living():
            queued.stop.set()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # --- working ----------------------------------------------------------------------------------

    async def _queued(self, source: str, *, by: str, force: bool, fresh: bool) -> QueuedJob:
        async with self._asking:
            running, waiting = self._running.get(source), self._waiting.get(source)
            joins = running is not None and not fresh and (running.job.force or not force) and not running.stop.is_set()
            found = waiting if waiting is not None else running if joins else None
            if found is not None and not found.ended.is_set():
                asked = found.job.requested_by
                job = replace(
                    found.job,
                    force=found.job.force or (force and found is waiting),
                    requested_by=asked if by in asked else (*asked, by),
                )
                if job != found.job:
                    found.job = job
                    await asyncio.to_thread(self._journal.save, job)
                return found
            queued = QueuedJob(await asyncio.to_thread(self._journal.add, source, by=by, force=force))
            self._waiting[source] = queued
            if source not in self._tasks:
                self._tasks[source] = asyncio.create_task(self._work(source), name=f"sync {source}")
            return queued

    async def _work(self, source: str) -> None:
        """The worker of one source: lives as long as something waits for it."""
        try:
            while source in self._waiting:
                async with self._places:
                    async with self._asking:
                        if source not in self._waiting:  # cancelled meanwhile
                            continue
                        queued = self._running[source] = self._waiting.pop(source)
                    try:
                        await self._carry_out(queued)
                    finally:
                        del self._running[source]
                        queued.ended.set()
        finally:
            del self._tasks[source]

    async def _carry_out(self, queued: QueuedJob) -> None:
        if queued.stop.is_set() or self._leaving:
            await self._finish(queued, "cancelled" if queued.cancelled_by else "interrupted", None)
            return
        loop = asyncio.get_running_loop()

        def progress(step: Progress) -> None:
            queued.last_step = step
            for follower in list(queued.followers):
                loop.call_soon_threadsafe(follower, step)

        queued.job = replace(queued.job, state="running", started_at=self._clock())
        started_s = monotonic()
        try:
            await asyncio.to_thread(self._journal.save, queued.job)
            job = queued.job
            queued.report = await asyncio.to_thread(self._run, job.source, job.force, progress, queued.stop.is_set)
        except KnowledgeError as error:
            queued.error = error
            await self._finish(queued, "failed", monotonic() - started_s, str(error))
            return
        except Exception as error:
            queued.error = error
            log.error("job.failed", job=queued.job.number, source=queued.job.source, exc_info=error)
            await self._finish(queued, "failed", monotonic() - started_s, f"{type(error).__name__}: {error}")
            return
        state: JobState = "done"
        if queued.report.stopped:
            state = "cancelled" if queued.cancelled_by else "interrupted"
        await self._finish(queued, state, monotonic() - started_s, queued.report.problem)

    async def _finish(
        self, queued: QueuedJob, state: JobState, duration_s: float | None, reason: str | None = None
    ) -> None:
        if state == "cancelled":
            reason = f"cancelled by {queued.cancelled_by}"
        elif state == "interrupted":
            reason = ENDED
        queued.job = replace(
            queued.job,
            state=state,
            finished_at=self._clock(),
            duration_s=None if duration_s is None else round(duration_s, 3),
            counts=None if queued.report is None else counts_of(queued.report),
            reason=reason,
        )
        try:
            await asyncio.to_thread(self._journal.save, queued.job)
        except BotError as error:  # the sync itself is done and stored: its row is closed at the next start
            log.error("job.not_recorded", job=queued.job.number, reason=str(error))
        for told in self.on_ended:
            told(queued.job)

    async def _stop(self, queued: QueuedJob, by: str) -> None:
        queued.cancelled_by = queued.cancelled_by or (None if self._leaving else by)
        queued.stop.set()
        async with self._asking:
            if self._waiting.get(queued.job.source) is queued:
                del self._waiting[queued.job.source]
                await self._finish(queued, "interrupted" if self._leaving else "cancelled", None)
                queued.ended.set()

    def _living(self) -> list[QueuedJob]:
        return [*self._running.values(), *self._waiting.values()]


def counts_of(report: SyncReport) -> dict[str, int]:
    """What is kept of a report."""
    return {
        "added": report.added,
        "updated": report.updated,
        "deleted": report.deleted,
        "unchanged": report.unchanged,
        "failed": len(report.failed),
        "embedded": report.embedded,
    }


async def _ended_in_any_case(queued: QueuedJob) -> None:
    """Waits although this task was cancelled, and is cancelled again: nothing else may open the folder before."""
    waiting = asyncio.ensure_future(queued.ended.wait())
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            continue
