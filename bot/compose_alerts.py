"""Builds what deals with alerts: the desk, its store of faults, and what it is told of deployments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.alerts.desk import AlertDesk
from bot.alerts.services import Services as KnownServices
from bot.alerts.store import FaultStore, Limits
from bot.channels import Channels
from bot.evidence_grants import EvidenceLinks
from bot.settings import Settings
from bot.types import Reply, ThreadRef

if TYPE_CHECKING:
    from bot.services import Services


def build_desk(
    services: Services,
    *,
    known: KnownServices,
    channels: Channels,
    links: EvidenceLinks,
    clock: Callable[[], datetime],
    limits: Limits | None = None,
) -> AlertDesk:
    """The desk over the knowledge and the models of `services`."""

    def readable(reply: Reply, thread: ThreadRef) -> Reply:
        return links.readable(reply, channels.policy_of(thread).scope)

    return AlertDesk(
        faults=FaultStore(services.store, clock=clock, limits=limits or limits_of(services.settings)),
        store=services.store,
        library=services.knowledge,
        services=known,
        channels=channels,
        model=lambda: services.models.chat_model("alerts"),
        link=services.links,
        readable=readable,
        clock=clock,
    )


def known_services(settings: Settings) -> KnownServices:
    """The `[services.NAME]` of the settings."""
    return KnownServices([section.service(name) for name, section in settings.services.items()])


def limits_of(settings: Settings) -> Limits:
    """When alerts are one fault, and how many analyses are begun, as configured."""
    alerts = settings.alerts
    return Limits(
        window=timedelta(hours=alerts.quiet_hours),
        channel_per_hour=alerts.analyses_per_channel_per_hour,
        total_per_hour=alerts.analyses_per_hour,
    )


def desk_of(
    services: Services, *, channels: Channels, links: EvidenceLinks, clock: Callable[[], datetime]
) -> AlertDesk | None:
    """The desk, where a channel is one for alerts; else None."""
    if not any(channel.alerts for channel in services.settings.channels):
        return None
    return build_desk(services, known=known_services(services.settings), channels=channels, links=links, clock=clock)
