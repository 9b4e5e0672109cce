"""A clock that stands still until it is moved, and ids that count."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count


class Clock:
    """Callable like `utc_now`."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def counting_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{next(numbers):016x}"
