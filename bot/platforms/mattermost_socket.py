"""The websocket of a Mattermost server: events in order, resumed after a break, with a heart that is listened to.

Newer servers give a connection id in `hello`. Connecting again with that id and the next expected sequence number makes
the server send what was missed; it says `hello` with another id when it cannot. Older servers give no id: there, and
after every `hello` that is new, whoever listens is told to catch up by REST.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import aiohttp
import structlog

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable

PING_EVERY_S = 25.0
DEAD_AFTER_S = 60.0  # without a single frame; noticed at the next ping, 85 s after the last frame at the latest
HELLO_WITHIN_S = 30.0
AUTH_RETRY_S = 60.0  # a revoked token is tried again slowly
BACKOFF_FIRST_S = 0.5
BACKOFF_LONGEST_S = 60.0
HANDSHAKE_S = 20.0
CLOSE_S = 2.0
MAX_FRAME_BYTES = 16 * 1024 * 1024
MAX_WAITING = 10_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time and chance, passed in so that tests need no waiting. `jitter` gives numbers from 0 to 1."""

    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened on the server."""

    name: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Events may have been lost: catch up by REST."""

    why: str


SocketState = Literal["starting", "open", "lost", "refused"]


class MattermostSocket:
    """Keeps one connection open until `close`; what arrives waits in `arrivals`, in order."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        ca_file: Path | None,
        timing: Timing,
        before_connecting: Callable[[], Awaitable[None]],
    ) -> None:
        """`before_connecting` asks the server who the bot is: with a wrong token a socket opens and stays silent."""
        self.state: SocketState = "starting"
        self.detail = "not connected yet"
        self.arrivals: asyncio.Queue[Event | Missed] = asyncio.Queue(MAX_WAITING)
        self.foresee: Callable[[Event], None] | None = None  # is told of an event as soon as it is there
        self._address = "ws" + url.removeprefix("http") + "/api/v4/websocket"
        self._token = token
        self._ca_file = ca_file
        self._timing = timing
        self._before_connecting = before_connecting
        self._connection_id = ""
        self._expected = 0
        self._heard_s = 0.0
        self._request = 0
        self._greeted = False
        self._overflowed = False
        self._stuck_at: int | None = None  # where resuming led to the same gap again
        self._closed = asyncio.Event()

    async def run(self) -> None:
        """Connects, and connects again, until `close`."""
        failures = 0
        tls = await asyncio.to_thread(_tls, self._ca_file) if self._address.startswith("wss") else False
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=10)) as session:
            while not self._closed.is_set():
                self._greeted = False
                try:
                    await self._before_connecting()
                    why = await self._connection(session, tls)
                    failures = 0 if self._greeted else failures + 1
                    self._now("lost", why)
                    wait_s = self._backoff_s(failures)
                except AuthError as error:
                    self._now("refused", str(error))
                    wait_s = AUTH_RETRY_S * (0.75 + self._timing.jitter() / 2)
                except RateLimited as error:
                    self._now("lost", str(error))
                    wait_s = error.retry_after_s + self._timing.jitter()
                except PlatformError as error:
                    failures += 1
                    self._now("lost", str(error))
                    wait_s = self._backoff_s(failures)
                await self._pause(wait_s)

    async def close(self) -> None:
        self._closed.set()

    def use_token(self, token: str) -> None:
        """The next connection is made with it."""
        self._token = token

    def forget(self) -> None:
        """The next connection is a new one, after which everything is caught up by REST."""
        self._connection_id = ""
        self._expected = 0

    # --- one connection -------------------------------------------------------------------------

    async def _connection(self, session: aiohttp.ClientSession, tls: ssl.SSLContext | bool) -> str:
        """Reads until the connection ends; returns why it did. Raises PlatformError when none can be made."""
        query = urlencode({"connection_id": self._connection_id, "sequence_number": self._expected})
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                socket = await session.ws_connect(
                    f"{self._address}?{query}",
                    headers={"Authorization": f"Bearer {self._token}"},
                    ssl=tls,
                    autoping=False,
                    max_msg_size=MAX_FRAME_BYTES,
                    timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_S),
                )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise Unreachable(f"The websocket of Mattermost cannot be opened: {_why(error)}.") from error
        self._heard_s = self._timing.monotonic()
        if self._connection_id:  # a lossless resume says nothing
            self._open()
        tasks = [asyncio.create_task(part) for part in (self._read(socket), self._beat(socket), self._until_closed())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return next(task.result() for task in tasks if task in done)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            try:
                await socket.close()
            except (aiohttp.ClientError, ConnectionError) as error:
                log.debug("mattermost.socket.close_failed", reason=_why(error))

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> str:
        while True:
            frame = await socket.receive()
            self._heard_s = self._timing.monotonic()
            if frame.type is aiohttp.WSMsgType.TEXT:
                ended = self._take(frame.data)
                if ended is not None:
                    return ended
            elif frame.type is aiohttp.WSMsgType.PING:
                await socket.pong(frame.data)
            elif frame.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED):
                return "the server closed the connection"
            elif frame.type is aiohttp.WSMsgType.ERROR:
                return f"the connection broke ({_why(socket.exception())})"

    async def _beat(self, socket: aiohttp.ClientWebSocketResponse) -> str:
        """Asks the server for a sign of life, as its own clients do; the answer also tells whether the token holds."""
        started_s = self._timing.monotonic()
        while True:
            await self._timing.sleep(PING_EVERY_S)
            now_s = self._timing.monotonic()
            if now_s - self._heard_s >= DEAD_AFTER_S:
                return f"nothing was heard for {now_s - self._heard_s:.0f} s"
            if self.state != "open" and now_s - started_s >= HELLO_WITHIN_S:
                return "the server did not greet"
            self._request += 1
            try:
                async with asyncio.timeout(CLOSE_S * 5):
                    await socket.send_str(json.dumps({"action": "ping", "seq": self._request}))
            except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
                return f"the connection broke ({_why(error)})"

    async def _until_closed(self) -> str:
        await self._closed.wait()
        return "closed by the bot"

    # --- frames ---------------------------------------------------------------------------------

    def _take(self, text: str) -> str | None:
        """Puts what a frame holds into `arrivals`; returns why the connection has to end, if it has to."""
        try:
            frame = json.loads(text)
        except ValueError:
            log.warning("mattermost.socket.unreadable", chars=len(text))
            return None
        if not isinstance(frame, dict):
            return None
        if "seq_reply" in frame:
            return self._answered(frame)
        event = Event(name=str(frame.get("event", "")), data=_mapping(frame.get("data")))
        sequence = frame.get("seq")
        if event.name == "hello":
            self._hello(event, sequence if isinstance(sequence, int) else 0)
        elif isinstance(sequence, int) and sequence > self._expected and (why := self._gap(sequence)) is not None:
            return why
        elif isinstance(sequence, int) and sequence >= self._expected:
            self._expected = sequence + 1
            self._stuck_at = None
        if self.foresee is not None:
            self.foresee(event)
        self._put(event)
        return None

    def _answered(self, frame: dict[str, Any]) -> str | None:
        if frame.get("status") == "OK":
            self._greeted = True
            return None
        told = _mapping(frame.get("error"))
        self._connection_id = ""
        return f"the server refused a ping ({str(told.get('id') or told.get('message') or 'no reason')[:120]})"

    def _hello(self, event: Event, sequence: int) -> None:
        """A connection id that is new, or none at all, means that this connection knows nothing of the last one."""
        given = str(event.data.get("connection_id") or "")
        fresh = not given or given != self._connection_id
        self._connection_id = given
        self._expected = sequence + 1
        self._stuck_at = None
        self._open()
        if fresh:
            self._put(Missed(why="a new connection"))

    def _gap(self, sequence: int) -> str | None:
        """The server sends again what was missed when it is asked by resuming; without an id REST has to do."""
        log.warning("mattermost.socket.gap", expected=self._expected, got=sequence)
        if self._connection_id and self._stuck_at != self._expected:
            self._stuck_at = self._expected
            self._greeted = True
            return f"events from {self._expected} to {sequence - 1} are missing"
        self._expected = sequence + 1
        self._stuck_at = None
        self._put(Missed(why="events are missing"))
        return None

    def _put(self, item: Event | Missed) -> None:
        """Into the queue; when that is full the event is read again by REST once there is room."""
        if self._overflowed and not self.arrivals.full():
            self._overflowed = False
            self.arrivals.put_nowait(Missed(why="more events than could be worked on"))
        if self.arrivals.full():
            self._overflowed = True
            return
        self.arrivals.put_nowait(item)

    # --- state ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._greeted = True
        self._now("open", "connected")

    def _now(self, state: SocketState, detail: str) -> None:
        if state != self.state and not self._closed.is_set():
            level = log.info if state == "open" else log.warning
            level("mattermost.socket", state=state, detail=detail)
        self.state, self.detail = state, detail

    def _backoff_s(self, failures: int) -> float:
        """Exponential, between half and all of it by chance, so that many bots do not come back at once."""
        longest = min(BACKOFF_LONGEST_S, BACKOFF_FIRST_S * 2.0 ** min(failures, 20))
        return longest * (0.5 + self._timing.jitter() / 2)

    async def _pause(self, seconds: float) -> None:
        if self._closed.is_set():
            return
        tasks = [asyncio.ensure_future(self._timing.sleep(seconds)), asyncio.ensure_future(self._closed.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def probe(url: str, token: str, *, ca_file: Path | None) -> None:
    """Opens a websocket and waits for the greeting. Raises PlatformError when there is none."""
    address = "ws" + url.removeprefix("http") + "/api/v4/websocket"
    tls = await asyncio.to_thread(_tls, ca_file) if address.startswith("wss") else False
    try:
        async with (
            asyncio.timeout(HANDSHAKE_S),
            aiohttp.ClientSession() as session,
            session.ws_connect(
                address,
                headers={"Authorization": f"Bearer {token}"},
                ssl=tls,
                timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_S),
            ) as socket,
        ):
            greeting = await socket.receive()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise Unreachable(f"The websocket of Mattermost cannot be opened: {_why(error)}.") from error
    if greeting.type is not aiohttp.WSMsgType.TEXT or '"hello"' not in greeting.data:
        raise Unreachable("The websocket of Mattermost opens but does not greet.")


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except (OSError, ssl.SSLError) as error:
        raise PlatformError(f"mattermost.ca_file {ca_file} holds no certificate that can be read: {error}.") from error


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _why(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}" if error is not None and str(error) else type(error).__name__
