"""What the Ollama adapter sends, and what it makes of everything that can go wrong on the way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bot.errors import ModelPromptCut, ModelTimeout, ModelUnavailable
from bot.llm.ollama import OllamaChat, OllamaOptions
from bot.llm.queue import ModelQueue
from bot.types import ChatTurn
from tests.emulators.ollama import EmbeddingModel, Failure, LanguageModel, OllamaEmulator, Script, unused_url

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[OllamaEmulator]:
    models = [LanguageModel(name="tinygemma"), LanguageModel(name="small", window_tokens=2048)]
    with OllamaEmulator(models=[*models, EmbeddingModel(name="minilm")]) as emulator:
        yield emulator


def chat(server: OllamaEmulator, name: str = "tinygemma", **options: object) -> OllamaChat:
    return OllamaChat(name, url=server.url, clock=lambda: NOW, options=OllamaOptions(**options))  # type: ignore[arg-type]


async def reply(model: OllamaChat, text: str = "hello") -> str:
    try:
        return "".join([piece async for piece in model.stream([ChatTurn(role="user", content=text)])])
    finally:
        await model.close()


async def test_window_reply_limit_and_temperature_are_sent_with_every_request(server):
    await reply(chat(server, num_ctx=2048, max_reply_tokens=99, temperature=0.0), "연차는 며칠?")
    [body] = server.requests("/api/chat")
    assert body["options"] == {"num_ctx": 2048, "num_predict": 99, "temperature": 0.0}
    assert body["messages"] == [{"role": "user", "content": "연차는 며칠?"}]
    assert body["stream"] is True
    assert "think" not in body


async def test_thoughts_are_dropped_whether_they_come_in_their_own_field_or_in_the_text(server):
    server.scripts.append(Script(thinking=("Let me", " see"), pieces=("15 days",)))
    server.scripts.append(Script(pieces=("<thi", "nk>Let me see</think>", "15 days")))
    assert [await reply(chat(server)), await reply(chat(server))] == ["15 days", "15 days"]


async def test_a_prompt_that_filled_the_window_was_cut_and_is_reported_after_the_pieces(server):
    model = chat(server, num_ctx=256)
    stream = model.stream([ChatTurn(role="user", content="alpha " * 300)])
    assert [await anext(stream), await anext(stream)] == ["Hello", "."]
    with pytest.raises(ModelPromptCut, match="num_ctx 256"):
        await anext(stream)
    await model.close()


async def test_a_prompt_that_cannot_fit_is_not_even_sent(server):
    with pytest.raises(ModelPromptCut, match="3000 bytes"):
        await reply(chat(server, num_ctx=256), "a" * 3000)
    assert server.requests("/api/chat") == []


async def test_an_error_in_the_middle_of_a_stream_is_raised_with_its_words(server):
    server.scripts.append(Script(pieces=("15",), error="llama runner process has terminated"))
    with pytest.raises(ModelUnavailable, match="in the middle of a reply: llama runner"):
        await reply(chat(server))


async def test_a_dropped_connection_is_a_failure_and_no_short_answer(server):
    server.scripts.append(Script(pieces=("15",), drops=True))
    with pytest.raises(ModelUnavailable, match="broke off"):
        await reply(chat(server))


@pytest.mark.parametrize("status", [400, 500, 503])
async def test_a_refused_request_names_status_and_reason(server, status):
    server.failures.append(Failure(status=status, error="out of memory"))
    with pytest.raises(ModelUnavailable, match=f"status {status}: out of memory"):
        await reply(chat(server))


async def test_no_server_is_said_at_once():
    model = OllamaChat("tinygemma", url=unused_url(), clock=lambda: NOW)
    with pytest.raises(ModelUnavailable, match="start it"):
        await reply(model)
    status = await model.check()
    assert status.state == "down"
    await model.close()


async def test_a_reply_that_starts_but_does_not_end_in_time_is_a_timeout(server):
    never = threading.Event()
    server.scripts.append(Script(pieces=("15",), hold_before_last=never))
    try:
        with pytest.raises(ModelTimeout, match=r"all within 0\.2 s"):
            await reply(chat(server, total_timeout_s=0.2))
    finally:
        never.set()


async def test_no_more_replies_are_generated_at_once_than_allowed(server):
    go_on = threading.Event()
    server.scripts.extend(Script(hold_before_last=go_on) for _ in range(4))
    model = OllamaChat("tinygemma", url=server.url, clock=lambda: NOW, queue=ModelQueue(2))
    started = asyncio.Queue[None]()

    async def read() -> None:
        async for _ in model.stream([ChatTurn(role="user", content="x")]):
            started.put_nowait(None)

    async with asyncio.TaskGroup() as readers:
        for _ in range(4):
            readers.create_task(read())
        for _ in range(4):  # two pieces of each of the two that were let in
            await started.get()
        assert len(server.requests("/api/chat")) == 2
        go_on.set()
    assert server.most_at_once == 2
    assert len(server.requests("/api/chat")) == 4
    await model.close()


async def test_a_model_that_cannot_chat_is_down(server):
    model = chat(server, "minilm")
    status = await model.check()
    assert (status.state, status.checked_at) == ("down", NOW)
    assert "cannot chat" in status.detail
    await model.close()


async def test_a_window_smaller_than_num_ctx_is_degraded(server):
    model = chat(server, "small", num_ctx=8192)
    status = await model.check()
    assert status.state == "degraded"
    assert "2048" in status.detail
    assert "8192" in status.detail
    await model.close()
