"""Models for a task with their fallbacks: the next one is asked as long as nothing of a reply has been said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import structlog

from bot.errors import ModelError, ModelPromptCut, ModelUnavailable
from bot.ports import ChatModel, Waiting
from bot.types import ChatTurn
from knowledge.types import ToolState, ToolStatus

ModelTask = Literal["docs", "code", "alerts", "small"]
ModelObserver = Callable[[str, float, ModelError | None], None]  # the model, its seconds, and why it gave nothing
RETRY_PAUSE_S = 0.3
_TRIES = 2  # of one model that is not reached, before the next one is asked

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A model that was to answer and did not."""

    model: str
    error: ModelError


class ModelChain:
    """ChatModel of a task: the configured model and its fallbacks, in order. `num_ctx` holds for each of them."""

    def __init__(
        self,
        models: Sequence[ChatModel],
        *,
        num_ctx: int,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.models = tuple(models)
        self.num_ctx = num_ctx
        self.name = self.models[0].name
        self.observers: list[ModelObserver] = []
        self._pause = pause

    def run(self) -> ModelRun:
        """The chain for one answer: it keeps to the model that began, and remembers who was skipped."""
        return ModelRun(self.models, self._pause, self.observers)

    async def stream(self, turns: Sequence[ChatTurn], *, waiting: Waiting | None = None) -> AsyncGenerator[str]:
        async with aclosing(self.run().stream(turns, waiting=waiting)) as pieces:
            async for piece in pieces:
                yield piece

    async def complete(self, turns: Sequence[ChatTurn], *, schema: Mapping[str, Any] | None = None) -> str:
        return await self.run().complete(turns, schema=schema)

    async def check(self) -> ToolStatus:
        """ok when the first model is; degraded when a fallback has to answer; down when none can."""
        found = [await model.check() for model in self.models]
        first = found[0]
        if first.state != "down" or len(found) == 1:
            return first
        usable = next((m.name for m, s in zip(self.models, found, strict=True) if s.state != "down"), None)
        state: ToolState = "down" if usable is None else "degraded"
        detail = first.detail if usable is None else f"{first.detail}; {usable} answers instead"
        return ToolStatus(name=first.name, state=state, detail=detail, checked_at=first.checked_at)

    async def close(self) -> None:
        for model in self.models:
            await model.close()


class _Call:
    """One call of a model, told to the log and to whoever counts."""

    def __init__(self, model: str, observers: Sequence[ModelObserver]) -> None:
        self.chars = 0
        self._model = model
        self._observers = observers
        self._started = time.perf_counter()
        self._told = False

    def answered(self) -> None:
        self._tell(log.info, "model.answered", None)

    def failed(self, error: ModelError) -> None:
        self._tell(log.warning, "model.failed", error, reason=str(error) or type(error).__name__)

    def left(self) -> None:
        """Nobody listens any more: a sentence failed its check, or it took too long."""
        self._tell(log.info, "model.stopped", None)

    def _tell(self, say: Callable[..., object], event: str, failure: ModelError | None, **more: str) -> None:
        if self._told:
            return
        self._told, took_s = True, time.perf_counter() - self._started
        say(event, model=self._model, chars=self.chars, took_ms=round(took_s * 1000), **more)
        for told in self._observers:
            told(self._model, took_s, failure)


@dataclass(slots=True)
class ModelRun:
    """ChatModel for one answer. `name` is the model in use; `skipped` are those that could not be."""

    models: tuple[ChatModel, ...]
    pause: Callable[[float], Awaitable[None]]
    observers: Sequence[ModelObserver] = ()
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self._left()[0].name

    async def stream(self, turns: Sequence[ChatTurn], *, waiting: Waiting | None = None) -> AsyncGenerator[str]:
        """Pieces of the first model that says something; nothing is tried again once a piece was given."""
        for model in self._left():
            for attempt in range(1, _TRIES + 1):
                call = _Call(model.name, self.observers)
                try:
                    # what every adapter gives is an async generator, which alone can be closed at once
                    pieces = cast(AsyncGenerator[str], model.stream(turns, waiting=waiting))
                    async with aclosing(pieces):
                        async for piece in pieces:
                            call.chars += len(piece)
                            yield piece
                    call.answered()
                    return
                except ModelError as error:
                    call.failed(error)
                    if call.chars or not await self._goes_on(model, error, attempt=attempt):
                        raise
                    if self._is_skipped(model):
                        break
                finally:
                    call.left()

    async def complete(self, turns: Sequence[ChatTurn], *, schema: Mapping[str, Any] | None = None) -> str:
        """The reply of the first model that gives one whole."""
        for model in self._left():
            for attempt in range(1, _TRIES + 1):
                call = _Call(model.name, self.observers)
                try:
                    reply = await model.complete(turns, schema=schema)
                    call.chars = len(reply)
                    call.answered()
                    return reply
                except ModelError as error:
                    call.failed(error)
                    if not await self._goes_on(model, error, attempt=attempt):
                        raise
                    if self._is_skipped(model):
                        break
                finally:
                    call.left()
        raise AssertionError("a chain has at least one model")  # pragma: no cover

    async def check(self) -> ToolStatus:
        return await self._left()[0].check()

    async def close(self) -> None:
        """Nothing: the connections belong to the chain."""

    def _left(self) -> tuple[ChatModel, ...]:
        gone = {skip.model for skip in self.skipped}
        return tuple(model for model in self.models if model.name not in gone) or self.models[-1:]

    def _is_skipped(self, model: ChatModel) -> bool:
        return any(skip.model == model.name for skip in self.skipped)

    async def _goes_on(self, model: ChatModel, error: ModelError, *, attempt: int) -> bool:
        """Whether there is something left to try. A prompt that does not fit one model fits none of the chain."""
        if isinstance(error, ModelPromptCut):
            return False
        if isinstance(error, ModelUnavailable) and attempt < _TRIES:
            await self.pause(RETRY_PAUSE_S)
            return True
        if len(self._left()) > 1:
            self.skipped.append(Skipped(model=model.name, error=error))
            return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPool:
    """The chain for each task; None where answers are given without a model."""

    chains: Mapping[ModelTask, ModelChain] = field(default_factory=dict)

    @classmethod
    def of(cls, model: ChatModel, *, small: ChatModel | None = None, num_ctx: int = 8192) -> ModelPool:
        """One model for all answers; `small` for what prepares a search."""
        chain = ModelChain([model], num_ctx=num_ctx)
        chains: dict[ModelTask, ModelChain] = {"docs": chain, "code": chain, "alerts": chain}
        if small is not None:
            chains["small"] = ModelChain([small], num_ctx=num_ctx)
        return cls(chains=chains)

    def chat_model(self, task: ModelTask) -> ModelChain | None:
        """The model for a task."""
        return self.chains.get(task)

    async def check(self) -> list[ToolStatus]:
        """One status for each model of each chain, fallbacks included: `status` names the one that vanished."""
        models = {id(model): model for chain in self.chains.values() for model in chain.models}
        tasks: dict[int, list[str]] = {}
        for task, chain in self.chains.items():
            for model in chain.models:
                tasks.setdefault(id(model), []).append(task)
        found = await asyncio.gather(*(model.check() for model in models.values()))
        return [
            ToolStatus(
                name=f"model:{model.name}",
                state=status.state,
                detail=f"{status.detail} (for {', '.join(tasks[id(model)])})",
                checked_at=status.checked_at,
            )
            for model, status in zip(models.values(), found, strict=True)
        ]

    async def close(self) -> None:
        for model in {id(model): model for chain in self.chains.values() for model in chain.models}.values():
            await model.close()
