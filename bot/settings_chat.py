"""The sections of haechi.toml about chat: channels, limits, commands, catching up."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from bot.settings_check import Problem, nearest, require_distinct
from bot.settings_sections import Section

_ADMIN = re.compile(r"(slack|mattermost|web):\S+")


class ChatSettings(Section):
    """`[chat]`: what holds where nothing else is configured. `default_sources` None means all of them, `direct_sources`
    None the same as in channels."""

    default_sources: tuple[str, ...] | None = None
    direct_sources: tuple[str, ...] | None = None
    language: Literal["ko", "en"] | None = None
    evidence_link_days: int = Field(default=7, ge=0, le=365)


class ChannelSettings(Section):
    """One `[[channels]]` entry; `sources` None means `chat.default_sources`."""

    platform: Literal["slack", "mattermost", "web"]
    id: str
    sources: tuple[str, ...] | None = None
    route: Literal["docs", "code"] | None = None
    answers: bool = True
    alerts: bool = False
    alert_authors: tuple[str, ...] = ()
    language: Literal["ko", "en"] | None = None
    answer_length: Literal["short", "normal", "long"] = "normal"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.id.strip() or self.id.startswith(("#", "~", "@")):
            raise Problem(
                "id", "must be the channel's id, not its name: the platform shows it in the channel's details"
            )
        if self.alert_authors and not self.alerts:
            raise Problem("alert_authors", "has no effect without alerts = true; set that, or remove it")
        return self


class LimitSettings(Section):
    """`[limits]`: questions that are answered; 0 stands for any number."""

    user_per_minute: int = Field(default=10, ge=0, le=10_000)
    user_per_hour: int = Field(default=100, ge=0, le=100_000)
    total_per_minute: int = Field(default=120, ge=0, le=100_000)
    total_per_hour: int = Field(default=2000, ge=0, le=1_000_000)


class CommandSettings(Section):
    """`[commands]`."""

    admins: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for admin in self.admins:
            if not _ADMIN.fullmatch(admin):
                raise Problem("admins", 'must hold platform and user id, for example "slack:U012ABCDEF"')
        require_distinct("admins", self.admins)
        return self


class CatchUpSettings(Section):
    """`[catch_up]`: what is looked up after the bot was away or disconnected."""

    max_age_hours: float = Field(default=24.0, ge=0.0, le=24.0 * 30)
    max_messages: int = Field(default=500, ge=0, le=100_000)


def check_chat(chat: ChatSettings, channels: tuple[ChannelSettings, ...], sources: list[str]) -> None:
    """Raises Problem for a source that is not configured, or a channel that stands twice."""
    named = [("chat.default_sources", chat.default_sources), ("chat.direct_sources", chat.direct_sources)]
    named += [(f"channels.{number}.sources", channel.sources) for number, channel in enumerate(channels)]
    for key, names in named:
        for name in names or ():
            if name not in sources:
                raise Problem(key, f"names {name!r}, which no [[sources]] entry has{nearest(name, sources)}")
    seen: set[tuple[str, str]] = set()
    for number, channel in enumerate(channels):
        if (channel.platform, channel.id) in seen:
            raise Problem(
                f"channels.{number}.id", f"{channel.id!r} stands twice for {channel.platform}; keep one entry"
            )
        seen.add((channel.platform, channel.id))
