"""Builds health, figures and the Model Context Protocol, and what is done at night."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from bot.errors import BotError
from knowledge.types import Scope

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from bot.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRoutes:
    """Routes, and what must be entered while they are served."""

    routes: tuple[BaseRoute, ...]
    running: AbstractAsyncContextManager[None]


def build_operator_routes(services: Services) -> OperatorRoutes:
    """The routes that are switched on. Call it once the platforms are known to `services.readiness`."""
    routes: list[BaseRoute] = []
    running: AbstractAsyncContextManager[None] = nullcontext()
    if services.settings.metrics.enabled:
        routes += _health(services)
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
    return OperatorRoutes(routes=tuple(routes), running=running)


def _own_hosts(services: Services) -> list[str]:
    from urllib.parse import urlsplit

    public = urlsplit(services.settings.public_url or "").hostname
    return ["127.0.0.1", "localhost", "[::1]", *([public] if public else [])]


def _health(services: Services) -> list[BaseRoute]:
    from bot.http.health import health_routes
    from bot.metrics import Metrics, Snapshot

    metrics = Metrics(services.store, clock=services.readiness.clock)
    services.query_log.observers.append(metrics.answered)
    services.queue.on_ended.append(metrics.job_ended)

    async def render() -> bytes:
        ready = await services.readiness.parts()
        statuses = await asyncio.to_thread(services.knowledge.status, scope=Scope.everything())
        snapshot = Snapshot(
            parts={part.name: part.state for part in ready},
            synced_at={status.source: status.last_sync for status in statuses},
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
