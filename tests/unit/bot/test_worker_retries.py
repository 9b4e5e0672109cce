"""Platforms that cannot be reached, stores that fail, processes that die: one reply in the end, and nobody else waits."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.channels import ChannelPolicy, Channels
from bot.errors import AuthError, PlatformError, RateLimited, StoreError, Unreachable
from bot.inbox import Inbox
from bot.types import Reply
from bot.worker import RETRY_FOR
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.company import build_answering
from tests.unit.bot.messages import PERSON
from tests.unit.bot.times import Clock, counting_ids

NO_ANSWER = FakeReply(pieces=("NO_ANSWER",))


@pytest.fixture
def platform():
    return FakePlatform(new_id=counting_ids())


class MovingClock(Clock):
    """Moves on a little at every look, so that what waits is due soon."""

    def __call__(self):
        self.now += timedelta(seconds=0.5)
        return self.now


class Counting:
    """Answering that counts how often it was asked."""

    def __init__(self, company):
        self.inner = build_answering(company.knowledge, company.folder, clock=company.clock)
        self.asked = 0

    async def answer(self, *args, **kwargs):
        self.asked += 1
        return await self.inner.answer(*args, **kwargs)


@pytest.mark.parametrize("error", [Unreachable("502"), RateLimited("429", 0.01)])
async def test_a_platform_that_does_not_answer_is_tried_again_without_asking_the_model_again(
    company, store, platform, error
):
    answering = Counting(company)
    async with ChatLine(company, store, platform, answering=answering, clock=MovingClock()).running() as line:
        platform.errors = [error, error]
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await line.settled()
    assert [post.reply.kind for post in platform.posts] == ["answer"]
    assert answering.asked == 1
    assert line.inbox.counts() == {"done": 1}


async def test_while_one_thread_waits_for_its_platform_others_are_answered(company, store, platform):
    other = FakePlatform(new_id=counting_ids(), name="other")
    platform.errors = []
    async with ChatLine(company, store, platform, other, first_wait_s=300).running() as line:
        platform.errors = [Unreachable("down")] * 2
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await until(lambda: store.query("SELECT 1 FROM inbox WHERE postponed = 1"))
        await other.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await until(lambda: other.posts)
    assert platform.posts == []
    assert line.inbox.counts() == {"received": 1, "done": 1}


async def test_a_revoked_token_keeps_what_waits_for_the_next_one(company, store, platform):
    async with ChatLine(company, store, platform, clock=(clock := Clock())).running() as line:
        platform.errors = [AuthError("revoked")]
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await until(lambda: store.query("SELECT 1 FROM inbox WHERE postponed = 1"))
        clock.advance(61)
        line.worker.wake()
        await line.settled()
    assert len(platform.posts) == 1


async def test_what_cannot_be_told_for_hours_is_recorded_as_failed(company, store, platform):
    clock = Clock()
    async with ChatLine(company, store, platform, clock=clock).running() as line:
        platform.errors = [Unreachable("down")] * 50
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await until(lambda: store.query("SELECT 1 FROM inbox WHERE postponed >= 1"))
        clock.advance(RETRY_FOR.total_seconds() + 1)
        line.worker.wake()
        await line.settled()
    assert line.outcomes() == ["unreachable: Unreachable"]
    assert line.inbox.counts() == {"failed": 1}


async def test_an_error_that_could_not_be_told_at_once_is_told_later(company, store, platform):
    class Broken:
        async def answer(self, *args, **kwargs):
            raise ZeroDivisionError("a bug")

    async with ChatLine(company, store, platform, answering=Broken(), clock=MovingClock()).running() as line:
        platform.errors = [Unreachable("down")]
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await line.settled()
    (post,) = platform.posts
    assert post.reply.kind == "error"
    assert line.outcomes() == [f"error {post.reply.error_id}"]
    assert line.inbox.counts() == {"failed": 1}


async def test_a_reply_that_the_platform_refuses_is_followed_by_a_visible_error(company, store, platform):
    async with ChatLine(company, store, platform).running() as line:
        platform.errors = [PlatformError("invalid_blocks")]
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await line.settled()
    assert [post.reply.kind for post in platform.posts] == ["error"]


async def test_text_that_cannot_be_shown_while_it_grows_does_not_lose_the_answer(company, store, platform):
    class Releasing(Counting):
        async def answer(self, *args, release, **kwargs):
            platform.errors = [Unreachable("no edit now")]
            await release("연차는 ")
            await release("15일")
            return await super().answer(*args, **kwargs)

    async with ChatLine(company, store, platform, answering=Releasing(company)).running() as line:
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await line.settled()
    assert platform.shown[-1] == "연차는 15일"
    assert [post.reply.final for post in platform.posts] == [True]
    assert line.inbox.counts() == {"done": 1}


async def test_a_kill_while_the_model_writes_is_answered_once_by_the_next_run(company, store, platform):
    hold = asyncio.Event()
    model = FakeChatModel(FakeReply(pieces=("NO_ANSWER",), hold=hold), otherwise=NO_ANSWER)
    async with ChatLine(company, store, platform, model=model).killed_at_the_end():
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await until(lambda: model.asked)
    async with ChatLine(company, store, platform, model=model).running() as line:
        await line.settled()
    assert len(platform.posts) == 1
    assert platform.posts[0].reply.final


async def test_a_record_that_cannot_be_written_is_written_later(company, store, platform, monkeypatch):
    monkeypatch.setattr("bot.worker.RECORD_AGAIN_S", (0.0, 0.0))
    failing = [StoreError("the disk is full")]
    finish = Inbox.finish

    def finish_once_it_works(self, *args, **kwargs):
        if failing:
            raise failing.pop()
        finish(self, *args, **kwargs)

    monkeypatch.setattr(Inbox, "finish", finish_once_it_works)
    async with ChatLine(company, store, platform).running() as line:
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await line.settled()
    assert len(platform.posts) == 1
    assert line.inbox.counts() == {"done": 1}


async def test_a_delivery_of_a_platform_that_is_not_configured_any_more_is_recorded(company, store, platform):
    asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
    Inbox(store, clock=Clock()).save(asked)
    async with ChatLine(company, store, FakePlatform(new_id=counting_ids(), name="other")).running() as line:
        await line.settled()
    assert line.outcomes() == ["platform not configured"]


async def test_a_reply_made_from_sources_that_were_since_taken_away_is_not_posted(company, store, platform):
    asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
    inbox = Inbox(store, clock=Clock())
    inbox.save(asked)
    inbox.take_next("slow")
    ready = Reply(thread=asked.thread, markdown="연차는 15일", citations=(), delivery_id=asked.delivery_id, final=True)
    inbox.keep_reply(asked.delivery_id, ready, Scope.everything())
    narrow = ChannelPolicy(scope=Scope.of("shop"))
    channels = Channels(default=narrow, direct=narrow)
    async with ChatLine(company, store, platform, channels=channels).running() as line:
        await line.settled()
    (post,) = platform.posts
    assert post.reply.markdown != ready.markdown
    assert post.reply.kind == "refusal"


async def test_a_question_that_overtook_an_earlier_one_of_its_thread_lets_it_pass(company, store, platform):
    async with ChatLine(company, store, platform).running() as line:
        deliver, platform.deliver = platform.deliver, _lost
        first = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        platform.deliver = deliver
        second = await platform.say("@haechi 병가는 며칠인가요?", author=PERSON, root=first.id)
        await line.settled()
        await platform.deliver(first)  # it arrives after all
        await line.settled()
    assert [post.reply.delivery_id for post in platform.posts] == [first.delivery_id, second.delivery_id]


async def _lost(delivery) -> None:
    """Nothing arrives."""
