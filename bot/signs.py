"""Signs of life, given beside the work: that one fails is logged and stops nothing, that one is slow delays nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from bot.errors import BotError

DRAIN_LIMIT_S = 5.0
ORDER_LIMIT_S = 3.0

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

    async def given(self, on: str) -> None:
        """Returns when the signs on it have been given, or could not be within a moment: "searching" must not be shown
        behind the answer."""
        done = asyncio.Event()

        async def note() -> None:
            done.set()

        self.give(on, note)
        with suppress(TimeoutError):
            async with asyncio.timeout(ORDER_LIMIT_S):
                await done.wait()

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
