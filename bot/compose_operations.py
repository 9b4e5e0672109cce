"""Builds health, figures and the Model Context Protocol, and what is done at night."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from bot.errors import BotError
from bot.http.request_figures import RequestObserver, unobserved
from knowledge.types import Scope, ToolStatus

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.compose_platforms import Chat
    from bot.http.mcp import McpEndpoint
    from bot.metrics import Metrics
    from bot.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRoutes:
    """Routes, and what must be entered while they are served."""

    routes: tuple[BaseRoute, ...]
    running: AbstractAsyncContextManager[None]
    observe_request: RequestObserver


def build_operator_routes(services: Services, chat: Chat) -> OperatorRoutes:
    """The routes that are switched on, and who watches what `chat` does. Call it once the platforms are known to
    `services.readiness`."""
    routes: list[BaseRoute] = []
    running: AbstractAsyncContextManager[None] = nullcontext()
    observe_request = unobserved
    if services.settings.metrics.enabled:
        metrics = _metrics(services, chat)
        routes += _health(services, metrics)
        observe_request = metrics.requested
    services.readiness.more_states.append(partial(_source_states, services))
    if services.settings.mcp.enabled:
        from bot.http.mcp import McpEndpoint

        mcp, settings = services.settings.mcp, services.settings
        token = mcp.secret("token")
        endpoint = McpEndpoint(
            services.knowledge,
            scope=Scope.everything() if mcp.sources is None else Scope.of(*mcp.sources),
            token=None if token is None else token.get_secret_value(),
            allowed_hosts=[*_own_hosts(services), *settings.web.allowed_hosts],
            version=version("haechi"),
            link=lambda scored: services.links(scored.chunk.locator, scored.chunk.id),
        )
        routes.append(endpoint.route)
        running = endpoint.running()
        services.readiness.more_states.append(partial(_mcp_state, services, endpoint))
    return OperatorRoutes(routes=tuple(routes), running=running, observe_request=observe_request)


async def _mcp_state(services: Services, endpoint: McpEndpoint) -> list[ToolStatus]:
    """Whether other assistants can ask."""
    token = "with the token of [mcp]" if services.settings.mcp.names_secret("token") else "without a token"
    return [
        ToolStatus(
            name="mcp",
            state="ok" if endpoint.is_running else "down",
            detail=f"{services.settings.page_url}/mcp, {token}" if endpoint.is_running else "not started yet",
            checked_at=services.readiness.clock(),
        )
    ]


async def _source_states(services: Services) -> list[ToolStatus]:
    """The sources, degraded where the last sync failed: answers then come from what was read before."""
    now = services.readiness.clock()
    statuses = await asyncio.to_thread(services.knowledge.status, scope=Scope.everything())
    return [
        ToolStatus(
            name=f"source:{status.source}",
            state="degraded" if status.problem else "ok",
            detail=status.problem or f"{status.documents} documents",
            checked_at=now,
        )
        for status in statuses
    ]


def _own_hosts(services: Services) -> list[str]:
    from urllib.parse import urlsplit

    public = urlsplit(services.settings.public_url or "").hostname
    return ["127.0.0.1", "localhost", "[::1]", *([public] if public else [])]


def _metrics(services: Services, chat: Chat) -> Metrics:
    """The figures, told of everything that happens."""
    from bot.metrics import Metrics

    metrics = Metrics(services.store, clock=services.readiness.clock)
    services.query_log.observers.append(metrics.answered)
    services.queue.on_ended.append(metrics.job_ended)
    chat.worker.on_stage.append(metrics.stage)
    chat.worker.on_alert.append(metrics.alert_taken)
    if chat.placing is not None:
        chat.placing.on_outcome.append(metrics.alert_taken)
    for chain in {id(chain): chain for chain in services.models.chains.values()}.values():
        chain.observers.append(metrics.model_called)
    return metrics


def _health(services: Services, metrics: Metrics) -> list[BaseRoute]:
    from bot.http.health import health_routes
    from bot.metrics import Snapshot

    async def render() -> bytes:
        ready = await services.readiness.parts()
        snapshot = Snapshot(
            parts={part.name: part.state for part in ready},
            sources=await asyncio.to_thread(services.knowledge.status, scope=Scope.everything()),
            last_backup_at=services.maintenance.last_backup_at(),
        )
        return await asyncio.to_thread(metrics.render, snapshot)

    token = services.settings.metrics.secret("token")
    return health_routes(
        readiness=services.readiness.ready, metrics=render, token=None if token is None else token.get_secret_value()
    )


async def retention_at_night(services: Services) -> None:
    """Removes what is older than its period; for the scheduler. Raises BotError."""
    try:
        await services.store.in_thread(services.maintenance.apply_retention, services.readiness.clock())
    except BotError as error:
        raise BotError(f"Nothing was removed tonight: {error}") from error
