"""Slash commands on Slack: saved, acknowledged, answered to one person by whatever way is left."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from bot.errors import StoreError
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import Failure
from tests.unit.bot.platforms.slack_bench import listening, slack_server


class Hands:
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
    async with slack_server(clock=hands, ack_timeout_s=0.2) as server:
        yield server


@pytest.fixture
async def bench(server, hands):
    async with listening(server, clock=hands.moment) as bench:
        yield bench


async def given(bench, text="status", channel="C1"):
    await bench.server.command("U1", channel, text)
    before = len(bench.commands)
    await bench.until(lambda: len(bench.commands) > before)
    await bench.server.sockets.settled()
    return bench.commands[-1]


async def test_a_command_is_delivered_as_typed(bench):
    command = await given(bench, "reindex rules --force")
    assert (command.name, command.args) == ("haechi", "reindex rules --force")
    assert (command.author.id, command.thread.channel_id, command.thread.root_id) == ("U1", "C1", "")
    assert not command.is_direct


async def test_a_repeated_command_has_the_same_delivery_and_another_one_a_new_one(bench, server):
    first = await given(bench)
    payload = next(e["payload"] for e in server.sockets.sent if e["type"] == "slash_commands")
    server.sockets.dispatch("slash_commands", payload)
    await server.sockets.settled()
    assert bench.commands[-1].delivery_id == first.delivery_id
    assert (await given(bench)).delivery_id != first.delivery_id


async def test_a_command_that_cannot_be_saved_is_not_acknowledged(bench, server):
    bench.refuse = StoreError("The disk is full.")
    await server.command("U1", "C1", "status")
    await bench.until(lambda: len(server.sockets.sent) >= 2)
    assert server.sockets.acknowledged == []
    bench.refuse = None
    await server.sockets.settled()
    assert len(bench.commands) == 1


async def test_the_answer_is_shown_to_whoever_gave_the_command_alone(bench, server):
    command = await given(bench)
    await bench.platform.answer_command(command, "**상태** 좋음\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    shown = server.workspace.ephemeral[0]
    assert (shown["way"], shown["response_type"], shown["user"]) == ("response_url", "ephemeral", "U1")
    assert shown["blocks"][0]["type"] == "markdown"
    assert server.workspace.bot_posts() == []


async def test_a_workspace_without_markdown_blocks_gets_older_notation(bench, server):
    server.workspace.known_blocks -= {"markdown"}
    command = await given(bench)
    await bench.platform.answer_command(command, "**상태** 좋음")
    assert [s["text"] for s in server.workspace.ephemeral] == ["*상태* 좋음"]


async def test_after_five_uses_the_answer_comes_as_an_ephemeral_post(bench, server):
    command = await given(bench)
    for number in range(7):
        await bench.platform.answer_command(command, f"답 {number}")
    ways = [shown["way"] for shown in server.workspace.ephemeral]
    assert ways == ["response_url"] * 5 + ["chat.postEphemeral"] * 2


async def test_after_thirty_minutes_the_answer_comes_as_an_ephemeral_post(bench, server, hands):
    command = await given(bench)
    hands.now += 31 * 60
    await bench.platform.answer_command(command, "늦은 답")
    assert [shown["way"] for shown in server.workspace.ephemeral] == ["chat.postEphemeral"]


async def test_where_the_bot_is_not_the_answer_comes_as_a_direct_message(bench, server, hands):
    server.workspace.add_channel("C8", "elsewhere", bot_in=False)
    command = await given(bench, channel="C8")
    hands.now += 31 * 60
    await bench.platform.answer_command(command, "답")
    assert [(p["channel"], p["text"]) for p in server.workspace.bot_posts()] == [("D1", "답")]


async def test_the_answer_still_finds_its_way_after_a_restart(server, hands):
    state = MemoryState()
    async with listening(server, state=state, clock=hands.moment) as bench:
        command = await given(bench)
    async with listening(server, state=state, clock=hands.moment) as bench:
        await bench.platform.answer_command(command, "답")
    assert [shown["way"] for shown in server.workspace.ephemeral] == ["response_url"]


async def test_long_answers_come_in_parts(bench, server):
    command = await given(bench)
    await bench.platform.answer_command(command, "문단입니다.\n\n" * 1500)
    assert len(server.workspace.ephemeral) > 1


async def test_progress_is_one_direct_message_that_is_edited(bench, server):
    command = await given(bench, "reindex")
    post = await bench.platform.show_progress(command, "0/10", post_id=None)
    assert await bench.platform.show_progress(command, "10/10 <!channel>", post_id=post) == post
    posts = server.workspace.bot_posts()
    assert [(p["channel"], p["metadata"]["event_type"]) for p in posts] == [("D1", "haechi_private")]
    assert posts[0]["text"].startswith("10/10")
    assert "<!" not in posts[0]["text"]


async def test_progress_that_cannot_be_edited_is_posted_anew(bench, server):
    command = await given(bench, "reindex")
    post = await bench.platform.show_progress(command, "0/10", post_id=None)
    server.fail("chat.update", Failure(error="message_not_found"))
    assert await bench.platform.show_progress(command, "5/10", post_id=post) != post


async def test_a_private_answer_in_a_direct_message_stays_in_its_thread(bench, server):
    ts = await server.say("D1", "U1", "연차는?")
    await bench.until(lambda: bench.posted)
    await bench.platform.respond_private(bench.posted[0].thread, "U1", "잠시 후 다시")
    assert [(p["thread_ts"], p["text"]) for p in server.workspace.bot_posts()] == [(ts, "잠시 후 다시")]


async def test_old_commands_are_forgotten(bench, hands):
    for _ in range(3):
        await given(bench)
        hands.now += 20 * 60
    kept = bench.platform._answers._kept
    assert len(kept) <= 2


async def test_an_answer_whose_reception_nobody_confirmed_is_not_repeated_at_the_same_address(bench, server):
    """It may have been shown; a second way makes sure, a second form of it would only show it again."""
    command = await given(bench)
    server.answers_responses = False
    await bench.platform.answer_command(command, "상태는 정상입니다.")
    assert [entry["way"] for entry in server.workspace.ephemeral] == ["response_url", "chat.postEphemeral"]
