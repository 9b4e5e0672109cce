"""Builds what deals with alerts: the desk, its store of faults, the intake by HTTP, and what is told of deployments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from bot.admin_notices import NoticeStore
from bot.alerts.alert import Alert, Deploy
from bot.alerts.cases import CaseKeeper
from bot.alerts.counts import Counts
from bot.alerts.deploy_store import DeployStore
from bot.alerts.desk import AlertDesk
from bot.alerts.digests import Digests
from bot.alerts.evidence import Library
from bot.alerts.intake import NOWHERE, AlertIntake, Place, Taken
from bot.alerts.placing import AlertPlacing, IncomingAlerts
from bot.alerts.rendering import code_span
from bot.alerts.services import Services as KnownServices
from bot.alerts.store import FaultStore, Limits
from bot.alerts.threads import AlertThreads
from bot.alerts.verdicts import VerdictStore
from bot.audit import AuditLog
from bot.channels import Channels
from bot.errors import StoreError
from bot.evidence_grants import EvidenceLinks
from bot.inbox import Inbox
from bot.ports import AlertHandler, ChatModel, ChatPlatform
from bot.settings import Settings
from bot.sources import Link
from bot.store import Store
from bot.types import Reply, ThreadRef
from knowledge.types import ToolStatus

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.services import Services

REPEAT_WINDOW = timedelta(minutes=10)

log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class AlertLine:
    """What deals with alerts, built and not yet running."""

    handler: AlertHandler
    desk: AlertDesk
    placing: AlertPlacing | None  # None: nothing comes by HTTP
    routes: Sequence[BaseRoute]
    platforms: Mapping[str, ChatPlatform]

    async def run(self) -> None:
        """Keeps counts shown, and places what comes by HTTP, until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.desk.keep_counts_shown(self.platforms))
            if self.placing is not None:
                tasks.create_task(self.placing.run())


def build_alerts(
    services: Services,
    *,
    channels: Channels,
    links: EvidenceLinks,
    inbox: Inbox,
    platforms: Mapping[str, ChatPlatform],
    clock: Callable[[], datetime],
    handed_over: Callable[[], None],
) -> AlertLine | None:
    """The line of alerts, where a channel is one for alerts or they may come by HTTP; else None."""
    settings = services.settings
    token = settings.alerts.secret("token")
    if token is None and not any(channel.alerts for channel in settings.channels):
        return None
    known = known_services(settings)
    faults = FaultStore(services.store, clock=clock, limits=limits_of(settings))
    desk = build_desk(services, known=known, channels=channels, links=links, clock=clock, faults=faults)
    desk.threads.platforms = platforms
    services.maintenance.on_restored.append(desk.wake)
    if token is None:
        return AlertLine(handler=desk, desk=desk, placing=None, routes=(), platforms=platforms)
    intake = AlertIntake(
        services.store, clock=clock, place_of=Places(known, settings.alerts.place), repeat_window=REPEAT_WINDOW
    )
    placing = AlertPlacing(
        intake=intake, digests=Digests(services.store, clock=clock), faults=faults, store=services.store, inbox=inbox,
        channels=channels, platforms=platforms, clock=clock, handed_over=handed_over,
    )  # fmt: skip
    door = _Intake(services, intake, placing, faults)
    from bot.http.alerts import alert_routes

    routes = alert_routes(
        token=token.get_secret_value(), intake=door, note_deploy=door.note_deploy, confirm=door.confirm,
        services=known, clock=clock, per_minute=settings.alerts.calls_per_minute,
    )  # fmt: skip
    services.readiness.more_states.append(door.states)
    return AlertLine(
        handler=IncomingAlerts(intake, services.store, desk), desk=desk, placing=placing, routes=routes,
        platforms=platforms,
    )  # fmt: skip


def build_desk(
    services: Services,
    *,
    known: KnownServices,
    channels: Channels,
    links: EvidenceLinks,
    clock: Callable[[], datetime],
    faults: FaultStore,
) -> AlertDesk:
    """The desk over the knowledge and the models of `services`."""

    def readable(reply: Reply, thread: ThreadRef) -> Reply:
        return links.readable(reply, channels.policy_of(thread).scope)

    return assemble_desk(
        store=services.store, library=services.knowledge, services=known, channels=channels,
        model=lambda: services.models.chat_model("alerts"), link=services.links, readable=readable, clock=clock,
        faults=faults,
    )  # fmt: skip


