"""What was said while the bot was away is found again, within bounds, and what was left out is told."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import StoreError
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import Failure
from tests.unit.bot.platforms.slack_bench import MENTION, listening, slack_server

HOUR = 3600.0


class Hands:
    """One clock for Slack and the bot, moved by hand."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now

    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
async def server(hands):
    async with slack_server(clock=hands, ack_timeout_s=0.3) as server:
        yield server


@pytest.fixture
def state():
    return MemoryState()


async def first_run(server, state, hands):
    """A run that hears one question and answers it in its thread; returns the message."""
    async with listening(server, state=state, clock=hands.moment) as bench:
        message = await bench.ask("연차는?")
        await bench.platform.post(bench.reply(message))
        await server.sockets.settled()
    server.sockets.lossy = True
    hands.now += HOUR
    return message


def back(server, state, hands, **options):
    server.sockets.lossy = False
    hands.now += HOUR
    return listening(server, state=state, clock=hands.moment, **options)


async def test_the_first_run_of_all_does_not_answer_what_is_history(server, state, hands):
    server.sockets.lossy = True
    await server.say("C1", "U1", f"{MENTION} 오래된 질문")
    hands.now += HOUR
    async with back(server, state, hands) as bench:
        await bench.ask("새 질문")
        assert [m.text for m in bench.posted] == ["새 질문"]


async def test_mentions_direct_messages_and_threads_of_the_bot_are_caught_up(server, state, hands):
    answered = await first_run(server, state, hands)
    server.workspace.add_channel("C2", "new", kind="group")
    await server.say("C1", "U1", f"{MENTION} 놓친 질문")
    await server.say("D1", "U1", "놓친 쪽지")
    await server.say("C1", "U2", "놓친 후속", thread_ts=answered.id)
    await server.say("C2", "U2", f"{MENTION} 새 채널에서")
    other = await server.say("C1", "U2", "남의 글")
    await server.say("C1", "U1", f"{MENTION} 남의 글 아래에서", thread_ts=other)
    async with back(server, state, hands) as bench:
        await bench.until(lambda: len(bench.posted) == 7)
    texts = [m.text for m in bench.posted]
    assert [t for t in texts if t != "연차는?"] == [
        "놓친 질문",
        "놓친 쪽지",
        "놓친 후속",
        "새 채널에서",
        "남의 글",
        "남의 글 아래에서",
    ]
    found = {m.text: m for m in bench.posted}
    assert found["놓친 후속"].thread == answered.thread
    assert (found["놓친 쪽지"].is_direct, found["놓친 질문"].mentions_bot) == (True, True)
    assert found["놓친 질문"].delivery_id == f"C1:{found['놓친 질문'].id}"


async def test_what_is_read_twice_keeps_its_delivery_id(server, state, hands):
    answered = await first_run(server, state, hands)
    hands.now -= HOUR - 60  # within the overlap
    async with back(server, state, hands) as bench:
        await server.say("C1", "U1", "이제")
        await bench.until(lambda: any(m.text == "이제" for m in bench.posted))
        again = [m for m in bench.posted if m.id == answered.id]
        assert [m.delivery_id for m in again] in ([], [answered.delivery_id])


async def test_own_posts_are_not_caught_up(server, state, hands):
    await first_run(server, state, hands)
    async with back(server, state, hands) as bench:
        await bench.ask("다음")
        assert all(not m.author.is_bot for m in bench.posted)


async def test_posts_older_than_the_bound_are_left_out_and_that_is_told(server, state, hands):
    await first_run(server, state, hands)
    await server.say("C1", "U1", f"{MENTION} 너무 오래전")
    hands.now += 5 * HOUR
    await server.say("C1", "U1", f"{MENTION} 얼마 전")
    async with back(server, state, hands, catch_up_age=timedelta(hours=3)) as bench:
        await bench.until(lambda: bench.posted)
        await bench.ask("지금")
        assert [m.text for m in bench.posted] == ["얼마 전", "지금"]
        assert "posts older than 3 h were not read" in (await bench.platform.check()).detail


async def test_more_posts_than_the_bound_are_left_out_from_the_oldest_and_that_is_told(server, state, hands):
    await first_run(server, state, hands)
    for number in range(30):
        await server.say("C1", "U1", f"{MENTION} 질문 {number}")
    async with back(server, state, hands, catch_up_messages=10) as bench:
        await bench.until(lambda: len(bench.posted) == 10)
        assert [m.text for m in bench.posted] == [f"질문 {n}" for n in range(20, 30)]
        assert "20 older posts were not read" in (await bench.platform.check()).detail


