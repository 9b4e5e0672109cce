"""From a delivery to one reply in the thread, whatever fails on the way and whenever the process is killed."""

from __future__ import annotations

import asyncio
import json

import pytest

from bot.inbox import Inbox
from bot.tracing import trace_of
from bot.types import Author
from bot.worker import MAX_CRASHES
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine as Bot
from tests.unit.bot.chat_line import until
from tests.unit.bot.company import build_answering
from tests.unit.bot.messages import BOT, PERSON
from tests.unit.bot.times import counting_ids


@pytest.fixture
def platform():
    return FakePlatform(new_id=counting_ids())


async def test_a_question_is_answered_once_in_its_thread(company, store, platform):
    async with Bot(company, store, platform).running() as bot:
        asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await bot.settled()
    assert [post.reply.thread for post in platform.posts] == [asked.thread]
    reply = platform.posts[0].reply
    assert (reply.kind, reply.final, reply.delivery_id) == ("answer", True, asked.delivery_id)
    assert reply.citations
    assert platform.reactions == [(asked.id, "eyes"), (asked.id, "white_check_mark")]


async def test_a_refusal_is_a_reply_of_its_own_kind(company, store, platform):
    async with Bot(company, store, platform).running() as bot:
        await platform.say("@haechi 오늘 부산 날씨는 어떤가요?", author=PERSON)
        await bot.settled()
    assert platform.posts[0].reply.kind == "refusal"


async def test_a_follow_up_in_the_bots_thread_needs_no_mention_and_elsewhere_it_does(company, store, platform):
    async with Bot(company, store, platform).running() as bot:
        root = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await bot.settled()
        await platform.say("병가는 며칠까지인가요?", author=PERSON, root=root.id, mention=False)
        await platform.say("점심 먹을 사람?", author=PERSON, mention=False)
        await bot.settled()
    assert [post.reply.thread for post in platform.posts] == [root.thread, root.thread]


async def test_other_bots_are_not_answered(company, store, platform):
    async with Bot(company, store, platform).running() as bot:
        await platform.say("@haechi 연차?", author=Author(id="b2", display_name="alert", is_bot=True))
        await platform.say("@haechi 연차?", author=BOT)
        await bot.settled()
    assert platform.posts == []


@pytest.mark.parametrize(("text", "words"), [("@", "무엇이|Please write"), ("연차" * 200, "200자까지")])
async def test_a_question_that_cannot_be_asked_is_told_why(company, store, platform, text, words):
    async with Bot(company, store, platform).running() as bot:
        await platform.say(text, author=PERSON)
        await bot.settled()
    reply = platform.posts[0].reply
    assert reply.kind == "refusal"
    assert any(word in reply.markdown for word in words.split("|"))


async def test_questions_of_one_thread_are_answered_in_order_and_others_meanwhile(company, store, platform):
    hold = asyncio.Event()
    model = FakeChatModel(FakeReply(pieces=("NO_ANSWER",), hold=hold), otherwise=FakeReply(pieces=("NO_ANSWER",)))
    async with Bot(company, store, platform, model=model).running() as bot:
        first = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await until(lambda: model.asked)
        second = await platform.say("@haechi 병가는 며칠인가요?", author=PERSON, root=first.id)
        other = await platform.say("@haechi 병가는 며칠인가요?", author=PERSON)
        await until(lambda: platform.posts)
        assert [post.reply.delivery_id for post in platform.posts] == [other.delivery_id]
        hold.set()
        await bot.settled()
    answered = [post.reply.delivery_id for post in platform.posts]
    assert answered == [other.delivery_id, first.delivery_id, second.delivery_id]


async def test_a_failure_is_told_with_an_id_that_the_log_knows(company, store, platform, caplog):
    class Broken:
        async def answer(self, *args, **kwargs):
            raise ZeroDivisionError("a bug")

    async with Bot(company, store, platform, answering=Broken()).running() as bot:
        asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await bot.settled()
    reply = platform.posts[0].reply
    assert reply.kind == "error"
    assert reply.error_id == trace_of(asked.delivery_id)  # the one that every line of this delivery carries
    assert reply.error_id in reply.markdown
    assert reply.error_id in store.query("SELECT outcome FROM inbox")[0]["outcome"]
    assert platform.reactions[-1] == (asked.id, "x")
    assert bot.inbox.counts() == {"failed": 1}


