"""The sections of haechi.toml, one class each, frozen; docs/configuration.md says what their keys mean."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, model_validator

from bot.settings_check import (
    Problem,
    require_distinct,
    require_url,
)

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Section(BaseModel):
    """A part of the configuration.

    A section that needs a secret names it in SECRETS and has two keys for it, NAME_env and NAME_file: a secret never
    stands in the file itself. `load_settings` reads them; `secret` gives them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    SECRETS: ClassVar[tuple[str, ...]] = ()
    KEY_SECRETS: ClassVar[frozenset[str]] = frozenset()  # those of several lines: private keys
    _secrets: dict[str, SecretStr] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _one_place_for_each_secret(self) -> Self:
        for name in self.SECRETS:
            env, file = getattr(self, f"{name}_env"), getattr(self, f"{name}_file")
            if env is not None and file is not None:
                raise Problem(f"{name}_file", f"and {name}_env are both set; keep one of them")
            if env is not None and not _ENV_NAME.fullmatch(env):
                raise Problem(f"{name}_env", "must be the name of an environment variable, not the secret itself")
        return self

    @property
    def is_used(self) -> bool:
        """Whether its secrets have to be there."""
        return True

    def names_secret(self, name: str) -> bool:
        """Whether the configuration says where the secret stands."""
        return getattr(self, f"{name}_env") is not None or getattr(self, f"{name}_file") is not None

    def secret(self, name: str) -> SecretStr | None:
        """The secret, read when the settings were loaded; None when the configuration names none."""
        return self._secrets.get(name)

    def secret_now(self, name: str) -> SecretStr | None:
        """The secret as its file says by now, for whoever finds the one from the start refused; that one when it does
        not come from a file, or the file cannot be read."""
        place = getattr(self, f"{name}_file")
        if place is None:
            return self.secret(name)
        try:
            value = place.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return self.secret(name)
        return SecretStr(value) if value.isascii() and value.isprintable() and value else self.secret(name)


class EmbeddingSettings(Section):
    """`[embedding]`: None stands for the embedders that were measured to be best."""

    documents: tuple[str, ...] | None = None
    code: tuple[str, ...] | None = None
    ollama_url: str = "http://127.0.0.1:11434"
    vector_cache: Path | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_url("ollama_url", self.ollama_url)
        require_distinct("documents", self.documents or ())
        require_distinct("code", self.code or ())
        return self


class IngestSettings(Section):
    """`[ingest]`."""

    workers: int = Field(default=2, ge=1, le=64)
    at_start: bool = True
    settle_s: float = Field(default=2.0, ge=0, le=60)
    file_time_limit_s: float = Field(default=600.0, ge=1.0)
    file_memory_limit_mb: int = Field(default=2000, ge=300)


class WebSettings(Section):
    """`[web]`: `sources` None means all of them."""

    enabled: bool = True
    host: str = "127.0.0.1"
    port: int = Field(default=8765, ge=0, le=65535)
    token_env: str | None = None
    token_file: Path | None = None
    sources: tuple[str, ...] | None = None
    allowed_hosts: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    SECRETS: ClassVar[tuple[str, ...]] = ("token",)

    @property
    def is_used(self) -> bool:
        return self.enabled

    @property
    def token(self) -> SecretStr | None:
        """The page token, read when the settings were loaded."""
        return self.secret("token")

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


class SearchSettings(Section):
    """`[search]`."""

    top_k: int = Field(default=8, ge=1, le=100)


class AnswerSettings(Section):
    """`[answers]`."""

    concurrency: int = Field(default=2, ge=1, le=32)
    max_question_chars: int = Field(default=4000, ge=50, le=100_000)
    persona: Path | None = None
    contact: str = ""


class ChromaSettings(Section):
    """`[chroma]`: without a url it runs inside this process."""

    url: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.url is not None:
            require_url("url", self.url)
        return self


class LogSettings(Section):
    """`[log]`."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"
