"""What changed on the web platform, numbered, so that a page that lost its connection can catch up."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

KEPT = 1000
MAX_DIGITS = 18  # more than any run counts; Python refuses to read numbers of thousands of digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A post that appeared or changed. Only the id: a reader loads its state at the time of reading, so that many
    changes of one post reach a slow reader as one, and never out of order."""

    number: int
    channel_id: str
    root_id: str
    post_id: str


class ChangeLog:
    """The last `KEPT` changes of this run; lives on one event loop.

    An id is "run-number". The run is part of it because numbers start again with each start of the program: a page
    that comes back with an id of an earlier run is told to load everything again.
    """

    def __init__(self, run: str, *, kept: int = KEPT) -> None:
        self._run = run
        self._changes: deque[Change] = deque(maxlen=kept)
        self._last = 0
        self._changed = asyncio.Event()
        self.closed = False

    @property
    def last_id(self) -> str:
        return self.id_of(self._last)

    def id_of(self, number: int) -> str:
        return f"{self._run}-{number}"

    def add(self, *, channel_id: str, root_id: str, post_id: str) -> None:
        self._last += 1
        self._changes.append(Change(number=self._last, channel_id=channel_id, root_id=root_id, post_id=post_id))
        self._wake()

    def position(self, event_id: str | None) -> int | None:
        """The number to continue after; None when what came after `event_id` is no longer known."""
        if not event_id:
            return self._last
        run, _, number = event_id.rpartition("-")
        if run != self._run or not number.isdecimal() or len(number) > MAX_DIGITS or int(number) > self._last:
            return None
        oldest = self._changes[0].number if self._changes else self._last + 1
        return int(number) if int(number) >= oldest - 1 else None

    def since(self, number: int) -> Sequence[Change] | None:
        """Changes after `number`, oldest first; None when some of them are no longer kept."""
        if self._changes and number < self._changes[0].number - 1:
            return None
        return [change for change in self._changes if change.number > number]

    @property
    def last_number(self) -> int:
        return self._last

    async def wait(self, after: int, timeout_s: float) -> None:
        """Returns when there is something after `after`, when the log closes, or after `timeout_s`."""
        if self._last > after or self.closed:
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return

    def close(self) -> None:
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
