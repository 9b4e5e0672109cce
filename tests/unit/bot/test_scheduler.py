"""24 simulated hours: every schedule is due as often as it should be, whatever the clock does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.scheduler import Cron, Entry, Every, Scheduler, Trigger


class Day:
    """A clock that goes on only while the scheduler waits."""

    def __init__(self, start: datetime) -> None:
        self.now = start.astimezone(UTC)
        self.end = self.now + timedelta(hours=24)
        self.jumps: list[tuple[datetime, timedelta]] = []

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += timedelta(seconds=max(seconds, 0.001))
        if self.jumps and self.now >= self.jumps[0][0]:
            self.now += self.jumps.pop(0)[1]
        if self.now >= self.end:
            raise asyncio.CancelledError


async def runs_of(trigger: Trigger, day: Day, *, jitter_s: float = 0.0, chance: float = 0.5) -> list[datetime]:
    seen: list[datetime] = []

    async def act() -> None:
        seen.append(day.now)

    entry = Entry(name="x", trigger=trigger, act=act, jitter_s=jitter_s)
    with pytest.raises(asyncio.CancelledError):
        await Scheduler([entry], clock=lambda: day.now, chance=lambda: chance, wait=day.wait).run()
    return seen


def local(zone: str, text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize(
    ("zone", "start", "hours"),
    [
        ("Europe/Berlin", "2026-03-29T00:00", 24),
        ("Europe/Berlin", "2026-10-25T00:00", 24),
        ("America/New_York", "2026-03-08T00:00", 24),
        ("America/New_York", "2026-11-01T00:00", 24),
        ("Asia/Seoul", "2026-03-29T00:00", 24),
    ],
)
async def test_intervals_and_hourly_crons_go_on_through_a_change_of_the_clock(
    zone: str, start: str, hours: int
) -> None:
    assert len(await runs_of(Every(seconds=600), Day(local(zone, start)))) == hours * 6 - 1
    assert len(await runs_of(Cron(expression="*/20 * * * *", timezone=zone), Day(local(zone, start)))) == hours * 3 - 1


@pytest.mark.parametrize("expression", ["30 2 * * *", "30 1 * * *", "0 7 * * *"])
@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Berlin", "2026-03-28T20:00"),
        ("Europe/Berlin", "2026-10-24T20:00"),
        ("America/New_York", "2026-03-07T20:00"),
        ("America/New_York", "2026-10-31T20:00"),
        ("Asia/Seoul", "2026-03-28T20:00"),
    ],
)
async def test_what_is_due_at_a_certain_hour_is_due_once_a_day(zone: str, start: str, expression: str) -> None:
    assert len(await runs_of(Cron(expression=expression, timezone=zone), Day(local(zone, start)))) == 1


async def test_what_was_missed_while_the_machine_slept_is_done_once() -> None:
    day = Day(local("Asia/Seoul", "2026-05-01T00:00"))
    day.jumps = [(day.now + timedelta(hours=1), timedelta(hours=5))]
    seen = await runs_of(Every(seconds=600), day)
    assert len(seen) == 5 + 1 + 18 * 6 - 1
    woken = local("Asia/Seoul", "2026-05-01T06:00")
    assert sum(woken - timedelta(minutes=5) < moment < woken + timedelta(minutes=5) for moment in seen) == 1


async def test_a_clock_that_is_set_back_stops_nothing() -> None:
    day = Day(local("Asia/Seoul", "2026-05-01T00:00"))
    day.jumps = [(day.now + timedelta(hours=3), timedelta(hours=-2))]
    assert len(await runs_of(Every(seconds=600), day)) == pytest.approx(26 * 6, abs=2)


async def test_jitter_delays_and_never_adds_up() -> None:
    day = Day(local("Asia/Seoul", "2026-05-01T00:00"))
    start = day.now
    seen = await runs_of(Every(seconds=600), day, jitter_s=60, chance=0.5)
    assert len(seen) == 143
    assert all(29 <= (moment - start).total_seconds() % 600 <= 31 for moment in seen)
