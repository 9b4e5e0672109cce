"""Models for a task: the next one takes over as long as nothing was said, and who was skipped is remembered."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import ModelNotInstalled, ModelPromptCut, ModelTimeout, ModelUnavailable
from bot.llm.queue import ModelQueue
from bot.model_chain import ModelChain, ModelPool
from bot.types import ChatTurn
from tests.fakes.chat_model import FakeChatModel, FakeReply

ASKED = [ChatTurn(role="user", content="연차는 며칠?")]
GONE = ModelNotInstalled("Ollama does not have the model qwen3:8b: run `ollama pull qwen3:8b`")
DOWN = ModelUnavailable("The connection failed")


async def no_pause(seconds: float) -> None:
    assert seconds > 0


def failing(error, name="first"):
    return FakeChatModel(otherwise=FakeReply(error=error), name=name)


def saying(text, name="second"):
    return FakeChatModel(otherwise=FakeReply(pieces=(text,)), name=name)


def chain(*models):
    return ModelChain(models, num_ctx=4096, pause=no_pause)


async def told(run):
    return "".join([piece async for piece in run.stream(ASKED)])


@pytest.mark.parametrize("error", [GONE, DOWN, ModelTimeout("too slow")])
async def test_the_next_model_answers_when_the_first_one_cannot(error):
    run = chain(failing(error), saying("15일")).run()
    assert await told(run) == "15일"
    assert run.name == "second"
    assert [skip.model for skip in run.skipped] == ["first"]


async def test_a_model_that_is_not_reached_is_tried_once_more_before_the_next_one():
    first = FakeChatModel(FakeReply(error=DOWN), FakeReply(pieces=("15일",)), name="first")
    run = chain(first, saying("other")).run()
    assert await told(run) == "15일"
    assert run.skipped == []
    assert len(first.asked) == 2


async def test_a_model_that_is_too_slow_is_not_waited_for_twice():
    first = failing(ModelTimeout("too slow"))
    await told(chain(first, saying("15일")).run())
    assert len(first.asked) == 1


async def test_nothing_is_tried_again_once_something_was_said():
    first = FakeChatModel(FakeReply(pieces=("연차",), error=DOWN), name="first")
    second = saying("other")
    run = chain(first, second).run()
    seen = []

    async def read():
        async for piece in run.stream(ASKED):
            seen.append(piece)

    with pytest.raises(ModelUnavailable):
        await read()
    assert (seen, second.asked) == (["연차"], [])


async def test_a_prompt_that_does_not_fit_is_told_at_once():
    second = saying("other")
    with pytest.raises(ModelPromptCut):
        await told(chain(failing(ModelPromptCut("too long")), second).run())
    assert second.asked == []


async def test_a_later_reply_of_one_answer_keeps_to_the_model_that_began():
    first = failing(GONE)
    run = chain(first, saying("15일")).run()
    await told(run)
    await told(run)
    assert len(first.asked) == 1


async def test_the_last_failure_is_raised_when_no_model_is_left():
    with pytest.raises(ModelNotInstalled):
        await told(chain(failing(DOWN), failing(GONE, "second")).run())


async def test_whole_replies_fall_back_too():
    assert await chain(failing(GONE), saying("15")).complete(ASKED) == "15"


async def test_the_pool_names_every_model_with_its_tasks_once():
    shared = FakeChatModel(name="qwen")
    pool = ModelPool.of(shared, small=FakeChatModel(name="tiny", state="down", detail="not installed"))
    statuses = await pool.check()
    assert [(s.name, s.state) for s in statuses] == [("model:qwen", "ok"), ("model:tiny", "down")]
    assert "docs, code, alerts" in statuses[0].detail
    assert pool.chat_model("small") is not None
    await pool.close()
    assert shared.closed


async def test_those_who_wait_are_told_their_place_and_served_in_order():
    queue = ModelQueue(1)
    places: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    done = {name: asyncio.Event() for name in places}
    served: asyncio.Queue[str] = asyncio.Queue()
    moved = asyncio.Event()

    async def ask(name: str) -> None:
        async def waiting(place: int) -> None:
            places[name].append(place)
            if (name, place) == ("c", 1):
                moved.set()

        async with queue.slot(waiting):
            served.put_nowait(name)
            await done[name].wait()

    async with asyncio.TaskGroup() as tasks, asyncio.timeout(60):
        for name in places:
            tasks.create_task(ask(name))
            await asyncio.sleep(0)
        assert await served.get() == "a"
        await asyncio.sleep(0)
        assert places == {"a": [], "b": [1], "c": [2]}
        done["a"].set()
        assert await served.get() == "b"
        await moved.wait()
        done["b"].set()
        assert await served.get() == "c"
        done["c"].set()
    assert places == {"a": [], "b": [1], "c": [2, 1]}


async def test_who_gives_up_waiting_holds_nobody_back():
    queue = ModelQueue(1)
    async with queue.slot():
        waiter = asyncio.create_task(_enter(queue))
        await asyncio.sleep(0)
        behind = asyncio.create_task(_enter(queue))
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.sleep(0)
    await asyncio.wait_for(behind, 60)
    async with asyncio.timeout(60), queue.slot():
        pass


async def _enter(queue: ModelQueue) -> None:
    async with queue.slot():
        pass
