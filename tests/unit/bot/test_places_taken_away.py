"""While a question is being answered its place goes away: deleted, archived, left, made private. One outcome each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.store import Store
from tests.emulators.slack import BOT_USER
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.messages import PERSON
from tests.unit.bot.platforms.mattermost_bench import bench as mattermost_bench
from tests.unit.bot.platforms.slack_bench import listening, slack_server
from tests.unit.bot.times import counting_ids

ASK = "연차휴가는 며칠인가요?"
SLOW = FakeReply(pieces=("NO_ANSWER",))


@dataclass
class Scene:
    """A line whose model answers when `go_on` is called; `server` is the emulator."""

    line: ChatLine
    server: Any
    model: FakeChatModel
    hold: asyncio.Event

    async def being_answered(self, number: int = 1) -> None:
        await until(lambda: len(self.model.asked) == number)

    async def go_on(self) -> None:
        self.hold.set()
        await self.line.settled()


@asynccontextmanager
async def on_slack(company: Any, store: Store) -> AsyncIterator[Scene]:
    hold = asyncio.Event()
    model = FakeChatModel(otherwise=FakeReply(pieces=SLOW.pieces, hold=hold))
    async with slack_server() as server, listening(server) as heard:
        line = ChatLine(company, store, heard.platform, model=model, patience_s=60.0)
        heard.forward = line.reception.receive
        async with working(line):
            yield Scene(line, server, model, hold)


@asynccontextmanager
async def on_mattermost(company: Any, store: Store) -> AsyncIterator[Scene]:
    hold = asyncio.Event()
    model = FakeChatModel(otherwise=FakeReply(pieces=SLOW.pieces, hold=hold))
    async with mattermost_bench() as heard:
        line = ChatLine(company, store, heard.platform, model=model, patience_s=60.0)
        heard.forward = line.reception.receive
        async with working(line):
            yield Scene(line, heard.server, model, hold)


@asynccontextmanager
async def working(line: ChatLine) -> AsyncIterator[None]:
    """The worker alone: the bench listens."""
    task = asyncio.create_task(line.worker.run())
    try:
        yield
    finally:
        line.worker.stop()
        async with asyncio.timeout(20):
            await task


# --- deleted ----------------------------------------------------------------------------------------


async def test_a_question_that_is_deleted_while_it_waits_is_not_answered(company, store):
    platform = FakePlatform(new_id=counting_ids())
    line = ChatLine(company, store, platform)
    async with line.running():
        line.worker._at_once = {"quick": 0, "slow": 0, "long": 0, "alert": 0}
        asked = await platform.say(f"@haechi {ASK}", author=PERSON)
        await platform.change(asked, "deleted")
        await line.settled()
    assert line.outcomes() == ["withdrawn"]
    assert platform.posts == []


async def test_a_root_that_is_deleted_on_slack_while_it_is_answered_ends_in_silence(company, store):
    async with on_slack(company, store) as scene:
        ts = await scene.server.say("C1", "U1", f"<@{BOT_USER}> {ASK}")
        await scene.being_answered()
        await scene.server.delete("C1", ts)
        await until(lambda: scene.line.inbox.is_withdrawn(f"C1:{ts}"))
        await scene.go_on()
        assert scene.line.outcomes() == ["withdrawn"]
        assert scene.server.workspace.bot_posts() == []


async def test_a_follow_up_is_answered_below_a_root_that_became_a_tombstone_on_slack(company, store):
    async with on_slack(company, store) as scene:
        root = await scene.server.say("C1", "U2", "다들 연차 쓰셨어요?")
        await scene.server.say("C1", "U1", f"<@{BOT_USER}> {ASK}", thread_ts=root)
        await scene.being_answered()
        await scene.server.delete("C1", root)
        await scene.go_on()
        (post,) = scene.server.workspace.bot_posts()
        assert post["thread_ts"] == root
        assert scene.line.inbox.counts() == {"done": 1}


async def test_a_root_that_is_deleted_on_mattermost_while_it_is_answered_ends_in_silence(company, store):
    async with on_mattermost(company, store) as scene:
        state = scene.server.state
        post = state.say(state.alice, state.town, f"@helperbot {ASK}")
        await scene.being_answered()
        state.delete_post(state.alice, post["id"])
        await until(lambda: scene.line.inbox.is_withdrawn(f"mattermost:{post['id']}"))
        await scene.go_on()
        assert scene.line.outcomes() == ["withdrawn"]
        assert state.own_posts() == []


# --- no place any more ------------------------------------------------------------------------------


def archived(channel: Any) -> None:
    channel.archived = True


def left(channel: Any) -> None:
    channel.members.discard(BOT_USER)


def made_private_without_the_bot(channel: Any) -> None:
    channel.kind = "group"
    channel.members.discard(BOT_USER)


@pytest.mark.parametrize("change", [archived, left, made_private_without_the_bot])
async def test_who_asked_on_slack_is_told_by_direct_message_when_the_channel_takes_no_answer(company, store, change):
    async with on_slack(company, store) as scene:
        await scene.server.say("C1", "U1", f"<@{BOT_USER}> {ASK}")
        await scene.being_answered()
        change(scene.server.workspace.channels["C1"])
        await scene.go_on()
        (post,) = scene.server.workspace.bot_posts()
        (outcome,) = scene.line.outcomes()
        assert post["channel"] == "D1"
        assert outcome.removeprefix("error ") in post["text"]
        assert ASK in post["text"]


async def test_a_channel_that_becomes_private_with_the_bot_in_it_gets_its_answer(company, store):
    async with on_slack(company, store) as scene:
        ts = await scene.server.say("C1", "U1", f"<@{BOT_USER}> {ASK}")
        await scene.being_answered()
        scene.server.workspace.channels["C1"].kind = "group"
        await scene.go_on()
        (post,) = scene.server.workspace.bot_posts()
        assert (post["channel"], post["thread_ts"]) == ("C1", ts)
        await scene.server.say("C1", "U1", "병가는요?", thread_ts=ts)
        await scene.being_answered(2)
        await scene.line.settled()
        assert len(scene.server.workspace.bot_posts()) == 2


@pytest.mark.parametrize("change", ["archived", "left", "thread deleted"])
async def test_who_asked_on_mattermost_is_told_by_direct_message_when_there_is_no_place(company, store, change):
    async with on_mattermost(company, store) as scene:
        state = scene.server.state
        channel = state.channels[state.town]
        root = state.say(state.bob, state.town, "다들 연차 쓰셨어요?")
        state.say(state.alice, state.town, f"@helperbot {ASK}", root=root["id"])
        await scene.being_answered()
        if change == "archived":
            channel.delete_at = state.now_ms()
        elif change == "left":
            channel.members.discard(state.bot)
        else:
            state.delete_post(state.bob, root["id"])
        await scene.go_on()
        (post,) = state.own_posts()
        (outcome,) = scene.line.outcomes()
        assert post["channel_id"] == state.direct(state.bot, state.alice)
        assert outcome.removeprefix("error ") in post["message"]


async def test_what_the_thread_and_the_person_both_refuse_is_recorded_as_failed(company, store):
    platform = FakePlatform(new_id=counting_ids())
    line = ChatLine(company, store, platform)
    async with line.running():
        platform.failing = True
        await platform.say(f"@haechi {ASK}", author=PERSON)
        await line.settled()
    assert line.inbox.counts() == {"failed": 1}


# --- killed in the middle of many ---------------------------------------------------------------------


async def test_deliveries_that_were_there_when_the_process_died_again_and_again_are_not_given_up(company, store):
    """One of them may be what kills it: suspects are worked on one at a time, so the others stay below the limit."""
    platform = FakePlatform(new_id=counting_ids())
    hold = asyncio.Event()
    model = FakeChatModel(otherwise=FakeReply(pieces=SLOW.pieces, hold=hold))
    for kill in range(8):
        line = ChatLine(company, store, platform, model=model, at_once=10)
        async with line.killed_at_the_end():
            if kill == 0:
                for number in range(5):
                    await platform.say(f"@haechi {ASK} {number}", author=PERSON)
            expected = 5 if kill < 2 else 1
            await being_worked_on(line, expected)
            crash(store)
    hold.set()
    async with ChatLine(company, store, platform, model=model, at_once=10).running() as line:
        await line.settled()
    assert sorted(line.inbox.counts().items()) == [("done", 4), ("failed", 1)]
    assert len(platform.posts) == 5


async def being_worked_on(line: ChatLine, number: int) -> None:
    await until(lambda: line.inbox.counts().get("working", 0) == number)


def crash(store: Store) -> None:
    """What a killed process leaves; the tidy cancelling of a test would record that it was no crash."""
    with store.transaction() as connection:
        connection.execute("UPDATE inbox SET crashes = crashes + 1 WHERE state = 'working'")
