"""How much may be asked: by one person and by all together, in a minute and in an hour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.types import Author

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class AskedBefore(Protocol):
    """What limits need of the inbox."""

    def asked_since(self, since: datetime, *, platform: str, author: Author | None = None) -> list[datetime]:
        """When questions were accepted after `since`, oldest first; of everybody when `author` is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How many questions are answered in a minute and in an hour; 0 stands for any number."""

    per_minute: int
    per_hour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLimit:
    """A limit that is reached, and when it is not any more."""

    whose: str  # "user" or "total"
    free_at: datetime
    window: timedelta

    def wait_s(self, now: datetime) -> int:
        """Whole seconds until then, at least one."""
        return max(1, math.ceil((self.free_at - now).total_seconds()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits as they are configured. What was asked before a restart counts too."""

    user: Allowance
    total: Allowance

    def reached(self, asked: AskedBefore, author: Author, *, platform: str, now: datetime) -> OverLimit | None:
        """The limit that stands in the way of another question, the one that lasts longest if several do."""
        found: list[OverLimit] = []
        for whose, allowance, person in (("user", self.user, author), ("total", self.total, None)):
            windows = ((allowance.per_minute, MINUTE), (allowance.per_hour, HOUR))
            if not any(allowed for allowed, _ in windows):
                continue
            longest = HOUR if allowance.per_hour else MINUTE
            times = asked.asked_since(now - longest, platform=platform, author=person)
            for allowed, window in windows:
                free_at = _free_at(times, allowed, window, now)
                if free_at is not None:
                    found.append(OverLimit(whose=whose, free_at=free_at, window=window))
        return max(found, key=lambda over: over.free_at, default=None)


def _free_at(times: Sequence[datetime], allowed: int, window: timedelta, now: datetime) -> datetime | None:
    """When fewer than `allowed` of `times` lie within the last `window`; None when that is so now."""
    if not allowed:
        return None
    recent = [time for time in times if now - window < time <= now]  # later ones: the clock was set back
    return recent[-allowed] + window if len(recent) >= allowed else None
