"""Waiting for a condition of the whole product: never for a time, and never for ever."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

from tests.e2e.haechi import TIMEOUT_S

EVERY_S = 0.05


async def eventually(condition: Callable[[], Any], *, every_s: float = EVERY_S, in_thread: bool = False) -> Any:
    """What `condition()` gives, awaited if need be, as soon as that is true. One that blocks, such as a command that it
    runs, belongs in a thread."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            found = await asyncio.to_thread(condition) if in_thread else condition()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(every_s)


def eventually_blocking(condition: Callable[[], Any]) -> Any:
    """The same for tests without an event loop."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(EVERY_S)
    raise AssertionError("it never became true")
