"""`[model]` and the models for single tasks: `[model.docs]`, `[model.code]`, `[model.alerts]`, `[model.small]`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from bot.settings_check import Problem, require_distinct, require_url
from bot.settings_sections import Section

Provider = Literal["none", "ollama", "openai"]


class TaskModelSettings(Section):
    """The model for one task; what is not set is taken from `[model]`."""

    provider: Literal["ollama", "openai"] | None = None
    url: str | None = None
    name: str | None = None
    fallbacks: tuple[str, ...] | None = None
    num_ctx: int | None = Field(default=None, ge=1024, le=1_048_576)
    api_key_env: str | None = None
    api_key_file: Path | None = None

    SECRETS: ClassVar[tuple[str, ...]] = ("api_key",)

    @model_validator(mode="after")
    def _consistent(self) -> TaskModelSettings:
        if self.url is not None:
            require_url("url", self.url)
        require_distinct("fallbacks", self.fallbacks or ())
        if self.name is None and (self.provider is not None or self.url is not None):
            raise Problem("name", "is missing: a task with a server of its own needs the name of its model")
        return self


class ModelSettings(Section):
    """`[model]`."""

    provider: Provider = "none"
    url: str = "http://127.0.0.1:11434"
    name: str = ""
    fallbacks: tuple[str, ...] = ()
    num_ctx: int = Field(default=8192, ge=1024, le=1_048_576)
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    first_token_timeout_s: float = Field(default=120.0, gt=0)
    total_timeout_s: float = Field(default=300.0, gt=0)
    concurrency: int = Field(default=1, ge=1, le=32)
    api_key_env: str | None = None
    api_key_file: Path | None = None
    docs: TaskModelSettings = Field(default_factory=TaskModelSettings)
    code: TaskModelSettings = Field(default_factory=TaskModelSettings)
    alerts: TaskModelSettings = Field(default_factory=TaskModelSettings)
    small: TaskModelSettings = Field(default_factory=TaskModelSettings)

    SECRETS: ClassVar[tuple[str, ...]] = ("api_key",)

    @property
    def is_used(self) -> bool:
        return self.provider != "none"

    @model_validator(mode="after")
    def _consistent(self) -> ModelSettings:
        require_url("url", self.url)
        require_distinct("fallbacks", self.fallbacks)
        if self.provider != "none" and not self.name:
            raise Problem("name", 'is missing: the model to use, for example "qwen3:8b"')
        if self.name in self.fallbacks:
            raise Problem("fallbacks", f"holds {self.name!r}, which is the model itself; remove it there")
        return self
