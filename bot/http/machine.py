"""Routes that machines call: alerts, deploys, hooks, slash commands, buttons, readiness, metrics.

They stand beside the page, not behind its guard: each of them checks its own token or signature, and none of them reads
cookies, so the page's rules for browsers (Host, Origin, sessions) would only get in the way of callers in a network.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.http.request_figures import RequestFigures, RequestObserver, unobserved
from bot.http.security import read_body

MAX_BODY_BYTES = 5 * 1024 * 1024


class MachineDoor:
    """ASGI middleware: a path that one of `routes` has goes there, every other one to the page behind it."""

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        self._page = app
        self._routes = tuple(routes)
        self._machine = Starlette(routes=self._routes, exception_handlers={HTTPException: _told})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = scope["type"] == "http" and any(r.matches(scope)[0] is not Match.NONE for r in self._routes)
        await (self._machine if known else self._page)(scope, receive, send)


def build_machines(routes: Sequence[BaseRoute], *, observe_request: RequestObserver = unobserved) -> Starlette:
    """The application when the page is switched off: what machines call, and nothing else."""
    return Starlette(
        routes=list(routes),
        middleware=[Middleware(RequestFigures, observe=observe_request)],
        exception_handlers={HTTPException: _told},
    )


async def whole_body(request: Request, *, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The whole body. Raises HTTPException 413 when it is longer than `limit_bytes`, 408 when it takes too long."""
    body = await read_body(request, limit_bytes)
    if body is None:
        raise HTTPException(413, f"The body is longer than {limit_bytes} bytes.")
    return body


async def _told(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "failed"
    return JSONResponse({"error": detail}, status_code=status)
