"""Time for tests of the Mattermost adapter: it stands still until it is moved, or passes at once."""

from __future__ import annotations

import asyncio

from bot.platforms.mattermost_socket import Timing


class ManualTime:
    """Sleepers wake when `pass_s` reaches their time; nobody waits for real."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now_s + seconds, waiter))
        await waiter

    async def pass_s(self, seconds: float, *, step_s: float = 1.0) -> None:
        """Moves time in steps; between them everything that became due runs, network included."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.now_s = min(self.now_s + step_s, end_s)
            for due in [item for item in self._sleepers if item[0] <= self.now_s]:
                self._sleepers.remove(due)
                if not due[1].done():
                    due[1].set_result(None)
            await settle()

    def timing(self) -> Timing:
        return Timing(monotonic=self.monotonic, sleep=self.sleep, jitter=lambda: 0.0)


def quick_timing() -> Timing:
    """Waits a thousandth of what is asked for, so that retries happen at once but in order."""
    loop = asyncio.get_running_loop()
    return Timing(
        monotonic=loop.time, sleep=lambda seconds: asyncio.sleep(min(seconds, 60.0) / 1000), jitter=lambda: 0.5
    )


async def settle(rounds: int = 20) -> None:
    """Lets the loop work on what is ready; sockets on 127.0.0.1 deliver within a few rounds."""
    for _ in range(rounds):
        await asyncio.sleep(0)
