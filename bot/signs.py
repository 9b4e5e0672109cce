"""Signs of life, given beside the work: that one fails is logged and stops nothing, that one is slow delays nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.errors import BotError

DRAIN_LIMIT_S = 5.0

Sign = Callable[[], Awaitable[None]]

log = structlog.get_logger(__name__)


class Signs:
    """Signs on the same thing keep their order; all others go out at once."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[tuple[str, Sign]] = asyncio.Queue()
        self._last: dict[str, asyncio.Task[None]] = {}

    def give(self, on: str, sign: Sign) -> None:
        """Gives the sign soon; returns at once. `on` names what it is put on."""
        self._waiting.put_nowait((on, sign))

    async def run(self) -> None:
        """Gives signs until it is cancelled; those that were waiting by then still get a moment."""
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                on, sign = await self._waiting.get()
                self._start(tasks, on, sign)
        finally:
            while not self._waiting.empty():
                self._start(tasks, *self._waiting.get_nowait())
            if tasks:
                _, late = await asyncio.wait(tasks, timeout=DRAIN_LIMIT_S)
                for task in late:
                    task.cancel()

    def _start(self, tasks: set[asyncio.Task[None]], on: str, sign: Sign) -> None:
        task = asyncio.create_task(_give(sign, after=self._last.get(on)))
        self._last[on] = task
        tasks.add(task)

        def forget(done: asyncio.Task[None]) -> None:
            tasks.discard(done)
            if self._last.get(on) is done:
                del self._last[on]

        task.add_done_callback(forget)


async def _give(sign: Sign, *, after: asyncio.Task[None] | None) -> None:
    if after is not None:
        await asyncio.wait({after})
    try:
        await sign()
    except BotError as error:
        log.warning("sign.failed", reason=str(error))
