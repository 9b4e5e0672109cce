"""What alerting systems and deployments post: POST /alerts and POST /deploys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from starlette.routing import BaseRoute

from bot.alerts.alert import Alert, Deploy
from bot.alerts.services import Services

Take = Callable[[tuple[Alert, ...], str], Awaitable[None]]
"""Saves the alerts of one body under its id; they are durable when it returns."""
NoteDeploy = Callable[[Deploy], Awaitable[None]]


def alert_routes(
    *, token: str, take: Take, note_deploy: NoteDeploy, services: Services, clock: Callable[[], datetime]
) -> list[BaseRoute]:
    """Routes for `build_http(machine_routes=...)`."""
    raise NotImplementedError
