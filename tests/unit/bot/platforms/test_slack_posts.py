"""Replies on Slack: in the thread, complete, once, whatever goes wrong on the way."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.platforms.slack import SlackPlatform
from bot.platforms.slack_posts import OwnPost, complete
from bot.types import ThreadRef
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import Failure
from tests.emulators.slack_options import slack_options
from tests.unit.bot.platforms.slack_bench import MENTION, listening, slack_server

LONG = "문단입니다. 여러 문장이 들어 있습니다.\n\n" * 900


@pytest.fixture
async def server():
    async with slack_server() as server:
        yield server


@pytest.fixture
async def bench(server):
    async with listening(server) as bench:
        yield bench


def finals(server, delivery_id):
    """Payloads of the final posts that answer a delivery."""
    payloads = [post["metadata"]["event_payload"] for post in server.workspace.bot_posts() if post.get("metadata")]
    return [p for p in payloads if p["delivery_id"] == delivery_id and p["final"]]


async def test_a_reply_stands_in_the_thread_of_the_root_with_its_delivery(bench, server):
    root = await bench.ask()
    below = await bench.ask("그럼 병가는?", thread_ts=root.id)
    await bench.platform.post(bench.reply(below))
    post = server.workspace.bot_posts()[0]
    assert post["thread_ts"] == root.id
    assert post["metadata"] == {
        "event_type": "haechi_reply",
        "event_payload": {"delivery_id": below.delivery_id, "part": 1, "parts": 1, "final": True},
    }
    sent = server.arguments["chat.postMessage"][0]
    assert (sent["unfurl_links"], sent["unfurl_media"]) == (False, False)


async def test_a_long_reply_is_several_posts_and_found_by_the_first(bench, server):
    message = await bench.ask()
    first = await bench.platform.post(bench.reply(message, LONG))
    payloads = finals(server, message.delivery_id)
    assert len(payloads) > 1
    assert [(p["part"], p["parts"]) for p in payloads] == [(n + 1, len(payloads)) for n in range(len(payloads))]
    assert await bench.platform.find_own(message.thread, message.delivery_id) == first
    thread = await bench.platform.fetch_thread(message.thread, 10)
    assert [m.id for m in thread] == [message.id, first]
    assert thread[1].text.count("문단입니다.") == LONG.count("문단입니다.")


async def test_posting_again_changes_nothing(bench, server):
    message = await bench.ask()
    first = await bench.platform.post(bench.reply(message))
    assert await bench.platform.post(bench.reply(message, "다른 답")) == first
    assert bench.shown(message.thread) == ["15일입니다. [1]"]


@pytest.mark.parametrize(
    "failure",
    [
        Failure(status=500), Failure(status=500, after=True), Failure(status=503, body="<html>bad gateway</html>"),
        Failure(drops=True), Failure(drops=True, after=True), Failure(error="internal_error"),
        Failure(error="fatal_error", after=True), Failure(status=429, retry_after_s=0),
    ],
    ids=str,
)  # fmt: skip
async def test_an_error_of_slack_neither_loses_nor_doubles_a_reply(bench, server, failure):
    message = await bench.ask()
    server.fail("chat.postMessage", failure)
    post = await bench.platform.post(bench.reply(message))
    assert [p["ts"] for p in server.workspace.bot_posts()] == [post]
    assert len(finals(server, message.delivery_id)) == 1


async def test_errors_in_the_middle_of_a_long_reply_leave_every_part_once(bench, server):
    message = await bench.ask()
    server.fail(
        "chat.postMessage", Failure(drops=True, after=True), Failure(status=500, after=True), Failure(status=500)
    )
    await bench.platform.post(bench.reply(message, LONG))
    payloads = finals(server, message.delivery_id)
    assert sorted(p["part"] for p in payloads) == list(range(1, payloads[0]["parts"] + 1))


async def test_an_error_that_stays_is_raised(bench, server):
    message = await bench.ask()
    server.chaos = lambda method: Failure(status=500) if method == "chat.postMessage" else None
    with pytest.raises(Unreachable):
        await bench.platform.post(bench.reply(message))


async def test_a_limit_that_stays_is_raised_with_its_time(bench, server):
    message = await bench.ask()
    server.chaos = lambda method: Failure(status=429, retry_after_s=0) if method == "chat.postMessage" else None
    with pytest.raises(RateLimited):
        await bench.platform.post(bench.reply(message))


async def test_a_token_that_was_revoked_is_an_auth_error(bench, server):
    message = await bench.ask()
    server.revoked.add("xoxb-1-emulated")
    with pytest.raises(AuthError):
        await bench.platform.post(bench.reply(message))


async def test_what_a_killed_run_left_is_completed_in_place(bench, server):
    """The first run was ended after two of its parts; the second one has another, shorter answer."""
    message = await bench.ask()
    calls = iter([None, None])
    server.chaos = lambda method: next(calls, Failure(status=500)) if method == "chat.postMessage" else None
    with pytest.raises(Unreachable):
        await bench.platform.post(bench.reply(message, LONG))
    server.chaos = lambda method: None
    assert len(finals(server, message.delivery_id)) == 2
    assert await bench.platform.find_own(message.thread, message.delivery_id) is None
    first = server.workspace.bot_posts()[0]["ts"]
    assert await bench.platform.post(bench.reply(message, "짧은 답 [1]")) == first
    assert bench.shown(message.thread) == ["짧은 답 [1]"]
    assert await bench.platform.find_own(message.thread, message.delivery_id) == first


async def test_a_post_that_somebody_deleted_meanwhile_is_written_anew(bench, server):
    message = await bench.ask()
    stream = bench.platform.stream(message.thread, message.delivery_id)
    await stream.append("연차는 ")
    del server.workspace.channels["C1"].messages[server.workspace.bot_posts()[0]["ts"]]
    post = await stream.finish(bench.reply(message))
    assert [p["ts"] for p in server.workspace.bot_posts()] == [post]


async def test_blocks_that_the_workspace_does_not_know_are_replaced_by_older_ones(bench, server):
    server.workspace.known_blocks -= {"markdown"}
    message = await bench.ask()
    await bench.platform.post(bench.reply(message, "## 여비\n\n**굵게**\n\n| a | b |\n|---|---|\n| 1 | 2 |"))
    sections = [b["text"]["text"] for b in server.workspace.bot_posts()[0]["blocks"] if b["type"] == "section"]
    assert sections == ["*여비*\n\n*굵게*\n\n```\na  b\n-  -\n1  2\n```"]


async def test_plain_text_is_the_last_resort(bench, server):
    server.workspace.known_blocks = set()
    message = await bench.ask()
    post = await bench.platform.post(bench.reply(message, "**굵게** a < b"))
    assert bench.shown(message.thread) == ["*굵게* a &lt; b"]
    await bench.platform.edit(post, bench.reply(message, "고친 답"))
    assert bench.shown(message.thread) == ["고친 답"]


async def test_a_hostile_answer_calls_nobody_and_breaks_nothing(bench, server):
    message = await bench.ask("<!channel> @here \u202eevil\x00 " + "가" * 100_000)
    await bench.platform.post(bench.reply(message, f"<!channel> <@U1> @everyone {message.text}"))
    for post in server.workspace.bot_posts():
        assert post["thread_ts"] == message.id
        words = str(post)
        assert not any(call in words for call in ("<!channel", "<@U1", "@everyone", "@here", "\u202e"))


async def test_an_edit_to_fewer_parts_takes_the_others_away(bench, server):
    message = await bench.ask()
    post = await bench.platform.post(bench.reply(message, LONG))
    await bench.platform.edit(post, bench.reply(message, "kurz"))
    assert bench.shown(message.thread) == ["kurz"]


async def test_a_thread_of_several_pages_is_read_whole(bench, server):
    root = await bench.ask()
    for number in range(450):
        server.workspace.add_message("C1", {"user": "U2", "text": f"글 {number}", "thread_ts": root.id})
    last = await bench.ask("끝", thread_ts=root.id)
    post = await bench.platform.post(bench.reply(last))
    assert await bench.platform.find_own(last.thread, last.delivery_id) == post
    assert len(await bench.platform.fetch_thread(root.thread, 1000)) == 453


async def test_a_channel_without_the_bot_says_how_to_mend_that(bench, server):
    message = await bench.ask()
    server.workspace.channels["C1"].members.discard("U0BOT00001")
    with pytest.raises(PlatformError, match="/invite"):
        await bench.platform.post(bench.reply(message))


async def test_a_reaction_that_is_there_already_is_no_error(bench, server):
    message = await bench.ask()
    await bench.platform.react(message, "eyes")
    await bench.platform.react(message, "eyes")
    assert server.workspace.channels["C1"].messages[message.id]["reactions"][0]["count"] == 1


async def test_permalinks_open_the_post_in_its_thread(bench):
    thread = ThreadRef(platform="slack", channel_id="C1", root_id="1790000000.000100")
    assert (
        bench.platform.permalink(thread, "1790000000.000100") == "https://acme.slack.com/archives/C1/p1790000000000100"
    )
    assert bench.platform.permalink(thread, "1790000001.000200") == (
        "https://acme.slack.com/archives/C1/p1790000001000200?thread_ts=1790000000.000100&cid=C1"
    )


@pytest.mark.parametrize(
    ("own", "first"),
    [
        ([], None),
        ([OwnPost(ts="1", parts=1, final=True)], "1"),
        ([OwnPost(ts="1", parts=1, final=False)], None),
        ([OwnPost(ts="1", parts=2, final=True)], None),
        ([OwnPost(ts="1", parts=2, final=True), OwnPost(ts="2", part=2, parts=2, final=True)], "1"),
        ([OwnPost(ts="2", part=2, parts=2, final=True)], None),
        ([OwnPost(ts="1")], None),
    ],
)
def test_a_reply_is_complete_when_all_its_parts_are_final(own, first):
    assert complete(own) == first


async def test_the_end_of_a_thread_of_a_thousand_messages_costs_few_calls(server):
    """The platform listens to nothing meanwhile: a connection that is made anew would read the thread too."""
    root = server.workspace.add_message("C1", {"user": "U1", "text": f"{MENTION} 연차는?"})["ts"]
    for number in range(1_000):
        person = f"U{number + 100}"
        server.workspace.add_user(person, f"사람 {number}")
        server.workspace.add_message("C1", {"user": person, "text": f"글 {number}", "thread_ts": root})
    platform = SlackPlatform(slack_options(server), state=MemoryState(), clock=lambda: datetime.now(UTC))
    found = await platform.fetch_thread(ThreadRef(platform="slack", channel_id="C1", root_id=root), 20)
    await platform.close()
    assert [message.text for message in found] == [f"글 {number}" for number in range(980, 1_000)]
    assert server.calls["conversations.replies"] == 2
    assert server.calls["users.info"] <= 100


@pytest.mark.parametrize(("after", "told_s"), [("60", 60), ("Wed, 21 Oct 2026 07:28:00 GMT", 30), ("", 30)])
async def test_a_long_wait_that_slack_asks_for_is_raised_at_once(bench, server, after, told_s):
    """The worker waits: a place that is held for minutes would keep the questions of other platforms waiting."""
    asked = await bench.ask()
    server.chaos = lambda method: (
        Failure(status=429, headers={"Retry-After": after}) if method == "chat.postMessage" else None
    )
    with pytest.raises(RateLimited) as raised:
        await bench.platform.post(bench.reply(asked))
    assert raised.value.retry_after_s == told_s
    assert server.calls["chat.postMessage"] == 1
