"""Carries out a command, here or in the process that owns the data folder.

Whoever gets the lock becomes the owner and serves the control socket for as long as it works, so that a command that
comes meanwhile is carried out at once. When an owner ends, its clients take over one after the other.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from bot.control import ControlClient, ControlServer, Operations, OwnerLeft, Report
from bot.data_folder import DataFolder
from bot.errors import ConfigError, DataFolderBusy
from bot.settings import Settings

Services = TypeVar("Services", bound=Operations)
Build = Callable[[Settings], AbstractAsyncContextManager[Services]]

TAKEOVER_TIMEOUT_S = 15.0  # how long a process may hold the lock without serving its socket
POLL_S = 0.05
RUN_COMMAND = "haechi run"


class Deferred:
    """Operations that exist as soon as the socket does: callers wait until the services are open."""

    def __init__(self) -> None:
        self._ready: asyncio.Future[Operations] = asyncio.get_running_loop().create_future()

    def resolve(self, operations: Operations) -> None:
        self._ready.set_result(operations)

    def give_up(self) -> None:
        if not self._ready.done():
            self._ready.cancel()

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        operations = await asyncio.shield(self._ready)
        return await operations.call(method, params, report)


@asynccontextmanager
async def owned(
    folder: DataFolder, settings: Settings, command: str, build: Build[Services], *, clock: Callable[[], datetime]
) -> AsyncIterator[Services]:
    """The services of this process as owner of the folder. Raises DataFolderBusy."""
    owner = folder.lock(command, started_at=clock())
    try:
        deferred = Deferred()
        greeting = {"pid": os.getpid(), "command": command, "settings": settings.fingerprint}
        server = ControlServer(deferred, path=Path(owner.socket), greeting=greeting)
        try:
            await server.start()
        except OSError as error:
            raise ConfigError(f"The control socket {owner.socket} cannot be made: {error.strerror}.") from error
        try:
            async with build(settings) as services:
                deferred.resolve(services)
                try:
                    yield services
                finally:
                    await server.drain()
        finally:
            deferred.give_up()
            await server.drain()
    finally:
        folder.release()


class Session:
    """Operations for one command line; opens the folder at the first call, or connects to its owner."""

    def __init__(
        self,
        settings: Settings,
        command: str,
        build: Build[Any],
        *,
        clock: Callable[[], datetime],
        note: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._command = command
        self._build = build
        self._clock = clock
        self._note = note
        self._folder = DataFolder.prepare(settings.data_dir)
        self._owned: AbstractAsyncContextManager[Operations] | None = None
        self._client: ControlClient | None = None
        self._operations: Operations | None = None

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._close()

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        """The result of the operation. Raises what it raises, and DataFolderBusy."""
        while True:
            if self._operations is None:
                self._operations = await self._acquire()
            try:
                return await self._operations.call(method, params, report)
            except OwnerLeft:
                await self._close()

    async def _acquire(self) -> Operations:
        deadline = asyncio.get_running_loop().time() + TAKEOVER_TIMEOUT_S
        while True:
            try:
                entered = owned(self._folder, self._settings, self._command, self._build, clock=self._clock)
                operations: Operations = await entered.__aenter__()
                self._owned = entered
                return operations
            except DataFolderBusy:
                client = await self._connect()
                if client is not None:
                    self._client = client
                    return client
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(POLL_S)

    async def _connect(self) -> ControlClient | None:
        owner = self._folder.owner()
        if owner is None:
            return None
        try:
            client = await ControlClient.connect(Path(owner.socket))
        except OwnerLeft:
            return None
        if client.greeting.get("settings") != self._settings.fingerprint:
            self._note(
                f"Process {owner.pid} ({owner.command}) carries this out with the settings it was started with;"
                " they differ from those read now."
            )
        return client

    async def _close(self) -> None:
        entered, client = self._owned, self._client
        self._owned = self._client = self._operations = None
        if client is not None:
            await client.close()
        if entered is not None:
            await entered.__aexit__(None, None, None)


@asynccontextmanager
async def sole_owner(
    settings: Settings, build: Build[Services], *, clock: Callable[[], datetime]
) -> AsyncIterator[Services]:
    """The services for `haechi run`: waits a moment for a short command to end, never for another `haechi run`."""
    folder = DataFolder.prepare(settings.data_dir)
    deadline = asyncio.get_running_loop().time() + TAKEOVER_TIMEOUT_S
    while True:
        entered = owned(folder, settings, RUN_COMMAND, build, clock=clock)
        try:
            services = await entered.__aenter__()
            break
        except DataFolderBusy:
            owner = folder.owner()
            running = owner is not None and owner.command == RUN_COMMAND
            if running or asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(POLL_S)
    try:
        yield services
    finally:
        await entered.__aexit__(None, None, None)
