"""Keeps Slack connected: connects, notices what died, rebuilds it, and knows since when what is wrong.

A socket counts as dead when neither a frame nor the answer to a ping has come for `dead_after_s`; the SDK usually
replaces it before that. Tokens are tried every minute: one that was revoked is reported, tried again ever more slowly,
and the bot comes back by itself. After every gap what was missed is caught up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import structlog

from bot.errors import AuthError, BotError, PlatformError, RateLimited
from bot.platforms.slack_api import Identity
from bot.platforms.slack_socket import SlackSocket
from knowledge.types import ToolStatus

MISSES = 2  # checks in a row that fail before Slack counts as out of reach

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackTiming:
    """How patient the adapter is. A dead socket is noticed within dead_after_s + check_every_s."""

    ping_interval_s: float = 5.0
    check_every_s: float = 5.0
    dead_after_s: float = 45.0
    connect_timeout_s: float = 20.0
    renew_quiet_s: float = (
        1_800.0  # a connection that answers pings but brings nothing may have been forgotten by Slack
    )
    gap_s: float = 20.0  # longer gaps are caught up
    auth_every_s: float = 60.0
    auth_retry_s: float = 60.0
    auth_retry_max_s: float = 300.0
    reconnect_s: float = 1.0
    reconnect_max_s: float = 30.0
    retry_pause_s: float = 1.0
    edit_interval_s: float = 1.0


class Health:
    """What works now, and since when it does not."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._problem: str | None = "Slack is not being listened to yet."
        self._since: datetime | None = None

    def up(self) -> None:
        if self._since is not None:
            log.info("slack.works_again", after_s=round((self._clock() - self._since).total_seconds()))
        self._problem, self._since = None, None

    def down(self, reason: str) -> None:
        if self._since is None:
            self._since = self._clock()
        if reason != self._problem:
            log.error("slack.down", reason=reason)
        self._problem = reason

    def stopped(self) -> None:
        self._problem, self._since = "Slack is no longer being listened to.", None

    def status(self, name: str, *, detail: str) -> ToolStatus:
        since = f" (since {self._since:%Y-%m-%d %H:%M} UTC)" if self._since else ""
        return ToolStatus(
            name=name,
            state="ok" if self._problem is None else "down",
            detail=detail if self._problem is None else f"{self._problem}{since}",
            checked_at=self._clock(),
        )


class Backoff:
    """Pauses that double up to a limit."""

    def __init__(self, first_s: float, most_s: float) -> None:
        self._first_s, self._most_s, self._next_s = first_s, most_s, first_s

    def next_s(self) -> float:
        pause, self._next_s = self._next_s, min(self._most_s, self._next_s * 2)
        return pause

    def reset(self) -> None:
        self._next_s = self._first_s


class _CatchingUp:
    """Catching up beside the watch: it may take minutes, and a connection can die meanwhile."""

    def __init__(self, catch_up: Callable[[], Awaitable[bool]], *, retry_s: float) -> None:
        self._catch_up = catch_up
        self._retry_s = retry_s
        self._task: asyncio.Future[bool] | None = None
        self._not_before = 0.0
        self.needed = True

    def go_on(self, now: float) -> None:
        """Takes the result of an attempt that has ended, and begins the next one where one is needed."""
        if self._task is not None and self._task.done():
            if not self._task.result():
                self.needed, self._not_before = True, now + self._retry_s
            self._task = None
        if self._task is None and self.needed and now >= self._not_before:
            self.needed = False
            self._task = asyncio.ensure_future(self._catch_up())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


