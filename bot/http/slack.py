"""Slack's requests in HTTP mode: events, buttons, slash commands. Slack signs them, and Bolt checks the signature."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.http.machine import whole_body
from bot.platforms.slack_diagnosis import UNSIGNED

PATHS = ("/slack/events", "/slack/interactivity", "/slack/commands")
BODY_LIMIT_BYTES = 2 * 1024 * 1024

_TIME = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")


class TakesRequests(Protocol):
    """What the routes need of the Slack adapter."""

    async def take_request(self, body: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and body of the answer."""


def slack_routes(platform: TakesRequests) -> list[Route]:
    """The routes that Slack calls; the three addresses do the same, because a request says itself what it is."""

    async def take(request: Request) -> Response:
        if not _may_be_signed(request.headers):
            return Response(f"The request is {UNSIGNED}.", status_code=401, media_type="text/plain")
        body = await whole_body(request, limit_bytes=BODY_LIMIT_BYTES)
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return Response("The body is not UTF-8.", status_code=400, media_type="text/plain")
        try:
            status, headers, answer = await platform.take_request(text, request.headers)
        except RecursionError:  # thousands of brackets
            return Response("The body is nested too deeply.", status_code=400, media_type="text/plain")
        return Response(answer, status_code=status, headers=dict(headers))

    return [Route(path, take, methods=["POST"]) for path in PATHS]


def _may_be_signed(headers: Mapping[str, str]) -> bool:
    """Whether the headers have the form of a signature, which the SDK takes for granted when it checks it."""
    time, signature = headers.get("x-slack-request-timestamp", ""), headers.get("x-slack-signature", "")
    return _TIME.fullmatch(time) is not None and _SIGNATURE.fullmatch(signature) is not None
