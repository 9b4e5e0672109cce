"""The bot's first posts in Mattermost channels and direct messages: made once, found again by what they note of
themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from bot.platforms.mattermost_messages import is_gone, own_part
from bot.platforms.mattermost_posting import ATTEMPTS_WITH_ONE_ID, EMPTY, Conditions, own_props
from bot.platforms.mattermost_rest import MattermostRest
from bot.platforms.splitting import split_markdown
from bot.reply_text import safe_markdown

OVERLAP = timedelta(minutes=10)  # how far this machine's clock may be ahead of the server's
PAGE = 200
MAX_PAGES = 25

Json = dict[str, Any]


class Roots:
    """`conditions` are known when a method is called."""

    def __init__(
        self, rest: MattermostRest, conditions: Callable[[], Conditions], *, clock: Callable[[], datetime]
    ) -> None:
        self._rest = rest
        self._conditions = conditions
        self._clock = clock

    async def open(self, channel_id: str, markdown: str, delivery_id: str, since: datetime | None) -> str:
        """The id of the post of this delivery in a channel. Raises PlatformError.

        The server itself answers with the same post when a `pending_post_id` comes again within 30 s, and fails when
        that post was deleted meanwhile: late attempts take another id.
        """
        begun = since or self._clock()
        text = self._text(markdown)
        async for attempt in self._rest.attempts():
            with attempt:
                if since is not None or attempt.num > 1:
                    found = await self._find(channel_id, delivery_id, begun)
                    if found is not None:
                        return found
                number = "late" if attempt.num > ATTEMPTS_WITH_ONE_ID else "first"
                digest = hashlib.sha256(f"{channel_id}/{delivery_id}/root/{number}".encode()).hexdigest()[:32]
                fields = {
                    "channel_id": channel_id,
                    "message": text,
                    "props": own_props(delivery_id, 1, 1, final=True),
                    "pending_post_id": f"{self._conditions().own.id}:{digest}",
                }
                return str((await self._rest.create_post_once(fields))["id"])
        raise AssertionError("stamina ends with a result or an error")

    async def message(self, user_id: str, markdown: str, delivery_id: str, since: datetime | None) -> str:
        """The id of the post of this delivery in the direct channel with a person. Raises PlatformError."""
        channel = await self._rest.direct_channel(self._conditions().own.id, user_id)
        return await self.open(str(channel["id"]), markdown, delivery_id, since)

    def _text(self, markdown: str) -> str:
        """As much of a text as one post holds."""
        limit_chars = self._conditions().limit_chars
        texts = split_markdown(safe_markdown(markdown), limit_chars) or [EMPTY]
        if len(texts) == 1:
            return texts[0]
        return split_markdown(safe_markdown(markdown), limit_chars - 4)[0] + "\n\n…"

    async def _find(self, channel_id: str, delivery_id: str, begun: datetime) -> str | None:
        """Backwards from the newest post: `since` is capped by the server, and lists edited posts too."""
        oldest_ms = int((begun - OVERLAP).timestamp() * 1000)
        before: dict[str, str | int] = {}
        for _ in range(MAX_PAGES):
            listing = await self._rest.channel_posts(channel_id, per_page=PAGE, **before)
            posts: Json = listing.get("posts") or {}
            page = [posts[post_id] for post_id in dict.fromkeys(listing.get("order") or ()) if post_id in posts]
            for post in page:
                noted = own_part(post, self._conditions().own.id)
                if noted is not None and noted.delivery_id == delivery_id and not is_gone(post):
                    return str(post["id"])
            if not page or min(int(post.get("create_at") or 0) for post in page) < oldest_ms:
                return None
            before = {"before": str(min(page, key=lambda post: int(post.get("create_at") or 0))["id"])}
        return None
