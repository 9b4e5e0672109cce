"""When what is due: intervals and cron expressions of APScheduler, driven by a clock that is passed in.

APScheduler's own scheduler reads the system clock and cannot be given another one, so its triggers are used and its
loop is not (docs/decisions/0030-schedule-driver.md). What is due while it still runs, or was missed because the machine
slept, is done once, not once for each time. A clock that was set back or forward is noticed, and the next times are
worked out anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import structlog

from bot.errors import BotError
from knowledge.errors import KnowledgeError

LONGEST_WAIT_S = 30.0  # how soon a clock that was set is noticed
SET_BACK = timedelta(seconds=5)  # less is an ordinary correction

log = structlog.get_logger(__name__)


class Trigger(Protocol):
    """When something is due."""

    def next_after(self, now: datetime, previous: datetime | None) -> datetime:
        """The first time after `now`; `previous` is when it was due last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """An interval; the time of day plays no part in it."""

    seconds: float

    def next_after(self, now: datetime, previous: datetime | None) -> datetime:
        from apscheduler.triggers.interval import IntervalTrigger

        start = previous if previous is not None and previous <= now else now
        trigger = IntervalTrigger(seconds=self.seconds, start_date=start, timezone=UTC)
        due = trigger.get_next_fire_time(None, now)  # from the start, so that missed times are passed over
        assert due is not None
        later: datetime = due if due > now else due + timedelta(seconds=self.seconds)
        return later.astimezone(UTC)

    def __str__(self) -> str:
        return f"every {_duration(self.seconds)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A cron expression of five fields in a time zone.

    As in other crons, what is due at certain hours is due once on the day on which the clock goes back, and once on the
    day on which it goes forward (an hour later if its own time does not exist); what is due every hour simply goes on.
    """

    expression: str
    timezone: str

    def next_after(self, now: datetime, previous: datetime | None) -> datetime:
        from apscheduler.triggers.cron import CronTrigger

        zone = ZoneInfo(self.timezone)
        trigger = CronTrigger.from_crontab(self.expression, timezone=zone)
        after = now + timedelta(microseconds=1)
        while True:
            due = trigger.get_next_fire_time(None, after.astimezone(zone))
            if due is None:  # the settings refuse such an expression
                raise ValueError(f"the cron expression {self.expression!r} never comes true")
            moment: datetime = due.astimezone(UTC)
            if not self._is_second_round(moment.astimezone(zone)):
                return moment
            after = moment + timedelta(minutes=1)

    def _is_second_round(self, local: datetime) -> bool:
        """Whether the clock shows this time for the second time today, and the expression names its hours."""
        hours = self.expression.split()[1]
        return bool(local.fold) and not hours.startswith("*")

    def __str__(self) -> str:
        return f"cron {self.expression} ({self.timezone})"


@dataclass(slots=True, kw_only=True)
class Entry:
    """Something that is due again and again."""

    name: str
    trigger: Trigger
    act: Callable[[], Awaitable[None]]  # returns when it is asked for, not when it is done
    jitter_s: float = 0.0
    due: datetime | None = None  # without jitter
    begins: datetime | None = None  # with jitter
    runs: int = 0


class Scheduler:
    """Runs `entries` until it is cancelled. `wait` sleeps so many seconds; `chance` gives numbers from 0 to 1."""

    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        clock: Callable[[], datetime],
        chance: Callable[[], float],
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.entries = tuple(entries)
        self._clock = clock
        self._chance = chance
        self._wait = wait

    async def run(self) -> None:
        """Never returns."""
        last = self._clock()
        for entry in self.entries:
            self._plan(entry, last, previous=None)
        while True:
            now = self._clock()
            if now < last - SET_BACK:
                log.warning("schedule.clock_set_back", seconds=round((last - now).total_seconds()))
                for entry in self.entries:
                    self._plan(entry, now, previous=None)
            last = now
            for entry in self.entries:
                if entry.begins is not None and entry.begins <= now:
                    await self._begin(entry, now)
            nearest = min((entry.begins for entry in self.entries if entry.begins is not None), default=None)
            left_s = LONGEST_WAIT_S if nearest is None else (nearest - self._clock()).total_seconds()
            await self._wait(min(LONGEST_WAIT_S, max(0.0, left_s)))

    def next_of(self, name: str) -> datetime | None:
        """When the entry of that name begins next."""
        return next((entry.begins for entry in self.entries if entry.name == name), None)

    async def _begin(self, entry: Entry, now: datetime) -> None:
        entry.runs += 1
        self._plan(entry, now, previous=entry.due)
        try:
            await entry.act()
        except (BotError, KnowledgeError) as error:  # one that fails takes no other down, and comes again
            log.error("schedule.failed", entry=entry.name, reason=str(error))

    def _plan(self, entry: Entry, now: datetime, *, previous: datetime | None) -> None:
        entry.due = entry.trigger.next_after(now, previous)
        entry.begins = entry.due + timedelta(seconds=self._chance() * entry.jitter_s)


def state_of(trigger: Trigger | None, begins: datetime | None, watch: str) -> Mapping[str, Any]:
    """How a source is kept up to date, as `status --json` shows it."""
    return {
        "when": "off" if trigger is None else str(trigger),
        "next": begins.isoformat(timespec="seconds") if begins is not None else None,
        "events": watch,
    }


def _duration(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"
