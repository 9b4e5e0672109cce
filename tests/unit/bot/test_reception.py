"""What happens when something arrives: saved once, a sign at once, and limits that are told and not repeated."""

from __future__ import annotations

import asyncio

import pytest

from bot.channels import ChannelPolicy, Channels
from bot.limits import Allowance, Limits
from bot.types import Attachment, Author
from knowledge.types import Scope
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.messages import PERSON
from tests.unit.bot.times import Clock, counting_ids

OTHER = Author(id="u2", display_name="준", is_bot=False)
WEBHOOK = Author(id="W1", display_name="alertmanager", is_bot=True)
QUESTION = "@haechi 연차휴가는 며칠인가요?"
EVERYTHING = ChannelPolicy(scope=Scope.everything())
ALERTS = Channels(
    default=EVERYTHING,
    direct=EVERYTHING,
    configured={("fake", "ops"): ChannelPolicy(scope=Scope.of("shop"), alerts=True)},
)


@pytest.fixture
def platform():
    return FakePlatform(new_id=counting_ids())


async def test_the_same_delivery_again_during_and_after_a_run_is_answered_once(company, store, platform):
    async with ChatLine(company, store, platform).running() as line:
        asked = await platform.say(QUESTION, author=PERSON)
        await platform.deliver(asked)
        await line.settled()
        await platform.deliver(asked)
        await line.settled()
    again = FakePlatform(new_id=counting_ids())
    again._threads = platform._threads
    async with ChatLine(company, store, again).running() as line:
        await again.deliver(asked)
        await line.settled()
    assert len(platform.posts) == 1
    assert again.posts == []


@pytest.mark.parametrize("event", ["edited", "deleted", "system"])
async def test_edits_deletions_and_joins_are_not_answered(company, store, platform, event):
    async with ChatLine(company, store, platform).running() as line:
        asked = await platform.say(QUESTION, author=PERSON)
        await line.settled()
        await platform.change(asked, event, QUESTION + " (고침)")
        await line.settled()
    assert len(platform.posts) == 1


async def test_a_sign_of_life_comes_at_once_although_every_place_is_taken(company, store, platform):
    hold = asyncio.Event()

    class Slow:
        async def answer(self, *args, **kwargs):
            await hold.wait()
            raise ZeroDivisionError("not needed any more")

    async with ChatLine(company, store, platform, answering=Slow(), at_once=1).running() as line:
        asked = [await platform.say(f"@haechi 질문 {n}", author=PERSON) for n in range(5)]
        await until(lambda: len(platform.reactions) == 5)
        assert platform.reactions == [(message.id, "eyes") for message in asked]
        hold.set()
        await line.settled()
    assert platform.reactions[5:] == [(message.id, "x") for message in asked]


async def test_who_asks_too_much_is_told_once_and_gets_an_hourglass_then(company, store, platform):
    limits = Limits(user=Allowance(per_minute=1, per_hour=0), total=Allowance(per_minute=0, per_hour=0))
    clock = Clock()
    async with ChatLine(company, store, platform, limits=limits, clock=clock).running() as line:
        first = await platform.say(QUESTION, author=PERSON)
        clock.advance(20)
        told, silent = [await platform.say(QUESTION, author=PERSON) for _ in range(2)]
        other = await platform.say(QUESTION, author=OTHER)
        await platform.deliver(first)  # a repeated delivery is no question more
        await line.settled()
        clock.advance(41)
        later = await platform.say(QUESTION, author=PERSON)
        await line.settled()
    replies = {post.reply.delivery_id: post.reply for post in platform.posts}
    assert set(replies) == {message.delivery_id for message in (first, told, other, later)}
    assert replies[told.delivery_id].kind == "refusal"
    assert "40초 뒤에" in replies[told.delivery_id].markdown
    assert (silent.id, "hourglass_flowing_sand") in platform.reactions
    assert line.outcomes() == ["answered", "over_limit", "not told again", "answered", "answered"]


async def test_commands_that_ask_are_limited_too_and_told_in_private(company, store, platform):
    limits = Limits(user=Allowance(per_minute=1, per_hour=0), total=Allowance(per_minute=0, per_hour=0))
    async with ChatLine(company, store, platform, limits=limits).running() as line:
        await platform.say(QUESTION, author=PERSON)
        await platform.command("ask 연차휴가는?", author=PERSON)
        await platform.command("help", author=PERSON)
        await line.settled()
        await until(lambda: len(platform.private) == 2)
    assert sorted("뒤에 다시 물어봐" in text for _, text in platform.private) == [False, True]


class Alerts:
    """Handles alerts by remembering them, and posts to those that say so."""

    def __init__(self):
        self.handled = []

    async def handle(self, message, platform):
        from bot.types import Reply

        self.handled.append(message.text)
        if "analyse" in message.text:
            await platform.post(
                Reply(thread=message.thread, markdown="원인", citations=(), delivery_id=message.delivery_id, final=True)
            )
        return "analysed"


