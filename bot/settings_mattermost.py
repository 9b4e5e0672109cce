"""The section `[mattermost]` of haechi.toml; docs/mattermost.md says where its tokens come from."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, SecretStr, model_validator

from bot.settings_check import Problem, require_distinct, require_url
from bot.settings_sections import Section


class MattermostSettings(Section):
    """`[mattermost]`: slash commands need command_token and callback_url, buttons callback_url."""

    enabled: bool = False
    url: str = ""
    token_env: str | None = None
    token_file: Path | None = None
    command_token_env: str | None = None
    command_token_file: Path | None = None
    button_key_env: str | None = None
    button_key_file: Path | None = None
    callback_url: str | None = None
    command: str = "haechi"
    ca_file: Path | None = None
    teams: tuple[str, ...] = ()
    request_timeout_s: float = Field(default=20.0, ge=1.0, le=300.0)

    SECRETS: ClassVar[tuple[str, ...]] = ("token", "command_token", "button_key")

    @property
    def is_used(self) -> bool:
        return self.enabled

    @property
    def command_tokens(self) -> tuple[str, ...]:
        """One for every team that has the command; they stand in one secret, with commas between them."""
        return _apart(self.secret("command_token"))

    @property
    def command_tokens_now(self) -> tuple[str, ...]:
        """Those that the file of the secret holds by now; see Section.secret_now."""
        return _apart(self.secret_now("command_token"))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.url:
            require_url("url", self.url)
        if self.callback_url is not None:
            require_url("callback_url", self.callback_url)
        require_distinct("teams", self.teams)
        if not self.command or not self.command.replace("-", "").replace("_", "").isalnum():
            raise Problem("command", "is the word behind the slash, without the slash, for example haechi")
        if not self.enabled:
            return self
        if not self.url:
            raise Problem("url", 'is missing: the address of the Mattermost server, "https://chat.example.com"')
        if not self.names_secret("token"):
            raise Problem(
                "token_env", "is missing: the token of the bot account (docs/mattermost.md shows how to make one)"
            )
        if self.names_secret("command_token") and self.callback_url is None:
            raise Problem(
                "callback_url",
                "is missing: the address under which the Mattermost server reaches the page of this bot, for slash"
                " commands and buttons",
            )
        return self


def _apart(secret: SecretStr | None) -> tuple[str, ...]:
    tokens = secret.get_secret_value().split(",") if secret is not None else ()
    return tuple(token.strip() for token in tokens if token.strip())
