"""The section `[slack]` of haechi.toml; docs/slack.md says where its tokens come from."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import model_validator

from bot.settings_check import Problem, require_url
from bot.settings_sections import Section


class SlackSettings(Section):
    """`[slack]`: Socket Mode needs bot_token and app_token, HTTP mode bot_token and signing_secret."""

    enabled: bool = False
    mode: Literal["socket", "http"] = "socket"
    bot_token_env: str | None = None
    bot_token_file: Path | None = None
    app_token_env: str | None = None
    app_token_file: Path | None = None
    signing_secret_env: str | None = None
    signing_secret_file: Path | None = None
    api_url: str = "https://slack.com/api/"
    live_answers: bool = True
    ca_file: Path | None = None

    SECRETS: ClassVar[tuple[str, ...]] = ("bot_token", "app_token", "signing_secret")

    @property
    def is_used(self) -> bool:
        return self.enabled

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_url("api_url", self.api_url)
        _require_protected("api_url", self.api_url)
        if not self.enabled:
            return self
        needed = ("bot_token", "app_token") if self.mode == "socket" else ("bot_token", "signing_secret")
        for name in needed:
            if not self.names_secret(name):
                raise Problem(
                    f"{name}_env",
                    f'is missing: mode = "{self.mode}" needs {name}_env or {name}_file (docs/slack.md shows where)',
                )
        return self


def _require_protected(key: str, url: str) -> None:
    """Raises Problem for an address to which the token would travel in the clear."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if parts.scheme != "https" and not loopback:
        raise Problem(key, "must begin with https://, because the bot's token is sent there")
