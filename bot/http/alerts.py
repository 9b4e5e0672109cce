"""What alerting systems and deployments post: POST /alerts and POST /deploys.

The token travels in `Authorization: Bearer`. In `?token=` it is taken too, because SNS, PagerDuty and some others can
send no header of one's own; addresses are not logged here.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.alerts.alert import Alert, Deploy
from bot.alerts.reading import BadPayload, environment_of, read_payload
from bot.alerts.services import Services
from bot.errors import BotError
from bot.http.machine import whole_body

MAX_DEPLOY_BYTES = 64 * 1024
MAX_REMEMBERED = 20_000
_DELIVERY_HEADERS = (
    "idempotency-key",
    "x-github-delivery",
    "x-gitlab-event-uuid",
    "x-amz-sns-message-id",
    "x-webhook-id",
    "request-id",
)
_REVISION = re.compile(r"[0-9A-Za-z][\w.+/-]{0,127}")

log = structlog.get_logger(__name__)

Take = Callable[[tuple[Alert, ...], str], Awaitable[None]]
"""Saves the alerts of one body under its id; they are durable when it returns."""
NoteDeploy = Callable[[Deploy], Awaitable[None]]


def alert_routes(
    *,
    token: str,
    take: Take,
    note_deploy: NoteDeploy,
    services: Services,
    clock: Callable[[], datetime],
    per_minute: int = 600,
    repeat_window: timedelta = timedelta(minutes=10),
) -> list[BaseRoute]:
    """Routes for `build_http(machine_routes=...)`."""
    door = _Door(token, clock, per_minute)
    seen = _Seen(clock, repeat_window)

    async def alerts(request: Request) -> Response:
        refused = door.refusal(request)
        if refused is not None:
            return refused
        body = await whole_body(request)
        identity = _identity(request, body)
        async with seen.lock(identity):
            if seen.has(identity):
                return JSONResponse({"id": identity, "alerts": 0, "repeated": True}, status_code=202)
            try:
                reading = await run_in_threadpool(
                    read_payload,
                    body,
                    content_type=request.headers.get("content-type", ""),
                    services=services,
                    posted_at=clock(),
                )
            except BadPayload as error:
                return _error(error.status, error.sentence)
            if reading.alerts:
                try:
                    await take(reading.alerts, identity)
                except BotError as error:  # it was not saved, so the sender must try again
                    log.error("alerts.not_saved", reason=str(error))
                    return _error(503, "The alert could not be saved; send it again in a minute.", retry_after_s=60)
            seen.add(identity)
        told = {"id": identity, "alerts": len(reading.alerts)}
        return JSONResponse({**told, "skipped": reading.skipped} if reading.skipped else told, status_code=202)

    return [
        Route("/alerts", alerts, methods=["POST"]),
        Route("/deploys", _deploys(door, note_deploy, services, clock), methods=["POST"]),
    ]


def _deploys(
    door: _Door, note_deploy: NoteDeploy, services: Services, clock: Callable[[], datetime]
) -> Callable[[Request], Awaitable[Response]]:
    async def deploys(request: Request) -> Response:
        refused = door.refusal(request)
        if refused is not None:
            return refused
        body = await whole_body(request, limit_bytes=MAX_DEPLOY_BYTES)
        deploy = _deploy_of(body, services, clock())
        if isinstance(deploy, str):
            return _error(400, deploy)
        try:
            await note_deploy(deploy)
        except BotError as error:
            log.error("deploys.not_saved", reason=str(error))
            return _error(503, "The deployment could not be saved; send it again in a minute.", retry_after_s=60)
        return JSONResponse({"id": _digest(body)}, status_code=202)

    return deploys


class _Door:
    """Checks the token in constant time, and how many calls came within the last minute."""

    def __init__(self, token: str, clock: Callable[[], datetime], per_minute: int) -> None:
        self._token = token.encode()
        self._clock = clock
        self._per_minute = per_minute
        self._calls: deque[datetime] = deque()

    def refusal(self, request: Request) -> Response | None:
        """The response to a caller who may not come in now."""
        scheme, _, told = request.headers.get("authorization", "").partition(" ")
        given = told.strip() if scheme.lower() == "bearer" else request.query_params.get("token", "")
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._token):
            return _error(
                401, "The token is missing or wrong; send `Authorization: Bearer TOKEN` with that of [alerts]."
            )
        now = self._clock()
        while self._calls and now - self._calls[0] >= timedelta(minutes=1):
            self._calls.popleft()
        if len(self._calls) >= self._per_minute:
            wait_s = 60 - int((now - self._calls[0]).total_seconds())
            return _error(429, f"More than {self._per_minute} calls came within a minute; send it again later.", wait_s)
        self._calls.append(now)
        return None


class _Seen:
    """The ids of the bodies that were taken within the window, which spares reading a repeat."""

    def __init__(self, clock: Callable[[], datetime], window: timedelta) -> None:
        self._clock = clock
        self._window = window
        self._ids: OrderedDict[str, datetime] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {f"{n:x}": asyncio.Lock() for n in range(16)}

    def lock(self, identity: str) -> asyncio.Lock:
        return self._locks[identity[0]]

    def has(self, identity: str) -> bool:
        taken = self._ids.get(identity)
        return taken is not None and self._clock() - taken < self._window

    def add(self, identity: str) -> None:
        self._ids.pop(identity, None)
        self._ids[identity] = self._clock()
        while len(self._ids) > MAX_REMEMBERED:
            self._ids.popitem(last=False)


def _identity(request: Request, body: bytes) -> str:
    """The same for every delivery of the same body: by the sender's id of it, else by what it holds."""
    given = next((value for name in _DELIVERY_HEADERS if (value := request.headers.get(name))), None)
    return _digest(f"id:{given}".encode("utf-8", "surrogateescape") if given else body)


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
        deployed_at=at.astimezone(now.tzinfo),
    )


def _text(value: Mapping[str, object], key: str) -> str:
    told = value.get(key)
    return "".join(c for c in told if c.isprintable()).strip()[:200] if isinstance(told, str) else ""


def _error(status: int, sentence: str, retry_after_s: int | None = None) -> Response:
    headers = {"Retry-After": str(max(1, retry_after_s))} if retry_after_s is not None else None
    return JSONResponse({"error": sentence}, status_code=status, headers=headers)
