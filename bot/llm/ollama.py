"""A chat model that an Ollama server runs, through /api/chat of the official client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import httpx
from ollama import AsyncClient, ChatResponse, Message, Options

from bot.errors import ModelError, ModelReplyCut, ModelTimeout, ModelUnavailable
from bot.llm.ollama_failures import TRANSLATED, Caller, translate
from bot.llm.prompt_fit import prompt_cut, refuse_hopeless
from bot.llm.queue import ModelQueue
from bot.llm.thinking import ThoughtFilter
from bot.ports import Waiting
from bot.types import ChatTurn
from knowledge.types import ToolState, ToolStatus

T = TypeVar("T")

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_CONNECT_TIMEOUT_S = 10.0
_CHECK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaOptions:
    """How a model is run. `num_ctx` is the window for prompt and reply together, and is sent in every request:
    without it the server takes its own default and cuts longer prompts without a word."""

    num_ctx: int = 8192
    max_reply_tokens: int = 1024
    temperature: float = 0.1
    first_token_timeout_s: float = 60.0  # loading a model counts too
    total_timeout_s: float = 300.0


class OllamaChat:
    """ChatModel on an Ollama server. `queue` bounds how many replies the server generates at a time."""

    def __init__(
        self,
        model: str,
        *,
        url: str,
        clock: Callable[[], datetime],
        options: OllamaOptions | None = None,
        queue: ModelQueue | None = None,
    ) -> None:
        self.name = model
        self.options = options or OllamaOptions()
        self._clock = clock
        self._caller = Caller(model=model, url=url)
        self._queue = queue or ModelQueue(2)
        self._client: AsyncClient | None = None

    async def stream(self, turns: Sequence[ChatTurn], *, waiting: Waiting | None = None) -> AsyncGenerator[str]:
        """Pieces of the reply as they come, without the model's thoughts. Close it when you stop early (`aclosing`).

        Raises ModelTimeout, ModelNotInstalled, ModelUnavailable (also when the stream ends without its last line).
        ModelPromptCut comes before the first piece where the prompt cannot possibly fit, else after the last one;
        ModelReplyCut comes after the last one.
        """
        refuse_hopeless(turns, model=self.name, num_ctx=self.options.num_ctx)
        async with self._queue.slot(waiting):
            thoughts = ThoughtFilter()
            last: ChatResponse | None = None
            async with aclosing(self._lines(turns)) as lines:
                async for line in lines:
                    last = line
                    if shown := thoughts.feed(line.message.content or ""):
                        yield shown
            if shown := thoughts.finish():
                yield shown
            self._check_ending(last)

    async def complete(self, turns: Sequence[ChatTurn], *, schema: Mapping[str, Any] | None = None) -> str:
        """The whole reply, streamed underneath so that both timeouts hold. Raises what `stream` raises."""
        refuse_hopeless(turns, model=self.name, num_ctx=self.options.num_ctx)
        async with self._queue.slot():
            thoughts = ThoughtFilter()
            pieces: list[str] = []
            last: ChatResponse | None = None
            async with aclosing(self._lines(turns, schema)) as lines:
                async for line in lines:
                    last = line
                    pieces.append(thoughts.feed(line.message.content or ""))
            self._check_ending(last)
            return "".join(pieces) + thoughts.finish()

    async def check(self) -> ToolStatus:
        """Whether the server answers, has the model, and the model can chat in a window of `num_ctx` tokens."""
        try:
            async with asyncio.timeout(_CHECK_TIMEOUT_S):
                shown = await self._translated(lambda client: client.show(self.name))
        except TimeoutError:
            return self._status("down", f"Ollama at {self._caller.url} did not answer within {_CHECK_TIMEOUT_S:g} s")
        except ModelError as error:
            return self._status("down", str(error))
        if shown.capabilities and "completion" not in shown.capabilities:
            return self._status("down", f"{self.name} cannot chat, it is a model for {', '.join(shown.capabilities)}")
        window = next(
            (int(value) for key, value in (shown.modelinfo or {}).items() if key.endswith(".context_length")), None
        )
        if window is not None and window < self.options.num_ctx:
            return self._status(
                "degraded", f"{self.name} reads {window} tokens, but num_ctx is {self.options.num_ctx}: lower num_ctx"
            )
        return self._status("ok", f"{self.name} at {self._caller.url}")

    async def close(self) -> None:
        """Releases connections; the next use opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()  # type: ignore[no-untyped-call]

    async def _lines(
        self, turns: Sequence[ChatTurn], schema: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[ChatResponse]:
        """The lines of one answer, each awaited within the time that is left."""
        ends_at_s = self._now_s() + self.options.total_timeout_s
        allowed_s = min(self.options.first_token_timeout_s, self.options.total_timeout_s)
        try:
            answer = await self._connected().chat(
                self.name,
                messages=[Message(role=turn.role, content=turn.content) for turn in turns],
                stream=True,
                format=dict(schema) if schema is not None else None,
                options=Options(
                    num_ctx=self.options.num_ctx,
                    num_predict=self.options.max_reply_tokens,
                    temperature=self.options.temperature,
                ),
            )
            async with aclosing(cast(AsyncGenerator[ChatResponse], answer)) as lines:
                while (line := await asyncio.wait_for(anext(lines, None), allowed_s)) is not None:
                    yield line
                    allowed_s = max(ends_at_s - self._now_s(), 0.0)
        except TimeoutError as error:
            raise ModelTimeout(
                f"{self.name} at {self._caller.url} was too slow (first token within "
                f"{self.options.first_token_timeout_s:g} s, all within {self.options.total_timeout_s:g} s): "
                "use a smaller model, or raise the timeouts"
            ) from error
        except TRANSLATED as error:
            raise translate(error, self._caller) from error

    async def _translated(self, call: Callable[[AsyncClient], Awaitable[T]]) -> T:
        try:
            return await call(self._connected())
        except TRANSLATED as error:
            raise translate(error, self._caller) from error

    def _check_ending(self, last: ChatResponse | None) -> None:
        """Raises unless the last line says that prompt and reply are whole."""
        if last is None or not last.done:
            raise ModelUnavailable(f"{self.name} at {self._caller.url} broke off in the middle of a reply")
        if (last.prompt_eval_count or 0) >= self.options.num_ctx:
            raise prompt_cut(f"{last.prompt_eval_count} tokens and more", model=self.name, num_ctx=self.options.num_ctx)
        if last.done_reason == "length":
            raise ModelReplyCut(
                f"The reply of {self.name} reached its limit ({self.options.max_reply_tokens} tokens, or the end of "
                f"num_ctx {self.options.num_ctx}) and ends in the middle: raise the limit"
            )

    def _status(self, state: ToolState, detail: str) -> ToolStatus:
        return ToolStatus(name="model", state=state, detail=detail, checked_at=self._clock())

    def _connected(self) -> AsyncClient:
        if self._client is None:
            # a proxy from the environment must not stand between this process and its own machine
            loopback = urlsplit(self._caller.url).hostname in _LOOPBACK
            timeout = httpx.Timeout(self.options.total_timeout_s, connect=_CONNECT_TIMEOUT_S)
            self._client = AsyncClient(self._caller.url, timeout=timeout, trust_env=not loopback)
        return self._client

    @staticmethod
    def _now_s() -> float:
        return asyncio.get_running_loop().time()
