"""/healthz says that the process lives, /readyz what works, /metrics in figures.

Details are for callers on this machine, or with the token of [metrics]; everybody else learns one word.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
NOT_ALLOWED = "Send the header Authorization: Bearer TOKEN, with the token of [metrics], or ask on the machine itself."


def health_routes(
    *,
    readiness: Callable[[], Awaitable[Mapping[str, object]]],
    metrics: Callable[[], Awaitable[bytes]],
    token: str | None,
) -> list[BaseRoute]:
    """The three routes. `readiness` gives {"status": ..., "parts": [...]}."""

    async def healthz(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> Response:
        found = await readiness()
        shown = dict(found) if is_trusted(request, token) else {"status": found["status"]}
        return JSONResponse(shown, status_code=503 if found["status"] == "down" else 200)

    async def figures(request: Request) -> Response:
        if not is_trusted(request, token):
            return JSONResponse({"error": NOT_ALLOWED}, status_code=401, headers={"www-authenticate": "Bearer"})
        return Response(await metrics(), headers={"content-type": CONTENT_TYPE})

    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", figures)]


def is_trusted(request: Request, token: str | None) -> bool:
    """Whether the caller shows the token, or stands on this machine with no proxy in between: what a proxy on this
    machine passes on comes from here too, and from anybody."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if token is not None and scheme.lower() == "bearer" and hmac.compare_digest(shown.strip().encode(), token.encode()):
        return True
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    return _is_loopback(request.client.host) and _is_loopback(request.url.hostname or "")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
