"""The emulated Slack answers and refuses as Slack's documentation says, asked by the official SDK."""

from __future__ import annotations

import asyncio
import time

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, SlackEmulator


class Hands:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
async def slack(hands):
    async with SlackEmulator(clock=hands, ack_timeout_s=0.1) as slack:
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_channel("C1", "general")
        slack.workspace.add_channel("C2", "closed", kind="group", bot_in=False)
        slack.workspace.add_channel("C3", "open", bot_in=False)
        slack.workspace.add_channel("D1", "미나", kind="im")
        yield slack


@pytest.fixture
async def client(slack):
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(token=BOT_TOKEN, base_url=slack.url, session=session, retry_handlers=[])


async def refused(call) -> str:
    with pytest.raises(SlackApiError) as error:
        await call
    return error.value.response["error"]


async def test_tokens_are_checked(slack, client):
    for token, error in [("", "not_authed"), ("xoxb-wrong", "invalid_auth"), (APP_TOKEN, "not_allowed_token_type")]:
        assert await refused(AsyncWebClient(token=token, base_url=slack.url, retry_handlers=[]).auth_test()) == error
    assert await refused(client.apps_connections_open(app_token=BOT_TOKEN)) == "not_allowed_token_type"
    slack.revoked.add(BOT_TOKEN)
    assert await refused(client.auth_test()) == "token_revoked"


