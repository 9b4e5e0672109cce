"""How Slack delivers: Socket Mode connections with hello, envelopes, acknowledgements, repetitions and warnings.

An envelope that is not acknowledged in time comes again, with its number of attempts; while no connection is open it
waits, as Slack repeats an event for some minutes. Shapes as in the tests of slackapi/python-slack-sdk.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from typing import Any

from aiohttp import WSMsgType, web

Json = dict[str, Any]

MAX_ATTEMPTS = 4


class Connection:
    """One websocket. `frozen`: it stays open, and nothing passes any more in either direction."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket = socket
        self.frozen = False

    async def send(self, body: Json) -> None:
        if not self.frozen and not self.socket.closed:
            with contextlib.suppress(ConnectionError):
                await self.socket.send_str(json.dumps(body))


class SocketMode:
    """Hands envelopes to open connections until they are acknowledged."""

    def __init__(self, *, ack_timeout_s: float = 3.0) -> None:
        self.ack_timeout_s = ack_timeout_s
        self.connections: list[Connection] = []
        self.opened = 0
        self.acknowledged: list[str] = []
        self.given_up: list[Json] = []
        self.sent: list[Json] = []
        self.lossy = (
            False  # while True, what finds no open connection is lost: the bot is down for longer than Slack repeats
        )
        self.answers_pings = True
        self.greets = True
        self._waiting: dict[str, asyncio.Event] = {}
        self._available = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)

    # --- what tests do ------------------------------------------------------------------------

    def dispatch(self, kind: str, payload: Json) -> None:
        """Delivers a payload: kind is events_api, interactive or slash_commands."""
        if self.lossy and not self._open():
            return
        envelope = {
            "envelope_id": f"envelope-{next(self._numbers)}", "type": kind, "payload": payload,
            "accepts_response_payload": kind != "events_api",
        }  # fmt: skip
        task = asyncio.get_running_loop().create_task(self._deliver(envelope))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Returns when every envelope was acknowledged or given up."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def drop(self) -> None:
        """Closes all connections without a word."""
        for connection in list(self.connections):
            transport = connection.socket._req.transport if connection.socket._req is not None else None
            if transport is not None:
                transport.abort()

    def freeze(self) -> None:
        """From now on nothing passes through the connections that are open, and nobody is told."""
        for connection in self.connections:
            connection.frozen = True

    async def warn(self, reason: str = "refresh_requested") -> None:
        """Asks clients to connect anew, as Slack does before it ends a connection."""
        body = {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}
        for connection in list(self.connections):
            await connection.send(body)

    # --- the server's side --------------------------------------------------------------------

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        connection = Connection(socket)
        self.connections.append(connection)
        self.opened += 1
        try:
            if self.greets:
                await connection.send(
                    {
                        "type": "hello", "num_connections": len(self.connections), "connection_info": {"app_id": "A1"},
                        "debug_info": {"host": "applink-1", "approximate_connection_time": 18060},
                    }
                )  # fmt: skip
            self._available.set()
            async for message in socket:
                if connection.frozen:
                    continue
                if message.type == WSMsgType.PING and self.answers_pings:
                    await socket.pong(message.data)
                elif message.type == WSMsgType.TEXT:
                    self._take(json.loads(message.data))
        finally:
            self.connections.remove(connection)
            if not self._open():
                self._available.clear()
        return socket

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.drop()

    def _take(self, body: Json) -> None:
        envelope_id = body.get("envelope_id")
        if envelope_id in self._waiting:
            self.acknowledged.append(envelope_id)
            self._waiting[envelope_id].set()

    def _open(self) -> list[Connection]:
        return [c for c in self.connections if not c.socket.closed]

    async def _deliver(self, envelope: Json) -> None:
        done = self._waiting[envelope["envelope_id"]] = asyncio.Event()
        try:
            for attempt in range(MAX_ATTEMPTS):
                await self._available.wait()
                connection = self._open()[-1] if self._open() else None
                if connection is None:
                    continue
                repeated = {"retry_attempt": attempt, "retry_reason": "" if attempt == 0 else "timeout"}
                self.sent.append(envelope)
                await connection.send({**envelope, **repeated})
                try:
                    async with asyncio.timeout(self.ack_timeout_s):
                        await done.wait()
                    return
                except TimeoutError:
                    continue
            self.given_up.append(envelope)
        finally:
            del self._waiting[envelope["envelope_id"]]
