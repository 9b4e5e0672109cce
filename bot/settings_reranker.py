"""`[reranker]`: a model that puts what was found into a better order, in a folder or behind an address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, SecretStr, model_validator

from bot.settings_check import Problem, require_url
from bot.settings_sections import Section

if TYPE_CHECKING:
    from knowledge.api import RerankerConfig


class RerankerSettings(Section):
    """`[reranker]`: without `model` and `url` there is none."""

    model: Path | None = None
    url: str | None = None
    name: str = ""
    token_env: str | None = None
    token_file: Path | None = None
    candidates: int = Field(default=20, ge=2, le=100)
    weight: float = Field(default=0.5, gt=0.0, le=10.0)
    max_tokens: int = Field(default=256, ge=64, le=8192)
    threads: int = Field(default=2, ge=1, le=64)
    timeout_s: float = Field(default=5.0, gt=0.0, le=120.0)

    SECRETS: ClassVar[tuple[str, ...]] = ("token",)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.url is not None:
            require_url("url", self.url)
        if self.model is not None and self.url is not None:
            raise Problem("url", "and reranker.model are both set; keep the server or the folder")
        if self.url is None and self.name:
            raise Problem("name", "is that of a model on a server, but reranker.url is not set")
        if self.url is None and self.names_secret("token"):
            key = "token_env" if self.token_env is not None else "token_file"
            raise Problem(key, "is for a server, but reranker.url is not set")
        return self

    @property
    def is_used(self) -> bool:
        return self.model is not None or self.url is not None

    def config(self) -> RerankerConfig | None:
        """The reranker as `knowledge` wants it; None without one."""
        if not self.is_used:
            return None
        from knowledge.api import RerankerConfig

        return RerankerConfig(
            model=self.model,
            url=self.url,
            name=self.name,
            token=self._token,
            candidates=self.candidates,
            weight=self.weight,
            max_tokens=self.max_tokens,
            threads=self.threads,
            timeout_s=self.timeout_s,
        )

    def _token(self) -> str | None:
        secret: SecretStr | None = self.secret_now("token")
        return None if secret is None else secret.get_secret_value()
