"""What every ChatModel does: the Ollama adapter against an emulated server, and the fake that other tests use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, aclosing
from datetime import UTC, datetime
from typing import Protocol

import pytest

from bot.errors import ModelNotInstalled, ModelReplyCut, ModelTimeout, ModelUnavailable
from bot.llm.ollama import OllamaChat, OllamaOptions
from bot.llm.openai import OpenAIChat, OpenAIOptions
from bot.model_chain import ModelChain
from bot.ports import ChatModel
from bot.types import ChatTurn
from tests.emulators.ollama import LanguageModel, OllamaEmulator, Script
from tests.emulators.openai import OpenAIEmulator
from tests.fakes.chat_model import FakeChatModel, FakeReply

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ASKED = [ChatTurn(role="system", content="Answer from the evidence."), ChatTurn(role="user", content="연차는 며칠?")]


class Stage(Protocol):
    """Builds models that behave in a certain way, for one implementation of the port."""

    def saying(self, *replies: tuple[str, ...]) -> ChatModel: ...
    def breaking_off_after(self, *pieces: str) -> ChatModel: ...
    def cut_at_its_limit_after(self, *pieces: str) -> ChatModel: ...
    def never_starting(self) -> ChatModel: ...
    def not_installed(self) -> ChatModel: ...


class FakeStage:
    def saying(self, *replies: tuple[str, ...]) -> ChatModel:
        return FakeChatModel(*(FakeReply(pieces=pieces) for pieces in replies))

    def breaking_off_after(self, *pieces: str) -> ChatModel:
        return FakeChatModel(FakeReply(pieces=pieces, error=ModelUnavailable("broke off")))

    def cut_at_its_limit_after(self, *pieces: str) -> ChatModel:
        return FakeChatModel(FakeReply(pieces=pieces, error=ModelReplyCut("reached its limit")))

    def never_starting(self) -> ChatModel:
        return FakeChatModel(FakeReply(error=ModelTimeout("too slow")))

    def not_installed(self) -> ChatModel:
        missing = ModelNotInstalled("no model nope: run `ollama pull nope`")
        return FakeChatModel(FakeReply(error=missing), name="nope", state="down", detail=str(missing))


class OllamaStage:
    def __init__(self, server: OllamaEmulator, stack: ExitStack) -> None:
        self.server = server
        self.stack = stack

    def build(self, *scripts: Script, name: str = "tinygemma", **options: float) -> ChatModel:
        self.server.scripts.extend(scripts)
        chosen = OllamaOptions(**options)  # type: ignore[arg-type]
        return OllamaChat(name, url=self.server.url, clock=lambda: NOW, options=chosen)

    def saying(self, *replies: tuple[str, ...]) -> ChatModel:
        return self.build(*(Script(pieces=pieces) for pieces in replies))

    def breaking_off_after(self, *pieces: str) -> ChatModel:
        return self.build(Script(pieces=pieces, breaks_off=True))

    def cut_at_its_limit_after(self, *pieces: str) -> ChatModel:
        return self.build(Script(pieces=pieces, done_reason="length"))

    def never_starting(self) -> ChatModel:
        from threading import Event

        never = Event()
        self.stack.callback(never.set)
        return self.build(Script(hold_before_first=never), first_token_timeout_s=0.05)

    def not_installed(self) -> ChatModel:
        return self.build(name="nope")


class ChainStage(OllamaStage):
    """A chain of one model behaves as that model."""

    def build(self, *scripts: Script, name: str = "tinygemma", **options: float) -> ChatModel:
        return ModelChain([super().build(*scripts, name=name, **options)], num_ctx=8192)

    def breaking_off_after(self, *pieces: str) -> ChatModel:
        twice = Script(pieces=pieces, breaks_off=True)  # a whole reply is asked for once more
        return self.build(twice, twice)


class OpenAIStage:
    def __init__(self, server: OpenAIEmulator, stack: ExitStack) -> None:
        self.server = server
        self.stack = stack

    def build(self, *scripts: Script, name: str = "small", **options: float) -> ChatModel:
        self.server.scripts.extend(scripts)
        chosen = OpenAIOptions(**options)  # type: ignore[arg-type]
        return OpenAIChat(name, url=self.server.url, clock=lambda: NOW, options=chosen)

    def saying(self, *replies: tuple[str, ...]) -> ChatModel:
        return self.build(*(Script(pieces=pieces) for pieces in replies))

    def breaking_off_after(self, *pieces: str) -> ChatModel:
        return self.build(Script(pieces=pieces, breaks_off=True))

    def cut_at_its_limit_after(self, *pieces: str) -> ChatModel:
        return self.build(Script(pieces=pieces, done_reason="length"))

    def never_starting(self) -> ChatModel:
        from threading import Event

        never = Event()
        self.stack.callback(never.set)
        return self.build(Script(hold_before_first=never), first_token_timeout_s=0.05)

    def not_installed(self) -> ChatModel:
        return self.build(name="nope")


@pytest.fixture(params=["fake", "ollama", "openai", "chain"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if request.param == "fake":
        yield FakeStage()
        return
    if request.param == "openai":
        with OpenAIEmulator(models=["small"]) as openai, ExitStack() as stack:
            yield OpenAIStage(openai, stack)
        return
    with OllamaEmulator(models=[LanguageModel(name="tinygemma")]) as server, ExitStack() as stack:
        yield ChainStage(server, stack) if request.param == "chain" else OllamaStage(server, stack)


async def collected(model: ChatModel, seen: list[str] | None = None) -> str:
    pieces = seen if seen is not None else []
    async for piece in model.stream(ASKED):
        pieces.append(piece)
    return "".join(pieces)


async def test_the_pieces_of_a_stream_are_the_reply(stage):
    model = stage.saying(("연차는 ", "15일", "입니다 [1]."))
    assert await collected(model) == "연차는 15일입니다 [1]."
    await model.close()


async def test_one_reply_follows_the_other(stage):
    model = stage.saying(("first",), ("second",))
    assert [await collected(model), await collected(model)] == ["first", "second"]
    await model.close()


async def test_a_stream_that_breaks_off_gives_its_pieces_and_then_raises(stage):
    model = stage.breaking_off_after("half ", "a sen")
    seen: list[str] = []
    with pytest.raises(ModelUnavailable):
        await collected(model, seen)
    assert "".join(seen) == "half a sen"
    await model.close()


async def test_a_reply_that_reached_its_limit_gives_its_pieces_and_then_raises(stage):
    model = stage.cut_at_its_limit_after("a long ", "story wi")
    seen: list[str] = []
    with pytest.raises(ModelReplyCut):
        await collected(model, seen)
    assert "".join(seen) == "a long story wi"
    await model.close()


async def test_a_model_that_never_starts_is_a_timeout(stage):
    model = stage.never_starting()
    with pytest.raises(ModelTimeout):
        await collected(model)
    await model.close()


async def test_a_model_that_is_not_installed_is_named_with_the_remedy(stage):
    model = stage.not_installed()
    with pytest.raises(ModelNotInstalled, match="model nope"):
        await collected(model)
    status = await model.check()
    assert (status.name, status.state) == ("model", "down")
    assert "nope" in status.detail
    await model.close()


async def test_a_reader_that_stops_early_leaves_the_model_usable(stage):
    model = stage.saying(("one ", "two ", "three"), ("next",))
    async with aclosing(model.stream(ASKED)) as stream:
        assert await anext(stream) == "one "
    assert await collected(model) == "next"
    await model.close()


async def test_replies_asked_for_at_the_same_time_do_not_mix(stage):
    model = stage.saying(("a", "a", "a"), ("b", "b", "b"), ("c", "c", "c"))
    replies = await asyncio.gather(*(collected(model) for _ in range(3)))
    assert sorted(replies) == ["aaa", "bbb", "ccc"]
    await model.close()


async def test_a_usable_model_says_so(stage):
    model = stage.saying()
    status = await model.check()
    assert (status.name, status.state) == ("model", "ok")
    assert model.name in status.detail
    assert status.checked_at.tzinfo is not None
    await model.close()


async def test_closing_twice_is_allowed(stage):
    model = stage.saying(("x",))
    await collected(model)
    await model.close()
    await model.close()


async def test_a_whole_reply_is_given_at_once(stage):
    model = stage.saying(("연차는 ", "15일"))
    assert await model.complete(ASKED, schema={"type": "object"}) == "연차는 15일"
    await model.close()


async def test_a_whole_reply_that_breaks_off_is_a_failure(stage):
    model = stage.breaking_off_after("half")
    with pytest.raises(ModelUnavailable):
        await model.complete(ASKED)
    await model.close()
