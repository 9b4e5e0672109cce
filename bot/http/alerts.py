"""What alerting systems and deployments post: POST /alerts and POST /deploys; `alert_door` says who may."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.alerts.alert import Alert, Deploy
from bot.alerts.intake import IntakeFull, Taken
from bot.alerts.reading import BadPayload, environment_of, read_payload
from bot.alerts.services import Services
from bot.errors import BotError
from bot.http.alert_door import AlertDoor, refusal
from bot.http.machine import MAX_BODY_BYTES
from knowledge.masking import mask

MAX_DEPLOY_BYTES = 64 * 1024
AGAIN_S = 60
_DELIVERY_HEADERS = (
    "idempotency-key",
    "x-github-delivery",
    "x-gitlab-event-uuid",
    "x-amz-sns-message-id",
    "x-webhook-id",
)
_REVISION = re.compile(r"[0-9A-Za-z][\w.+/-]{0,127}")
_SNS_HOST = re.compile(r"sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")

# The events of code hosts and Sentry that may tell of a fault, by the header that names the event: a webhook that sends
# everything would else make an alert of every push and comment.
_EVENTS = {
    "x-github-event": (
        "workflow_run", "workflow_job", "check_run", "deployment_status", "dependabot_alert",
        "code_scanning_alert", "secret_scanning_alert",
    ),
    "x-gitlab-event": ("Pipeline Hook", "Job Hook", "Deployment Hook", "Alert Hook", "Vulnerability Hook"),
    "sentry-hook-resource": ("event_alert", "issue", "metric_alert", "error"),
}  # fmt: skip

log = structlog.get_logger(__name__)

NoteDeploy = Callable[[Deploy], Awaitable[None]]
Confirm = Callable[[str, str], Awaitable[None]]
"""Is told of a subscription that an operator must confirm: its topic, and the address that confirms it."""


class TakesAlerts(Protocol):
    """Where alerts go; what it has taken is durable when `take` returns."""

    async def taken_before(self, identity: str) -> Taken | None: ...

    async def take(self, alerts: tuple[Alert, ...], identity: str) -> Taken: ...


def alert_routes(
    *,
    token: str,
    intake: TakesAlerts,
    note_deploy: NoteDeploy,
    confirm: Confirm,
    services: Services,
    clock: Callable[[], datetime],
    per_minute: int,
) -> list[BaseRoute]:
    """Routes for `build_http(machine_routes=...)`."""
    door = AlertDoor(token, clock, per_minute)

    async def alerts(request: Request) -> Response:
        if request.headers.get("content-encoding", "identity") != "identity":
            return refusal(415, "Compressed bodies are not read; send it without Content-Encoding.")
        body = await door.body_of(request, limit_bytes=MAX_BODY_BYTES)
        if isinstance(body, Response):
            return body
        identity = _identity(request, body)
        try:
            known = await intake.taken_before(identity)
            if known is not None:
                return _taken(known, 0, None)
            if (other := _other_event(request)) is not None:
                return _taken(await intake.take((), identity), 0, other)
            reading = await run_in_threadpool(
                read_payload,
                body,
                content_type=request.headers.get("content-type", ""),
                services=services,
                posted_at=clock(),
            )
            await _tell_confirmation(request, body, confirm)
            return _taken(await intake.take(reading.alerts, identity), len(reading.alerts), reading.skipped)
        except BadPayload as error:
            log.warning("alerts.refused", status=error.status, reason=error.sentence)
            return refusal(error.status, error.sentence)
        except IntakeFull as error:
            log.error("alerts.not_saved", reason=str(error))
            return refusal(503, "Too many alerts wait for their channels; send it again later.", retry_after_s=AGAIN_S)
        except BotError as error:  # it was not saved, so the sender must try again
            log.error("alerts.not_saved", reason=str(error))
            return refusal(503, "The alert could not be saved; send it again in a minute.", retry_after_s=AGAIN_S)

    return [
        Route("/alerts", alerts, methods=["POST"]),
        Route("/deploys", _deploys(door, note_deploy, services, clock), methods=["POST"]),
    ]


def _taken(taken: Taken, alerts: int, skipped: str | None) -> Response:
    told: dict[str, object] = {"id": taken.id, "alerts": alerts if taken.is_new else 0}
    if not taken.is_new:
        told["repeated"] = True
    elif skipped:
        told["skipped"] = skipped
    log.info("alerts.taken", id=taken.id, alerts=told["alerts"], repeated=not taken.is_new, skipped=skipped)
    return JSONResponse(told, status_code=202)


def _deploys(
    door: AlertDoor, note_deploy: NoteDeploy, services: Services, clock: Callable[[], datetime]
) -> Callable[[Request], Awaitable[Response]]:
    async def deploys(request: Request) -> Response:
        body = await door.body_of(request, limit_bytes=MAX_DEPLOY_BYTES)
        if isinstance(body, Response):
            return body
        deploy = _deploy_of(body, services, clock())
        if isinstance(deploy, str):
            return refusal(400, deploy)
        try:
            await note_deploy(deploy)
        except BotError as error:
            log.error("deploys.not_saved", reason=str(error))
            return refusal(503, "The deployment could not be saved; send it again in a minute.", retry_after_s=AGAIN_S)
        log.info("deploys.taken", service=deploy.service, environment=deploy.environment, revision=deploy.revision)
        told = {"id": _digest(body), "service": deploy.service, "environment": deploy.environment}
        told |= {"repository": deploy.repository, "revision": deploy.revision}
        return JSONResponse(told, status_code=202)

    return deploys


def _other_event(request: Request) -> str | None:
    """Why nothing is read, where the sender says that the body is about something else than faults."""
    for header, events in _EVENTS.items():
        told = request.headers.get(header)
        if told is not None and told not in events:
            shown = "".join(c for c in told if c.isalnum() or c in " _-.")[:60]
            return f"The event {shown!r} tells of no fault."
    return None


async def _tell_confirmation(request: Request, body: bytes, confirm: Confirm) -> None:
    """SNS begins to deliver once somebody has opened an address. The bot opens none that it is sent; it is passed on to
    people, and only when it leads to SNS itself."""
    if request.headers.get("x-amz-sns-message-type") != "SubscriptionConfirmation":
        return
    try:
        told = json.loads(body)
        address, topic = str(told["SubscribeURL"]), _text(told, "TopicArn")
        parts = urlsplit(address)
    except (ValueError, RecursionError, KeyError, TypeError):
        return
    is_plain = len(address) < 2_000 and address.isprintable() and not set(address) & set("` <>")
    if parts.scheme == "https" and _SNS_HOST.fullmatch(parts.netloc) and is_plain:
        await confirm(topic, address)


def _identity(request: Request, body: bytes) -> str:
    """The same for every delivery of the same body; two bodies that are equal count as two where the sender names them
    differently, and two that differ never count as one."""
    given = next((value for name in _DELIVERY_HEADERS if (value := request.headers.get(name))), "")
    return _digest(given.encode("utf-8", "surrogateescape") + b"\n" + body)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _deploy_of(body: bytes, services: Services, now: datetime) -> Deploy | str:
    """The deployment, or a sentence about what is wrong with the body."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "The body is not valid JSON; send an object with service and revision."
    if not isinstance(value, Mapping):
        return "The body is not a JSON object; send one with service and revision."
    service, revision = _text(value, "service"), _text(value, "revision") or _text(value, "commit")
    if not service:
        return 'The key "service" is missing; send the name of a [services.NAME] section.'
    if not _REVISION.fullmatch(revision):
        return 'The key "revision" is missing or no commit; send the commit that was deployed.'
    at, told = now, value.get("deployed_at")
    if told is not None:
        try:
            at = datetime.fromisoformat(str(told))
        except ValueError:
            at = now.replace(tzinfo=None)
        try:
            at = at.astimezone(now.tzinfo) if at.tzinfo is not None else at
        except OverflowError:  # the first or the last day of the calendar, seen from another zone
            at = now.replace(tzinfo=None)
        if at.tzinfo is None:
            return (
                'The key "deployed_at" is no time with a zone; write it like 2026-01-31T09:00:00+09:00, or leave it'
                " out."
            )
    found = services.find(service)
    environment = _text(value, "environment")
    return Deploy(
        service=found.name if found else service,
        environment=environment_of(environment, found) if environment else None,
        revision=revision,
        repository=_text(value, "repository") or None,
        deployed_at=min(at, now),  # the clock there may be ahead
    )


def _text(value: Mapping[str, object], key: str) -> str:
    """A text of the body as one masked line: the address of a repository may hold a token."""
    told = value.get(key)
    return mask("".join(c for c in told[:2_000] if c.isprintable()).strip())[:200] if isinstance(told, str) else ""
