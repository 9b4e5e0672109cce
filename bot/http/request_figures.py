"""What becomes of HTTP requests, by the route as it is written in the code: addresses hold names, ids and tokens."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OTHER = "other"  # no route: a reader's mistake, or somebody who tries addresses
CUT_OFF = 499  # the caller left before there was an answer
_LOOKS = ("/healthz", "/readyz", "/metrics", "/events", "/static")  # asked all day long

RequestObserver = Callable[[str, int, float], None]  # route, status, seconds

log = structlog.get_logger(__name__)


def unobserved(route: str, status: int, took_s: float) -> None:
    """Nothing: nobody counts."""


class RequestFigures:
    """ASGI middleware that tells `observe` about every request when it has ended, and the log about those that change
    something or fail. An event stream ends when its reader leaves, so that its time says nothing: it is told as 0."""

    def __init__(self, app: ASGIApp, *, observe: RequestObserver) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, streamed = time.perf_counter(), CUT_OFF, False

        async def watched(message: Message) -> None:
            nonlocal status, streamed
            if message["type"] == "http.response.start":
                status = message["status"]
                streamed = any(value.startswith(b"text/event-stream") for _, value in message.get("headers", ()))
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            status = 500 if status == CUT_OFF else status
            raise
        finally:
            took_s = 0.0 if streamed else time.perf_counter() - started
            route = _route_of(scope)
            self._observe(route, status, took_s)
            _tell(scope["method"], route, status, took_s)


def _route_of(scope: Scope) -> str:
    """ "/c/{channel_id}", whatever the channel; Starlette notes the route in the scope that all layers share."""
    route = scope.get("route")
    return route.path if isinstance(route, Route | Mount) else OTHER


def _tell(method: str, route: str, status: int, took_s: float) -> None:
    say = log.warning if status >= 500 else log.debug if method in ("GET", "HEAD") or route in _LOOKS else log.info
    say("http.request", method=method, route=route, status=status, took_ms=round(took_s * 1000))
