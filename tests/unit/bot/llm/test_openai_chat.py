"""What the adapter for OpenAI-compatible servers sends, and what it makes of everything that can go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bot.errors import ModelNotInstalled, ModelPromptCut, ModelUnavailable
from bot.llm.openai import OpenAIChat, OpenAIOptions
from bot.types import ChatTurn
from tests.emulators.ollama import Failure, Script, unused_url
from tests.emulators.openai import OpenAIEmulator

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ASKED = [ChatTurn(role="user", content="연차는 며칠?")]


@pytest.fixture
def server() -> Iterator[OpenAIEmulator]:
    with OpenAIEmulator(models=["small"]) as emulator:
        yield emulator


def chat(server: OpenAIEmulator, name: str = "small", *, base: str = "", **options: object) -> OpenAIChat:
    return OpenAIChat(name, url=server.url + base, clock=lambda: NOW, options=OpenAIOptions(**options))  # type: ignore[arg-type]


async def reply(model: OpenAIChat) -> str:
    try:
        return "".join([piece async for piece in model.stream(ASKED)])
    finally:
        await model.close()


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/"])
async def test_the_address_may_end_in_v1_or_not(server, base):
    assert await reply(chat(server, base=base)) == "Hello."


async def test_limits_and_temperature_are_sent_and_the_key_goes_in_a_header(server):
    await reply(chat(server, max_reply_tokens=99, temperature=0.0, api_key="k-1"))
    [body] = server.requests()
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (99, 0.0, True)
    assert body["messages"] == [{"role": "user", "content": "연차는 며칠?"}]
    assert server.keys == ["Bearer k-1"]


async def test_a_schema_is_asked_for_in_the_form_of_the_api(server):
    server.scripts.append(Script(pieces=('{"days":', " 15}")))
    model = chat(server)
    assert await model.complete(ASKED, schema={"type": "object"}) == '{"days": 15}'
    assert server.requests()[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}
    await model.close()


async def test_thoughts_are_dropped_in_their_own_field_and_in_the_text(server):
    server.scripts.append(Script(thinking=("Let me see",), pieces=("15 days",)))
    server.scripts.append(Script(pieces=("<think>hm</think>", "15 days")))
    assert [await reply(chat(server)), await reply(chat(server))] == ["15 days", "15 days"]


async def test_a_prompt_that_filled_the_window_is_reported(server):
    server.scripts.append(Script(prompt_eval_count=8192))
    with pytest.raises(ModelPromptCut):
        await reply(chat(server))


async def test_an_error_in_the_middle_of_a_stream_is_raised_with_its_words(server):
    server.scripts.append(Script(pieces=("15",), error="out of memory"))
    with pytest.raises(ModelUnavailable, match="in the middle of a reply: out of memory"):
        await reply(chat(server))


async def test_a_wrong_key_is_told_without_the_key(server):
    server.api_key = "right"
    with pytest.raises(ModelUnavailable, match=r"model\.api_key_env") as raised:
        await reply(chat(server, api_key="wrong-secret"))
    assert "wrong-secret" not in str(raised.value)


@pytest.mark.parametrize("status", [400, 500, 503])
async def test_a_refused_request_names_status_and_reason(server, status):
    server.failures.append(Failure(status=status, error="busy"))
    with pytest.raises(ModelUnavailable, match=f"status {status}: busy"):
        await reply(chat(server))


async def test_a_model_that_is_not_there_is_named(server):
    with pytest.raises(ModelNotInstalled, match="gone"):
        await reply(chat(server, "gone"))
    model = chat(server, "gone")
    assert (await model.check()).state == "down"
    await model.close()


async def test_no_server_is_said_at_once():
    model = OpenAIChat("small", url=unused_url(), clock=lambda: NOW)
    with pytest.raises(ModelUnavailable, match="start it"):
        await reply(model)
    assert (await model.check()).state == "down"
    await model.close()
