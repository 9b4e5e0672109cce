"""Requests are counted by the route as it is written in the code, never by their address."""

from __future__ import annotations

import pytest
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from bot.http.machine import MachineDoor
from bot.http.request_figures import RequestFigures


async def fine(request: Request) -> Response:
    return PlainTextResponse("ok")


async def broken(request: Request) -> Response:
    raise ZeroDivisionError


async def events(request: Request) -> Response:
    return StreamingResponse(iter(["data: 1\n\n"]), media_type="text/event-stream")


@pytest.fixture
def client():
    """A page with a machine's door before it, and what was observed of it: (route, status, seconds)."""
    seen = []
    app = Starlette(
        routes=[
            Route("/c/{channel_id}", fine, methods=["GET", "POST"]),
            Route("/broken", broken),
            Route("/events", events),
            Mount("/static", app=Starlette(routes=[Route("/{name}", fine)])),
        ],
        middleware=[
            Middleware(RequestFigures, observe=lambda route, status, took_s: seen.append((route, status, took_s))),
            Middleware(MachineDoor, routes=[Route("/alerts", fine, methods=["POST"])]),
        ],
    )
    client = TestClient(app, raise_server_exceptions=False)
    client.seen = seen
    return client


@pytest.mark.parametrize(
    ("method", "address", "observed"),
    [
        ("GET", "/c/secret-channel?token=s3cret", ("/c/{channel_id}", 200)),
        ("POST", "/alerts", ("/alerts", 200)),
        ("GET", "/alerts", ("/alerts", 405)),
        ("GET", "/broken", ("/broken", 500)),
        ("GET", "/wp-login.php", ("other", 404)),
    ],
)
def test_a_request_is_told_by_its_route_and_status(client, method, address, observed):
    client.request(method, address)
    assert [(route, status) for route, status, _ in client.seen] == [observed]
    assert client.seen[0][2] > 0


def test_files_of_the_page_are_one_route(client):
    client.get("/static/page.js")
    client.get("/static/page.css")
    assert len({route for route, _, _ in client.seen}) == 1
    assert "page" not in client.seen[0][0]


def test_the_time_of_an_event_stream_is_that_of_its_reader_and_is_not_counted(client):
    client.get("/events")
    assert client.seen == [("/events", 200, 0.0)]


def test_the_log_tells_of_what_changes_something_or_fails_and_holds_no_address(client):
    with structlog.testing.capture_logs() as lines:
        for method, address in (("GET", "/c/a"), ("POST", "/c/secret?token=s3cret"), ("GET", "/broken")):
            client.request(method, address)
    told = [(line["log_level"], line["route"], line["status"]) for line in lines if line["event"] == "http.request"]
    assert told == [("debug", "/c/{channel_id}", 200), ("info", "/c/{channel_id}", 200), ("warning", "/broken", 500)]
    assert "s3cret" not in str(lines)
