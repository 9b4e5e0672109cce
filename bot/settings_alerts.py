"""The sections `[alerts]` and `[services.NAME]` of haechi.toml; docs/alerts.md says how to connect each system."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from bot.alerts.services import Service
from bot.settings_check import Problem, require_distinct
from bot.settings_sections import Section

_PLATFORMS = ("slack", "mattermost", "web")


class AlertSettings(Section):
    """`[alerts]`: POST /alerts and POST /deploys are served where a token is set."""

    token_env: str | None = None
    token_file: Path | None = None
    channel: str | None = None
    calls_per_minute: int = Field(default=600, ge=1, le=100_000)
    same_fault_hours: float = Field(default=24.0, gt=0, le=24 * 90)
    quiet_hours: float = Field(default=6.0, gt=0, le=24 * 90)
    analyses_per_channel_per_hour: int = Field(default=30, ge=1, le=10_000)
    analyses_per_hour: int = Field(default=100, ge=1, le=10_000)

    SECRETS: ClassVar[tuple[str, ...]] = ("token",)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_channel(self.channel)
        return self

    @property
    def place(self) -> tuple[str, str] | None:
        """Platform and channel for alerts whose service has none."""
        return place_of(self.channel)


class ServiceSettings(Section):
    """One `[services.NAME]`."""

    repositories: tuple[str, ...] = ()
    channel: str | None = None
    runbooks: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_channel(self.channel)
        for number, pair in enumerate(self.environments):
            name, separator, told = pair.partition("=")
            if not (separator and name.strip() and told.strip()):
                raise Problem(
                    f"environments.{number}", 'must be "name in alerts=name of the environment", like "prd=production"'
                )
        for key in ("repositories", "runbooks", "aliases"):
            require_distinct(key, getattr(self, key))
        return self

    def service(self, name: str) -> Service:
        """The service under its name."""
        pairs = (pair.partition("=") for pair in self.environments)
        return Service(
            name=name, repositories=self.repositories, runbooks=self.runbooks, aliases=self.aliases,
            channel=place_of(self.channel),
            environments={told.strip(): own.strip() for told, _, own in pairs},
        )  # fmt: skip


def alert_places(alerts: AlertSettings, services: dict[str, ServiceSettings]) -> dict[tuple[str, str], str]:
    """Platform and channel -> the key that names it, of all channels in which alerts by HTTP are posted."""
    if not alerts.names_secret("token"):
        return {}
    named = [("alerts.channel", alerts.place)]
    named += [(f"services.{name}.channel", place_of(service.channel)) for name, service in services.items()]
    return {place: key for key, place in reversed(named) if place is not None}


def require_channel(channel: str | None) -> None:
    """Raises Problem for what names no channel of a platform."""
    platform, _, channel_id = (channel or "web:x").partition(":")
    if platform not in _PLATFORMS or not channel_id.strip() or channel_id.startswith(("#", "~")):
        raise Problem(
            "channel", 'must be a platform and a channel id, like "slack:C0123ABCD", "mattermost:ID" or "web:ID"'
        )


def place_of(channel: str | None) -> tuple[str, str] | None:
    """Platform and id of a channel that `require_channel` let through."""
    platform, _, channel_id = (channel or "").partition(":")
    return (platform, channel_id) if channel else None


def check_services(services: dict[str, ServiceSettings], sources: list[str]) -> None:
    """Raises Problem for a service that names a source which does not exist, or an alias that two services have."""
    owners: dict[str, str] = {}
    for name, service in services.items():
        for key in ("repositories", "runbooks"):
            for number, told in enumerate(getattr(service, key)):
                if told.partition("/")[0] not in sources:
                    known = ", ".join(sources)
                    raise Problem(
                        f"services.{name}.{key}.{number}",
                        f"names the source {told.partition('/')[0]!r}, which no"
                        f" [[sources]] entry has; known are {known}",
                    )
        for alias in (name, *service.aliases):
            other = owners.setdefault(alias.casefold(), name)
            if other != name:
                raise Problem(f"services.{name}.aliases", f"has {alias!r}, which service {other!r} has too; remove one")
