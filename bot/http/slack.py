"""Slack's requests in HTTP mode: events, buttons, slash commands. Slack signs them, and Bolt checks the signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.http.machine import whole_body

PATHS = ("/slack/events", "/slack/interactivity", "/slack/commands")
BODY_LIMIT_BYTES = 2 * 1024 * 1024


class TakesRequests(Protocol):
    """What the routes need of the Slack adapter."""

    async def take_request(self, body: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and body of the answer."""


def slack_routes(platform: TakesRequests) -> list[Route]:
    """The routes that Slack calls; the three addresses do the same, because a request says itself what it is."""

    async def take(request: Request) -> Response:
        body = await whole_body(request, limit_bytes=BODY_LIMIT_BYTES)
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return Response("The body is not UTF-8.", status_code=400, media_type="text/plain")
        status, headers, answer = await platform.take_request(text, request.headers)
        return Response(answer, status_code=status, headers=dict(headers))

    return [Route(path, take, methods=["POST"]) for path in PATHS]
