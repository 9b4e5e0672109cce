"""Builds what deals with alerts: the desk, its store of faults, and what it is told of deployments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.alerts.desk import AlertDesk
from bot.alerts.services import Services as KnownServices
from bot.alerts.store import FaultStore, Limits
from bot.channels import Channels
from bot.evidence_grants import EvidenceLinks
from bot.services import Services
from bot.types import Reply, ThreadRef


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
        faults=FaultStore(services.store, clock=clock, limits=limits or Limits()),
        store=services.store,
        library=services.knowledge,
        services=known,
        channels=channels,
        model=lambda: services.models.chat_model("alerts"),
        link=services.links,
        readable=readable,
        clock=clock,
    )
