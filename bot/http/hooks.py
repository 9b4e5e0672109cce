"""What code hosts and deployment tools send to /hooks/github, /hooks/gitlab, /hooks/gitea and /reindex."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.hook_matching import Push, Watched, is_ping, push_of, sources_for
from bot.http.machine import whole_body

MAX_BODY_BYTES = 25 * 1024 * 1024  # GitHub's own limit
MAX_REINDEX_BYTES = 64 * 1024
MAX_DELIVERY_CHARS = 200

log = structlog.get_logger(__name__)

Ask = Callable[[str, str, bool], Awaitable[int]]
"""(source, who asks, force) -> number of the job, which begins after this moment."""
Cancel = Callable[[str, str], Awaitable[list[int]]]
"""(source, who asks) -> numbers of its jobs that are being stopped."""


class Deliveries(Protocol):
    """The deliveries that were taken; called in the event loop."""

    async def jobs_of(self, delivery: str) -> list[int] | None: ...

    async def keep(self, delivery: str, jobs: Sequence[int]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSecrets:
    """A host without a secret has no route."""

    github: str | None = None
    gitlab: str | None = None
    gitea: str | None = None
    reindex: str | None = None


def hook_routes(
    *, secrets: HookSecrets, sources: Sequence[Watched], ask: Ask, cancel: Cancel, deliveries: Deliveries
) -> list[BaseRoute]:
    """Routes for `build_http(machine_routes=...)`."""
    routes: list[BaseRoute] = []
    for host, secret in (("github", secrets.github), ("gitlab", secrets.gitlab), ("gitea", secrets.gitea)):
        if secret is not None:
            hook = _Hook(host, secret, sources, ask, deliveries)
            routes.append(Route(f"/hooks/{host}", hook.take, methods=["POST"]))
    if secrets.reindex is not None:
        names = [source.name for source in sources]
        reindex = _Reindex(secrets.reindex, names, ask, cancel)
        routes.append(Route("/reindex", reindex.take, methods=["POST"]))
        routes.append(Route("/reindex", reindex.stop, methods=["DELETE"]))
    return routes


class _Hook:
    def __init__(self, host: str, secret: str, sources: Sequence[Watched], ask: Ask, deliveries: Deliveries) -> None:
        self._host = host
        self._secret = secret
        self._sources = sources
        self._ask = ask
        self._deliveries = deliveries

    async def take(self, request: Request) -> Response:
        body = await whole_body(request, limit_bytes=MAX_BODY_BYTES)
        if not is_signed(self._host, self._secret, request.headers, body):
            log.warning("hook.refused", host=self._host)
            return JSONResponse({"error": "The signature is missing or wrong."}, status_code=401)
        try:
            payload = json.loads(body)
        except ValueError:
            payload = None
        if not isinstance(payload, dict):
            return JSONResponse({"error": "The body is no JSON object; set the content type to JSON."}, status_code=400)
        if is_ping(self._host, request.headers):
            return JSONResponse({"ok": True, "sources": [source.name for source in self._sources]})
        push = push_of(self._host, request.headers, payload)
        if push is None:
            return JSONResponse({"ignored": "this event changes no source"})
        return await self._sync(push, _delivery(self._host, request.headers, body))

    async def _sync(self, push: Push, delivery: str) -> Response:
        before = await self._deliveries.jobs_of(delivery)
        if before is not None:
            return JSONResponse({"ignored": "this delivery was taken before", "jobs": before})
        names = sources_for(push, self._sources)
        jobs = [await self._ask(name, f"hook:{self._host}", False) for name in names]
        await self._deliveries.keep(delivery, jobs)
        log.info("hook.taken", host=self._host, repository=push.full_name, sources=names)
        if not jobs:
            return JSONResponse({"ignored": f"no source follows this branch of {push.full_name}"})
        return JSONResponse({"jobs": jobs, "sources": names}, status_code=202)


class _Reindex:
    def __init__(self, token: str, names: Sequence[str], ask: Ask, cancel: Cancel) -> None:
        self._token = token
        self._names = names
        self._ask = ask
        self._cancel = cancel

    async def take(self, request: Request) -> Response:
        """{"sources": ["rules"], "force": false}, both optional -> {"jobs": [...]}, of which each will be done."""
        asked = await self._asked(request)
        if isinstance(asked, Response):
            return asked
        names, force = asked
        return JSONResponse({"jobs": [await self._ask(name, "http", force) for name in names]}, status_code=202)

    async def stop(self, request: Request) -> Response:
        """{"sources": ["rules"]}, optional -> {"jobs": [...]}, of which each is being stopped; what it did stays."""
        asked = await self._asked(request)
        if isinstance(asked, Response):
            return asked
        stopped = [await self._cancel(name, "http") for name in asked[0]]
        return JSONResponse({"jobs": [number for numbers in stopped for number in numbers]})

    async def _asked(self, request: Request) -> tuple[list[str], bool] | Response:
        """The sources that are meant, and whether all of them is read; an answer that refuses what is no such thing."""
        offered = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(offered.encode(), self._token.encode()):
            return JSONResponse({"error": "The token is missing or wrong."}, status_code=401)
        body = await whole_body(request, limit_bytes=MAX_REINDEX_BYTES)
        try:
            asked: Any = json.loads(body) if body.strip() else {}
        except ValueError:
            asked = None
        asked = asked if isinstance(asked, dict) else {"sources": False}
        wanted = asked.get("sources", list(self._names))
        if not isinstance(wanted, list) or not isinstance(asked.get("force", False), bool):
            return JSONResponse({"error": 'Send {"sources": [names], "force": true or false}.'}, status_code=400)
        unknown = [name for name in wanted if name not in self._names]
        if unknown:
            known = ", ".join(self._names)
            return JSONResponse({"error": f"There is no source {unknown[0]!r}; there are {known}."}, status_code=404)
        return list(dict.fromkeys(wanted)), bool(asked.get("force"))


def is_signed(host: str, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the delivery proves that its sender knows the secret; compared in constant time."""
    if host == "gitlab":
        return hmac.compare_digest(headers.get("x-gitlab-token", "").encode(), secret.encode())
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    header = "x-hub-signature-256" if host == "github" else "x-gitea-signature"
    offered = headers.get(header, "")
    if host == "github":
        if not offered.startswith("sha256="):
            return False
        offered = offered.removeprefix("sha256=")
    return hmac.compare_digest(offered.encode(), expected.encode())


def _delivery(host: str, headers: Mapping[str, str], body: bytes) -> str:
    """The host's own id of the delivery, which is the same when it sends it again."""
    names = {
        "github": ("x-github-delivery",),
        "gitlab": ("idempotency-key", "x-gitlab-event-uuid"),
        "gitea": ("x-gitea-delivery", "x-gogs-delivery"),
    }[host]
    given: Any = next((headers[name] for name in names if headers.get(name)), None)
    return f"{host}:{given[:MAX_DELIVERY_CHARS] if given else hashlib.sha256(body).hexdigest()}"
