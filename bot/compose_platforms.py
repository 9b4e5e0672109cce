"""Builds what talks: the platforms that are configured, and the line from a delivery to a reply."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.audit import AuditLog
from bot.channels import ChannelKey, ChannelPolicy, Channels
from bot.commands import Commands
from bot.compose_alerts import build_alerts
from bot.compose_mattermost import build_mattermost
from bot.compose_schedule import build_hooks
from bot.compose_slack import build_slack
from bot.evidence_grants import EvidenceGrants, EvidenceLinks
from bot.feedback import Feedback
from bot.inbox import Inbox, Lane
from bot.limits import Allowance, Limits
from bot.platform_runner import PlatformRunner, states_of
from bot.platform_state import StoredPlatformState
from bot.ports import AlertHandler, ChatPlatform
from bot.questions import Questions
from bot.reception import Reception
from bot.settings import Settings
from bot.signs import Signs
from bot.worker import Worker
from knowledge.types import Scope

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.alerts.placing import AlertPlacing
    from bot.platforms.web import WebPlatform
    from bot.services import Services

WAITING_FOR_MODEL = 64  # questions that have their evidence and wait for a model, each with its place in the queue
QUICK_AT_ONCE = 4
LONG_AT_ONCE = 8  # commands that wait for syncs: who asks for one that runs joins it, and sees that at once
KEY_NAME = "evidence_key"


@dataclass(slots=True, kw_only=True)
class Chat:
    """Everything that talks, built and not yet started."""

    web: WebPlatform
    runners: Sequence[PlatformRunner]
    reception: Reception
    worker: Worker
    grants: EvidenceGrants | None
    machine_routes: Sequence[BaseRoute]
    keep_alerts: Callable[[], Coroutine[Any, Any, None]] | None = None  # runs beside the worker, until it is cancelled
    placing: AlertPlacing | None = None  # where alerts come by HTTP


def build_chat(
    services: Services,
    *,
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
    alerts: AlertHandler | None = None,
) -> Chat:
    """The line from a delivery to a reply over all configured platforms. Raises ConfigError."""
    from bot.platforms.web import WebPlatform

    settings, store = services.settings, services.store
    web = WebPlatform(store, clock=clock, new_id=new_id, public_url=settings.page_url)
    others, routes = _build_others(services, clock)
    platforms: dict[str, ChatPlatform] = {web.name: web, **{platform.name: platform for platform in others}}
    runners = [PlatformRunner(platform, clock=clock) for platform in platforms.values()]
    inbox, feedback, signs = Inbox(store, clock=clock), Feedback(store, clock=clock), Signs()
    channels = build_channels(settings)
    grants = build_grants(services, clock)
    links = build_links(settings, grants)
    line = None if alerts is not None else build_alerts(
        services, channels=channels, links=links, inbox=inbox, platforms=platforms, clock=clock,
        handed_over=lambda: worker.wake(),
    )  # fmt: skip
    talk = line.desk.threads if line is not None else None
    questions = Questions(
        answering=services.answering, channels=channels, inbox=inbox, store=store, query_log=services.query_log,
        links=links, alerts=talk,
    )  # fmt: skip
    commands = Commands(
        store=store, inbox=inbox, feedback=feedback, audit=AuditLog(store, clock=clock), channels=channels,
        questions=questions, library=services.knowledge, ingest=services.operations.call, link=services.links,
        links=links, platform_states=lambda: states_of(runners), admins=settings.commands.admins, clock=clock,
        max_question_chars=settings.answers.max_question_chars, alerts=talk,
    )  # fmt: skip
    worker = Worker(
        store=store, inbox=inbox, questions=questions, commands=commands, persona=services.persona,
        alerts=line.handler if line is not None else alerts, platforms=platforms, signs=signs, clock=clock,
        at_once=lanes_of(settings, has_model=bool(services.models.chains)),
    )  # fmt: skip
    reception = Reception(
        store=store, inbox=inbox, feedback=feedback, channels=channels, limits=build_limits(settings),
        persona=services.persona, platforms=platforms, signs=signs, clock=clock,
        max_question_chars=settings.answers.max_question_chars, wake=worker.wake, alerts=talk,
    )  # fmt: skip
    worker.receive = reception.receive
    return Chat(
        web=web, runners=runners, reception=reception, worker=worker, grants=grants,
        machine_routes=(*routes, *build_hooks(services), *(line.routes if line is not None else ())),
        keep_alerts=line.run if line is not None else None, placing=line.placing if line is not None else None,
    )  # fmt: skip


def _build_others(services: Services, clock: Callable[[], datetime]) -> tuple[list[ChatPlatform], list[BaseRoute]]:
    """The adapters that are configured, and the routes that their servers call."""
    settings, store = services.settings, services.store
    platforms: list[ChatPlatform] = []
    routes: list[BaseRoute] = []
    slack = build_slack(
        settings.slack,
        catch_up=settings.catch_up,
        state=StoredPlatformState(store, "slack", clock=clock),
        clock=clock,
    )
    if slack is not None:
        from bot.http.slack import slack_routes

        platforms.append(slack)
        routes += slack_routes(slack) if settings.slack.mode == "http" else []
    mattermost = build_mattermost(
        settings.mattermost,
        catch_up=settings.catch_up,
        state=StoredPlatformState(store, "mattermost", clock=clock),
        clock=clock,
    )
    if mattermost is not None:
        from bot.http.mattermost import mattermost_routes

        platforms.append(mattermost)
        routes += mattermost_routes(mattermost)
    return platforms, routes


def build_channels(settings: Settings) -> Channels:
    """The policies as they are configured."""
    chat = settings.chat
    default = ChannelPolicy(scope=scope_of(chat.default_sources), language=chat.language)
    direct = chat.direct_sources if chat.direct_sources is not None else chat.default_sources
    configured: dict[ChannelKey, ChannelPolicy] = {
        (channel.platform, channel.id): ChannelPolicy(
            scope=default.scope if channel.sources is None else scope_of(channel.sources),
            route=channel.route,
            answers=channel.answers,
            alerts=channel.alerts,
            alert_authors=frozenset(channel.alert_authors),
            language=channel.language or chat.language,
            length=channel.answer_length,
        )
        for channel in settings.channels
    }
    return Channels(
        default=default,
        direct=ChannelPolicy(scope=scope_of(direct), language=chat.language),
        configured=configured,
        limits={"web": scope_of(settings.web.sources)},
    )


def scope_of(names: Sequence[str] | None) -> Scope:
    """The scope of a list of sources in the settings, in which None stands for all of them."""
    return Scope.everything() if names is None else Scope.of(*names)


def build_limits(settings: Settings) -> Limits:
    """The limits as they are configured."""
    limits = settings.limits
    return Limits(
        user=Allowance(per_minute=limits.user_per_minute, per_hour=limits.user_per_hour),
        total=Allowance(per_minute=limits.total_per_minute, per_hour=limits.total_per_hour),
    )


def lanes_of(settings: Settings, *, has_model: bool) -> dict[Lane, int]:
    """How many deliveries of each lane are worked on at once. With a model, many questions may wait for it with their
    evidence at hand; without one, more at once would only make each of them slower."""
    slow = max(settings.answers.concurrency, WAITING_FOR_MODEL) if has_model else settings.answers.concurrency
    return {"quick": QUICK_AT_ONCE, "slow": slow, "long": LONG_AT_ONCE, "alert": 1}


def build_links(settings: Settings, grants: EvidenceGrants | None) -> EvidenceLinks:
    """What makes links to evidence readable; where the page is switched off a link to it would lead nowhere."""
    return EvidenceLinks(
        page_url=settings.page_url if settings.web.enabled or settings.public_url else None,
        public=settings.web.enabled and settings.public_url is not None,
        grants=grants,
    )


def build_grants(services: Services, clock: Callable[[], datetime]) -> EvidenceGrants | None:
    """What signs links to evidence; its key is made once and kept in bot.sqlite3."""
    days = services.settings.chat.evidence_link_days
    if not days:
        return None
    state = StoredPlatformState(services.store, "haechi", clock=clock)
    key = state.get(KEY_NAME)
    if key is None:
        key = secrets.token_hex(32)
        state.put(KEY_NAME, key)
    return EvidenceGrants(key=bytes.fromhex(key), clock=clock, days=days)
