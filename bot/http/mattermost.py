"""What a Mattermost server posts to the bot: slash commands and clicks on buttons.

Neither is signed by the server. A command proves itself by its token, a click by the signature in its context; both are
checked by the platform, in constant time, and a command is saved before it is answered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qsl

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.errors import BotError
from bot.http.machine import whole_body
from bot.platforms.mattermost_buttons import ButtonRefused
from bot.platforms.mattermost_commands import PING, CommandRefused
from bot.platforms.mattermost_doctor import PONG
from bot.types import Command
from bot.wording import word

MAX_BODY_BYTES = 256 * 1024
MAX_FIELDS = 50

log = structlog.get_logger(__name__)


class CallbackTaker(Protocol):
    """The part of the platform that is called from here."""

    async def take_command(self, form: Mapping[str, str]) -> Command: ...

    async def take_click(self, payload: Mapping[str, object]) -> str: ...


def mattermost_routes(platform: CallbackTaker) -> list[BaseRoute]:
    """Routes for `build_http(machine_routes=...)`."""

    async def command(request: Request) -> Response:
        body = await whole_body(request, limit_bytes=MAX_BODY_BYTES)
        try:
            form = dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS))
            taken = await platform.take_command(form)
        except CommandRefused as error:
            log.warning("mattermost.command_refused", reason=str(error))
            return JSONResponse({"error": "refused"}, status_code=error.status)
        except (UnicodeDecodeError, ValueError):
            return JSONResponse({"error": "not a form"}, status_code=400)
        except BotError as error:  # it was not saved, so whoever gave it must know
            log.error("mattermost.command_not_saved", reason=str(error))
            return _private(f"{word('not_now', 'ko')} / {word('not_now', 'en')}")
        return _private(PONG if taken.args == PING else "")  # an empty text shows nothing

    async def button(request: Request) -> Response:
        body = await whole_body(request, limit_bytes=MAX_BODY_BYTES)
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            return JSONResponse({"error": "not an object"}, status_code=400)
        try:
            return JSONResponse({"ephemeral_text": await platform.take_click(payload)})
        except ButtonRefused as error:
            log.warning("mattermost.click_refused", reason=str(error))
            key = "button_expired" if error.expired else "button_refused"
        except BotError as error:
            log.error("mattermost.click_not_saved", reason=str(error))
            key = "not_now"
        return JSONResponse({"ephemeral_text": f"{word(key, 'ko')} / {word(key, 'en')}"})

    return [
        Route("/mattermost/command", command, methods=["POST"]),
        Route("/mattermost/button", button, methods=["POST"]),
    ]


def _private(text: str) -> Response:
    return JSONResponse({"response_type": "ephemeral", "text": text, "skip_slack_parsing": True})
