"""Keeps every platform listening: one that fails is reported, tried again slowly, and takes no other down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from bot.errors import AuthError, BotError
from bot.ports import ChatPlatform, Receive
from knowledge.types import ToolStatus

FIRST_WAIT_S, LONGEST_WAIT_S = 5.0, 300.0
REVOKED_WAIT_S = 60.0
STEADY_S = 600.0  # whoever listened that long starts again with the shortest wait
CHECK_LIMIT_S = 10.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Failure:
    reason: str
    again_at: datetime


class PlatformRunner:
    """Listens to one platform until `close`."""

    def __init__(
        self, platform: ChatPlatform, *, clock: Callable[[], datetime], first_wait_s: float = FIRST_WAIT_S
    ) -> None:
        self.platform = platform
        self._clock = clock
        self._first_wait_s = first_wait_s
        self._failure: _Failure | None = None
        self._closing = asyncio.Event()

    async def run(self, receive: Receive) -> None:
        """Returns after `close`; raises nothing."""
        failures = 0
        while not self._closing.is_set():
            started = self._clock()
            try:
                self._failure = None
                await self.platform.listen(receive)
            except Exception as error:  # whatever it is, the other platforms go on
                if (self._clock() - started).total_seconds() > STEADY_S:
                    failures = 0
                failures += 1
                wait_s = min(LONGEST_WAIT_S, self._first_wait_s * 2 ** min(failures - 1, 20))
                cause = _cause(error)
                if isinstance(cause, AuthError):
                    wait_s = max(wait_s, REVOKED_WAIT_S)
                self._failure = _Failure(str(cause), self._clock() + timedelta(seconds=wait_s))
                known = isinstance(cause, BotError)
                log.error(
                    "platform.failed", platform=self.platform.name, reason=str(cause), again_in_s=round(wait_s),
                    exc_info=None if known else error,
                )  # fmt: skip
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await self._closing.wait()
            else:
                if not self._closing.is_set():
                    log.warning("platform.ended", platform=self.platform.name)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._first_wait_s):
                            await self._closing.wait()

    async def state(self) -> ToolStatus:
        """Whether the platform can be used now, and if not, since when and when it is tried again."""
        name, failure = self.platform.name, self._failure
        if failure is not None:
            detail = f"{failure.reason.rstrip('.')}; tried again at {failure.again_at:%H:%M:%S} UTC"
            return ToolStatus(name=name, state="down", detail=detail, checked_at=self._clock())
        try:
            async with asyncio.timeout(CHECK_LIMIT_S):
                return await self.platform.check()
        except (BotError, TimeoutError) as error:
            why = str(error) or f"no answer within {CHECK_LIMIT_S:.0f} s"
            return ToolStatus(name=name, state="down", detail=why, checked_at=self._clock())

    async def close(self) -> None:
        """Ends `run`."""
        self._closing.set()
        try:
            await self.platform.close()
        except BotError as error:
            log.warning("platform.not_closed", platform=self.platform.name, reason=str(error))


async def states_of(runners: Iterable[PlatformRunner]) -> list[ToolStatus]:
    """The state of every platform, asked side by side."""
    return list(await asyncio.gather(*(runner.state() for runner in runners)))


def _cause(error: BaseException) -> BaseException:
    """The first error of a group: a person wants one sentence."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
