"""A Mattermost emulator with the adapter that listens to it, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.platforms.mattermost import MattermostOptions, MattermostPlatform
from bot.platforms.mattermost_catchup import STATE_KEY
from bot.platforms.mattermost_socket import Timing
from bot.ports import Receive
from bot.types import Command, Delivery, FeedbackGiven, Message, Reply, ThreadRef
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.mattermost_time import quick_timing
from tests.emulators.memory_state import MemoryState


@dataclass
class Bench:
    """The server, the adapter, and what it delivered."""

    server: MattermostEmulator
    platform: MattermostPlatform
    state: MemoryState
    heard: list[Delivery] = field(default_factory=list)
    listener: asyncio.Task[None] | None = None
    forward: Receive | None = None  # who hears it too
    failing: list[Exception] = field(default_factory=list)  # raised by the next deliveries instead of keeping them

    async def receive(self, delivery: Delivery) -> bool | None:
        if self.failing:
            raise self.failing.pop(0)
        self.heard.append(delivery)
        return None if self.forward is None else await self.forward(delivery)

    @property
    def messages(self) -> list[Message]:
        return [item for item in self.heard if isinstance(item, Message) and item.event == "posted"]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    @property
    def votes(self) -> list[FeedbackGiven]:
        return [item for item in self.heard if isinstance(item, FeedbackGiven)]

    @property
    def commands(self) -> list[Command]:
        return [item for item in self.heard if isinstance(item, Command)]

    def ask(self, text: str = "@helperbot 연차는 며칠인가요?", *, root: str = "") -> dict[str, Any]:
        state = self.server.state
        return state.say(state.alice, state.town, text, root=root)

    def thread(self, post: dict[str, Any]) -> ThreadRef:
        return ThreadRef(platform="mattermost", channel_id=post["channel_id"], root_id=post["root_id"] or post["id"])

    def reply(self, post: dict[str, Any], text: str = "15일입니다. [1]", **changes: Any) -> Reply:
        fields: dict[str, Any] = {
            "thread": self.thread(post), "markdown": text, "citations": (),
            "delivery_id": f"mattermost:{post['id']}", "final": True,
        }  # fmt: skip
        return Reply(**{**fields, **changes})

    async def start(self) -> None:
        self.listener = asyncio.create_task(self.platform.listen(self.receive))
        await until(lambda: self.platform._socket.state == "open" and self.platform._socket.arrivals.empty())
        await until(lambda: self.state.get(STATE_KEY) is not None)

    async def stop(self) -> None:
        await self.platform.close()
        if self.listener is not None:
            async with asyncio.timeout(60):
                await self.listener

    def another(self, **options: Any) -> Bench:
        """The adapter as it is after a restart, on the same state."""
        return Bench(self.server, adapter(self.server, self.state, **options), self.state)


def adapter(
    server: MattermostEmulator, state: MemoryState, *, timing: Timing | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC), **options: Any,
) -> MattermostPlatform:  # fmt: skip
    fields: dict[str, Any] = {"url": server.url, "token": "bot-token", "retry_wait_s": 0.01}
    return MattermostPlatform(
        MattermostOptions(**{**fields, **options}), state, clock=clock, timing=timing or quick_timing()
    )


@asynccontextmanager
async def bench(
    *, resumes: bool = True, charset: bool = False, listening: bool = True, server: MattermostEmulator | None = None,
    **options: Any,
) -> AsyncIterator[Bench]:  # fmt: skip
    async with server or MattermostEmulator(resumes=resumes, charset=charset) as emulator:
        state = MemoryState()
        made = Bench(emulator, adapter(emulator, state, **options), state)
        if listening:
            await made.start()
        try:
            yield made
        finally:
            await made.stop()


async def until(condition: Callable[[], Any], *, limit_s: float = 60.0) -> None:
    """Waits for something that a server and a socket bring about."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            while not condition():  # noqa: ASYNC110 - the emulator has no event for it
                await asyncio.sleep(0.002)
    assert condition(), "did not come about in time"


async def quiet(seconds: float = 0.15) -> None:
    """Long enough for anything on 127.0.0.1 to arrive that should not."""
    await asyncio.sleep(seconds)
