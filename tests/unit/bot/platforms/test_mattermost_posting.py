"""Replies: in the thread, complete, once, whatever the server answers; and nothing in them calls anybody."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import PlatformError, RateLimited, Unreachable
from bot.platforms.mattermost_posting import POST_LIMIT_CHARS
from tests.unit.bot.platforms.mattermost_bench import bench, until

LONG = "\n\n".join(f"{number}. " + "가나다 라마바사 " * 90 for number in range(40))


def own(b, post):
    return b.server.state.own_posts(thread=post["id"])


async def test_a_reply_stands_in_the_thread_and_says_what_it_answers():
    async with bench() as b:
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        posted = b.server.state.posts[post_id]
        assert posted["root_id"] == asked["id"]
        assert posted["props"]["haechi"] == {
            "delivery_id": f"mattermost:{asked['id']}",
            "part": 1,
            "parts": 1,
            "final": True,
        }


async def test_a_reply_to_a_mention_that_is_itself_a_reply_goes_to_the_root():
    async with bench() as b:
        root = b.ask("그냥 하는 말")
        below = b.ask("@helperbot 그럼요?", root=root["id"])
        await until(lambda: len(b.messages) == 2)
        post_id = await b.platform.post(b.reply(below, thread=b.messages[1].thread))
        assert b.server.state.posts[post_id]["root_id"] == root["id"]


async def test_a_long_answer_becomes_several_posts_that_the_server_accepts():
    async with bench() as b:
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked, LONG))
        parts = own(b, asked)
        assert len(parts) > 1
        assert parts[0]["id"] == post_id
        assert all(len(part["message"]) <= POST_LIMIT_CHARS for part in parts)
        assert [part["props"]["haechi"]["part"] for part in parts] == list(range(1, len(parts) + 1))
        assert await b.platform.find_own(b.thread(asked), f"mattermost:{asked['id']}") == post_id


async def test_a_server_with_a_smaller_limit_gets_smaller_posts():
    async with bench(listening=False) as b:
        b.server.config["MaxPostSize"] = "4000"
        await b.start()
        asked = b.ask()
        await b.platform.post(b.reply(asked, LONG))
        assert all(len(part["message"]) <= 4000 for part in own(b, asked))


async def test_parts_that_are_missing_after_a_kill_are_added_and_none_is_doubled():
    async with bench() as b:
        asked = b.ask()
        reply = b.reply(asked, LONG)
        await b.platform.post(reply)
        parts = own(b, asked)
        b.server.state.delete_post(b.server.state.bot, parts[-1]["id"])
        b.server._pending.clear()
        assert await b.platform.find_own(reply.thread, reply.delivery_id) is None
        again = b.another()
        await again.platform.post(reply)
        now = own(b, asked)
        assert [p["message"] for p in now] == [p["message"] for p in parts]
        assert [p["id"] for p in now[:-1]] == [p["id"] for p in parts[:-1]]
        assert await again.platform.find_own(reply.thread, reply.delivery_id) == parts[0]["id"]
        await again.platform.close()


async def test_posting_the_same_reply_twice_leaves_one():
    async with bench() as b:
        asked = b.ask()
        first = await b.platform.post(b.reply(asked))
        assert await b.platform.post(b.reply(asked)) == first
        assert len(own(b, asked)) == 1
        assert own(b, asked)[0]["edit_at"] == 0  # it would show as edited


async def test_a_post_that_arrived_although_its_answer_was_lost_is_not_repeated():
    async with bench() as b:
        asked = b.ask()
        for fault in ({"status": 500, "carried_out": True}, {"status": 0, "carried_out": True, "drops": True}):
            b.server.fail("POST", "/posts", **fault)
            b.server._pending.clear()
            await b.platform.post(b.reply(asked, delivery_id=f"d{fault['status']}"))
        assert len(own(b, asked)) == 2


async def test_two_attempts_at_once_leave_one_post():
    """As after a restart within the half minute in which the server knows a pending post."""
    async with bench() as b:
        asked = b.ask()
        other = b.another()
        ids = await asyncio.gather(b.platform.post(b.reply(asked)), other.platform.post(b.reply(asked)))
        assert ids[0] == ids[1]
        assert len(own(b, asked)) == 1
        await other.platform.close()


async def test_429_is_waited_for_as_long_as_the_server_says():
    async with bench() as b:
        asked = b.ask()
        b.server.fail("POST", "/posts", status=429, headers={"Retry-After": "0.3"})
        started = asyncio.get_running_loop().time()
        await b.platform.post(b.reply(asked))
        assert asyncio.get_running_loop().time() - started >= 0.3
        assert len(own(b, asked)) == 1


async def test_a_long_wait_that_the_server_asks_for_is_raised_at_once():
    """The worker waits: a place that is held for minutes would keep the questions of other platforms waiting."""
    async with bench() as b:
        asked = b.ask()
        b.server.fail("POST", "/posts", times=99, status=429, headers={"Retry-After": "60"})
        with pytest.raises(RateLimited) as raised:
            await b.platform.post(b.reply(asked))
        assert raised.value.retry_after_s == 60
        assert sum(path == "/posts" for _, path, _ in b.server.requests) == 1


async def test_500_is_tried_again_and_in_the_end_reported():
    async with bench() as b:
        asked = b.ask()
        b.server.fail("POST", "/posts", status=500, times=3)
        await b.platform.post(b.reply(asked))
        b.server.fail("POST", "/posts", status=500, times=100)
        with pytest.raises(Unreachable):
            await b.platform.post(b.reply(asked, delivery_id="another"))
        assert len(own(b, asked)) == 1


async def test_json_with_a_charset_is_json():
    async with bench(charset=True) as b:
        asked = b.ask()
        await until(lambda: b.messages)
        assert await b.platform.find_own(b.thread(asked), "x") is None
        await b.platform.post(b.reply(asked))
        assert len(await b.platform.fetch_thread(b.thread(asked), 10)) == 2


# --- streams ----------------------------------------------------------------------------------------


async def test_a_stream_shows_a_status_then_text_then_the_answer_in_one_post():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.status("찾는 중")
        assert [p["message"] for p in own(b, asked)] == ["_찾는 중_"]
        stream._not_before_s = 0
        await stream.append("연차는 ")
        stream._not_before_s = 0
        await stream.append("15일입니다.")
        assert [p["message"] for p in own(b, asked)] == ["연차는 15일입니다."]
        await stream.status("다시 찾는 중")
        assert [p["message"] for p in own(b, asked)] == ["연차는 15일입니다."]
        await stream.finish(b.reply(asked, "연차는 15일입니다. [1]"))
        assert [p["message"] for p in own(b, asked)] == ["연차는 15일입니다. [1]"]
        assert own(b, asked)[0]["props"]["haechi"]["final"] is True


async def test_edits_come_at_most_once_a_second():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        for number in range(50):
            await stream.append(f"{number} ")
        edits = [path for method, path, _ in b.server.requests if method == "PUT"]
        assert edits == []
        await stream.finish(b.reply(asked, "fertig"))
        assert [p["message"] for p in own(b, asked)] == ["fertig"]


async def test_a_failed_edit_keeps_what_was_shown_and_the_answer_comes_all_the_same():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append("연차는 ")
        b.server.fail("PUT", "/posts/.*", status=500, times=2)
        stream._not_before_s = 0
        await stream.append("15일")
        assert [p["message"] for p in own(b, asked)] == ["연차는 "]
        await stream.finish(b.reply(asked, "연차는 15일입니다. [1]"))
        assert [p["message"] for p in own(b, asked)] == ["연차는 15일입니다. [1]"]


async def test_a_post_that_may_no_longer_be_edited_is_followed_by_the_whole_answer():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append("연차는 ")
        b.server.fail("PUT", "/posts/.*", status=400, times=100)
        await stream.finish(b.reply(asked, "연차는 15일입니다. [1]"))
        assert [p["message"] for p in own(b, asked)] == ["연차는 15일입니다. [1]"]
        assert await b.platform.find_own(b.thread(asked), f"mattermost:{asked['id']}") == own(b, asked)[0]["id"]


async def test_a_post_that_somebody_deleted_meanwhile_is_written_anew():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append("연차는 ")
        b.server.state.delete_post(b.server.state.bot, own(b, asked)[0]["id"])
        await stream.finish(b.reply(asked))
        assert [p["message"] for p in own(b, asked)] == ["15일입니다. [1]"]


async def test_what_a_kill_left_beside_a_finished_answer_is_taken_away_and_not_taken_for_it():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append("연차는 ")
        b.server.fail("PUT", "/posts/.*", status=400, times=1)
        b.server.fail("DELETE", "/posts/.*", status=403, times=1)  # killed before the old post was taken away
        post_id = await stream.finish(b.reply(asked))
        assert len(own(b, asked)) == 2
        assert await b.platform.find_own(b.thread(asked), f"mattermost:{asked['id']}") == post_id
        assert await b.platform.post(b.reply(asked)) == post_id
        assert [p["id"] for p in own(b, asked)] == [post_id]


async def test_a_stream_that_cannot_post_at_all_ends_in_one_answer():
    async with bench() as b:
        asked = b.ask()
        b.server.fail("POST", "/posts", status=500, carried_out=True)
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append("연차는 ")
        stream._not_before_s = 0
        await stream.append("15일")
        await stream.finish(b.reply(asked))
        assert [p["message"] for p in own(b, asked)] == ["15일입니다. [1]"]


async def test_a_streamed_text_that_grows_over_the_limit_is_shown_in_part_and_ends_complete():
    async with bench() as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append(LONG)
        assert len(own(b, asked)) == 1
        await stream.finish(b.reply(asked, LONG))
        assert "".join(p["message"] for p in own(b, asked)).count("가나다") == LONG.count("가나다")


async def test_a_shorter_answer_takes_surplus_posts_away():
    async with bench() as b:
        asked = b.ask()
        await b.platform.post(b.reply(asked, LONG, final=False))
        await b.platform.post(b.reply(asked, "doch kurz"))
        assert [p["message"] for p in own(b, asked)] == ["doch kurz"]


# --- hostile text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "@channel @all @here @alice",
        "-@channel .@all :@here _@alice_ +@channel %@all (@here)",
        "**@channel**\n\n> @all\n\n- @here",
        "| @channel | @alice |\n|---|---|\n| @all | @here |",
        "[@channel](http://example.com) ![@all](http://example.com/x.png)",
        "@\u202echannel\u0000 @chan\u0007nel",
    ],
)
async def test_no_answer_calls_anybody(text):
    """The emulator finds mentions as the server does, in the text that it stored."""
    async with bench() as b:
        asked = b.ask()
        await b.platform.post(b.reply(asked, text))
        connection = next(iter(b.server.connections.values()))
        await until(lambda: any(e["event"] == "posted" and "haechi" in e["data"]["post"] for e in connection.sent))
        posted = next(e for e in connection.sent if e["event"] == "posted" and "haechi" in e["data"]["post"])
        assert "mentions" not in posted["data"]
        assert not set(own(b, asked)[0]["message"]) & {"\u202e", "\x00", "\x07"}


async def test_a_hostile_question_of_100000_characters_is_heard_and_answered():
    async with bench() as b:
        state = b.server.state
        asked = state._add_post(state.town, state.alice, {"message": "@helperbot " + "\u202e @channel\x00" * 9000})
        await until(lambda: b.messages)
        await b.platform.post(b.reply(asked, b.messages[0].text))
        assert all("@channel" not in p["message"] for p in own(b, asked))


async def test_other_peoples_posts_with_our_props_are_not_taken_for_ours():
    async with bench() as b:
        asked = b.ask()
        state = b.server.state
        noted = {"delivery_id": f"mattermost:{asked['id']}", "part": 1, "parts": 1, "final": True}
        state.say(state.bob, state.town, "falsch", root=asked["id"], props={"haechi": noted})
        assert await b.platform.find_own(b.thread(asked), f"mattermost:{asked['id']}") is None


# --- private --------------------------------------------------------------------------------------


async def test_private_text_goes_into_a_direct_message():
    async with bench() as b:
        asked = b.ask()
        await b.platform.respond_private(b.thread(asked), b.server.state.alice, "당신에게만")
        said = [p for p in b.server.state.posts.values() if p["message"] == "당신에게만"]
        assert [b.server.state.channels[p["channel_id"]].type for p in said] == ["D"]


async def test_before_the_first_connection_everything_works_by_rest():
    async with bench(listening=False) as b:
        asked = b.ask()
        stream = b.platform.stream(b.thread(asked), f"mattermost:{asked['id']}")
        await stream.append("연차는 ")
        await stream.finish(b.reply(asked))
        assert [p["message"] for p in own(b, asked)] == ["15일입니다. [1]"]


async def test_rate_limits_carry_their_time():
    async with bench() as b:
        b.server.fail("GET", "/users/me", status=429, headers={"X-Ratelimit-Reset": "7"})
        with pytest.raises(RateLimited) as caught:
            await b.platform.rest.me()
        assert caught.value.retry_after_s == 7


async def test_reactions_are_the_sign_of_life():
    async with bench() as b:
        b.ask()
        await until(lambda: b.messages)
        await b.platform.react(b.messages[0], "eyes")
        assert [r["emoji_name"] for r in b.server.state.reactions[b.messages[0].id]] == ["eyes"]


async def test_calls_after_the_end_are_errors_of_the_platform():
    async with bench() as b:
        asked = b.ask()
        await b.stop()
        with pytest.raises(PlatformError):
            await b.platform.post(b.reply(asked))
        b.listener = None