class SlackWatch:
    """`run` goes on until `stop`.

    `identify` asks who the bot is, `build` makes a new app with a new connection (None in HTTP mode, where Slack comes
    to the bot), `catch_up` reads what was missed and says whether that is complete, `alive` is told at every check for
    how long nothing has come.
    """

    def __init__(
        self, *, timing: SlackTiming, health: Health, monotonic: Callable[[], float],
        identify: Callable[[], Awaitable[Identity]], build: Callable[[Identity], SlackSocket | None],
        catch_up: Callable[[], Awaitable[bool]], alive: Callable[[float], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._timing = timing
        self._health = health
        self._monotonic = monotonic
        self._identify = identify
        self._build = build
        self._catch_up = catch_up
        self._alive = alive
        self._stopping = asyncio.Event()
        self._auth_pause = Backoff(timing.auth_retry_s, timing.auth_retry_max_s)
        self._pause = Backoff(timing.reconnect_s, timing.reconnect_max_s)
        self._misses = 0

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        """Connects again and again until `stop`."""
        try:
            while not self._stopping.is_set():
                try:
                    await self._connect_and_hold()
                except PlatformError as error:
                    self._health.down(str(error))
                    await self._rest(self._pause_after(error))
        finally:
            self._health.stopped()

    async def _connect_and_hold(self) -> None:
        """Returns on `stop` and when the connection is to be built anew. Raises PlatformError."""
        identity = await self._identify()
        socket = self._build(identity)
        try:
            if socket is not None:
                await self._until_stopped(socket.connect(self._timing.connect_timeout_s))
            if self._stopping.is_set():
                return
            self._health.up()
            self._pause.reset()
            self._auth_pause.reset()
            await self._hold(socket)
        finally:
            if socket is not None:
                await socket.close()

    async def _hold(self, socket: SlackSocket | None) -> None:
        """Watches a connection until it is dead."""
        greetings = socket.greetings if socket else 0
        auth_at = self._monotonic()
        auth_pause = self._timing.auth_every_s
        catching_up = _CatchingUp(self._try_to_catch_up, retry_s=self._timing.auth_every_s)
        try:
            catching_up.go_on(self._monotonic())
            while await self._rest(self._timing.check_every_s):
                if socket is not None and (death := self._death_of(socket)) is not None:
                    self._health.down(f"The connection to Slack is being built anew: {death}")
                    return
                now = self._monotonic()
                if now - auth_at >= auth_pause:
                    auth_at = now
                    auth_pause, back = await self._try_token()
                    catching_up.needed |= back
                if socket is not None and socket.greetings != greetings:
                    greetings = socket.greetings
                    catching_up.needed |= socket.gap_s >= self._timing.gap_s
                catching_up.go_on(now)
                await self._note_alive(socket.quiet_s() if socket else 0.0)
        finally:
            await catching_up.stop()

    def _death_of(self, socket: SlackSocket) -> str | None:
        """Why a connection must be replaced; None while it lives."""
        timing = self._timing
        if socket.has_ended:
            return str(socket.failure) if socket.failure else "it ended."
        if socket.silent_s() > timing.dead_after_s:
            return f"no sign of life for {socket.silent_s():.0f} s."
        if socket.quiet_s() > timing.renew_quiet_s:
            return "nothing came for long, so it is renewed as a precaution."
        return None

    async def _try_token(self) -> tuple[float, bool]:
        """The pause until the next try, and whether the token works again after it did not."""
        was_down = self._health.status("", detail="").state == "down"
        try:
            await self._identify()
        except AuthError as error:
            self._health.down(str(error))
            return self._auth_pause.next_s(), False
        except PlatformError as error:
            log.warning("slack.check_failed", reason=str(error))
            self._misses += 1
            if self._misses >= MISSES:  # once is a hiccup
                self._health.down(str(error))
            return self._timing.auth_every_s, False
        self._misses = 0
        self._auth_pause.reset()
        self._health.up()
        return self._timing.auth_every_s, was_down

    async def _try_to_catch_up(self) -> bool:
        try:
            return await self._catch_up()
        except BotError as error:  # the store or Slack failed: tried again in a minute
            log.warning("slack.not_caught_up", reason=str(error))
            return False

    async def _note_alive(self, quiet_s: float) -> None:
        try:
            await self._alive(quiet_s)
        except BotError as error:
            log.warning("slack.cursor_not_kept", reason=str(error))

    def _pause_after(self, error: PlatformError) -> float:
        if isinstance(error, AuthError):
            return self._auth_pause.next_s()
        return max(error.retry_after_s, 1.0) if isinstance(error, RateLimited) else self._pause.next_s()

    async def _rest(self, seconds: float) -> bool:
        """Whether `seconds` passed without `stop`."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return True
        return False

    async def _until_stopped(self, work: Awaitable[None]) -> None:
        """Carries out `work`, or gives it up on `stop`. Raises what it raises."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not task.done():
                task.cancel()
            await asyncio.gather(task, stopping, return_exceptions=True)
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
