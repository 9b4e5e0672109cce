"""Turns at a model server: so many replies at a time, the others wait in the order in which they came."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.ports import Waiting


class ModelQueue:
    """At most `slots` holders at a time, first come, first served. One queue for each model server."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._line: deque[asyncio.Queue[int]] = deque()

    @asynccontextmanager
    async def slot(self, waiting: Waiting | None = None) -> AsyncIterator[None]:
        """A turn. `waiting` is told the place in the line, from 1, whenever it changes; never when there is no line."""
        await self._enter(waiting)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, waiting: Waiting | None) -> None:
        if self._free > 0 and not self._line:
            self._free -= 1
            return
        place: asyncio.Queue[int] = asyncio.Queue()
        self._line.append(place)
        position = len(self._line)
        try:
            while position:
                if waiting is not None:
                    await waiting(position)
                position = await place.get()
                while not place.empty():
                    position = place.get_nowait()
        except BaseException:  # cancelled, or the teller failed: the others must not wait for this place
            if place in self._line:
                self._line.remove(place)
                self._tell()
            else:
                self._leave()
            raise

    def _leave(self) -> None:
        if self._line:
            self._line.popleft().put_nowait(0)
            self._tell()
        else:
            self._free += 1

    def _tell(self) -> None:
        for position, place in enumerate(self._line, start=1):
            place.put_nowait(position)
