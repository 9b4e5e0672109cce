"""The HTTP application of the page, and the server that runs it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.errors import AddressUnavailable
from bot.http import api, stream, views
from bot.http.context import Context, Granted, KnowledgeReader
from bot.http.errors import error_response
from bot.http.machine import MachineDoor
from bot.http.page_image import page_image
from bot.http.patience import PatientProtocol
from bot.http.request_figures import RequestFigures, RequestObserver, unobserved
from bot.http.security import SECURITY_HEADERS, Guard, Sessions, TokenThrottle, hosts_and_origins
from bot.platforms.web import WebPlatform
from knowledge.types import Progress, Scope

STATIC = Path(__file__).parent / "static"
GRACE_S = 3  # for running requests when the server stops
KEEP_ALIVE_S = (
    75  # longer than clients and proxies keep idle connections (5 to 60 s): who closes first must be the client,
)
# or a request that it sends just then is lost

log = structlog.get_logger(__name__)


def build_http(
    *,
    platform: WebPlatform,
    knowledge: KnowledgeReader,
    scope: Scope,
    token: str | None,
    allowed_hosts: Sequence[str],
    health: Callable[[], Awaitable[Mapping[str, object]]],
    examples: Sequence[str] = (),
    indexing: Callable[[], Progress | None] = lambda: None,
    public_url: str | None = None,
    machine_routes: Sequence[BaseRoute] = (),
    granted: Granted | None = None,
    observe_request: RequestObserver = unobserved,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    new_id: Callable[[], str] = lambda: secrets.token_hex(6),
) -> Starlette:
    """The application.

    `allowed_hosts` are names in the address bar besides 127.0.0.1, localhost and that of `public_url`. `scope` is what
    readers of the page may see. `examples` are questions offered in an empty channel. `health` returns a mapping with
    "status" ("ok", "degraded" or "down"); `indexing` the last step of a running sync. `machine_routes` are served
    beside the page and check their callers themselves. `granted` says whether a link to evidence carries the right to
    see it. `observe_request` is told about every request that has ended.
    """
    hosts, origins = hosts_and_origins(allowed_hosts, public_url)
    sessions = Sessions(token, clock=clock) if token else None
    throttle = TokenThrottle(clock=clock)
    layers = [
        Middleware(RequestFigures, observe=observe_request),
        Middleware(MachineDoor, routes=machine_routes),
        Middleware(
            Guard, allowed_hosts=hosts, own_origins=origins, sessions=sessions, throttle=throttle, granted=granted
        ),
    ]
    app = Starlette(
        routes=_routes(),
        middleware=layers,
        exception_handlers={HTTPException: _http_error, Exception: _crash},
    )
    app.state.context = Context(
        platform=platform, knowledge=knowledge, scope=scope, sessions=sessions, throttle=throttle, health=health,
        indexing=indexing, examples=tuple(examples), clock=clock, new_id=new_id, granted=granted,
    )  # fmt: skip
    return app


async def serve(app: Starlette, *, host: str, port: int, ready: Callable[[int], None]) -> None:
    """Serves until cancelled; `ready` gets the port once connections are accepted (port 0 picks a free one).

    Raises AddressUnavailable when host and port cannot be bound. On cancel, event streams end, running requests get
    GRACE_S seconds, and the cancellation goes on.
    """
    listener = _bind(host, port)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", server_header=False,
        timeout_graceful_shutdown=GRACE_S, timeout_keep_alive=KEEP_ALIVE_S, http=PatientProtocol,
    )  # fmt: skip
    server = _Server(config, on_started=lambda: ready(listener.getsockname()[1]))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        if (context := getattr(app.state, "context", None)) is not None:
            context.platform.changes.close()
        server.should_exit = True
        await running
        raise
    finally:
        listener.close()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the bot decides when to stop, and stops other parts too."""

    def __init__(self, config: uvicorn.Config, *, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._on_started()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = "another program uses it; stop that one or set another web.port"
        elif error.errno in (errno.EACCES, errno.EPERM):
            why = "this user may not; set web.port to 1024 or higher"
        else:
            why = f"{error.strerror or error}; set web.host to an address of this machine"
        raise AddressUnavailable(f"The page cannot be opened at {host} port {port}: {why}.") from error


def _routes() -> list[Route | Mount]:
    thread = "/channels/{channel_id}/threads/{root_id}/posts"
    return [
        Route("/", views.home),
        Route("/c/{channel_id}", views.channel),
        Route("/c/{channel_id}/t/{root_id}", views.thread),
        Route("/evidence/{chunk_id}/page/{page:int}", page_image),
        Route("/evidence/{chunk_id:path}", views.evidence),
        Route("/login", views.login, methods=["GET", "POST"]),
        Route("/healthz", views.healthz),
        Route("/events", stream.events),
        Route("/api/channels", api.add_channel, methods=["POST"]),
        Route("/api/channels/{channel_id}/posts", api.add_post, methods=["POST"]),
        Route(f"/api{thread}", api.thread, methods=["GET"]),
        Route(f"/api{thread}", api.add_post, methods=["POST"]),
        Route("/api/posts/{post_id}/feedback", api.give_feedback, methods=["POST"]),
        Route("/api/me", api.set_name, methods=["PUT"]),
        Route("/api/logout", api.sign_out, methods=["POST"]),
        Route("/api/evidence/{chunk_id:path}", api.evidence),
        Route("/api/status", api.status),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    if status == 404:
        return error_response(request, 404, "not_found_text", headers=headers)
    return error_response(request, status, "bad_request", headers=headers, what=f"{request.method} ({status})")


async def _crash(request: Request, error: Exception) -> Response:
    """The last resort: the reader gets a number, the log the rest. Runs outside the guard, hence the headers."""
    error_id = request.app.state.context.new_id()
    log.error("page request failed", error_id=error_id, path=request.url.path, exc_info=error)
    return error_response(request, 500, "crash_text", headers=SECURITY_HEADERS, id=error_id)
