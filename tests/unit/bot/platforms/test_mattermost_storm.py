"""Connections drop, the API fails, answers get lost, the bot is killed: every mention still has exactly one answer."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress

import pytest

from bot.errors import PlatformError
from bot.types import Message
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.memory_state import MemoryState
from tests.unit.bot.platforms.mattermost_bench import adapter

KINDS = [
    {"status": 500}, {"status": 500, "carried_out": True}, {"status": 503}, {"status": 429, "headers": {"Retry-After": "0.02"}},
    {"status": 0, "carried_out": True, "drops": True}, {"status": 0, "drops": True},
]  # fmt: skip
PLACES = [
    ("POST", "/posts"), ("PUT", "/posts/.*"), ("GET", "/posts/.*/thread"), ("GET", "/users/me"),
    ("GET", "/channels/.*/posts"), ("POST", "/reactions"), ("GET", "/users/me/teams"), ("DELETE", "/posts/.*"),
]  # fmt: skip


class Bot:
    """What the inbox and the worker do, in memory: saved once, tried until it is done, in order within a thread."""

    def __init__(self) -> None:
        self.inbox: dict[str, Message] = {}
        self.done: set[str] = set()

    async def run(self, server: MattermostEmulator, state: MemoryState) -> None:
        platform = adapter(server, state)
        working: set[str] = set()

        async def receive(delivery: object) -> None:
            if isinstance(delivery, Message) and delivery.mentions_bot and delivery.event == "posted":
                self.inbox.setdefault(delivery.delivery_id, delivery)

        async def work(message: Message) -> None:
            try:
                if await platform.find_own(message.thread, message.delivery_id) is None:
                    with suppress(PlatformError):
                        await platform.react(message, "eyes")
                    stream = platform.stream(message.thread, message.delivery_id)
                    for piece in ("연차는 ", "15일입니다."):
                        await stream.append(piece)
                        await asyncio.sleep(0.005)
                    await stream.finish(final(message))
                self.done.add(message.delivery_id)
            except PlatformError:
                pass
            finally:
                working.discard(message.delivery_id)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(platform.listen(receive))
            while True:
                threads = {self.inbox[key].thread.root_id for key in working}
                for key, message in list(self.inbox.items()):
                    if (
                        key not in self.done
                        and key not in working
                        and message.thread.root_id not in threads
                        and len(working) < 8
                    ):
                        working.add(key)
                        threads.add(message.thread.root_id)
                        tasks.create_task(work(message))
                await asyncio.sleep(0.005)


def final(message: Message):
    from bot.types import Reply

    text = f"답: {message.text}" if len(message.text) % 3 else f"답: {message.text}\n\n" + "긴 글입니다. " * 3000
    return Reply(thread=message.thread, markdown=text, citations=(), delivery_id=message.delivery_id, final=True)


async def storm(mentions: int, *, resumes: bool, seed: int) -> None:
    chance = random.Random(seed)
    async with MattermostEmulator(resumes=resumes) as server:
        state, memory, bot = server.state, MemoryState(), Bot()
        running = asyncio.create_task(bot.run(server, memory))
        asked: dict[str, dict] = {}
        roots: list[dict] = []
        for number in range(mentions):
            root = chance.choice(roots)["id"] if roots and chance.random() < 0.3 else ""
            post = state.say(
                chance.choice([state.alice, state.bob]),
                state.town,
                f"@helperbot {number} " + "?" * chance.randrange(3),
                root=root,
            )
            asked[post["id"]] = post
            roots += [] if root else [post]
            if chance.random() < 0.3:
                server.fail(*chance.choice(PLACES), **chance.choice(KINDS), times=chance.randint(1, 3))
            if chance.random() < 0.05:
                await server.drop_sockets()
            if chance.random() < 0.05:
                server.forget_connections()
            if chance.random() < 0.1:
                await server.repeat_event()
            if chance.random() < 0.05:
                server.empty_since = 2
            if chance.random() < 0.03:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running
                running = asyncio.create_task(bot.run(server, memory))
            await asyncio.sleep(chance.random() * 0.02)
        server.faults.clear()
        async with asyncio.timeout(60):
            while len(bot.done) < mentions:
                assert not running.done(), running.exception()
                await asyncio.sleep(0.02)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        check(state, asked)


def check(state, asked: dict[str, dict]) -> None:
    """One finished reply for every mention, whole, in its thread, in the order of the questions."""
    parts: Counter[tuple[str, int]] = Counter()
    order: dict[str, list[str]] = {}
    for post in state.own_posts():
        noted = post["props"]["haechi"]
        question = asked[noted["delivery_id"].removeprefix("mattermost:")]
        assert post["root_id"] == (question["root_id"] or question["id"])
        assert noted["final"]
        parts[(question["id"], noted["part"])] += 1
        if noted["part"] == 1:
            order.setdefault(post["root_id"], []).append(question["id"])
    assert set(parts.values()) == {1}
    assert {question for question, _ in parts} == set(asked)
    for question in asked:
        expected = next(
            p["props"]["haechi"]["parts"]
            for p in state.own_posts()
            if p["props"]["haechi"]["delivery_id"].endswith(question)
        )
        assert sum(1 for key in parts if key[0] == question) == expected
    times = {post_id: post["create_at"] for post_id, post in asked.items()}
    assert all(ids == sorted(ids, key=times.__getitem__) for ids in order.values())


@pytest.mark.parametrize("resumes", [True, False])
async def test_in_a_storm_every_mention_is_answered_once(resumes):
    await storm(120, resumes=resumes, seed=7)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
async def test_in_a_long_storm_every_mention_is_answered_once(seed):
    await storm(300, resumes=seed % 2 == 0, seed=seed)
