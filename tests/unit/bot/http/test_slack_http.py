"""Slack over HTTP: signed requests are taken, others are not, and what cannot be saved is not acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from datetime import UTC, datetime
from urllib.parse import urlencode

import httpx
import pytest
import uvicorn
from pydantic import SecretStr
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette

from bot.errors import StoreError
from bot.http.slack import slack_routes
from bot.platforms.slack import SlackPlatform
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import SIGNING_SECRET, event_callback
from tests.emulators.slack_options import slack_options
from tests.unit.bot.platforms.slack_bench import MENTION, listening, slack_server

EVENT = {
    "type": "message",
    "user": "U1",
    "text": f"{MENTION} 연차는?",
    "ts": "1790000000.000100",
    "channel": "C1",
    "channel_type": "channel",
    "event_ts": "1790000000.000100",
}


@pytest.fixture
async def server():
    async with slack_server() as server:
        yield server


@pytest.fixture
async def bench(server):
    async with listening(server, mode="http", app_token=None) as bench:
        yield bench


@pytest.fixture
async def client(bench):
    app = Starlette(routes=slack_routes(bench.platform))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as client:
        yield client


def signed(
    body: str, *, secret: str = SIGNING_SECRET, at: float | None = None, kind: str = "application/json", **headers: str
) -> dict:
    timestamp = str(int(time.time() if at is None else at))
    signature = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=body)
    return {"X-Slack-Signature": signature, "X-Slack-Request-Timestamp": timestamp, "Content-Type": kind, **headers}


async def test_a_signing_secret_that_was_replaced_in_its_file_is_taken_up_without_a_restart(server):
    configured = {"signing_secret": SecretStr(SIGNING_SECRET)}
    async with listening(server, mode="http", app_token=None, token_now=configured.get) as bench:
        app = Starlette(routes=slack_routes(bench.platform))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as client:

            async def told(number: int, secret: str) -> int:
                body = json.dumps(event_callback({**EVENT, "ts": f"170000000{number}.000100"}, number))
                return (
                    await client.post("/slack/events", content=body, headers=signed(body, secret=secret))
                ).status_code

            assert await told(1, "the next secret") == 401
            configured["signing_secret"] = SecretStr("the next secret")
            assert await told(2, SIGNING_SECRET) == 200  # until the first request comes with the new one
            assert await told(3, "the next secret") == 200
            assert await told(4, SIGNING_SECRET) == 401
            assert await told(5, "the next secret") == 200
    assert len(bench.messages) == 3


async def test_an_event_is_saved_and_acknowledged(bench, client, server):
    body = json.dumps(event_callback(EVENT, 1))
    answer = await client.post("/slack/events", content=body, headers=signed(body))
    assert answer.status_code == 200
    assert [(m.text, m.mentions_bot) for m in bench.messages] == [("연차는?", True)]
    assert server.calls["apps.connections.open"] == 0


async def test_a_repetition_is_acknowledged_and_not_delivered_again(bench, client):
    body = json.dumps(event_callback(EVENT, 1))
    for retry in ("", "1", "2"):
        more = {"X-Slack-Retry-Num": retry, "X-Slack-Retry-Reason": "http_timeout"} if retry else {}
        assert (await client.post("/slack/events", content=body, headers=signed(body, **more))).status_code == 200
    assert len(bench.messages) == 1


async def test_what_cannot_be_saved_is_not_acknowledged(bench, client):
    bench.refuse = StoreError("The disk is full.")
    body = json.dumps(event_callback(EVENT, 1))
    assert (await client.post("/slack/events", content=body, headers=signed(body))).status_code == 500
    bench.refuse = None
    assert (await client.post("/slack/events", content=body, headers=signed(body))).status_code == 200
    assert len(bench.messages) == 1


@pytest.mark.parametrize(
    "headers",
    [
        lambda body: {"Content-Type": "application/json"},
        lambda body: signed(body, secret="another secret"),
        lambda body: signed(body, at=time.time() - 3600),
        lambda body: signed(body + " "),
        lambda body: signed(body, at=time.time() + 3600),
        lambda body: {**signed(body), "X-Slack-Request-Timestamp": "yesterday"},
        lambda body: {**signed(body), "X-Slack-Request-Timestamp": ""},
        lambda body: {**signed(body), "X-Slack-Signature": "v0=\u00e9".encode("latin-1")},
    ],
    ids=["unsigned", "another secret", "an hour old", "another body", "an hour ahead", "no time", "empty", "no ASCII"],
)
async def test_a_request_that_slack_did_not_sign_is_refused(bench, client, headers):
    body = json.dumps(event_callback(EVENT, 1))
    answer = await client.post("/slack/events", content=body, headers=headers(body))
    assert answer.status_code == 401
    assert bench.heard == []


async def test_slacks_question_for_the_address_is_answered(client):
    body = json.dumps({"type": "url_verification", "token": "x", "challenge": "abc123"})
    answer = await client.post("/slack/events", content=body, headers=signed(body))
    assert answer.status_code == 200
    assert answer.json() == {"challenge": "abc123"}


async def test_commands_and_buttons_are_taken_too(bench, client, server):
    form = "application/x-www-form-urlencoded"
    body = urlencode(
        {
            "command": "/haechi",
            "text": "ask 연차는?",
            "user_id": "U1",
            "user_name": "mina",
            "channel_id": "C1",
            "trigger_id": "1.2",
            "response_url": server.response_url("U1", "C1"),
            "team_id": "T0HAECHI1",
        }
    )
    answer = await client.post("/slack/commands", content=body, headers=signed(body, kind=form))
    assert (answer.status_code, answer.text) == (200, "")
    assert bench.commands[0].args == "ask 연차는?"
    message = {"ts": "1790000001.000100", "text": "x"}
    payload = {
        "type": "block_actions",
        "user": {"id": "U1", "name": "mina"},
        "container": {"type": "message", "message_ts": message["ts"], "channel_id": "C1"},
        "channel": {"id": "C1"},
        "message": message,
        "actions": [{"type": "button", "action_id": "haechi_vote_wrong", "block_id": "b", "value": "wrong:C1:1.1"}],
        "team": {"id": "T0HAECHI1"},
    }
    body = urlencode({"payload": json.dumps(payload)})
    answer = await client.post("/slack/interactivity", content=body, headers=signed(body, kind=form))
    assert answer.status_code == 200
    assert [(v.vote, v.delivery_id) for v in bench.votes] == [("wrong", "C1:1.1")]


async def test_before_anybody_listens_slack_is_told_to_come_again(server):
    platform = SlackPlatform(slack_options(server, mode="http"), state=MemoryState(), clock=lambda: datetime.now(UTC))
    app = Starlette(routes=slack_routes(platform))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as client:
        body = json.dumps(event_callback(EVENT, 1))
        assert (await client.post("/slack/events", content=body, headers=signed(body))).status_code == 503


async def test_bodies_that_are_no_text_or_too_long_are_refused(client):
    formed = signed("another body")
    assert (await client.post("/slack/events", content=b"\xff\xfe", headers=formed)).status_code == 400
    long = b"x" * (2 * 1024 * 1024 + 1)
    assert (await client.post("/slack/events", content=long, headers=formed)).status_code == 413


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
async def test_bodies_that_are_nested_without_end_are_refused(client, kind):
    body = ("payload=" if "form" in kind else "") + "[" * 200_000
    answer = await client.post("/slack/events", content=body, headers=signed("another body", kind=kind))
    assert answer.status_code in (400, 401)


async def test_the_routes_take_posts_alone(client):
    assert (await client.get("/slack/events")).status_code == 405


async def test_doctor_asks_whether_the_public_address_leads_to_the_bot(bench, server):
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=slack_routes(bench.platform))
    site = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    site.capture_signals = contextlib.nullcontext
    serving = asyncio.create_task(site.serve(sockets=[listener]))
    own = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    try:
        await bench.until(lambda: site.started)
        for address, ok in ((own, True), ("http://127.0.0.1:9", False), (server.origin, False), (None, True)):
            options = slack_options(server, mode="http", app_token=None, public_url=address)
            platform = SlackPlatform(options, state=MemoryState(), clock=lambda: datetime.now(UTC))
            found = {line.name: line for line in await platform.diagnose([])}["slack over HTTP"]
            assert found.ok is ok, address
            assert ok or "/slack/" in found.remedy
    finally:
        site.should_exit = True
        await serving
