"""With the page switched off, chat servers still reach the bot."""

from __future__ import annotations

import httpx
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.http.machine import build_machines, whole_body


async def test_only_the_routes_of_machines_are_there():
    async def command(request: Request) -> Response:
        return PlainTextResponse((await whole_body(request, limit_bytes=10)).decode())

    app = build_machines([Route("/mattermost/command", command, methods=["POST"])])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://bot") as server:
        assert (await server.post("/mattermost/command", content=b"status")).text == "status"
        assert (await server.post("/mattermost/command", content=b"x" * 11)).status_code == 413
        for path in ("/", "/c/general", "/evidence/c1", "/healthz"):
            assert (await server.get(path)).status_code == 404
