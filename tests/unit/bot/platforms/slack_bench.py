"""The Slack adapter on an emulated Slack, and what it delivered; for tests of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.platforms.slack import SlackPlatform
from bot.ports import Receive
from bot.types import Command, Delivery, FeedbackGiven, Message, Reply, ThreadRef
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import BOT_USER, SlackEmulator
from tests.emulators.slack_options import slack_options

MENTION = f"<@{BOT_USER}>"


@dataclass
class Bench:
    """`heard` is what was delivered; `refuse` makes `receive` fail, as a store does that is full."""

    server: SlackEmulator
    platform: SlackPlatform
    heard: list[Delivery] = field(default_factory=list)
    refuse: Exception | None = None
    forward: Receive | None = None  # who hears it too
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self, delivery: Delivery) -> bool | None:
        if self.refuse is not None:
            raise self.refuse
        self.heard.append(delivery)
        self._arrived.set()
        return None if self.forward is None else await self.forward(delivery)

    @property
    def messages(self) -> list[Message]:
        return [d for d in self.heard if isinstance(d, Message)]

    @property
    def posted(self) -> list[Message]:
        return [m for m in self.messages if m.event == "posted"]

    @property
    def votes(self) -> list[FeedbackGiven]:
        return [d for d in self.heard if isinstance(d, FeedbackGiven)]

    @property
    def commands(self) -> list[Command]:
        return [d for d in self.heard if isinstance(d, Command)]

    async def until(self, condition: Callable[[], Any], *, within_s: float = 60.0) -> None:
        """Returns when the condition holds; fails otherwise."""
        async with asyncio.timeout(within_s):
            while not condition():  # noqa: ASYNC110 - what is waited for happens on the other side of a socket
                await asyncio.sleep(0.005)

    async def ask(
        self, text: str = "연차는 며칠인가요?", *, channel: str = "C1", thread_ts: str | None = None
    ) -> Message:
        """Somebody mentions the bot; the message as it was delivered."""
        ts = await self.server.say(channel, "U1", f"{MENTION} {text}", thread_ts=thread_ts)
        await self.until(lambda: any(m.id == ts for m in self.posted))
        return next(m for m in self.posted if m.id == ts)

    def reply(self, message: Message, text: str = "15일입니다. [1]", **changes: Any) -> Reply:
        fields: dict[str, Any] = {
            "thread": message.thread, "markdown": text, "citations": (), "delivery_id": message.delivery_id, "final": True,
        }  # fmt: skip
        return Reply(**{**fields, **changes})

    def shown(self, thread: ThreadRef) -> list[str]:
        """The bot's posts in a thread as a reader sees them."""
        return [post["text"] for post in self.server.workspace.bot_posts() if post.get("thread_ts") == thread.root_id]


@asynccontextmanager
async def slack_server(**options: Any) -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator(**options) as server:
        server.workspace.add_user("U1", "미나")
        server.workspace.add_user("U2", "준호")
        server.workspace.add_channel("C1", "general")
        server.workspace.add_channel("D1", "미나", kind="im")
        yield server


@asynccontextmanager
async def listening(
    server: SlackEmulator,
    *,
    state: MemoryState | None = None,
    clock: Callable[[], datetime] | None = None,
    **options: Any,
) -> AsyncIterator[Bench]:
    """The adapter, listening and connected; closed at the end."""
    platform = SlackPlatform(
        slack_options(server, **options), state=state or MemoryState(), clock=clock or (lambda: datetime.now(UTC))
    )
    bench = Bench(server=server, platform=platform)
    listener = asyncio.create_task(platform.listen(bench.receive))
    try:
        await _connected(bench, listener)
        yield bench
    finally:
        await platform.close()
        async with asyncio.timeout(60):
            await listener


async def _connected(bench: Bench, listener: asyncio.Task[None]) -> None:
    async with asyncio.timeout(60):
        while (await bench.platform.check()).state != "ok":
            if listener.done():
                await listener
            await asyncio.sleep(0.005)