async def test_scopes_are_told_and_missing_ones_named(slack, client):
    assert "chat:write" in (await client.auth_test()).headers["X-OAuth-Scopes"]
    slack.workspace.scopes.discard("chat:write")
    with pytest.raises(SlackApiError) as error:
        await client.chat_postMessage(channel="C1", text="x")
    assert (error.value.response["error"], error.value.response["needed"]) == ("missing_scope", "chat:write")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "x" * 12_001}]}, "invalid_blocks"),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "x" * 6_001}] * 2}, "invalid_blocks"),
        (
            {"text": "x", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}]},
            "invalid_blocks",
        ),
        ({"text": "x", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": ""}}]}, "invalid_blocks"),
        ({"text": "x", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        (
            {"text": "x", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2_800}}] * 5},
            "msg_blocks_too_long",
        ),
        ({"text": "x", "blocks": [{"type": "carousel"}]}, "invalid_blocks"),
        ({"text": "x", "blocks": [{"type": "context", "elements": []}]}, "invalid_blocks"),
        ({"text": "x", "metadata": {"event_type": "a"}}, "invalid_metadata_schema"),
        ({"text": "x", "metadata": {"event_type": "a b", "event_payload": {}}}, "invalid_metadata_schema"),
        ({"text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
        ({"text": "x", "channel": "C9"}, "channel_not_found"),
        ({"text": "x", "channel": "C2"}, "channel_not_found"),
        ({"text": "x", "channel": "C3"}, "not_in_channel"),
    ],
)
@pytest.mark.filterwarnings("ignore:The top-level `text` argument is missing:UserWarning")
async def test_messages_beyond_the_limits_are_refused(client, fields, error):
    assert await refused(client.chat_postMessage(**{"channel": "C1", **fields})) == error


async def test_a_reply_is_no_root(slack, client):
    root = await slack.say("C1", "U1", "하나")
    reply = (await client.chat_postMessage(channel="C1", text="둘", thread_ts=root))["ts"]
    assert await refused(client.chat_postMessage(channel="C1", text="셋", thread_ts=reply)) == "cannot_reply_to_message"


async def test_only_own_messages_can_be_changed(slack, client):
    theirs = await slack.say("C1", "U1", "하나")
    assert await refused(client.chat_update(channel="C1", ts=theirs, text="x")) == "cant_update_message"
    assert await refused(client.chat_update(channel="C1", ts="1.1", text="x")) == "message_not_found"
    assert await refused(client.chat_delete(channel="C1", ts=theirs)) == "cant_delete_message"


async def test_metadata_comes_back_when_it_is_asked_for(slack, client):
    root = await slack.say("C1", "U1", "하나")
    metadata = {"event_type": "note", "event_payload": {"id": "1", "last": True}}
    await client.chat_postMessage(channel="C1", text="둘", thread_ts=root, metadata=metadata)
    plain = await client.conversations_replies(channel="C1", ts=root)
    full = await client.conversations_replies(channel="C1", ts=root, include_all_metadata=True)
    assert "metadata" not in plain["messages"][1]
    assert full["messages"][1]["metadata"] == metadata


async def test_threads_and_histories_are_paged(slack, client):
    root = await slack.say("C1", "U1", "하나")
    for number in range(5):
        await client.chat_postMessage(channel="C1", text=str(number), thread_ts=root)
        await slack.say("C1", "U1", f"글 {number}")
    seen, cursor = [], None
    while True:
        page = await client.conversations_replies(channel="C1", ts=root, limit=2, cursor=cursor)
        seen += [message["text"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert seen == ["하나", "0", "1", "2", "3", "4"]
    history = await client.conversations_history(channel="C1")
    assert [m["text"] for m in history["messages"]] == ["글 4", "글 3", "글 2", "글 1", "글 0", "하나"]
    assert history["messages"][-1]["reply_count"] == 5
    assert await refused(client.conversations_replies(channel="C1", ts="1.1")) == "thread_not_found"


async def test_streams_need_a_recipient_in_channels_and_end_after_five_minutes(slack, client, hands):
    root = await slack.say("C1", "U1", "하나")
    assert await refused(client.chat_startStream(channel="C1", thread_ts=root)) == "missing_recipient_user_id"
    direct = await slack.say("D1", "U1", "둘")
    ts = (await client.chat_startStream(channel="D1", thread_ts=direct, markdown_text="a"))["ts"]
    assert await refused(client.chat_update(channel="D1", ts=ts, text="x")) == "streaming_state_conflict"
    await client.chat_appendStream(channel="D1", ts=ts, markdown_text="b")
    hands.now += 301
    assert (
        await refused(client.chat_appendStream(channel="D1", ts=ts, markdown_text="c"))
        == "message_not_in_streaming_state"
    )
    assert await refused(client.chat_stopStream(channel="D1", ts=ts)) == "message_not_in_streaming_state"
    await client.chat_update(channel="D1", ts=ts, text="ab")


async def test_a_response_url_works_five_times_within_half_an_hour(slack, hands):
    async with aiohttp.ClientSession() as session:

        async def use(url):
            async with session.post(url, json={"text": "x"}) as answer:
                return answer.status

        url = slack.response_url("U1", "C1")
        assert [await use(url) for _ in range(6)] == [200] * 5 + [404]
        late = slack.response_url("U1", "C1")
        hands.now += 1801
        assert await use(late) == 404


async def test_a_file_without_the_token_is_a_page_to_sign_in(slack):
    file = slack.add_file("a.txt", b"hello", "text/plain")
    async with aiohttp.ClientSession() as session:
        async with session.get(file["url_private"]) as answer:
            assert answer.content_type == "text/html"
        async with session.get(file["url_private"], headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as answer:
            assert await answer.read() == b"hello"


async def test_an_envelope_comes_again_until_it_is_acknowledged(slack):
    client = AsyncWebClient(base_url=slack.url, retry_handlers=[])
    url = (await client.apps_connections_open(app_token=APP_TOKEN))["url"]
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        await slack.say("C1", "U1", f"<@{BOT_USER}> 연차는?")
        heard = [await socket.receive_json() for _ in range(4)]
        assert {e["payload"]["event"]["type"] for e in heard} == {"message", "app_mention"}
        assert [e["retry_attempt"] for e in heard] == [0, 0, 1, 1]
        for envelope in {e["envelope_id"] for e in heard}:
            await socket.send_json({"envelope_id": envelope})
        async with asyncio.timeout(60):
            await slack.sockets.settled()
        assert slack.sockets.given_up == []
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)  # an address is good for one connection
