"""Slack's deliveries: the Bolt app that hears them, and one Socket Mode connection that carries them.

Bolt acknowledges after its listener has run (`process_before_response`), so what could not be saved is not acknowledged
and comes again. Who the bot is has been asked before: Bolt's own question, asked on the first event, would acknowledge
an event that it could not authorize. A connection that cannot get a new address gives up at once instead of repeating
for ever; app and connection are then built anew together by `slack_watch`.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import PlatformError, Unreachable
from bot.platforms.slack_api import Identity
from bot.platforms.slack_failures import translating
from bot.platforms.slack_intake import SlackIntake

_ANY = re.compile(r".+", re.DOTALL)

Thank = Callable[[dict[str, Any], bool], None]
"""Is told of every click on a button of the bot, and whether the vote was kept."""

log = structlog.get_logger(__name__)


def build_app(
    intake: SlackIntake, identity: Identity, *, signing_secret: str | None, api_url: str, thank: Thank,
    tls: ssl.SSLContext | None = None,
) -> AsyncApp:  # fmt: skip
    """The Bolt app; requests over HTTP must carry a signature made with `signing_secret`."""

    async def authorize(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=identity.team_id, bot_id=identity.bot_id, bot_user_id=identity.user_id,
            bot_token="held-by-the-adapter",
        )  # fmt: skip

    app = AsyncApp(
        name="haechi",
        process_before_response=True,
        signing_secret=signing_secret or "",
        client=AsyncWebClient(base_url=api_url, ssl=tls),
        authorize=authorize,
        attaching_conversation_kwargs_enabled=False,
        logger=logging.getLogger("slack_bolt.haechi"),
    )

    async def on_event(event: dict[str, Any], body: dict[str, Any]) -> None:
        await intake.event({**event, "is_ext_shared": body.get("is_ext_shared_channel") is True})

    async def on_command(ack: Any, body: dict[str, Any]) -> None:
        await intake.command(body)
        await ack()

    async def on_action(ack: Any, body: dict[str, Any]) -> None:
        kept = await intake.action(body)
        await ack()
        if kept is not None:
            thank(body, kept)

    async def on_error(error: Exception) -> None:
        log.error("slack.delivery_not_saved", reason=str(error), exc_info=error)

    app.event(_ANY)(on_event)
    app.command(_ANY)(on_command)
    app.action(_ANY)(on_action)
    app.error(on_error)
    return app


class _Client(SocketModeClient):
    """The SDK's client, which ends when it cannot get an address; the reason is in `failure`."""

    def __init__(self, open_url: Callable[[], Awaitable[str]], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._open_url = open_url
        self.failure: PlatformError | None = None

    async def issue_new_wss_url(self) -> str:
        try:
            return await self._open_url()
        except PlatformError as error:
            self.failure = error
            self.closed = True
            raise


class SlackSocket:
    """One Socket Mode connection, used once; `connect` must run in the loop that it lives in."""

    def __init__(
        self, app: AsyncApp, *, open_url: Callable[[], Awaitable[str]], ping_interval_s: float,
        monotonic: Callable[[], float],
    ) -> None:  # fmt: skip
        self._app = app
        self._monotonic = monotonic
        self._client = _Client(
            open_url,
            app_token="held-by-the-adapter",
            web_client=app.client,
            logger=_quiet_logger(),
            ping_interval=ping_interval_s,
        )
        self._client.socket_mode_request_listeners.append(self._handle)
        self._client.message_listeners.append(self._note)
        self._greeted = asyncio.Event()
        self._last_data_at = monotonic()
        self._opened_at = time.time()
        self.greetings = 0  # how often Slack has said hello: the SDK replaces connections itself too
        self.gap_s = 0.0  # how long nothing had come before the last hello

    async def connect(self, timeout_s: float) -> None:
        """Returns once Slack has said hello. Raises PlatformError."""
        try:
            async with asyncio.timeout(timeout_s):
                with translating("Socket Mode"):
                    await self._client.connect()  # type: ignore[no-untyped-call]
                if self._client.failure is not None:
                    raise self._client.failure
                await self._greeted.wait()
        except TimeoutError:
            raise self._client.failure or Unreachable(
                f"Slack's socket did not open within {timeout_s:g} s: check that wss:// connections are let out."
            ) from None

    def silent_s(self) -> float:
        """Seconds since the last sign of life, a frame or the answer to a ping."""
        answered_at = self._client.last_ping_pong_time or self._opened_at
        return min(self.quiet_s(), max(0.0, time.time() - answered_at))

    def quiet_s(self) -> float:
        """Seconds since the last frame that carried something."""
        return self._monotonic() - self._last_data_at

    @property
    def has_ended(self) -> bool:
        """Whether it will not come back by itself; `failure` says why, when that is known."""
        return self._client.closed

    @property
    def failure(self) -> PlatformError | None:
        return self._client.failure

    async def close(self) -> None:
        """Closes the connection; waits at most a moment for a peer that does not answer."""
        tasks = [self._client.message_processor, self._client.current_session_monitor, self._client.message_receiver]
        try:
            async with asyncio.timeout(2):
                await self._client.close()  # type: ignore[no-untyped-call]
        except (TimeoutError, OSError) as error:
            log.info("slack.socket_not_closed", reason=str(error) or "no answer")
        finally:
            for task in filter(None, tasks):
                task.cancel()
            await asyncio.gather(*filter(None, tasks), return_exceptions=True)
            await self._client.aiohttp_client_session.close()

    async def _handle(self, client: Any, request: SocketModeRequest) -> None:
        """What the SDK's own handler does: runs the app, and acknowledges when it succeeded."""
        started = time.time()
        response = await run_async_bolt_app(self._app, request)
        await send_async_response(client, request, response, started)

    async def _note(self, client: Any, message: dict[str, Any], raw: str | None) -> None:
        if message.get("type") == "hello":
            self.gap_s = self.silent_s()
            self.greetings += 1
            self._greeted.set()
        self._last_data_at = self._monotonic()


def _quiet_logger() -> logging.Logger:
    """The SDK logs every hiccup with a traceback as an error; the watch reports what matters."""
    logger = logging.getLogger("slack_sdk.socket_mode.haechi")
    logger.setLevel(logging.CRITICAL)
    return logger
