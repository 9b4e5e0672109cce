"""The bot's first posts in Slack channels and direct messages: made once, found again by their metadata.

chat.postMessage is not repeated blindly: after an error that leaves open whether Slack took the post, the channel is
read first. Reading needs the history scope of the channel, which the app has for hearing what is said there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

from bot.errors import Unreachable
from bot.platforms.slack_api import Identity, SlackApi, next_cursor
from bot.platforms.slack_format import Part, private_part
from bot.platforms.slack_messages import is_own
from bot.platforms.slack_posts import ATTEMPTS, MAX_PAGES, PAGE, REPLY_EVENT, SlackPosts, reply_payload

OVERLAP_S = 600.0  # how far this machine's clock may be ahead of Slack's


class SlackRoots:
    """`identity` asks Slack who the bot is, where that is not known yet."""

    def __init__(
        self,
        api: SlackApi,
        posts: SlackPosts,
        *,
        identity: Callable[[], Awaitable[Identity]],
        clock: Callable[[], datetime],
        retry_pause_s: float = 1.0,
    ) -> None:
        self._api = api
        self._posts = posts
        self._identity = identity
        self._clock = clock
        self._retry_pause_s = retry_pause_s

    async def open(self, channel: str, markdown: str, delivery_id: str, since: datetime | None) -> str:
        """The ts of the post of this delivery in a channel. Raises PlatformError."""
        identity = await self._identity()
        begun = since or self._clock()
        if since is not None and (found := await self._find(channel, delivery_id, begun, identity)) is not None:
            return found
        payload = {"delivery_id": delivery_id, "part": 1, "parts": 1, "final": True}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = await self._posts.in_accepted_form(
                    "chat_postMessage", first_part(markdown), patience="once", channel=channel, unfurl_links=False,
                    unfurl_media=False, metadata={"event_type": REPLY_EVENT, "event_payload": payload},
                )  # fmt: skip
                return str(answer["ts"])
            except Unreachable:
                if attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(self._retry_pause_s)
            if (found := await self._find(channel, delivery_id, begun, identity)) is not None:
                return found
        raise AssertionError("unreachable")

    async def message(self, user_id: str, markdown: str, delivery_id: str, since: datetime | None) -> str:
        """ "channel:ts" of the post of this delivery in the direct conversation with a person. Raises PlatformError."""
        opened = await self._api.call("conversations_open", users=user_id)
        channel = str(opened["channel"]["id"])
        return f"{channel}:{await self.open(channel, markdown, delivery_id, since)}"

    async def _find(self, channel: str, delivery_id: str, begun: datetime, identity: Identity) -> str | None:
        cursor: str | None = None
        oldest = f"{begun.timestamp() - OVERLAP_S:.6f}"
        for _ in range(MAX_PAGES):
            answer = await self._api.call(
                "conversations_history", channel=channel, oldest=oldest, limit=PAGE, cursor=cursor,
                include_all_metadata=True,
            )  # fmt: skip
            for message in answer.get("messages") or ():
                payload = reply_payload(message)
                if payload is not None and payload.get("delivery_id") == delivery_id and is_own(message, identity):
                    return str(message["ts"])
            cursor = next_cursor(answer)
            if cursor is None:
                break
        return None


def first_part(markdown: str) -> Part:
    """As much of a text as one message holds."""
    parts = private_part(markdown)
    return parts[0] if len(parts) == 1 else Part(markdown=f"{parts[0].markdown}\n\n…")
