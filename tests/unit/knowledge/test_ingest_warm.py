"""Reader processes are lent to one sync at a time, kept warm for the next one, and end by themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest

from knowledge import ingest_warm
from knowledge.ingest_warm import WarmReaders


class Pool:
    """Stands in for processes: whether they were ended."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Timer(threading.Thread):
    """A timer that fires when the test says so."""

    made: ClassVar[list[Timer]] = []

    def __init__(self, interval: float, function) -> None:
        super().__init__(daemon=True)
        self.interval, self.function = interval, function
        self.is_cancelled = False
        self._fires = threading.Event()
        Timer.made.append(self)

    def cancel(self) -> None:
        self.is_cancelled = True

    def run(self) -> None:
        self._fires.wait()
        self.function()

    def fire(self) -> None:
        """Fires although it may have been cancelled: a real one may be past that point."""
        self._fires.set()
        self.join()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Pool]]:
    Timer.made = []
    monkeypatch.setattr(ingest_warm.threading, "Timer", Timer)
    yield []
    for timer in Timer.made:
        timer.fire()


@pytest.fixture
def readers(built: list[Pool]) -> WarmReaders:
    def build() -> Pool:
        built.append(Pool())
        return built[-1]

    return WarmReaders(build)


def test_the_next_sync_gets_the_pool_of_the_last_one(readers: WarmReaders, built: list[Pool]) -> None:
    first = readers.take()
    readers.give_back(first)
    assert readers.take() is first
    assert (len(built), first.closed) == (1, 0)


def test_two_syncs_at_once_share_nothing_and_one_pool_is_kept(readers: WarmReaders, built: list[Pool]) -> None:
    first, second = readers.take(), readers.take()
    assert first is not second
    readers.give_back(first)
    readers.give_back(second)
    assert (first.closed, second.closed) == (0, 1)


def test_a_pool_that_nobody_takes_ends_after_a_while(readers: WarmReaders, built: list[Pool]) -> None:
    readers.give_back(readers.take())
    (timer,) = Timer.made
    assert timer.interval == ingest_warm.IDLE_S
    timer.fire()
    assert built[0].closed == 1
    assert readers.take() is not built[0]


def test_a_timer_that_fires_too_late_ends_nothing_that_is_in_use(readers: WarmReaders, built: list[Pool]) -> None:
    readers.give_back(readers.take())
    taken = readers.take()
    assert Timer.made[0].is_cancelled
    Timer.made[0].fire()
    assert taken.closed == 0
    readers.give_back(taken)
    Timer.made[0].fire()
    assert taken.closed == 0


def test_what_is_given_back_after_the_end_ends_too(readers: WarmReaders, built: list[Pool]) -> None:
    lent = readers.take()
    readers.give_back(readers.take())
    readers.close()
    assert built[1].closed == 1
    readers.give_back(lent)
    assert lent.closed == 1


def test_without_time_to_idle_nothing_is_kept(built: list[Pool]) -> None:
    readers = WarmReaders(Pool, idle_s=0)
    pool = readers.take()
    readers.give_back(pool)
    assert pool.closed == 1
