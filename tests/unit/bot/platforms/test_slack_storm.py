"""Mentions on Slack while connections drop, deliveries repeat, calls fail, and the bot is killed and started again.

The bot around the adapter is as small as it can be: an inbox that survives, and a worker that looks for its own post
first, as the real one does.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from bot.errors import PlatformError
from bot.platforms.slack import SlackPlatform
from bot.types import Message, Reply
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import Failure, SlackEmulator
from tests.emulators.slack_options import slack_options
from tests.unit.bot.platforms.slack_bench import MENTION, slack_server


class Inbox:
    """What is on the disk."""

    def __init__(self) -> None:
        self.waiting: dict[str, Message] = {}
        self.done: set[str] = set()
        self.accepted: list[str] = []


class Bot:
    """One process: the adapter and a worker for each thread. `kill` ends it in the middle of whatever it does."""

    def __init__(self, server: SlackEmulator, inbox: Inbox, state: MemoryState) -> None:
        self._inbox = inbox
        self._platform = SlackPlatform(slack_options(server), state=state, clock=lambda: datetime.now(UTC))
        self._threads: dict[str, asyncio.Lock] = {}
        self._dead = False
        self._tasks = [asyncio.create_task(self._platform.listen(self._receive))]
        for message in list(inbox.waiting.values()):
            self._start(message)

    async def _receive(self, delivery) -> None:
        if self._dead:
            raise PlatformError("This process is gone.")
        if (
            isinstance(delivery, Message)
            and delivery.event == "posted"
            and (delivery.mentions_bot or delivery.is_direct)
        ):
            if delivery.delivery_id in self._inbox.done or delivery.delivery_id in self._inbox.waiting:
                return
            self._inbox.waiting[delivery.delivery_id] = delivery
            self._inbox.accepted.append(delivery.delivery_id)
            self._start(delivery)

    def _start(self, message: Message) -> None:
        self._tasks.append(asyncio.create_task(self._work(message)))

    async def _work(self, message: Message) -> None:
        async with self._threads.setdefault(message.thread.root_id, asyncio.Lock()):
            while True:
                try:
                    await self._answer(message)
                except PlatformError:
                    await asyncio.sleep(0.05)
                    continue
                self._inbox.done.add(message.delivery_id)
                del self._inbox.waiting[message.delivery_id]
                return

    async def _answer(self, message: Message) -> None:
        platform = self._platform
        if await platform.find_own(message.thread, message.delivery_id) is not None:
            return
        with suppress(PlatformError):
            await platform.react(message, "eyes")
        stream = platform.stream(message.thread, message.delivery_id)
        await stream.status("찾는 중")
        for piece in ("답 ", message.text):
            await asyncio.sleep(0)
            await stream.append(piece)
        text = (
            f"답 {message.text}"
            if not message.text.endswith("7")
            else f"답 {message.text}\n\n" + "문단입니다.\n\n" * 1200
        )
        await stream.finish(
            Reply(thread=message.thread, markdown=text, citations=(), delivery_id=message.delivery_id, final=True)
        )

    async def kill(self) -> None:
        self._dead = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._platform.close()
        await asyncio.sleep(0.02)  # what was on its way to Slack arrives before the next process reads the thread

    async def stop(self) -> None:
        await self._platform.close()
        await asyncio.gather(*self._tasks)


def chaos(dice: random.Random, share: float):
    """Fails a share of all calls, half of them after Slack has carried them out."""

    def decide(method: str) -> Failure | None:
        if dice.random() > share:
            return None
        kind = dice.randrange(4)
        if kind == 0:
            return Failure(status=429, retry_after_s=0)
        after = dice.random() < 0.5
        return Failure(drops=True, after=after) if kind == 1 else Failure(status=500, after=after)

    return decide


async def storm(mentions: int, *, seed: int, kills: int) -> None:
    dice = random.Random(seed)
    inbox, state = Inbox(), MemoryState()
    async with slack_server(ack_timeout_s=0.3) as server:
        server.chaos = chaos(dice, 0.12)
        said: dict[str, str] = {}  # delivery id -> root
        roots: list[str] = []
        bot = Bot(server, inbox, state)
        pauses = set(dice.sample(range(mentions), kills))
        for number in range(mentions):
            channel = dice.choice(["C1", "C1", "D1"])
            root = dice.choice(roots)[1] if roots and dice.random() < 0.3 else None
            if root is not None:
                channel = next(c for c, r in roots if r == root)
            ts = await server.say(channel, "U1", f"{MENTION} 질문 {number}", thread_ts=root)
            roots.append((channel, root or ts))
            said[f"{channel}:{ts}"] = root or ts
            if dice.random() < 0.1:
                await server.sockets.drop()
            if dice.random() < 0.05:
                await server.sockets.warn()
            if number in pauses:
                await asyncio.sleep(dice.random() * 0.2)
                await bot.kill()
                bot = Bot(server, inbox, state)
            await asyncio.sleep(0.01)
        server.chaos = chaos(dice, 0.03)
        async with asyncio.timeout(60):
            while not (len(inbox.done) == mentions and not inbox.waiting):  # noqa: ASYNC110 - the bot is killed in between
                await asyncio.sleep(0.05)
        server.chaos = lambda method: None
        await bot.stop()
        check(server, said, inbox.accepted)


def check(server: SlackEmulator, said: dict[str, str], accepted: list[str]) -> None:
    """Every mention has exactly one complete final reply in its thread, in the order of acceptance, and nothing else of
    the bot stands anywhere."""
    parts: Counter[tuple[str, int]] = Counter()
    totals: dict[str, int] = {}
    order: dict[tuple[str, str], list[int]] = {}
    for post in server.workspace.bot_posts():
        payload = post["metadata"]["event_payload"]
        delivery = payload["delivery_id"]
        assert payload["final"], post
        assert post["thread_ts"] == said[delivery]
        assert delivery.startswith(f"{post['channel']}:")
        parts[delivery, payload["part"]] += 1
        totals[delivery] = payload["parts"]
        if payload["part"] == 1:
            order.setdefault((post["channel"], post["thread_ts"]), []).append(accepted.index(delivery))
    assert set(totals) == set(said)
    assert parts == Counter({(delivery, n): 1 for delivery, total in totals.items() for n in range(1, total + 1)})
    assert all(asked == sorted(asked) for asked in order.values())


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_mention_gets_exactly_one_reply_in_its_thread(seed):
    await storm(40, seed=seed, kills=3)


@pytest.mark.long
async def test_every_mention_gets_exactly_one_reply_in_its_thread_in_a_long_storm():
    await storm(500, seed=3, kills=25)