async def test_histories_of_several_pages_are_read_whole(server, state, hands):
    await first_run(server, state, hands)
    for number in range(450):
        server.workspace.add_message("C1", {"user": "U1", "text": f"글 {number}"})
    async with back(server, state, hands) as bench:
        await bench.until(lambda: len(bench.posted) >= 450)


@pytest.mark.parametrize("method", ["conversations.history", "users.conversations", "conversations.replies"])
async def test_a_catch_up_that_fails_is_made_up_for(server, state, hands, method):
    answered = await first_run(server, state, hands)
    await server.say("C1", "U1", f"{MENTION} 놓친 질문")
    await server.say("C1", "U2", "놓친 후속", thread_ts=answered.id)
    server.chaos = lambda called: Failure(status=500) if called == method else None
    async with back(server, state, hands) as bench:
        await bench.ask("지금")
        kept = json.loads(state.values["reading"])["alive_at"]
        assert kept < hands.now - HOUR  # an interruption now would lose nothing
        server.chaos = lambda called: None
        await bench.until(lambda: {"놓친 질문", "놓친 후속"} <= {m.text for m in bench.posted})


async def test_a_store_that_fails_during_catch_up_loses_nothing(server, state, hands):
    await first_run(server, state, hands)
    await server.say("C1", "U1", f"{MENTION} 놓친 질문")
    async with back(server, state, hands) as bench:
        bench.refuse = StoreError("The disk is full.")
        await bench.until(lambda: server.calls["conversations.history"] >= 2)
        bench.refuse = None
        await bench.until(lambda: "놓친 질문" in {m.text for m in bench.posted})


async def test_a_socket_that_dies_during_a_long_catch_up_is_replaced(server, state, hands):
    await first_run(server, state, hands)
    await server.say("C1", "U1", f"{MENTION} 놓친 질문")
    server.held["conversations.history"] = asyncio.Event()
    async with back(server, state, hands) as bench:
        opened = server.sockets.opened
        server.sockets.freeze()
        await bench.until(lambda: server.sockets.opened > opened)
        server.held.pop("conversations.history").set()
        await bench.until(lambda: "놓친 질문" in {m.text for m in bench.posted})


async def test_threads_where_nothing_was_said_cost_no_call(server, state, hands):
    await first_run(server, state, hands)
    async with back(server, state, hands) as bench:
        await bench.until(lambda: json.loads(state.values["reading"])["alive_at"] > hands.now - 60)
    before, read = server.calls["conversations.replies"], server.calls["conversations.history"]
    async with back(server, state, hands) as bench:
        await bench.until(lambda: server.calls["conversations.history"] >= read + 2)
    assert server.calls["conversations.replies"] == before


async def test_missing_scopes_leave_the_channels_that_are_known(server, state, hands):
    await first_run(server, state, hands)
    await server.say("C1", "U1", f"{MENTION} 놓친 질문")
    server.workspace.scopes -= {"mpim:read"}
    async with back(server, state, hands) as bench:
        await bench.until(lambda: "놓친 질문" in {m.text for m in bench.posted})


async def test_a_gap_in_the_connection_is_caught_up_too(server, state, hands):
    async with listening(server, state=state) as bench:
        await bench.ask("하나")
        server.sockets.lossy = True
        await server.sockets.drop()
        await server.say("C1", "U1", f"{MENTION} 둘")
        server.chaos = lambda method: Failure(status=500) if method == "apps.connections.open" else None
        await bench.until(lambda: server.calls["apps.connections.open"] >= 3)
        server.chaos = lambda method: None
        server.sockets.lossy = False
        await bench.until(lambda: "둘" in {m.text for m in bench.posted})


@pytest.mark.parametrize("minutes", [45, -45])
async def test_what_was_missed_is_found_although_the_clock_of_this_machine_is_wrong(server, state, hands, minutes):
    def wrong() -> datetime:
        return hands.moment() + timedelta(minutes=minutes)

    async with listening(server, state=state, clock=wrong) as bench:
        await bench.ask("연차는?")
        await server.sockets.settled()
    server.sockets.lossy = True
    hands.now += 60
    await server.say("C1", "U1", f"{MENTION} 놓친 질문")
    server.sockets.lossy = False
    hands.now += HOUR
    async with listening(server, state=state, clock=wrong) as bench:
        await bench.until(lambda: any(m.text == "놓친 질문" for m in bench.posted))


async def test_what_was_missed_in_a_channel_that_others_read_is_marked_too(server, state, hands):
    await first_run(server, state, hands)
    server.workspace.add_channel("C9", "partners").shared = True
    await server.say("C9", "U1", f"{MENTION} 놓친 질문")
    async with back(server, state, hands) as bench:
        await bench.until(lambda: any(m.text == "놓친 질문" for m in bench.posted))
        assert {m.thread.channel_id: m.is_shared for m in bench.posted} == {"C1": False, "C9": True}
