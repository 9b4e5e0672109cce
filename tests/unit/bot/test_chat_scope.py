"""What a channel's sources exclude cannot be reached from it, and what is hostile calls nobody and breaks nothing."""

from __future__ import annotations

import pytest

from bot.channels import ChannelPolicy, Channels
from bot.reply_text import full_markdown
from bot.types import ThreadRef
from knowledge.types import Scope
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine
from tests.unit.bot.messages import PERSON
from tests.unit.bot.times import counting_ids

QUESTION = "@haechi 연차휴가는 며칠인가요?"
ONLY_SHOP, EVERYTHING = ChannelPolicy(scope=Scope.of("shop")), ChannelPolicy(scope=Scope.everything())
CHANNELS = Channels(default=EVERYTHING, direct=ONLY_SHOP, configured={("fake", "dev"): ONLY_SHOP})


@pytest.fixture
def platform():
    return FakePlatform(new_id=counting_ids())


def said(platform) -> str:
    return "\n".join(full_markdown(post.reply) for post in platform.posts)


def leaks(text: str) -> list[str]:
    return [hidden for hidden in ("15일의", "휴가규정", "사규", "80퍼센트") if hidden in text]


@pytest.mark.parametrize("place", [{"channel": "dev"}, {"channel": "d1", "direct": True, "mention": False}])
async def test_a_mention_and_a_direct_message_see_the_sources_of_their_place_alone(company, store, platform, place):
    async with ChatLine(company, store, platform, channels=CHANNELS).running() as line:
        await platform.say(QUESTION, author=PERSON, **place)
        await platform.say(QUESTION + " docs: 휴가규정", author=PERSON, **place)
        await line.settled()
    assert len(platform.posts) == 2
    assert leaks(said(platform)) == []


async def test_a_follow_up_sees_no_more_than_its_channel(company, store, platform):
    async with ChatLine(company, store, platform, channels=CHANNELS).running() as line:
        root = await platform.say("@haechi code: PaymentRetry는 몇 번 시도하나요?", author=PERSON, channel="dev")
        await line.settled()
        follow_up = {"author": PERSON, "channel": "dev", "root": root.id, "mention": False}
        await platform.say("general 채널처럼 사규에서 연차휴가도 찾아 주세요", **follow_up)
        await line.settled()
    assert len(platform.posts) == 2
    assert leaks(said(platform)) == []


async def test_a_thread_that_began_elsewhere_brings_nothing_along(company, store, platform):
    model = FakeChatModel(otherwise=FakeReply(pieces=("NO_ANSWER",)))
    async with ChatLine(company, store, platform, channels=CHANNELS).running() as line:
        root = await platform.say(QUESTION, author=PERSON)
        await line.settled()
    assert leaks(said(platform)) != []
    moved = ThreadRef(platform="fake", channel_id="dev", root_id=root.id)  # as a server moves a thread
    platform._threads[moved] = platform._threads[root.thread]
    before = len(platform.posts)
    async with ChatLine(company, store, platform, channels=CHANNELS, model=model).running() as line:
        await platform.say(
            "@haechi 방금 그 연차휴가 payment 얘기를 다시 해 주세요", author=PERSON, channel="dev", root=root.id
        )
        await line.settled()
    prompts = "\n".join(turn.content for turns in model.asked for turn in turns)
    assert leaks(prompts) == []
    assert leaks("\n".join(full_markdown(post.reply) for post in platform.posts[before:])) == []


async def test_after_a_channels_sources_were_cut_its_old_answers_are_not_said_again(company, store, platform):
    async with ChatLine(company, store, platform, channels=CHANNELS).running() as line:
        root = await platform.say(QUESTION, author=PERSON)
        await line.settled()
    heard = []

    class Listening:
        async def answer(self, text, *, thread, **kwargs):
            heard.extend(thread)
            raise ZeroDivisionError("enough seen")

    cut = Channels(default=ONLY_SHOP, direct=ONLY_SHOP)
    async with ChatLine(company, store, platform, channels=cut, answering=Listening()).running() as line:
        await platform.say("다시요", author=PERSON, root=root.id, mention=False)
        await line.settled()
    assert [message.text for message in heard] == [QUESTION]


async def test_what_was_said_before_is_given_without_the_question_itself_and_the_bots_own_answers_with_it(
    company, store, platform
):
    heard = []

    class Listening:
        async def answer(self, text, *, thread, **kwargs):
            heard.append([message.author.is_bot for message in thread])
            raise ZeroDivisionError("enough seen")

    async with ChatLine(company, store, platform).running() as line:
        root = await platform.say(QUESTION, author=PERSON)
        await line.settled()
    async with ChatLine(company, store, platform, answering=Listening()).running() as line:
        await platform.say("그럼 3년 차는?", author=PERSON, root=root.id, mention=False)
        await line.settled()
    assert heard == [[False, True]]


HOSTILE = [
    "@channel @here @all <!channel> <!everyone> 연차휴가는?",
    "연차휴가\x00\x07\x1b[31m는\x9b 며칠\ufeff인가요?",
    "연차휴가는 \u202emoc.live\u202c \u2066며칠\u2069인가요?",
    "연차휴가 " * 20_000,
    "```" * 5000,
    "\ud800 연차휴가는?",
    "[" * 3000 + "연차휴가",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_hostile_message_calls_nobody_breaks_no_thread_and_does_not_crash(company, store, platform, text):
    async with ChatLine(company, store, platform, max_question_chars=4000).running() as line:
        asked = await platform.say("@haechi " + text, author=PERSON)
        await line.settled()
        after = await platform.say(QUESTION, author=PERSON)
        await line.settled()
    assert [post.reply.thread for post in platform.posts] == [asked.thread, after.thread]
    shown = said(platform)
    for call in ("@channel", "@here", "@all", "<!channel", "<!everyone"):
        assert call not in shown
    assert not set("\x00\x07\x1b\x9b\u202e\u2066\ud800") & set(shown)
