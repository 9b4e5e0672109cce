"""Replies that grow on Slack, by edits in channels and by Slack's own streaming in direct messages."""

from __future__ import annotations

import time

import pytest

from bot.platforms.slack_stream import BURST, EditPace
from tests.emulators.slack import Failure
from tests.unit.bot.platforms.slack_bench import listening, slack_server


class Hands:
    """A clock of seconds that is moved by hand."""

    def __init__(self, start: float) -> None:
        self.now = start

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def slack_clock():
    return Hands(time.time())


@pytest.fixture
async def server(slack_clock):
    async with slack_server(clock=slack_clock) as server:
        yield server


@pytest.fixture
async def bench(server):
    async with listening(server) as bench:
        yield bench


async def direct(bench, text="연차는?"):
    ts = await bench.server.say("D1", "U1", text)
    await bench.until(lambda: any(m.id == ts for m in bench.posted))
    return next(m for m in bench.posted if m.id == ts)


async def test_status_then_text_then_answer_are_one_post(bench, server):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.status("자료를 찾는 중")
    assert bench.shown(message.thread) == ["_자료를 찾는 중_"]
    await stream.append("연차는 ")
    await stream.append("15일입니다.")
    assert bench.shown(message.thread) == ["연차는 15일입니다."]
    await stream.status("끝나가는 중")
    assert bench.shown(message.thread) == ["연차는 15일입니다."]
    post = await stream.finish(bench.reply(message))
    assert bench.shown(message.thread) == ["15일입니다. [1]"]
    assert await bench.platform.find_own(message.thread, message.delivery_id) == post


@pytest.mark.parametrize(
    "failure",
    [
        Failure(status=500),
        Failure(status=429, retry_after_s=30),
        Failure(drops=True),
        Failure(error="cant_update_message"),
    ],
    ids=str,
)
async def test_a_failed_edit_keeps_what_is_shown_and_the_end_is_complete(bench, server, failure):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.append("연차는 ")
    server.fail("chat.update", failure)
    await stream.append("15일")
    assert bench.shown(message.thread) == ["연차는 "]
    await stream.append("입니다.")
    await stream.finish(bench.reply(message))
    assert "15일입니다. [1]" in bench.shown(message.thread)
    assert len([p for p in server.workspace.bot_posts() if p["metadata"]["event_payload"]["final"]]) == 1


@pytest.mark.parametrize(
    "failure",
    [Failure(status=500, after=True), Failure(drops=True, after=True), Failure(status=429, retry_after_s=9)],
    ids=str,
)
async def test_a_beginning_that_went_wrong_is_not_doubled(bench, server, failure):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    server.fail("chat.postMessage", failure)
    await stream.append("연차는 ")
    await stream.finish(bench.reply(message))
    assert bench.shown(message.thread) == ["15일입니다. [1]"]


async def test_edits_wait_when_slack_asks_for_it(bench, server):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.append("하나 ")
    server.fail("chat.update", Failure(status=429, retry_after_s=60))
    await stream.append("둘 ")
    before = server.calls["chat.update"]
    for _ in range(20):
        await stream.append("셋 ")
    assert server.calls["chat.update"] == before
    await stream.finish(bench.reply(message))
    assert bench.shown(message.thread) == ["15일입니다. [1]"]


async def test_a_text_longer_than_a_message_grows_and_ends_in_parts(bench, server):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    for _ in range(5):
        await stream.append("문장입니다. " * 500)
    await stream.finish(bench.reply(message, "문장입니다. " * 2500))
    assert len(bench.shown(message.thread)) > 1


async def test_parts_of_an_answer_are_not_covered_by_a_status_when_it_is_written_again(bench, server):
    message = await bench.ask()
    calls = iter([None])
    server.chaos = lambda method: next(calls, Failure(status=500)) if method == "chat.postMessage" else None
    with pytest.raises(Exception, match="Slack failed"):
        await bench.platform.post(bench.reply(message, "문단\n\n" * 4000))
    server.chaos = lambda method: None
    assert await bench.platform.find_own(message.thread, message.delivery_id) is None
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.status("자료를 찾는 중")
    assert bench.shown(message.thread)[0].startswith("문단")
    await stream.finish(bench.reply(message))
    assert bench.shown(message.thread) == ["15일입니다. [1]"]


# --- direct messages ------------------------------------------------------------------------------