async def test_alerts_go_to_their_handler_and_are_recorded(company, store, platform):
    alerts = Alerts()
    async with ChatLine(company, store, platform, channels=ALERTS, alerts=alerts).running() as line:
        await platform.say("analyse: KeyError", author=WEBHOOK, channel="ops", mention=False)
        await platform.say("disk full", author=WEBHOOK, channel="elsewhere", mention=False)
        await line.settled()
    assert alerts.handled == ["analyse: KeyError"]
    assert line.outcomes() == ["analysed"]


async def test_without_a_handler_an_alert_is_recorded_in_silence(company, store, platform):
    async with ChatLine(company, store, platform, channels=ALERTS).running() as line:
        await platform.say("KeyError", author=WEBHOOK, channel="ops", mention=False)
        await line.settled()
    assert line.outcomes() == ["not handled"]
    assert platform.posts == []
    assert platform.reactions == []


async def test_people_below_an_alert_are_heard_when_they_mention_the_bot_and_from_then_on(company, store, platform):
    async with ChatLine(company, store, platform, channels=ALERTS, alerts=Alerts()).running() as line:
        alert = await platform.say("analyse: KeyError", author=WEBHOOK, channel="ops", mention=False)
        await line.settled()
        below = {"author": PERSON, "channel": "ops", "root": alert.id}
        await platform.say("제가 보고 있어요", mention=False, **below)
        await line.settled()
        assert len(platform.posts) == 1
        await platform.say("@haechi code: PaymentRetry는 몇 번 시도하나요?", **below)
        await line.settled()
        await platform.say("code: retry_declined는?", mention=False, **below)
        await line.settled()
    assert len(platform.posts) == 3


async def test_attached_text_joins_the_question_and_other_files_are_named_as_unread(company, store, platform):
    asked_texts = []

    class Listening:
        def __init__(self, inner):
            self.inner = inner

        async def answer(self, text, **kwargs):
            asked_texts.append(text)
            return await self.inner.answer("연차휴가는 며칠인가요?", **kwargs)

    from tests.unit.bot.company import build_answering

    answering = Listening(build_answering(company.knowledge, company.folder, clock=company.clock))
    files = (
        Attachment(name="error.log", media_type="text/plain", text="start\n" + "x" * 50_000 + "\nKeyError: 'id'"),
        Attachment(name="photo.png", media_type="image/png", text=None),
    )
    async with ChatLine(company, store, platform, answering=answering).running() as line:
        await platform.say("@haechi 왜 이런가요?", author=PERSON, attachments=files)
        await line.settled()
    (text,) = asked_texts
    assert text.startswith("@haechi 왜 이런가요?\n\n[error.log]\nstart")
    assert text.endswith("KeyError: 'id'")
    assert len(text) < 4000
    notices = platform.posts[0].reply.notices
    assert any("photo.png" in notice for notice in notices)
    assert any("error.log" in notice for notice in notices)


async def test_a_long_wait_shows_the_place_in_the_queue(company, store, platform):
    from tests.unit.bot.company import build_answering

    shown = asyncio.Event()

    class Queueing:
        def __init__(self, inner):
            self.inner = inner

        async def answer(self, *args, waiting, **kwargs):
            await waiting(7)
            await shown.wait()
            return await self.inner.answer(*args, **kwargs)

    answering = Queueing(build_answering(company.knowledge, company.folder, clock=company.clock))
    async with ChatLine(company, store, platform, answering=answering, patience_s=0.01).running() as line:
        await platform.say(QUESTION, author=PERSON)
        await until(lambda: platform.statuses)
        shown.set()
        await line.settled()
    assert "7번째" in platform.statuses[0]
    assert len(platform.posts) == 1


async def test_a_direct_message_that_holds_only_files_is_told_which_of_them_were_not_read(company, store, platform):
    async with ChatLine(company, store, platform).running() as line:
        await platform.say(
            "", author=PERSON, mention=False, direct=True,
            attachments=(Attachment(name="여비.pdf", media_type="application/pdf", text=None),),
        )  # fmt: skip
        await line.settled()
    reply = platform.posts[0].reply
    assert reply.kind == "refusal"
    assert "여비.pdf" in str(reply.notices)


async def test_in_a_channel_that_others_read_who_asks_is_told_what_an_admin_has_to_do(company, store, platform):
    async with ChatLine(company, store, platform).running() as line:
        await platform.say("@haechi 연차휴가는 며칠인가요?", author=PERSON, shared=True)
        await line.settled()
    reply = platform.posts[0].reply
    assert reply.kind == "refusal"
    assert 'platform = "fake"`, `id = "general"' in reply.markdown
    assert not reply.citations
