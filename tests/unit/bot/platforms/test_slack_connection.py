"""The connection to Slack: what dies is noticed and replaced, what is wrong is reported, what works again is used."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.platforms.slack_watch import Backoff, SlackTiming
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, Failure
from tests.unit.bot.platforms.slack_bench import MENTION, listening, slack_server


@pytest.fixture
async def server():
    async with slack_server(ack_timeout_s=0.3) as server:
        yield server


@pytest.fixture
async def bench(server):
    async with listening(server) as bench:
        yield bench


async def state(bench):
    return (await bench.platform.check()).state


async def until_state(bench, wanted):
    async with asyncio.timeout(60):
        while await state(bench) != wanted:  # noqa: ASYNC110 - the port has no event for it
            await asyncio.sleep(0.01)


async def hears(bench, server):
    await server.say("C1", "U1", f"{MENTION} 들리나요?")
    before = len(bench.posted)
    await bench.until(lambda: len(bench.posted) > before)
    await server.sockets.settled()


async def test_the_bot_says_who_and_how_it_listens(bench):
    status = await bench.platform.check()
    assert (status.name, status.state) == ("slack", "ok")
    assert "@haechi in Acme by Socket Mode" in status.detail
    assert bench.platform.bot_id == "U0BOT00001"


async def test_a_dropped_connection_is_replaced_and_what_was_said_meanwhile_is_heard(bench, server):
    await server.sockets.drop()
    await hears(bench, server)
    assert server.sockets.opened >= 2


async def test_a_warning_before_the_end_of_a_connection_is_followed(bench, server):
    await server.sockets.warn()
    await bench.until(lambda: server.sockets.opened == 2)
    await hears(bench, server)


async def test_a_socket_through_which_nothing_passes_any_more_is_replaced(bench, server):
    server.sockets.freeze()
    await bench.until(lambda: server.sockets.opened >= 2)
    await hears(bench, server)
    assert await state(bench) == "ok"


def test_a_dead_socket_is_noticed_within_ninety_seconds():
    timing = SlackTiming()
    assert timing.dead_after_s + timing.check_every_s + timing.connect_timeout_s <= 90
    assert timing.ping_interval_s * 4 < timing.dead_after_s  # the SDK's own limit comes first


async def test_a_connection_that_is_never_greeted_is_given_up(server):
    server.sockets.greets = False
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5), listening(server):
            pass
    server.sockets.greets = True
    async with listening(server) as bench:
        await hears(bench, server)


async def test_nobody_is_connected_while_slack_is_down_and_everything_when_it_is_back(bench, server):
    server.chaos = lambda method: Failure(status=500)
    await server.sockets.drop()
    await until_state(bench, "down")
    assert "since" in (await bench.platform.check()).detail
    server.chaos = lambda method: None
    await until_state(bench, "ok")
    await hears(bench, server)


async def test_a_bot_token_that_is_revoked_is_reported_and_the_bot_comes_back_by_itself(bench, server):
    server.revoked.add(BOT_TOKEN)
    await until_state(bench, "down")
    status = await bench.platform.check()
    assert "token_revoked" in status.detail
    assert "since" in status.detail
    calls = server.calls["auth.test"]
    await asyncio.sleep(0.4)
    assert 1 <= server.calls["auth.test"] - calls <= 5  # slowly
    server.revoked.clear()
    await until_state(bench, "ok")
    await hears(bench, server)


async def test_slack_that_carries_events_but_answers_no_calls_is_reported(bench, server):
    server.chaos = lambda method: Failure(status=503)
    await until_state(bench, "down")
    assert "status.slack.com" in (await bench.platform.check()).detail
    server.chaos = lambda method: None
    await until_state(bench, "ok")


async def test_an_app_token_that_is_revoked_is_reported_and_the_bot_comes_back_by_itself(bench, server):
    server.revoked.add(APP_TOKEN)
    await server.sockets.drop()
    await until_state(bench, "down")
    assert "apps.connections.open" in (await bench.platform.check()).detail
    server.revoked.clear()
    await until_state(bench, "ok")
    await hears(bench, server)


async def test_a_wrong_token_at_the_start_is_reported(server):
    server.revoked.add(BOT_TOKEN)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5), listening(server):
            pass
    assert server.calls["auth.test"] <= 6


async def test_an_event_before_anybody_is_known_is_not_acknowledged(server):
    """Bolt would ask auth.test on the first event and acknowledge that event when the answer is an error."""
    async with listening(server) as bench:
        server.chaos = lambda method: Failure(status=429, retry_after_s=0) if method == "auth.test" else None
        await hears(bench, server)
    assert server.sockets.given_up == []


async def test_a_connection_that_brings_nothing_for_long_is_renewed(server):
    from dataclasses import replace

    from tests.emulators.slack_options import QUICK

    async with listening(server, timing=replace(QUICK, renew_quiet_s=0.2)) as bench:
        await bench.until(lambda: server.sockets.opened >= 3)
        await hears(bench, server)


async def test_closing_ends_listening_and_the_connection(server):
    async with listening(server) as bench:
        pass
    assert await state(bench) == "down"
    await bench.until(lambda: not server.sockets.connections)


async def test_closing_while_slack_does_not_answer_does_not_hang(server):
    server.sockets.greets = False
    from datetime import UTC, datetime

    from bot.platforms.slack import SlackPlatform
    from tests.emulators.memory_state import MemoryState
    from tests.emulators.slack_options import slack_options

    platform = SlackPlatform(slack_options(server), state=MemoryState(), clock=lambda: datetime.now(UTC))

    async def receive(delivery):
        raise AssertionError(delivery)

    listener = asyncio.create_task(platform.listen(receive))
    async with asyncio.timeout(60):
        while not server.sockets.connections:  # noqa: ASYNC110 - it happens on the other side of a socket
            await asyncio.sleep(0.01)
        await platform.close()
        await listener


def test_pauses_double_up_to_their_limit():
    pause = Backoff(1, 5)
    assert [pause.next_s() for _ in range(5)] == [1, 2, 4, 5, 5]
    pause.reset()
    assert pause.next_s() == 1


async def test_mentions_without_their_messages_show_that_an_event_is_not_subscribed(bench, server):
    server.subscribed.discard("message")
    for number in range(3):
        await server.say("C1", "U1", f"{MENTION} 질문 {number}")
    await bench.until(lambda: len(bench.posted) == 3)
    await until_state(bench, "ok")  # the messages may still come
    bench.platform._intake._monotonic = lambda: time.monotonic() + 61
    await until_state(bench, "degraded")
    assert bench.platform._intake.mentions_come_alone
    server.subscribed.add("message")
    await server.say("C1", "U2", "잡담")
    await until_state(bench, "ok")
