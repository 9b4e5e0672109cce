"""The control socket: commands given while another process owns the data folder are carried out by that process.

JSON lines over a unix socket. The server greets with one line about itself; a client then sends
`{"method", "params"}` and gets any number of `{"progress": {...}}` lines and one `{"result"}` or `{"error"}` line.
A client that closes its connection cancels what it asked for.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import structlog

import bot.errors
import knowledge.errors
from bot.errors import BotError
from knowledge.errors import KnowledgeError

Report = Callable[[dict[str, Any]], None]

MAX_LINE_BYTES = 256 * 1024 * 1024  # a long document read as one line
CONNECT_TIMEOUT_S = 2.0
DRAIN_TIMEOUT_S = 30.0
MAX_BUFFERED_BYTES = 1024 * 1024  # progress is dropped for a client that does not read it

log = structlog.get_logger(__name__)


class OwnerLeft(BotError):
    """The owner ended before it answered; the same request can be put to the next one."""


class Operations(Protocol):
    """What both the owner itself and a client of the owner can be asked to do."""

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        """The result as JSON values. Raises BotError and KnowledgeError."""


class ControlServer:
    """Serves `operations` until `drain`."""

    def __init__(self, operations: Operations, *, path: Path, greeting: Mapping[str, Any]) -> None:
        self._operations = operations
        self._path = path
        self._greeting = dict(greeting)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._running: dict[asyncio.Task[dict[str, Any]], str] = {}
        self._idle = asyncio.Event()  # set while no request is being answered, its last line included
        self._idle.set()
        self._leaving = False

    async def start(self) -> None:
        """Returns once clients can connect. Raises OSError when the socket cannot be made."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        previous_umask = os.umask(0o177)
        try:
            listener.bind(os.fspath(self._path))
        except OSError:
            listener.close()
            raise
        finally:
            os.umask(previous_umask)
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=MAX_LINE_BYTES)

    async def drain(self) -> None:
        """Takes no new client, finishes short requests, hands an ingest back to the client that asked for it."""
        self._leaving = True
        if self._server is not None:
            self._server.close()
        self._path.unlink(missing_ok=True)
        for task, method in list(self._running.items()):
            if method == "ingest":
                task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await self._idle.wait()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if _is_own_user(writer.get_extra_info("socket")):
                await _send(writer, self._greeting)
                await self._converse(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or the server is closing: neither has anybody left to tell
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        next_line = asyncio.create_task(reader.readline())
        try:
            while not self._leaving and (line := await next_line):
                next_line = asyncio.create_task(reader.readline())
                await self._answer(line, next_line, writer)
        finally:
            next_line.cancel()

    async def _answer(self, line: bytes, next_line: asyncio.Task[bytes], writer: asyncio.StreamWriter) -> None:
        def report(progress: dict[str, Any]) -> None:
            if writer.transport.get_write_buffer_size() < MAX_BUFFERED_BYTES:
                writer.write(_encode({"progress": progress}))

        request = json.loads(line)
        method = str(request.get("method"))
        work = asyncio.create_task(self._operations.call(method, request.get("params") or {}, report))
        self._running[work] = method
        self._idle.clear()
        try:
            await asyncio.wait({work, next_line}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and next_line.result() == b"":
                work.cancel()
            await asyncio.wait({work})
            await _send(writer, _outcome(work))
        finally:
            work.cancel()
            del self._running[work]
            if not self._running:
                self._idle.set()


def _outcome(work: asyncio.Task[dict[str, Any]]) -> dict[str, Any]:
    """The last line of an answer."""
    if work.cancelled():
        return {"error": {"type": "OwnerLeft", "message": "The process that was asked is ending."}}
    if error := work.exception():
        return {"error": encode_error(error)}
    return {"result": work.result()}


class ControlClient:
    """A connection to the owner of the data folder. One request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, greeting: dict[str, Any]) -> None:
        self._reader = reader
        self._writer = writer
        self.greeting = greeting

    @classmethod
    async def connect(cls, path: Path) -> ControlClient:
        """Raises OwnerLeft when nobody listens there."""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                reader, writer = await asyncio.open_unix_connection(os.fspath(path), limit=MAX_LINE_BYTES)
                line = await reader.readline()
        except (OSError, TimeoutError) as error:
            raise OwnerLeft(f"Nobody answers at {path}.") from error
        if not line:
            writer.close()
            raise OwnerLeft(f"The process at {path} is ending.")
        return cls(reader, writer, json.loads(line))

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        try:
            await _send(self._writer, {"method": method, "params": dict(params)})
            while line := await self._reader.readline():
                message: dict[str, Any] = json.loads(line)
                if "progress" in message:
                    report(message["progress"])
                elif "error" in message:
                    raise decode_error(message["error"])
                else:
                    result: dict[str, Any] = message["result"]
                    return result
        except ConnectionError as error:
            raise OwnerLeft("The process that was asked has ended.") from error
        raise OwnerLeft("The process that was asked has ended.")

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


def encode_error(error: BaseException) -> dict[str, str]:
    """An error as JSON values; what is not one of ours is logged here and passed on without its inside."""
    if isinstance(error, BotError | KnowledgeError):
        return {"type": type(error).__name__, "message": str(error)}
    log.error("control.failed", exc_info=error)
    return {"type": "BotError", "message": f"The command failed unexpectedly ({type(error).__name__}); see the log."}


def decode_error(fields: Mapping[str, str]) -> Exception:
    """The error that the other side raised, of the same class."""
    name, message = fields["type"], fields["message"]
    if name == "OwnerLeft":
        return OwnerLeft(message)
    found = getattr(bot.errors, name, None) or getattr(knowledge.errors, name, None)
    if isinstance(found, type) and issubclass(found, BotError | KnowledgeError):
        try:
            return found(message)
        except TypeError:  # a class with more to say than its message
            return BotError(message)
    return BotError(message)


def _is_own_user(connection: socket.socket) -> bool:
    """Whether the peer runs as this user or as root. Where the kernel does not tell, the file's rights decide."""
    if not sys.platform.startswith("linux"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    return uid in (os.geteuid(), 0)


def _encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


async def _send(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    writer.write(_encode(message))
    await writer.drain()