async def test_one_failure_does_not_stop_the_next_question(company, store, platform):
    class BrokenOnce:
        def __init__(self, inner):
            self.inner, self.asked = inner, 0

        async def answer(self, *args, **kwargs):
            self.asked += 1
            if self.asked == 1:
                raise ZeroDivisionError("a bug")
            return await self.inner.answer(*args, **kwargs)

    answering = BrokenOnce(build_answering(company.knowledge, company.folder, clock=company.clock))
    async with Bot(company, store, platform, answering=answering, at_once=1).running() as bot:
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await bot.settled()
    assert [post.reply.kind for post in platform.posts] == ["error", "answer"]


async def test_what_a_killed_run_left_is_answered_by_the_next(company, store, platform):
    asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
    killed = Inbox(store, clock=company.clock)
    killed.save(asked)
    killed.take_next("slow")
    async with Bot(company, store, platform).running() as bot:
        await bot.settled()
    assert [post.reply.delivery_id for post in platform.posts] == [asked.delivery_id]


async def test_a_kill_between_posting_and_recording_doubles_nothing(company, store, platform):
    async with Bot(company, store, platform).running() as bot:
        asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await bot.settled()
    with store.transaction() as connection:  # as if the process had died right after the post
        connection.execute("UPDATE inbox SET state = 'working', outcome = NULL, done_at = NULL")
        connection.execute("DELETE FROM replies")
    again = FakePlatform(new_id=counting_ids())
    again.posts, again._threads = platform.posts, platform._threads
    async with Bot(company, store, again).running() as bot:
        await bot.settled()
    assert len(again.posts) == 1
    assert store.query("SELECT post_id FROM replies")[0]["post_id"] == again.posts[0].id
    assert bot.inbox.has_answered(asked.thread, before=asked.posted_at)


async def test_a_question_that_ends_the_process_every_time_is_given_up_and_told(company, store, platform):
    asked = await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
    killed = Inbox(store, clock=company.clock)
    killed.save(asked)
    for _ in range(MAX_CRASHES + 1):
        killed.take_next("slow")
        killed.resume()
    async with Bot(company, store, platform).running() as bot:
        await bot.settled()
    assert [post.reply.kind for post in platform.posts] == ["error"]


async def test_when_the_platform_is_down_the_failure_is_recorded(company, store, platform):
    platform.failing = True
    async with Bot(company, store, platform).running() as bot:
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await bot.settled()
    assert platform.posts == []
    assert bot.inbox.counts() == {"failed": 1}


async def test_stopping_finishes_what_is_being_answered_and_leaves_the_rest_saved(company, store, platform):
    hold = asyncio.Event()
    model = FakeChatModel(FakeReply(pieces=("NO_ANSWER",), hold=hold))
    bot = Bot(company, store, platform, model=model, at_once=1)
    async with bot.running():
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON)
        await platform.say("@haechi 병가는 며칠인가요?", author=PERSON)
        await until(lambda: model.asked)
        bot.worker.stop()
        hold.set()
    assert len(platform.posts) == 1
    assert bot.inbox.counts() == {"done": 1, "received": 1}


async def test_every_question_is_logged_masked_with_its_evidence(company, store, platform):
    async with Bot(company, store, platform).running() as bot:
        asked = await platform.say("@haechi 연차휴가는 며칠인가요? AKIAIOSFODNN7EXAMPLE", author=PERSON)
        await bot.settled()
    row = store.query("SELECT * FROM query_log")[0]
    assert "AKIAIOSFODNN7EXAMPLE" not in row["question"]
    assert row["question"].startswith("연차휴가는 며칠인가요?")
    assert (row["origin"], row["asker"], row["delivery_id"]) == ("fake", PERSON.id, asked.delivery_id)
    assert row["outcome"] == "answered"
    assert set(json.loads(row["cited_ids"])) <= set(json.loads(row["evidence_ids"]))
    assert json.loads(row["took_ms"])["answer"] > 0
