"""Builds the models of the settings: a chain for each task, one adapter for each model, one queue for each server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal, get_args

from bot.llm.queue import ModelQueue
from bot.model_chain import ModelChain, ModelPool, ModelTask
from bot.ports import ChatModel
from bot.prompting import REPLY_TOKENS
from bot.settings import Settings
from bot.settings_models import ModelSettings, TaskModelSettings


def build_models(settings: Settings, *, clock: Callable[[], datetime]) -> ModelPool:
    """The models of the settings; building them asks no server. Without a provider the pool is empty."""
    if settings.model.provider == "none" and not any(
        task_settings(settings.model, t).name for t in get_args(ModelTask)
    ):
        return ModelPool()
    builder = _Builder(settings.model, clock)
    chains = {task: chain for task in get_args(ModelTask) if (chain := builder.chain(task)) is not None}
    return ModelPool(chains=chains)


def task_settings(model: ModelSettings, task: ModelTask) -> TaskModelSettings:
    """The section of a task."""
    sections: dict[ModelTask, TaskModelSettings] = {
        "docs": model.docs,
        "code": model.code,
        "alerts": model.alerts,
        "small": model.small,
    }
    return sections[task]


class _Builder:
    def __init__(self, model: ModelSettings, clock: Callable[[], datetime]) -> None:
        self._model = model
        self._clock = clock
        self._queues: dict[str, ModelQueue] = {}
        self._adapters: dict[tuple[str, str, str, int], ChatModel] = {}

    def chain(self, task: ModelTask) -> ModelChain | None:
        section = task_settings(self._model, task)
        provider = section.provider or self._model.provider
        if provider == "none":
            return None
        own = section.name is not None
        name = section.name or self._model.name
        fallbacks = section.fallbacks
        if fallbacks is None:  # a task with a model of its own falls back to the general one on the same server
            same = section.url is None and section.provider is None
            fallbacks = self._model.fallbacks if not own else ((self._model.name,) if same and self._model.name else ())
        num_ctx = section.num_ctx or self._model.num_ctx
        url = section.url or self._model.url
        key = self._key(section)
        names = [name, *(other for other in dict.fromkeys(fallbacks) if other != name)]
        return ModelChain([self._adapter(provider, url, one, num_ctx, key) for one in names], num_ctx=num_ctx)

    def _key(self, section: TaskModelSettings) -> str | None:
        secret = section.secret("api_key")
        if secret is None and section.url is None:  # a key goes to the server that it was given for, to no other
            secret = self._model.secret("api_key")
        return secret.get_secret_value() if secret is not None else None

    def _adapter(
        self, provider: Literal["ollama", "openai"], url: str, name: str, num_ctx: int, key: str | None
    ) -> ChatModel:
        known = (provider, url, name, num_ctx)
        if known not in self._adapters:
            self._adapters[known] = self._build(provider, url, name, num_ctx, key)
        return self._adapters[known]

    def _build(
        self, provider: Literal["ollama", "openai"], url: str, name: str, num_ctx: int, key: str | None
    ) -> ChatModel:
        model = self._model
        queue = self._queues.setdefault(url, ModelQueue(model.concurrency))
        if provider == "openai":
            from bot.llm.openai import OpenAIChat, OpenAIOptions

            return OpenAIChat(
                name,
                url=url,
                clock=self._clock,
                queue=queue,
                options=OpenAIOptions(
                    num_ctx=num_ctx,
                    max_reply_tokens=REPLY_TOKENS,
                    temperature=model.temperature,
                    first_token_timeout_s=model.first_token_timeout_s,
                    total_timeout_s=model.total_timeout_s,
                    api_key=key,
                ),
            )
        from bot.llm.ollama import OllamaChat, OllamaOptions

        return OllamaChat(
            name,
            url=url,
            clock=self._clock,
            queue=queue,
            options=OllamaOptions(
                num_ctx=num_ctx,
                max_reply_tokens=REPLY_TOKENS,
                temperature=model.temperature,
                first_token_timeout_s=model.first_token_timeout_s,
                total_timeout_s=model.total_timeout_s,
            ),
        )
