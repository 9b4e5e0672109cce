"""Servers that speak OpenAI's chat completions in their own ways: what is read of each, and what is asked anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bot.errors import ModelReplyCut, ModelUnavailable
from bot.llm.openai import OpenAIChat
from bot.types import ChatTurn
from tests.emulators.openai import OpenAIEmulator

ASKED = [ChatTurn(role="user", content="연차는 며칠?")]
SCHEMA = {"type": "object"}


@pytest.fixture
def server() -> Iterator[OpenAIEmulator]:
    with OpenAIEmulator(models=["small"]) as emulator:
        yield emulator


def chat(server: OpenAIEmulator) -> OpenAIChat:
    return OpenAIChat("small", url=server.url, clock=lambda: datetime(2026, 1, 2, tzinfo=UTC))


def events(*deltas: object, reason: str | None = "stop", done: bool = True, prefix: str = "data: ") -> str:
    lines = [f"{prefix}{json.dumps({'choices': [{'delta': delta, 'finish_reason': None}]})}" for delta in deltas]
    if reason is not None:
        lines.append(prefix + json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}))
    return "\n\n".join([*lines, *([f"{prefix}[DONE]"] if done else [])]) + "\n\n"


async def reply_to(server: OpenAIEmulator, body: str, media_type: str = "text/event-stream") -> str:
    server.raw.append((media_type, body))
    model = chat(server)
    try:
        return "".join([piece async for piece in model.stream(ASKED)])
    finally:
        await model.close()


HELLO = ({"content": "15 "}, {"content": "days"})
ODD = {
    "no blank behind data": events(*HELLO, prefix="data:"),
    "keep-alive comments": ": keep-alive\n\n: ping\n\n" + events(*HELLO).replace("\n\n", "\n\n: ping\n\n"),
    "names of events and ids": "event: message\nid: 1\n" + events(*HELLO),
    "empty data": "data:\n\ndata: \n\n" + events(*HELLO),
    "no finish reason before the end": events(*HELLO, reason=None),
    "an empty finish reason": events(*HELLO, reason=""),
    "a finish reason of its own": events(*HELLO, reason="eos_token"),
    "no end but a finish reason": events(*HELLO, done=False),
    "thoughts in their own field": events({"reasoning_content": "hm"}, {"reasoning": "hm", "content": None}, *HELLO),
    "content in parts": events({"content": [{"type": "text", "text": "15 "}, {"type": "text", "text": "days"}]}),
    "choices that are null": 'data: {"choices": null}\n\n' + events(*HELLO),
    "usage that is null": 'data: {"choices": [], "usage": null}\n\n' + events(*HELLO),
    "usage without figures": events(*HELLO).replace(
        "data: [DONE]", 'data: {"choices": [], "usage": {}}\n\ndata: [DONE]'
    ),
    "lines that end in carriage returns": events(*HELLO).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
async def test_a_stream_in_an_odd_form_is_read(server, body):
    assert await reply_to(server, body) == "15 days"


async def test_an_answer_in_one_piece_is_read_where_a_stream_was_asked_for(server):
    message = {"choices": [{"message": {"content": "15 days"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}
    assert await reply_to(server, json.dumps(message, indent=1), "application/json") == "15 days"


@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_length"])
async def test_a_reply_at_its_limit_is_told_by_whatever_name(server, reason):
    with pytest.raises(ModelReplyCut):
        await reply_to(server, events(*HELLO, reason=reason))


async def test_a_reply_that_the_servers_filter_broke_off_is_no_reply(server):
    with pytest.raises(ModelUnavailable, match="filter"):
        await reply_to(server, events(*HELLO, reason="content_filter"))


async def test_a_stream_without_any_end_broke_off(server):
    with pytest.raises(ModelUnavailable, match="broke off"):
        await reply_to(server, events(*HELLO, reason=None, done=False))


async def test_data_that_is_no_json_is_a_failure_and_no_crash(server):
    with pytest.raises(ModelUnavailable):
        await reply_to(server, "data: <html>502 Bad Gateway</html>\n\n")


REFUSALS = {
    "response_format": "response_format.type json_schema is unavailable now",
    "stream_options": "Unrecognized request argument supplied: stream_options",
    "temperature": "Unsupported value: 'temperature' does not support 0.1 with this model",
    "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_field_that_a_server_does_not_know_is_left_out_from_then_on(server, name):
    server.refuses[name] = REFUSALS[name]
    model = chat(server)
    assert [await model.complete(ASKED, schema=SCHEMA), await model.complete(ASKED, schema=SCHEMA)] == ["Hello."] * 2
    await model.close()
    sent = [name in body for body in server.requests()]
    assert sent == [True, False, False]  # refused once, asked anew, remembered
    if name == "max_tokens":
        assert server.requests()[-1]["max_completion_tokens"] == 1024


async def test_several_unknown_fields_are_left_out_one_after_the_other(server):
    server.refuses.update(REFUSALS)
    model = chat(server)
    assert await model.complete(ASKED, schema=SCHEMA) == "Hello."
    await model.close()
    assert len(server.requests()) == len(REFUSALS) + 1


async def test_a_refusal_for_another_reason_is_raised_with_its_words(server):
    server.refuses["messages"] = "messages must alternate between roles"
    model = chat(server)
    with pytest.raises(ModelUnavailable, match="alternate"):
        await model.complete(ASKED)
    await model.close()
