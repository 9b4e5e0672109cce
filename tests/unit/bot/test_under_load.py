"""Fifty questions at once while the model takes long: everybody sees a sign of life, and the loop is never held up."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.store import Store
from bot.types import Author
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.times import Clock, counting_ids

MENTIONS = 50
SIGN_WITHIN_S = 2.0
LONGEST_BLOCK_S = 0.1


class Heartbeat:
    """Beats on the event loop; `longest_s` is the longest time that a beat came late."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def run(self, every_s: float = 0.005) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(every_s)
            self.longest_s = max(self.longest_s, time.perf_counter() - before - every_s)


class TimedPlatform(FakePlatform):
    """Notes when each message got its first reaction."""

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.reacted_at: dict[str, float] = {}

    async def react(self, message, emoji) -> None:
        self.reacted_at.setdefault(message.id, time.perf_counter())
        await super().react(message, emoji)


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "bot.sqlite3", clock=Clock())
    yield store
    store.close()


async def test_fifty_mentions_at_once_all_see_a_sign_of_life_and_the_loop_is_never_blocked(company, store):
    hold = asyncio.Event()  # a model that has not answered by the end has taken longer than any 20 s
    model = FakeChatModel(otherwise=FakeReply(pieces=("NO_ANSWER",), hold=hold))
    platform = TimedPlatform(new_id=counting_ids())
    heartbeat = Heartbeat()
    company.knowledge.warm_up()
    async with ChatLine(company, store, platform, model=model, at_once=64, patience_s=0.2).running() as line:
        beating = asyncio.create_task(heartbeat.run())
        asked_at: dict[str, float] = {}

        async def ask(number: int) -> None:
            started = time.perf_counter()
            person = Author(id=f"u{number}", display_name="미나", is_bot=False)
            message = await platform.say("@haechi 연차휴가는 며칠인가요?", author=person)
            asked_at[message.id] = started

        await asyncio.gather(*(ask(number) for number in range(MENTIONS)))
        await until(lambda: len(platform.reacted_at) == MENTIONS)
        await until(lambda: len(model.asked) == MENTIONS)
        beating.cancel()
        late = max(platform.reacted_at[name] - asked_at[name] for name in asked_at)
        hold.set()
        await line.settled()
    assert late < SIGN_WITHIN_S
    assert heartbeat.longest_s < LONGEST_BLOCK_S
    assert len(platform.posts) == MENTIONS
