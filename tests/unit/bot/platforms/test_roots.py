"""Posts that open threads, and direct messages, on Slack and Mattermost: once, whatever goes wrong on the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.platforms.mattermost_posting import POST_LIMIT_CHARS
from bot.types import Reply
from tests.emulators.slack import Failure
from tests.unit.bot.platforms.mattermost_bench import bench
from tests.unit.bot.platforms.slack_bench import listening, slack_server

KEY = "alert:1:post"


@pytest.fixture
async def slack():
    async with slack_server() as server, listening(server) as b:
        yield b


def slack_roots(b) -> list[str]:
    return [post["ts"] for post in b.server.workspace.bot_posts()]


async def open_on_slack(b, channel="C1", text="장애", *, again=False):
    since = datetime.now(UTC) if again else None
    return (await b.platform.open_thread(channel, text, delivery_id=KEY, since=since)).root_id


# --- Slack ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failures",
    [
        [Failure(status=500)],
        [Failure(status=500, after=True)],
        [Failure(drops=True)],
        [Failure(drops=True, after=True)],
        [Failure(error="internal_error", after=True)],
        [Failure(status=429, retry_after_s=0)],
        [Failure(status=429, retry_after_s=0), Failure(drops=True, after=True)],
        [Failure(status=503, body="<html>bad gateway</html>"), Failure(status=500, after=True)],
    ],
    ids=str,
)
async def test_an_error_of_slack_neither_loses_nor_doubles_an_opening_post(slack, failures):
    slack.server.fail("chat.postMessage", *failures)
    ts = await open_on_slack(slack)
    assert slack_roots(slack) == [ts]


async def test_an_opening_post_on_slack_has_no_buttons_and_unfurls_nothing(slack):
    ts = await open_on_slack(slack, text="[열기](https://monitor.example.com/1)")
    (post,) = slack.server.workspace.bot_posts()
    assert "thread_ts" not in post
    assert "actions" not in [block["type"] for block in post["blocks"]]
    sent = slack.server.arguments["chat.postMessage"][0]
    assert (sent["unfurl_links"], sent["unfurl_media"]) == (False, False)
    thread = await slack.platform.open_thread("C1", "x", delivery_id=KEY, since=datetime.now(UTC))
    notice = Reply(thread=thread, markdown="장애 2종", citations=(), delivery_id=KEY, final=True, kind="notice")
    await slack.platform.edit(ts, notice)
    (post,) = slack.server.workspace.bot_posts()
    assert post["text"] == "장애 2종"
    assert "actions" not in [block["type"] for block in post["blocks"]]


async def test_the_first_attempt_reads_no_history(slack):
    before = slack.server.calls["conversations.history"]
    await open_on_slack(slack)
    assert slack.server.calls["conversations.history"] == before


async def test_what_another_app_claims_to_be_our_post_is_not_taken_for_it(slack):
    payload = {"delivery_id": KEY, "part": 1, "parts": 1, "final": True}
    slack.server.workspace.add_message(
        "C1", {"bot_id": "B0OTHER", "user": "U0OTHER", "text": "x",
               "metadata": {"event_type": "haechi_reply", "event_payload": payload}},
    )  # fmt: skip
    ts = await open_on_slack(slack, again=True)
    assert slack_roots(slack) == [ts]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda w: w.channels["C1"].members.clear(), "/invite"),
        (lambda w: setattr(w.channels["C1"], "archived", True), "archived"),
        (lambda w: w.channels.pop("C1"), "gone"),
        (lambda w: w.scopes.discard("chat:write"), "chat:write"),
    ],
    ids=["not a member", "archived", "gone", "scope"],
)
async def test_a_channel_in_which_the_bot_cannot_post_is_named_with_what_to_do(slack, spoil, says):
    spoil(slack.server.workspace)
    with pytest.raises(PlatformError, match=says) as caught:
        await open_on_slack(slack)
    assert not isinstance(caught.value, Unreachable | RateLimited | AuthError)


async def test_errors_of_slack_that_stay_are_raised_by_their_kind(slack):
    slack.server.chaos = lambda method: Failure(status=500) if method == "chat.postMessage" else None
    with pytest.raises(Unreachable):
        await open_on_slack(slack)
    slack.server.chaos = lambda method: Failure(status=429, retry_after_s=0) if method == "chat.postMessage" else None
    with pytest.raises(RateLimited):
        await open_on_slack(slack)
    slack.server.chaos = lambda method: None
    slack.server.revoked.add("xoxb-1-emulated")
    with pytest.raises(AuthError):
        await open_on_slack(slack)


async def test_a_direct_message_on_slack_survives_a_lost_answer_and_needs_the_person_to_be_there(slack):
    slack.server.fail("chat.postMessage", Failure(drops=True, after=True))
    message = await slack.platform.message_person("U2", "소스가 비어 보입니다.", delivery_id="notice:1", since=None)
    (post,) = slack.server.workspace.bot_posts()
    assert message == f"{post['channel']}:{post['ts']}"
    assert post["channel"].startswith("D")
    with pytest.raises(PlatformError, match="user_not_found"):
        await slack.platform.message_person("U9", "x", delivery_id="notice:1", since=None)


async def test_slack_is_not_called_on_behalf_of_what_an_alert_says(slack):
    await open_on_slack(slack, text="<!channel> <@U1> @here")
    shown = str(slack.server.workspace.bot_posts()[0]["blocks"])
    assert "<!channel>" not in shown
    assert "<@U1>" not in shown
    assert "@here" not in shown


# --- Mattermost -----------------------------------------------------------------------------------


async def open_on_mattermost(b, text="장애", *, channel=None, again=False, key=KEY):
    since = datetime.now(UTC) if again else None
    thread = await b.platform.open_thread(channel or b.server.state.town, text, delivery_id=key, since=since)
    return thread.root_id


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 500, "carried_out": True},
        {"status": 0, "drops": True},
        {"status": 0, "carried_out": True, "drops": True},
        {"status": 429, "headers": {"Retry-After": "0"}},
        {"status": 503, "times": 3},
    ],
    ids=str,
)
async def test_an_error_of_mattermost_neither_loses_nor_doubles_an_opening_post(fault):
    async with bench() as b:
        b.server.fail("POST", "/posts", **fault)
        b.server._pending.clear()
        post_id = await open_on_mattermost(b)
        assert [post["id"] for post in b.server.state.own_posts()] == [post_id]


async def test_an_opening_post_on_mattermost_has_no_buttons_and_fits_the_server():
    async with bench(callback_url="http://127.0.0.1:9") as b:
        await open_on_mattermost(b, "가나다 " * 20_000)
        (post,) = b.server.state.own_posts()
        assert "attachments" not in post["props"]
        assert len(post["message"]) <= POST_LIMIT_CHARS
        assert post["message"].endswith("…")
        assert post["root_id"] == ""


async def test_an_opening_post_that_was_deleted_is_posted_anew():
    async with bench() as b:
        first = await open_on_mattermost(b)
        b.server.state.delete_post(b.server.state.bot, first)
        b.server._pending.clear()
        second = await open_on_mattermost(b, again=True)
        assert second != first


async def test_a_post_of_a_person_that_holds_the_same_props_is_not_taken_for_ours():
    async with bench() as b:
        props = {"haechi": {"delivery_id": KEY, "part": 1, "parts": 1, "final": True}}
        theirs = b.server.state.say(b.server.state.alice, b.server.state.town, "x", props=props)
        assert await open_on_mattermost(b, again=True) != theirs["id"]


async def test_a_post_from_before_the_first_attempt_ends_the_search():
    async with bench() as b:
        await open_on_mattermost(b, key="other")
        b.server.state.now_ms = lambda: int((datetime.now(UTC) + timedelta(hours=1)).timestamp() * 1000)
        post_id = await open_on_mattermost(b)
        assert await open_on_mattermost(b, again=True) == post_id


@pytest.mark.parametrize("spoil", ["not a member", "archived", "gone"])
async def test_a_mattermost_channel_in_which_the_bot_cannot_post_is_an_error_of_the_channel(spoil):
    async with bench() as b:
        state = b.server.state
        if spoil == "not a member":
            state.channels[state.town].members.discard(state.bot)
        elif spoil == "archived":
            state.channels[state.town].delete_at = 1
        with pytest.raises(PlatformError) as caught:
            await open_on_mattermost(b, channel="nosuch" if spoil == "gone" else None)
        assert not isinstance(caught.value, Unreachable | RateLimited | AuthError)


async def test_a_direct_message_on_mattermost_survives_a_lost_answer_and_needs_the_person_to_be_there():
    async with bench() as b:
        b.server.fail("POST", "/posts", status=500, carried_out=True)
        state = b.server.state
        post_id = await b.platform.message_person(state.alice, "소스가 비어 보입니다.", delivery_id="n1", since=None)
        (post,) = state.own_posts()
        assert post["id"] == post_id
        assert state.channels[post["channel_id"]].type == "D"
        with pytest.raises(PlatformError):
            await b.platform.message_person("nobody", "x", delivery_id="n1", since=None)
