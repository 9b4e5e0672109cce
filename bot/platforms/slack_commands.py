"""Answers to slash commands: to the one person who gave it, by the ways that Slack offers, one after the other.

The response_url of a command works five times within thirty minutes; then chat.postEphemeral, which needs the bot in
the channel; then a direct message. Progress that is edited goes into a direct message, because what a response_url has
posted can be replaced only as often as it still works.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.errors import PlatformError, Unreachable
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_failures import SlackRefusal
from bot.platforms.slack_format import FORM_REFUSED, FORMS, Part, message_fields, private_part
from bot.platforms.slack_mrkdwn import to_mrkdwn
from bot.ports import PlatformState
from bot.types import Command, ThreadRef

RESPONSE_USES = 5
RESPONSE_LIFE = timedelta(minutes=29)
COMMANDS_KEPT = 200
_KEY = "response_urls"
PROGRESS_EVENT = "haechi_private"

log = structlog.get_logger(__name__)


class CommandAnswers:
    """Keeps the response_url of recent commands through a restart."""

    def __init__(self, api: SlackApi, state: PlatformState, *, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._state = state
        self._clock = clock
        self._kept: dict[str, dict[str, Any]] | None = None
        self._writing = asyncio.Lock()

    async def remember(self, delivery_id: str, response_url: str) -> None:
        """Keeps where answers to a command go; on the disk when this returns."""
        async with self._writing:
            kept = await self._load()
            if response_url and delivery_id not in kept:
                kept[delivery_id] = {"url": response_url, "at": self._clock().isoformat(), "used": 0}
                await self._store(kept)

    async def answer(self, command: Command, markdown: str) -> None:
        """Shows text to whoever gave the command. Raises PlatformError when no way is left."""
        for part in private_part(markdown):
            if not await self._by_response_url(command, part):
                await self.private(command.thread, command.author.id, part)

    async def private(self, thread: ThreadRef, user_id: str, part: Part) -> None:
        """Shows text to one person: in the channel or thread if the bot is there, else as a direct message."""
        where: dict[str, Any] = {"channel": thread.channel_id}
        if thread.root_id:
            where["thread_ts"] = thread.root_id
        try:
            if thread.channel_id.startswith("D"):
                await self._send("chat_postMessage", part, **where)
            else:
                await self._send("chat_postEphemeral", part, user=user_id, **where)
        except SlackRefusal as error:
            log.info("slack.private_answer_refused", reason=error.code)
            await self.direct(user_id, part)

    async def direct(self, user_id: str, part: Part) -> str:
        """Posts a direct message and returns "channel:ts"."""
        opened = await self._api.call("conversations_open", users=user_id)
        channel = str(opened["channel"]["id"])
        answer = await self._send("chat_postMessage", part, channel=channel, unfurl_links=False, unfurl_media=False)
        return f"{channel}:{answer['ts']}"

    async def progress(self, command: Command, markdown: str, post_id: str | None) -> str:
        """Shows how far a command has got, in a direct message that is edited; returns its id."""
        part = private_part(markdown)[0]
        if post_id is not None:
            channel, _, ts = post_id.partition(":")
            try:
                await self._send("chat_update", part, channel=channel, ts=ts)
                return post_id
            except SlackRefusal as error:
                log.info("slack.progress_posted_anew", reason=error.code)
        return await self.direct(command.author.id, part)

    async def _by_response_url(self, command: Command, part: Part) -> bool:
        async with self._writing:
            kept = await self._load()
            entry = kept.get(command.delivery_id)
            fresh = entry is not None and self._clock() - datetime.fromisoformat(entry["at"]) < RESPONSE_LIFE
            if entry is None or not fresh or entry["used"] >= RESPONSE_USES:
                return False
            entry["used"] += 1
            await self._store(kept)
        body = {"response_type": "ephemeral", "replace_original": False, "text": to_mrkdwn(part.markdown)}
        body["blocks"] = message_fields(part, "markdown")["blocks"]
        for form in (body, {name: value for name, value in body.items() if name != "blocks"}):
            try:
                await self._api.respond(entry["url"], form)
                return True
            except Unreachable as error:  # it may have been shown: no second time in another form
                log.info("slack.response_url_unanswered", reason=str(error))
                return False
            except PlatformError as error:
                log.info("slack.response_url_refused", reason=str(error))
        return False

    async def _send(self, method: str, part: Part, **arguments: Any) -> Any:
        if method != "chat_postEphemeral":
            arguments["metadata"] = {"event_type": PROGRESS_EVENT, "event_payload": {"kind": "private"}}
        for form in FORMS:
            try:
                return await self._api.call(method, patience="once", **arguments, **message_fields(part, form))
            except SlackRefusal as error:
                if error.code not in FORM_REFUSED or form == FORMS[-1]:
                    raise
        raise AssertionError("unreachable")

    async def _load(self) -> dict[str, dict[str, Any]]:
        if self._kept is None:
            stored = await asyncio.to_thread(self._state.get, _KEY)
            self._kept = json.loads(stored) if stored else {}
        return self._kept

    async def _store(self, kept: dict[str, dict[str, Any]]) -> None:
        now = self._clock()
        stale = [key for key, entry in kept.items() if now - datetime.fromisoformat(entry["at"]) >= RESPONSE_LIFE]
        for key in [*stale, *list(kept)[: -COMMANDS_KEPT or None]]:
            kept.pop(key, None)
        await asyncio.to_thread(self._state.put, _KEY, json.dumps(kept))
