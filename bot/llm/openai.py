"""A chat model behind any endpoint that speaks OpenAI's /v1/chat/completions: vLLM, llama.cpp, LiteLLM and others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from bot.errors import ModelError, ModelNotInstalled, ModelReplyCut, ModelTimeout, ModelUnavailable
from bot.llm.ollama_failures import TRANSLATED, Caller, translate
from bot.llm.openai_events import Ending, events_of, refused_field, text_of, without_field
from bot.llm.prompt_fit import prompt_cut, refuse_hopeless
from bot.llm.queue import ModelQueue
from bot.llm.thinking import ThoughtFilter
from bot.ports import Waiting
from bot.types import ChatTurn
from knowledge.types import ToolState, ToolStatus

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_CONNECT_TIMEOUT_S = 10.0
_CHECK_TIMEOUT_S = 5.0
_MOST_ERROR_CHARS = 300
_BAD_REQUEST = frozenset({400, 422})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """How a model is run. The server decides its window: `num_ctx` is what prompts are budgeted for here."""

    num_ctx: int = 8192
    max_reply_tokens: int = 1024
    temperature: float = 0.1
    first_token_timeout_s: float = 60.0
    total_timeout_s: float = 300.0
    api_key: str | None = None


class OpenAIChat:
    """ChatModel on an OpenAI-compatible server. `queue` bounds how many replies are asked for at a time."""

    def __init__(
        self,
        model: str,
        *,
        url: str,
        clock: Callable[[], datetime],
        options: OpenAIOptions | None = None,
        queue: ModelQueue | None = None,
    ) -> None:
        self.name = model
        self.options = options or OpenAIOptions()
        self._clock = clock
        self._caller = Caller(model=model, url=url, server="the model server")
        self._queue = queue or ModelQueue(2)
        self._client: httpx.AsyncClient | None = None
        self._unknown: set[str] = set()  # optional fields that this server has refused

    async def stream(self, turns: Sequence[ChatTurn], *, waiting: Waiting | None = None) -> AsyncGenerator[str]:
        """Pieces of the reply as they come, without the model's thoughts. Close it when you stop early (`aclosing`).

        Raises ModelTimeout, ModelNotInstalled, ModelUnavailable (also when the stream ends without a finish reason),
        ModelPromptCut and ModelReplyCut.
        """
        refuse_hopeless(turns, model=self.name, num_ctx=self.options.num_ctx)
        async with self._queue.slot(waiting):
            thoughts, ending = ThoughtFilter(), Ending()
            async with aclosing(self._pieces(turns, None, ending)) as pieces:
                async for piece in pieces:
                    if shown := thoughts.feed(piece):
                        yield shown
            if shown := thoughts.finish():
                yield shown
            self._check_ending(ending)

    async def complete(self, turns: Sequence[ChatTurn], *, schema: Mapping[str, Any] | None = None) -> str:
        """The whole reply, streamed underneath so that both timeouts hold. Raises what `stream` raises."""
        refuse_hopeless(turns, model=self.name, num_ctx=self.options.num_ctx)
        async with self._queue.slot():
            thoughts, ending = ThoughtFilter(), Ending()
            async with aclosing(self._pieces(turns, schema, ending)) as pieces:
                text = "".join([thoughts.feed(piece) async for piece in pieces])
            self._check_ending(ending)
            return text + thoughts.finish()

    async def check(self) -> ToolStatus:
        """Whether the server answers and lists the model."""
        try:
            async with asyncio.timeout(_CHECK_TIMEOUT_S):
                answer = await self._connected().get(self._address("models"))
                if answer.status_code >= 400:
                    raise self._refused(answer.status_code, answer.text)
                known = [str(item.get("id")) for item in answer.json().get("data", [])]
        except TimeoutError:
            return self._status("down", f"{self._caller.url} did not answer within {_CHECK_TIMEOUT_S:g} s")
        except ModelError as error:
            return self._status("down", str(error))
        except TRANSLATED as error:
            return self._status("down", str(translate(error, self._caller)))
        except (ValueError, AttributeError, TypeError):
            return self._status("down", f"What answers at {self._caller.url} does not list its models")
        if known and self.name not in known:
            return self._status("down", str(self._missing()))
        return self._status("ok", f"{self.name} at {self._caller.url}")

    async def close(self) -> None:
        """Releases connections; the next use opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _pieces(
        self, turns: Sequence[ChatTurn], schema: Mapping[str, Any] | None, ending: Ending
    ) -> AsyncGenerator[str]:
        """The pieces of one answer, each awaited within the time that is left."""
        ends_at_s = self._now_s() + self.options.total_timeout_s
        allowed_s = min(self.options.first_token_timeout_s, self.options.total_timeout_s)
        try:
            async with aclosing(self._events(turns, schema, ending)) as events:
                while (event := await asyncio.wait_for(anext(events, None), allowed_s)) is not None:
                    piece = _read_event(event, ending, self._caller)
                    allowed_s = max(ends_at_s - self._now_s(), 0.0)
                    if piece:
                        yield piece
        except TimeoutError as error:
            raise ModelTimeout(
                f"{self.name} at {self._caller.url} was too slow (first token within "
                f"{self.options.first_token_timeout_s:g} s, all within {self.options.total_timeout_s:g} s): "
                "use a smaller model, or raise the timeouts"
            ) from error
        except TRANSLATED as error:
            raise translate(error, self._caller) from error

    async def _events(
        self, turns: Sequence[ChatTurn], schema: Mapping[str, Any] | None, ending: Ending
    ) -> AsyncGenerator[dict[str, Any]]:
        """The JSON objects of the answer. A field that the server does not know is left out from then on."""
        while True:
            body = self._body(turns, schema)
            async with self._connected().stream("POST", self._address("chat/completions"), json=body) as answer:
                if answer.status_code < 400:
                    async with aclosing(events_of(answer.aiter_lines(), ending)) as events:
                        async for event in events:
                            yield event
                    return
                words = (await answer.aread()).decode("utf-8", "replace")
                name = refused_field(body, words) if answer.status_code in _BAD_REQUEST else None
                if name is None:
                    raise self._refused(answer.status_code, words)
                self._unknown.add(name)

    def _body(self, turns: Sequence[ChatTurn], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": turn.role, "content": turn.content} for turn in turns],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": self.options.temperature,
            "max_tokens": self.options.max_reply_tokens,
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)},
            }
        for name in self._unknown & body.keys():
            body = without_field(body, name)
        return body

    def _address(self, path: str) -> str:
        base = self._caller.url.rstrip("/")
        return f"{base}/{path}" if urlsplit(base).path.strip("/") else f"{base}/v1/{path}"

    def _check_ending(self, ending: Ending) -> None:
        if ending.reason is None:
            raise ModelUnavailable(f"{self.name} at {self._caller.url} broke off in the middle of a reply")
        if ending.prompt_tokens >= self.options.num_ctx:
            raise prompt_cut(f"{ending.prompt_tokens} tokens", model=self.name, num_ctx=self.options.num_ctx)
        if ending.is_withheld:
            raise ModelUnavailable(f"The server's own filter broke off the reply of {self.name}: use another model")
        if ending.is_at_limit:
            raise ModelReplyCut(
                f"The reply of {self.name} reached its limit ({self.options.max_reply_tokens} tokens, or the end of "
                f"its window) and ends in the middle: raise the limit"
            )

    def _refused(self, status: int, text: str) -> ModelError:
        words = _reason_of(text)
        if status == 404 and "model" in words.lower():
            return self._missing()
        if status in (401, 403):
            return ModelUnavailable(
                f"The model server at {self._caller.url} refuses the key (status {status}): correct model.api_key_env"
            )
        return ModelUnavailable(
            f"{self.name} at {self._caller.url} failed with status {status}: {words or 'no reason given'}"
        )

    def _missing(self) -> ModelNotInstalled:
        return ModelNotInstalled(
            f"The model server at {self._caller.url} does not have the model {self.name}: load it there, or correct "
            "the name in the settings"
        )

    def _status(self, state: ToolState, detail: str) -> ToolStatus:
        return ToolStatus(name="model", state=state, detail=detail, checked_at=self._clock())

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            # a proxy from the environment must not stand between this process and its own machine
            loopback = urlsplit(self._caller.url).hostname in _LOOPBACK
            headers = {"Authorization": f"Bearer {self.options.api_key}"} if self.options.api_key else {}
            timeout = httpx.Timeout(self.options.total_timeout_s, connect=_CONNECT_TIMEOUT_S)
            self._client = httpx.AsyncClient(timeout=timeout, headers=headers, trust_env=not loopback)
        return self._client

    @staticmethod
    def _now_s() -> float:
        return asyncio.get_running_loop().time()


def _read_event(event: Mapping[str, Any], ending: Ending, caller: Caller) -> str:
    """The text of one event; how the reply ended and what the prompt measured go into `ending`."""
    if event.get("error"):
        words = _reason_of(json.dumps(event))
        raise ModelUnavailable(f"{caller.model} at {caller.url} failed in the middle of a reply: {words}")
    return text_of(event, ending)


def _reason_of(text: str) -> str:
    try:
        error = json.loads(text).get("error", "")
    except (ValueError, AttributeError):
        return text.strip()[:_MOST_ERROR_CHARS]
    return str(error.get("message", error) if isinstance(error, dict) else error).strip()[:_MOST_ERROR_CHARS]