def assemble_desk(
    *,
    store: Store,
    library: Library,
    services: KnownServices,
    channels: Channels,
    model: Callable[[], ChatModel | None],
    link: Link,
    readable: Callable[[Reply, ThreadRef], Reply],
    clock: Callable[[], datetime],
    faults: FaultStore,
) -> AlertDesk:
    """The desk over its parts; its `threads` deal with what people say below alerts, and must be told the platforms."""
    verdicts = VerdictStore(store, faults, clock=clock)
    keeper = CaseKeeper(faults=faults, verdicts=verdicts, store=store, library=library, channels=channels)
    threads = AlertThreads(
        faults=faults, verdicts=verdicts, keeper=keeper, store=store, library=library,
        audit=AuditLog(store, clock=clock), channels=channels, link=link, readable=readable,
    )  # fmt: skip
    return AlertDesk(
        faults=faults, deploys=DeployStore(store, clock=clock), store=store, keeper=keeper, threads=threads,
        library=library, services=services,
        counts=Counts(faults=faults, store=store, language_of=keeper.language_of, clock=clock),
        channels=channels, model=model, link=link, readable=readable,
    )  # fmt: skip


def known_services(settings: Settings) -> KnownServices:
    """The `[services.NAME]` of the settings."""
    urls = {source.name: source.url for source in settings.sources if source.url is not None}
    return KnownServices([replace(section.service(name), urls=urls) for name, section in settings.services.items()])


def limits_of(settings: Settings) -> Limits:
    """When alerts are one fault, and how many analyses are begun, as configured."""
    alerts = settings.alerts
    return Limits(
        quiet=timedelta(hours=alerts.quiet_hours),
        window=timedelta(hours=alerts.same_fault_hours),
        channel_per_hour=alerts.analyses_per_channel_per_hour,
        total_per_hour=alerts.analyses_per_hour,
    )


class Places:
    """Where an alert is posted: in its service's channel, else in the one for all others."""

    def __init__(self, known: KnownServices, default: Place | None) -> None:
        self._known = known
        self._default = default or NOWHERE

    def __call__(self, alert: Alert) -> Place:
        service = self._known.find(alert.service, alert.labels)
        return service.channel if service is not None and service.channel is not None else self._default


class _Intake:
    """Implements bot.http.alerts.TakesAlerts, and says how the alerts fare that came by HTTP."""

    def __init__(self, services: Services, intake: AlertIntake, placing: AlertPlacing, faults: FaultStore) -> None:
        self._services = services
        self._store = services.store
        self._intake = intake
        self._placing = placing
        self._faults = faults
        self._deploys = DeployStore(services.store, clock=services.readiness.clock)

    async def taken_before(self, identity: str) -> Taken | None:
        return await self._store.in_thread(self._intake.taken_before, identity)

    async def take(self, alerts: tuple[Alert, ...], identity: str) -> Taken:
        taken = await self._store.in_thread(self._intake.take, alerts, identity)
        if taken.is_new and alerts:
            self._placing.wake()
        return taken

    async def note_deploy(self, deploy: Deploy) -> None:
        await self._store.in_thread(self._deploys.note, deploy)

    async def confirm(self, topic: str, address: str) -> None:
        """Lets admins know the address: the token in it can do nothing but confirm, and nobody can without it."""
        sentence = (
            f"Amazon SNS wants to deliver {code_span(topic)} to POST /alerts. If that is right, open this address once"
            f" in a browser within three days; it confirms the subscription: `{address}`"
        )
        notices = NoticeStore(self._store, clock=self._services.readiness.clock)
        now = self._services.readiness.clock()
        await self._store.in_thread(notices.raise_notice, f"sns:{topic}", sentence, since=now, lasts=False)
        admins = len(self._services.settings.commands.admins)
        log.warning(
            "alerts.sns_confirmation",
            topic=topic,
            told=f"{admins} admins by direct message"
            if admins
            else "nobody: set commands.admins, then request it anew",
        )

    async def states(self) -> Sequence[ToolStatus]:
        """Degraded while alerts wait for a channel, with the reason and what to do."""
        now = self._services.readiness.clock()
        try:
            waiting = await self._store.in_thread(self._intake.waiting)
        except StoreError as error:
            return [ToolStatus(name="alerts", state="down", detail=str(error), checked_at=now)]
        sentences = []
        for place, (count, since) in waiting.items():
            trouble = self._placing.troubles.get(place)
            where = f" for {':'.join(place)}" if place != NOWHERE else ""
            who = f"{count} alerts wait" if count > 1 else "1 alert waits"
            if place == NOWHERE:
                why = "their service has no channel: set alerts.channel, or the channel of [services.NAME]"
            elif place[0] not in self._placing.platforms:
                why = f"{place[0]} is not configured; set [{place[0]}], or correct the channel"
            elif trouble is not None:
                why = f"{trouble.reason.rstrip('.')}; tried again at {trouble.again_at:%H:%M:%S} UTC"
            else:
                continue
            sentences.append(f"{who}{where} since {since:%Y-%m-%d %H:%M} UTC: {why}")
        return [
            ToolStatus(
                name="alerts",
                state="degraded" if sentences else "ok",
                detail="; ".join(sentences) or "POST /alerts is open, and nothing waits",
                checked_at=now,
            )
        ]
