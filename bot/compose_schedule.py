"""Builds what keeps sources up to date by itself: schedules, file events, webhooks, and word to admins."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from bot.compose_operations import retention_at_night
from bot.hook_matching import Watched
from bot.scheduler import Cron, Entry, Every, Scheduler, Trigger, state_of
from bot.services import Services, utc_now
from bot.settings import Settings
from bot.settings_schedule import OFF, seconds_of
from bot.settings_sources import SourceSettings
from bot.types import Job
from knowledge.errors import KnowledgeError
from knowledge.watching import reason_without_events, watch_folder

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

RECONCILE = "reconcile"
RETENTION_AT = "10 3 * * *"
RECONCILE_TRIES = 30
RECONCILE_AGAIN_S = 60.0

log = structlog.get_logger(__name__)


class Freshness:
    """Runs beside the bot until it is cancelled."""

    def __init__(
        self,
        services: Services,
        *,
        clock: Callable[[], datetime] = utc_now,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._services = services
        self._settings = services.settings
        self._stop = threading.Event()
        self._watched: dict[str, str] = {}  # source -> "on", or why there are no events
        self._triggers = {source.name: trigger_of(source, self._settings) for source in self._settings.sources}
        self._scheduler = Scheduler(self._entries(), clock=clock, chance=random.random, wait=wait)
        services.operations.schedule_states = self.states
        services.operations.nightly_states = self.nightly_states
        services.queue.on_ended.append(_log_end)

    async def run(self) -> None:
        """Takes up what an earlier process left, then syncs as the schedule and the file system say."""
        for job in await self._services.queue.take_up_interrupted():
            log.info("sync.taken_up", job=job.number, source=job.source)
        if not self._settings.schedule.enabled:
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._scheduler.run())
                for source in self._settings.sources:
                    if self._settings.schedule.watch and source.kind == "documents" and source.path is not None:
                        tasks.create_task(self._watch(source))
        finally:
            self._stop.set()

    def states(self) -> Mapping[str, Mapping[str, Any]]:
        """Source -> how it is kept up to date."""
        enabled = self._settings.schedule.enabled
        return {
            name: state_of(
                trigger if enabled else None, self._scheduler.next_of(name), self._watched.get(name, "not watched")
            )
            for name, trigger in self._triggers.items()
        }

    def nightly_states(self) -> Mapping[str, Mapping[str, Any]]:
        """What is done at night -> when."""
        return {
            entry.name: {"when": str(entry.trigger), "next": begins.isoformat(timespec="seconds") if begins else None}
            for entry in self._scheduler.entries
            if entry.name not in self._triggers and self._settings.schedule.enabled
            for begins in [self._scheduler.next_of(entry.name)]
        }

    def _entries(self) -> list[Entry]:
        schedule = self._settings.schedule
        entries = [
            Entry(name=name, trigger=trigger, act=_Ask(self._services, name), jitter_s=schedule.jitter_s)
            for name, trigger in self._triggers.items()
            if trigger is not None
        ]
        if schedule.reconcile != OFF:
            trigger = Cron(expression=schedule.reconcile, timezone=schedule.timezone)
            entries.append(Entry(name=RECONCILE, trigger=trigger, act=self._begin_reconcile))
        nightly = Cron(expression=RETENTION_AT, timezone=schedule.timezone)
        entries.append(Entry(name="retention", trigger=nightly, act=partial(retention_at_night, self._services)))
        return entries

    async def _begin_reconcile(self) -> None:
        self._reconciling = asyncio.create_task(self._reconcile())

    async def _reconcile(self) -> None:
        """Waits for a moment without a sync."""
        for _ in range(RECONCILE_TRIES):
            try:
                repaired = await asyncio.to_thread(self._services.knowledge.maintenance.reconcile)
            except KnowledgeError as error:
                log.warning("reconcile.postponed", reason=str(error))
                await asyncio.sleep(RECONCILE_AGAIN_S)
            else:
                log.info("reconcile.done", orphans=repaired.orphans, restored=repaired.restored)
                return
        log.error("reconcile.given_up", tries=RECONCILE_TRIES)

    async def _watch(self, source: SourceSettings) -> None:
        assert source.path is not None
        reason = await asyncio.to_thread(reason_without_events, source.path)
        loop = asyncio.get_running_loop()
        ask = _Ask(self._services, source.name, by="file event")

        def changed() -> None:
            asyncio.run_coroutine_threadsafe(ask(), loop)

        if reason is None:
            self._watched[source.name] = "on"
            reason = await _in_own_thread(watch_folder, source.path, changed, self._stop)
        if reason is not None:
            self._watched[source.name] = f"none: {reason}; the schedule alone looks for changes"
            log.warning("watch.off", source=source.name, reason=reason)


def _log_end(job: Job) -> None:
    """One line a job; what an admin has to look at is a warning."""
    counts = dict(job.counts or {})
    by = ", ".join(job.requested_by)
    if job.reason:
        log.warning("sync.ended", job=job.number, source=job.source, state=job.state, by=by, reason=job.reason)
    elif any(count for name, count in counts.items() if name != "unchanged"):
        log.info("sync.ended", job=job.number, source=job.source, by=by, took_s=job.duration_s, **counts)


class _Ask:
    """Asks the queue for a sync that sees the newest state."""

    def __init__(self, services: Services, source: str, *, by: str = "schedule") -> None:
        self._services = services
        self._source = source
        self._by = by

    async def __call__(self) -> None:
        fresh = self._by != "schedule"  # what is due while it still runs is not run again behind it
        await self._services.queue.request(self._source, by=self._by, fresh=fresh)


def trigger_of(source: SourceSettings, settings: Settings) -> Trigger | None:
    """When a source is looked at; None when never by itself."""
    schedule = settings.schedule
    zone = source.timezone or schedule.timezone
    if source.cron is not None:
        return Cron(expression=source.cron, timezone=zone)
    value = source.every or (schedule.documents if source.kind == "documents" else schedule.repositories)
    if value == OFF:
        return None
    seconds = seconds_of(value)
    return Cron(expression=value, timezone=zone) if seconds is None else Every(seconds=seconds)


def build_hooks(services: Services) -> Sequence[BaseRoute]:
    """The routes of the hosts whose secrets are configured."""
    from bot.http.hooks import HookSecrets, hook_routes

    def secret(name: str) -> str | None:
        value = services.settings.hooks.secret(name)
        return value.get_secret_value() if value is not None else None

    async def ask(source: str, by: str, force: bool) -> int:
        return (await services.queue.request(source, by=by, force=force, fresh=True)).number

    async def cancel(source: str, by: str) -> list[int]:
        return [job.number for job in await services.queue.cancel_source(source, by=by)]

    return hook_routes(
        secrets=HookSecrets(
            github=secret("github_secret"),
            gitlab=secret("gitlab_token"),
            gitea=secret("gitea_secret"),
            reindex=secret("reindex_token"),
        ),
        sources=[watched_of(source) for source in services.settings.sources],
        ask=ask,
        cancel=cancel,
        deliveries=_StoredDeliveries(services),
    )


def watched_of(source: SourceSettings) -> Watched:
    """A source as webhooks see it."""
    public = "github.com" if source.github else "gitlab.com"
    host = urlsplit(source.base_url).hostname if source.base_url else public
    return Watched(
        name=source.name,
        url=source.url,
        owner=source.github or source.gitlab,
        owner_host=(host or "").lower(),
        branch=source.branch,
    )


class _StoredDeliveries:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def jobs_of(self, delivery: str) -> list[int] | None:
        return await self._services.store.in_thread(self._services.journal.jobs_of_delivery, delivery)

    async def keep(self, delivery: str, jobs: Sequence[int]) -> None:
        await self._services.store.in_thread(self._services.journal.keep_delivery, delivery, jobs)


async def _in_own_thread(work: Any, *arguments: Any) -> Any:
    """As asyncio.to_thread, in a thread that serves nothing else: watching lasts as long as the bot."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any) -> None:
        if not done.done():
            done.set_result(result)

    def run() -> None:
        result = work(*arguments)
        with suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, name="watch", daemon=True).start()
    return await done