async def test_direct_messages_are_streamed_by_slack_itself(bench, server):
    message = await direct(bench)
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.status("자료를 찾는 중")
    await stream.append("연차는 ")
    await stream.append("15일입니다.")
    assert (server.calls["chat.startStream"], server.calls["chat.appendStream"]) == (1, 1)
    assert bench.shown(message.thread) == ["연차는 15일입니다."]
    assert server.workspace.statuses[0]["status"] == "자료를 찾는 중"
    post = await stream.finish(bench.reply(message))
    assert (server.calls["chat.stopStream"], bench.shown(message.thread)) == (1, ["15일입니다. [1]"])
    assert await bench.platform.find_own(message.thread, message.delivery_id) == post


async def test_a_stream_that_slack_closed_goes_on_by_edits_of_the_same_post(bench, server, slack_clock):
    message = await direct(bench)
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.append("연차는 ")
    slack_clock.now += 301
    await stream.append("15일")
    assert bench.shown(message.thread) == ["연차는 15일"]
    await stream.append("입니다.")
    post = await stream.finish(bench.reply(message))
    assert [(p["ts"], p["text"]) for p in server.workspace.bot_posts()] == [(post, "15일입니다. [1]")]


async def test_a_stream_that_slack_closed_just_before_its_end_is_finished_all_the_same(bench, server, slack_clock):
    message = await direct(bench)
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.append("연차는 ")
    slack_clock.now += 301
    await stream.finish(bench.reply(message))
    assert bench.shown(message.thread) == ["15일입니다. [1]"]


async def test_a_workspace_without_streams_gets_edits(bench, server):
    server.workspace.streams_allowed = False
    for _ in range(2):
        message = await direct(bench)
        stream = bench.platform.stream(message.thread, message.delivery_id)
        await stream.append("연차는 ")
        await stream.append("15일")
        assert bench.shown(message.thread) == ["연차는 15일"]
        await stream.finish(bench.reply(message))
    assert server.calls["chat.startStream"] == 1


@pytest.mark.parametrize("failure", [Failure(status=500, after=True), Failure(drops=True)], ids=str)
async def test_a_stream_whose_beginning_went_wrong_leaves_one_answer(bench, server, failure):
    message = await direct(bench)
    stream = bench.platform.stream(message.thread, message.delivery_id)
    server.fail("chat.startStream", failure)
    await stream.append("연차는 ")
    await stream.append("15일")
    await stream.finish(bench.reply(message))
    finals = [p for p in server.workspace.bot_posts() if p.get("metadata")]
    assert [p["text"] for p in server.workspace.bot_posts()] == ["15일입니다. [1]"]
    assert len(finals) == 1


async def test_a_stream_that_a_killed_run_left_is_taken_over(bench, server):
    message = await direct(bench)
    lost = bench.platform.stream(message.thread, message.delivery_id)
    await lost.append("연차는 ")
    assert await bench.platform.find_own(message.thread, message.delivery_id) is None
    again = bench.platform.stream(message.thread, message.delivery_id)
    await again.append("다시 ")
    post = await again.finish(bench.reply(message))
    assert [(p["ts"], p["text"]) for p in server.workspace.bot_posts()] == [(post, "15일입니다. [1]")]


async def test_streams_can_be_switched_off(server):
    async with listening(server, live_answers=False) as bench:
        message = await direct(bench)
        stream = bench.platform.stream(message.thread, message.delivery_id)
        await stream.status("찾는 중")
        await stream.append("연차는 ")
        assert (server.calls["chat.startStream"], bench.shown(message.thread)) == (0, ["연차는 "])
        await stream.finish(bench.reply(message))


# --- pace -----------------------------------------------------------------------------------------


def test_edits_in_a_channel_are_a_second_apart():
    hands = Hands(0.0)
    pace = EditPace(hands, interval_s=1.0)
    assert [pace.may_edit("C1"), pace.may_edit("C1"), pace.may_edit("C2")] == [True, False, True]
    hands.now = 1.0
    assert pace.may_edit("C1")


def test_edits_of_all_channels_together_stay_below_the_limit_of_the_workspace():
    hands = Hands(0.0)
    pace = EditPace(hands, interval_s=0.0)
    made = 0
    for _ in range(600):
        hands.now += 0.1
        made += pace.may_edit(f"C{made % 7}")
    assert 40 <= made <= 40 + BURST


def test_after_a_limit_nothing_is_edited_until_its_time_is_over():
    hands = Hands(0.0)
    pace = EditPace(hands, interval_s=0.0)
    pace.hold(30)
    assert not pace.may_edit("C1")
    hands.now = 30.0
    assert pace.may_edit("C1")
