"""What was said while nobody listened: all of it, once, in order; and what was left out is said."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import StoreError
from bot.platforms.mattermost_catchup import STATE_KEY, Cursor
from tests.emulators.mattermost_time import ManualTime
from tests.unit.bot.platforms.mattermost_bench import bench, quiet, until


async def test_what_was_said_between_two_runs_is_delivered_in_order():
    async with bench() as b:
        b.ask("@helperbot 하나")
        await until(lambda: b.messages)
        await b.stop()
        b.ask("@helperbot 둘")
        b.ask("@helperbot 셋")
        again = b.another()
        await again.start()
        await until(lambda: len(again.messages) == 2)
        await quiet()
        assert again.texts == ["둘", "셋"]
        await again.stop()


async def test_what_was_heard_before_a_restart_is_not_heard_again():
    """A message that was passed over must not look like a follow-up once the bot answered below it."""
    async with bench() as b:
        b.ask("그냥 하는 말")
        await until(lambda: b.messages)
        await b.stop()
        again = b.another()
        await again.start()
        await quiet()
        assert again.messages == []
        await again.stop()


async def test_direct_and_group_messages_are_caught_up_too():
    async with bench(listening=False) as b:
        state = b.server.state
        state.say(state.alice, state.direct(state.alice, state.bot), "연차는?")
        group = state.group_channel(state.alice, [state.bot, state.bob])[1]["id"]
        state.say(state.bob, group, "@helperbot 병가는?")
        await b.start()
        await until(lambda: len(b.messages) == 2)
        assert {(m.text, m.is_direct) for m in b.messages} == {("연차는?", True), ("병가는?", False)}


async def test_channels_without_the_bot_are_not_read():
    async with bench(listening=False) as b:
        state = b.server.state
        other = state.add_channel("secret", "Secret", {state.alice})
        state.say(state.alice, other, "@helperbot 여기")
        await b.start()
        await quiet()
        assert b.messages == []
        assert not any(other in path for _, path, _ in b.server.requests)


async def test_a_since_that_is_empty_by_a_race_loses_nothing():
    async with bench(listening=False) as b:
        b.ask("@helperbot 하나")
        b.server.empty_since = 1
        await b.start()
        await until(lambda: b.texts == ["하나"])


async def test_more_than_a_listing_holds_is_read_page_by_page():
    async with bench(listening=False, catch_up_messages=3000) as b:
        for number in range(1234):
            b.ask(f"@helperbot {number}")
        await b.start()
        await until(lambda: len(b.messages) == 1234, limit_s=60)
        assert b.texts == [str(number) for number in range(1234)]


async def test_the_number_of_posts_is_bounded_and_what_was_left_out_is_said():
    async with bench(listening=False, catch_up_messages=5) as b:
        for number in range(8):
            b.ask(f"@helperbot {number}")
        await b.start()
        await until(lambda: len(b.messages) == 5)
        await quiet()
        assert b.texts == ["3", "4", "5", "6", "7"]
        status = await b.platform.check()
        assert "left out" in status.detail
        assert "Town Square" in status.detail


async def test_the_age_of_posts_is_bounded_and_what_was_left_out_is_said():
    now = datetime.now(UTC)
    async with bench(listening=False, catch_up_age=timedelta(hours=1)) as b:
        state = b.server.state
        state._last_ms = 0
        state.now_ms = lambda: int((now - timedelta(hours=3)).timestamp() * 1000)
        cursor = Cursor(at_ms=int((now - timedelta(hours=4)).timestamp() * 1000))
        b.state.put(STATE_KEY, cursor.text())
        b.ask("@helperbot 세 시간 전")
        state.now_ms = lambda: int((now - timedelta(minutes=5)).timestamp() * 1000)
        b.ask("@helperbot 방금")
        await b.start()
        await until(lambda: b.messages)
        await quiet()
        assert b.texts == ["방금"]
        assert "older than 1 h" in (await b.platform.check()).detail


async def test_a_channel_that_cannot_be_read_is_tried_again_and_the_others_are_not_kept_waiting():
    async with bench(listening=False) as b:
        state = b.server.state
        other = state.add_channel("second", "Second", {state.alice, state.bot})
        b.ask("@helperbot 첫째 채널")
        state.say(state.alice, other, "@helperbot 둘째 채널")
        fault = b.server.fail("GET", f"/channels/{state.town}/posts", times=1000, status=403)
        await b.start()
        await until(lambda: b.texts == ["둘째 채널"])
        assert (await b.platform.check()).state == "degraded"
        fault.times = 0
        await until(lambda: b.texts == ["둘째 채널", "첫째 채널"])
        await until(lambda: not b.platform._catch_up.is_behind)
        assert (await b.platform.check()).state == "ok"


async def test_a_message_that_could_not_be_kept_is_delivered_again():
    async with bench() as b:
        b.failing.append(StoreError("The disk is full."))
        b.ask("@helperbot 하나")
        await until(lambda: b.texts == ["하나"])


async def test_a_message_that_could_not_be_kept_does_not_wait_for_the_regular_look():
    time = ManualTime()
    async with bench(timing=time.timing()) as b:
        b.failing.append(StoreError("The disk is full."))
        b.ask("@helperbot 하나")
        await until(lambda: b.platform._catch_up.is_behind)
        await time.pass_s(10, step_s=5)
        await until(lambda: b.texts == ["하나"])


async def test_what_is_said_now_waits_for_what_was_said_before_and_could_not_be_read():
    async with bench(listening=False) as b:
        root = b.ask("@helperbot 하나")
        fault = b.server.fail("GET", f"/channels/{b.server.state.town}/posts", times=1000, status=403)
        await b.start()
        await until(lambda: b.platform._catch_up.is_behind)
        b.ask("@helperbot 둘", root=root["id"])
        await quiet(0.05)
        assert b.texts == []
        fault.times = 0
        await until(lambda: len(b.messages) == 2)
        assert b.texts == ["하나", "둘"]


async def test_a_channel_that_can_never_be_read_back_is_heard_all_the_same():
    time = ManualTime()
    async with bench(listening=False, timing=time.timing()) as b:
        b.ask("@helperbot 하나")
        b.server.fail("GET", f"/channels/{b.server.state.town}/posts", times=100_000, status=403)
        await b.start()
        await until(lambda: b.platform._catch_up.is_behind)
        await time.pass_s(150, step_s=10)
        b.ask("@helperbot 둘")
        await until(lambda: b.texts == ["둘"])


async def test_edits_deletes_and_old_versions_are_no_new_messages():
    async with bench(listening=False) as b:
        state = b.server.state
        first = b.ask("@helperbot 고칠 말")
        state.patch_post(state.alice, first["id"], {"message": "@helperbot 고친 말"})
        gone = b.ask("@helperbot 지울 말")
        state.delete_post(state.alice, gone["id"])
        await b.start()
        await until(lambda: b.messages)
        await quiet()
        assert b.texts == ["고친 말"]


async def test_a_killed_run_starts_where_the_last_look_ended():
    async with bench() as b:
        b.ask("@helperbot 하나")
        await until(lambda: b.messages)
        b.listener.cancel()  # no orderly end
        await asyncio.gather(b.listener, return_exceptions=True)
        b.listener = None
        b.ask("@helperbot 둘")
        again = b.another()
        await again.start()
        await until(lambda: "둘" in again.texts)
        await again.stop()


async def test_a_state_that_cannot_be_read_is_like_a_first_start():
    async with bench(listening=False) as b:
        b.state.put(STATE_KEY, "{")
        b.ask("@helperbot 하나")
        await b.start()
        await until(lambda: b.texts == ["하나"])


@pytest.mark.parametrize("text", ["{}", "[]", '{"at_ms": "x", "behind": {}, "seen": []}', "null"])
def test_damaged_cursors_count_as_none(text):
    assert Cursor.read(text).at_ms is None


async def test_events_that_the_socket_never_sent_are_found_by_the_regular_look():
    async with bench() as b:
        connection = next(iter(b.server.connections.values()))
        connection.silent = True
        b.ask("@helperbot 아무도 말해 주지 않은 말")
        connection.silent = False
        connection.sent.pop()
        connection.next_seq -= 1  # as if it never had been sent
        await until(lambda: b.texts == ["아무도 말해 주지 않은 말"])


async def test_catching_up_can_be_switched_off():
    async with bench(listening=False, catch_up_messages=0) as b:
        b.ask("@helperbot 하나")
        await b.start()
        b.ask("@helperbot 둘")
        await until(lambda: b.messages)
        await quiet()
        assert b.texts == ["둘"]
