"""Options with which the Slack adapter talks to the emulator: the same as in earnest, but impatient."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import SecretStr

from bot.platforms.slack import SlackOptions
from bot.platforms.slack_watch import SlackTiming
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, SlackEmulator

QUICK = SlackTiming(
    ping_interval_s=0.2,
    check_every_s=0.05,
    dead_after_s=0.6,
    connect_timeout_s=2.0,
    gap_s=0.3,
    auth_every_s=0.1,
    auth_retry_s=0.1,
    auth_retry_max_s=0.2,
    reconnect_s=0.02,
    reconnect_max_s=0.1,
    retry_pause_s=0.01,
    edit_interval_s=0.0,
)


def slack_options(server: SlackEmulator, **changes: Any) -> SlackOptions:
    """Socket Mode on the emulator. `changes` are other fields of SlackOptions."""
    options = SlackOptions(
        bot_token=SecretStr(BOT_TOKEN),
        app_token=SecretStr(APP_TOKEN),
        signing_secret=SecretStr(SIGNING_SECRET),
        api_url=server.url,
        catch_up_age=timedelta(hours=24),
        timing=QUICK,
    )
    return replace(options, **changes)
