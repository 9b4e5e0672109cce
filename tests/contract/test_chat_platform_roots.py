"""Posts that open threads, and direct messages: what every chat platform must do about them.

How a test looks at what stands on a platform, and what goes wrong there, differs by platform: `LOOKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.types import Reply
from tests.contract.test_chat_platform import CASES, PERSON, Listening, case, listening, texts

__all__ = ["case", "listening"]  # fixtures of the suite that this one belongs to


@dataclass(frozen=True)
class Look:
    """A channel with the bot in it, a person, and the texts that stand in the person's direct conversation."""

    channel: Callable[[Any], str]
    person: Callable[[Any], str]
    told: Callable[[Any], list[str]]


LOOKS = {
    "fake": Look(
        lambda p: "general",
        lambda p: PERSON.id,
        lambda p: [post.reply.markdown for post in p.roots if post.reply.thread.channel_id.startswith("direct:")],
    ),
    "web": Look(
        lambda p: "general",
        lambda p: PERSON.id,
        lambda p: [s.root.text for s in p.posts.threads("general", limit=50, reader_id=PERSON.id) if s.root.private_to],
    ),
    "mattermost": Look(
        lambda p: p.emulator.state.town,
        lambda p: p.emulator.state.alice,
        lambda p: [
            post["message"]
            for post in p.emulator.state.own_posts()
            if p.emulator.state.channels[post["channel_id"]].type == "D"
        ],
    ),
    "slack": Look(
        lambda p: "C0GENERAL",
        lambda p: "U0PERSON1",
        lambda p: [post["text"] for post in p.emulator.workspace.bot_posts() if post["channel"].startswith("D")],
    ),
}
LONG_AGO = timedelta(days=1)


@dataclass
class Rooted:
    """A platform that is listened to, and how to look at it."""

    listening: Listening
    look: Look

    @property
    def platform(self):
        return self.listening.platform

    @property
    def channel(self) -> str:
        return self.look.channel(self.platform)

    async def open(self, text: str = "**장애**: 결제 실패", *, delivery: str = "alert:1:post", again: bool = False):
        since = datetime.now(UTC) - LONG_AGO if again else None
        return await self.platform.open_thread(self.channel, text, delivery_id=delivery, since=since)

    async def tell(self, text: str = "소스가 비어 보입니다.", *, delivery: str = "notice:1", again: bool = False):
        since = datetime.now(UTC) - LONG_AGO if again else None
        person = self.look.person(self.platform)
        return await self.platform.message_person(person, text, delivery_id=delivery, since=since)


@pytest.fixture
def rooted(listening) -> Rooted:
    return Rooted(listening, LOOKS[listening.case.name])


async def test_a_post_opens_a_thread_in_which_replies_are_posted(rooted):
    thread = await rooted.open()
    assert thread.channel_id == rooted.channel
    assert thread.root_id
    reply = Reply(thread=thread, markdown="원인은 널 값", citations=(), delivery_id="alert:1", final=True)
    assert await rooted.platform.find_own(thread, "alert:1") is None  # the root answers another delivery
    post_id = await rooted.platform.post(reply)
    assert await rooted.platform.find_own(thread, "alert:1") == post_id
    root, answer = await texts(rooted.platform, thread)
    assert "결제 실패" in root
    assert answer == "원인은 널 값"


async def test_an_opening_post_that_stands_there_already_is_found_again(rooted):
    thread = await rooted.open()
    assert await rooted.open(again=True) == thread
    assert await rooted.open(delivery="alert:2:post", again=True) != thread
    assert len(await texts(rooted.platform, thread)) == 1


async def test_an_opening_post_is_found_behind_many_others(rooted):
    thread = await rooted.open()
    for number in range(205):
        await rooted.open(f"다른 글 {number}", delivery=f"other:{number}")
    assert await rooted.open(again=True) == thread


async def test_the_bots_own_opening_post_is_not_delivered_to_it(rooted):
    await rooted.open("@haechi 알림")
    said = await rooted.listening.say("@haechi 연차는?")
    heard = await rooted.listening.next()
    assert heard.delivery_id == said.delivery_id


async def test_the_text_of_an_opening_post_can_be_replaced(rooted):
    thread = await rooted.open("장애 1종")
    changed = Reply(
        thread=thread, markdown="장애 2종", citations=(), delivery_id="alert:1:post", final=True, kind="notice"
    )
    await rooted.platform.edit(thread.root_id, changed)
    assert await texts(rooted.platform, thread) == ["장애 2종"]
    assert await rooted.open(again=True) == thread


async def test_a_long_opening_post_is_one_post(rooted):
    thread = await rooted.open("\n\n".join(f"{number} " + "가나다 " * 400 for number in range(60)))
    assert len(await texts(rooted.platform, thread)) == 1


async def test_opening_a_thread_in_a_channel_that_is_not_there_is_an_error_of_the_channel(rooted):
    with pytest.raises(PlatformError) as caught:
        await rooted.platform.open_thread("nosuchchannel", "장애", delivery_id="alert:1:post", since=None)
    assert not isinstance(caught.value, AuthError | RateLimited | Unreachable)


async def test_a_person_is_told_once_however_often_it_is_tried(rooted):
    first = await rooted.tell()
    assert await rooted.tell(again=True) == first
    await rooted.tell("다른 소식", delivery="notice:2")
    assert sorted(rooted.look.told(rooted.platform)) == ["다른 소식", "소스가 비어 보입니다."]


async def test_what_one_person_is_told_stands_in_no_channel(rooted):
    said = await rooted.listening.say("@haechi 연차는?")
    await rooted.tell("비밀")
    assert await texts(rooted.platform, said.thread) == [said.text]


def test_every_platform_of_the_suite_is_looked_at():
    assert {case.name for case in CASES} == set(LOOKS)
