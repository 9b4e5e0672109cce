"""Builds the Mattermost adapter from its settings."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from bot.compose_slack import token_now
from bot.errors import ConfigError
from bot.logging_setup import hide
from bot.ports import PlatformState
from bot.settings_chat import CatchUpSettings
from bot.settings_mattermost import MattermostSettings

if TYPE_CHECKING:
    from bot.platforms.mattermost import MattermostPlatform


def build_mattermost(
    settings: MattermostSettings, *, catch_up: CatchUpSettings, state: PlatformState, clock: Callable[[], datetime]
) -> MattermostPlatform | None:
    """The adapter; None when Mattermost is switched off. bot.http.mattermost.mattermost_routes belongs to it."""
    if not settings.enabled:
        return None
    from bot.platforms.mattermost import MattermostOptions, MattermostPlatform
    from bot.platforms.mattermost_socket import Timing

    token = settings.secret("token")
    if token is None:
        raise ConfigError("mattermost.token_env or mattermost.token_file is missing.")
    button_key = settings.secret("button_key")
    hide(settings.command_tokens)  # each by itself, too

    def command_tokens_now() -> tuple[str, ...]:
        tokens = settings.command_tokens_now
        hide(tokens)
        return tokens

    options = MattermostOptions(
        url=settings.url.rstrip("/"),
        token=token.get_secret_value(),
        token_now=partial(token_now, settings, "token"),
        ca_file=settings.ca_file,
        request_timeout_s=settings.request_timeout_s,
        command_tokens=settings.command_tokens,
        command_tokens_now=command_tokens_now,
        command=settings.command,
        callback_url=settings.callback_url.rstrip("/") if settings.callback_url else None,
        button_key=button_key.get_secret_value() if button_key else None,
        teams=settings.teams,
        catch_up_age=timedelta(hours=catch_up.max_age_hours),
        catch_up_messages=catch_up.max_messages,
    )
    timing = Timing(monotonic=time.monotonic, sleep=asyncio.sleep, jitter=random.random)
    return MattermostPlatform(options, state, clock=clock, timing=timing)
