"""`[schedule]` and `[hooks]`: when sources are synced by themselves, and who may ask for it over HTTP."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, model_validator

from bot.settings_check import Problem
from bot.settings_sections import Section

OFF = "off"
_DURATION = re.compile(r"(\d{1,6})\s*(s|m|h|d)")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SHORTEST_S = 10


class ScheduleSettings(Section):
    """`[schedule]`."""

    enabled: bool = True
    timezone: str = "Asia/Seoul"
    documents: str = "10m"
    repositories: str = "5m"
    reconcile: str = "30 3 * * *"
    jitter_s: float = Field(default=15.0, ge=0, le=3600)
    watch: bool = True
    at_once: int = Field(default=2, ge=1, le=16)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_timezone("timezone", self.timezone)
        for key in ("documents", "repositories"):
            require_schedule(key, getattr(self, key))
        if self.reconcile != OFF:
            require_cron("reconcile", self.reconcile)
        return self


class HookSettings(Section):
    """`[hooks]`: a host without its secret has no route."""

    github_secret_env: str | None = None
    github_secret_file: Path | None = None
    gitlab_token_env: str | None = None
    gitlab_token_file: Path | None = None
    gitea_secret_env: str | None = None
    gitea_secret_file: Path | None = None
    reindex_token_env: str | None = None
    reindex_token_file: Path | None = None

    SECRETS: ClassVar[tuple[str, ...]] = ("github_secret", "gitlab_token", "gitea_secret", "reindex_token")


def seconds_of(duration: str) -> int | None:
    """Seconds of "90s", "10m", "2h" or "1d"; None for anything else."""
    match = _DURATION.fullmatch(duration.strip())
    return int(match[1]) * _UNIT_S[match[2]] if match else None


def require_schedule(key: str, value: str) -> None:
    """Raises Problem unless `value` is "off", a duration, or a cron expression."""
    if value == OFF:
        return
    if " " in value.strip():
        require_cron(key, value)
        return
    require_every(key, value)


def require_every(key: str, value: str) -> None:
    """Raises Problem unless `value` is "off" or a duration that is not too short."""
    seconds = seconds_of(value)
    if value != OFF and (seconds is None or seconds < SHORTEST_S):
        raise Problem(key, f'must be "off" or a time of at least {SHORTEST_S}s, such as "90s", "10m", "2h" or "1d"')


def require_cron(key: str, value: str) -> None:
    """Raises Problem unless `value` is a cron expression of five fields that fires at some time."""
    from datetime import UTC, datetime

    from apscheduler.triggers.cron import CronTrigger

    try:
        fires = CronTrigger.from_crontab(value, timezone=UTC).get_next_fire_time(None, datetime.now(UTC)) is not None
    except (ValueError, TypeError):
        fires = False
    if not fires:
        raise Problem(key, 'must be a cron expression of five fields that comes true, such as "30 3 * * *"')


def require_timezone(key: str, value: str) -> None:
    """Raises Problem unless `value` names a time zone."""
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Problem(key, 'must be the name of a time zone, such as "Asia/Seoul" or "Europe/Berlin"') from None
