"""Builds the Slack adapter from its settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from bot.errors import ConfigError
from bot.logging_setup import hide
from bot.ports import PlatformState
from bot.settings_chat import CatchUpSettings
from bot.settings_sections import Section
from bot.settings_slack import SlackSettings

if TYPE_CHECKING:
    from pydantic import SecretStr

    from bot.platforms.slack import SlackPlatform


def build_slack(
    settings: SlackSettings, *, catch_up: CatchUpSettings, state: PlatformState, clock: Callable[[], datetime],
    public_url: str | None = None,
) -> SlackPlatform | None:  # fmt: skip
    """The adapter; None when Slack is switched off. In HTTP mode bot.http.slack.slack_routes belongs to it."""
    if not settings.enabled:
        return None
    from bot.platforms.slack import SlackOptions, SlackPlatform

    bot_token = settings.secret("bot_token")
    if bot_token is None:
        raise ConfigError("slack.bot_token_env or slack.bot_token_file is missing.")
    options = SlackOptions(
        bot_token=bot_token,
        mode=settings.mode,
        app_token=settings.secret("app_token"),
        signing_secret=settings.secret("signing_secret"),
        api_url=settings.api_url,
        live_answers=settings.live_answers,
        ca_file=settings.ca_file,
        public_url=public_url,
        token_now=partial(token_now, settings),
        catch_up_age=timedelta(hours=catch_up.max_age_hours),
        catch_up_messages=catch_up.max_messages,
    )
    return SlackPlatform(options, state=state, clock=clock)


def token_now(settings: Section, name: str) -> SecretStr | None:
    """The secret of that name as its file says by now; no log line will hold it."""
    secret = settings.secret_now(name)
    if secret is not None:
        hide([secret.get_secret_value()])
    return secret
