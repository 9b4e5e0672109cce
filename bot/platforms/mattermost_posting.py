"""Replies on Mattermost: one or several posts in a thread that carry the delivery they answer, so that a repeated
attempt completes what stands there and doubles nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from bot.errors import PlatformError, RateLimited
from bot.persona import language_of
from bot.platforms.mattermost_buttons import Buttons, Place
from bot.platforms.mattermost_failures import Refused
from bot.platforms.mattermost_messages import OWN_PROPS, Own, is_gone, own_part, props_of
from bot.platforms.mattermost_rest import MattermostRest
from bot.platforms.splitting import split_markdown
from bot.reply_text import full_markdown, safe_markdown
from bot.types import Reply, ThreadRef

POST_LIMIT_CHARS = 16_383  # code points, as the server counts
EDIT_EVERY_S = 1.0
AFTER_FAILED_EDIT_S = 5.0
ATTEMPTS_WITH_ONE_ID = 3
EMPTY = "…"

Json = dict[str, Any]

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Conditions:
    """What the server and the settings allow; read anew at every connection."""

    own: Own
    limit_chars: int = POST_LIMIT_CHARS


@dataclass(slots=True)
class Standing:
    """The bot's posts that answer one delivery: by number of their part, and those that a kill left over."""

    parts: dict[int, Json] = field(default_factory=dict)
    surplus: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A reply of the bot: the id of its first post, and the delivery that it answers."""

    reply_id: str
    delivery_id: str


class Replies:
    """Posts, edits and finds the bot's own replies."""

    def __init__(
        self,
        rest: MattermostRest,
        conditions: Callable[[], Conditions],
        *,
        buttons: Buttons | None,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        self.rest = rest
        self.conditions = conditions
        self._buttons = buttons
        self._clock = clock
        self.monotonic = monotonic
        self.on_answer: Callable[[Sequence[str]], Awaitable[None]] | None = (
            None  # is told the posts of what is voted on
        )

    async def post(self, reply: Reply) -> str:
        """The id of the first post of the reply; what an earlier attempt left is continued. Raises PlatformError."""
        return await self._settle(reply, await self.standing(reply.thread, reply.delivery_id))

    async def edit(self, post_id: str, reply: Reply) -> None:
        """Raises PlatformError, also when there is no such post of the bot."""
        standing = await self.standing(reply.thread, reply.delivery_id)
        if 1 not in standing.parts or standing.parts[1]["id"] != post_id:
            standing = Standing(parts={1: {"id": post_id}})
        await self._settle(reply, standing, may_post_anew=False)

    def stream(
        self, thread: ThreadRef, delivery_id: str, *, ready: Callable[[], Awaitable[Conditions]]
    ) -> MattermostStream:
        return MattermostStream(self, thread, delivery_id, ready)

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        """The id of the first post of a reply that stands there to its last part."""
        try:
            parts = (await self.standing(thread, delivery_id)).parts
        except Refused as error:
            if error.status == 404:  # the thread was deleted
                return None
            raise
        noted = {number: own_part(post, self.conditions().own.id) for number, post in parts.items()}
        first = noted.get(1)
        if first is None or not first.final:
            return None
        if not all((part := noted.get(n)) is not None and part.final for n in range(1, first.parts + 1)):
            return None
        if self.on_answer is not None:
            await self.on_answer([str(parts[number]["id"]) for number in range(1, first.parts + 1)])
        return str(parts[1]["id"])

    async def standing(self, thread: ThreadRef, delivery_id: str) -> Standing:
        """What of a reply the thread holds. Raises PlatformError."""
        if not thread.root_id:
            return Standing()
        return self._standing_in(await self.rest.thread(thread.root_id), delivery_id)

    async def answered_by(self, post: Mapping[str, Any]) -> Answered | None:
        """The reply that a finished post of the bot is part of; None for other posts."""
        noted = own_part(post, self.conditions().own.id)
        if noted is None or not noted.final:
            return None
        if noted.part == 1:
            return Answered(reply_id=str(post["id"]), delivery_id=noted.delivery_id)
        listing = await self.rest.thread(str(post.get("root_id") or post["id"]))
        first = self._standing_in(listing, noted.delivery_id).parts.get(1)
        return Answered(reply_id=str(first["id"]), delivery_id=noted.delivery_id) if first else None

    def _standing_in(self, listing: Json, delivery_id: str) -> Standing:
        """Of two posts for one part the finished one counts, else the earlier."""
        own_id = self.conditions().own.id
        found = Standing()
        finished: set[int] = set()
        posts = (listing.get("posts") or {}).values()
        for post in sorted(posts, key=lambda post: (int(post.get("create_at") or 0), str(post.get("id")))):
            noted = own_part(post, own_id)
            if noted is None or noted.delivery_id != delivery_id or is_gone(post):
                continue
            earlier = found.parts.get(noted.part)
            if earlier is None or (noted.final and noted.part not in finished):
                found.parts[noted.part] = post
                found.surplus += [earlier] if earlier is not None else []
            else:
                found.surplus.append(post)
            if noted.final:
                finished.add(noted.part)
        return found

    # --- one reply ------------------------------------------------------------------------------

    async def _settle(self, reply: Reply, standing: Standing, *, may_post_anew: bool = True) -> str:
        """Makes the thread hold exactly the parts of `reply`, in order; returns the id of the first."""
        texts = split_markdown(full_markdown(reply, language=reply.language), self.conditions().limit_chars) or [EMPTY]
        ids: list[str] = []
        for number, text in enumerate(texts, 1):
            props = self._props(reply, number, len(texts))
            post = standing.parts.get(number)
            if post is None:
                ids.append(await self.create(reply.thread, reply.delivery_id, number, text, props))
                continue
            try:
                ids.append(await self._matching(post, text, props))
            except Refused as error:
                if not may_post_anew:
                    raise
                # Deleted by somebody, or older than the server lets posts be edited: what was shown stays until the
                # whole answer stands there.
                log.warning("mattermost.edit_refused", post=post["id"], reason=str(error))
                ids.append(await self.create(reply.thread, reply.delivery_id, number, text, props, anew=True))
                await self._remove(str(post["id"]))
        surplus = [post for number, post in standing.parts.items() if number > len(texts)]
        for post in [*surplus, *standing.surplus]:
            await self._remove(str(post["id"]))
        if self.on_answer is not None and reply.final and reply.kind in ("answer", "refusal"):
            await self.on_answer(ids)
        return ids[0]

    async def create(
        self, thread: ThreadRef, delivery_id: str, number: int, text: str, props: Json, *, anew: bool = False
    ) -> str:
        """The id of a new post. Before another attempt the thread is looked at: the first one may have arrived.

        The server itself answers with the same post when a `pending_post_id` comes again within 30 s, and fails when
        that post was deleted meanwhile: late attempts take another id.
        """
        async for attempt in self.rest.attempts():
            with attempt:
                if attempt.num > 1 and not anew:
                    arrived = (await self.standing(thread, delivery_id)).parts.get(number)
                    if arrived is not None:
                        return await self._matching(arrived, text, props)
                other_id = anew or attempt.num > ATTEMPTS_WITH_ONE_ID
                fields = self._fields(thread, delivery_id, number, text, props, anew=other_id)
                return await self._matching(await self.rest.create_post_once(fields), text, props)
        raise AssertionError("stamina ends with a result or an error")

    async def create_open(self, thread: ThreadRef, delivery_id: str, text: str) -> str:
        """The id of a post that is still being written, tried once."""
        props = own_props(delivery_id, 1, 1, final=False)
        return str((await self.rest.create_post_once(self._fields(thread, delivery_id, 1, text, props)))["id"])

    async def _matching(self, post: Json, text: str, props: Json) -> str:
        """The id of a post once it says `text`. One that does already is left alone: an edit would show as one."""
        if post.get("message") != text or props_of(post).get(OWN_PROPS) != props[OWN_PROPS]:
            await self.rest.patch_post(str(post["id"]), {"message": text, "props": props})
        return str(post["id"])

    async def _remove(self, post_id: str) -> None:
        try:
            await self.rest.delete_post(post_id)
        except PlatformError as error:
            log.warning("mattermost.delete_failed", post=post_id, reason=str(error))

    def _fields(
        self, thread: ThreadRef, delivery_id: str, number: int, text: str, props: Json, *, anew: bool = False
    ) -> Json:
        digest = hashlib.sha256(f"{thread.channel_id}/{delivery_id}/{number}/{anew}".encode()).hexdigest()[:32]
        return {
            "channel_id": thread.channel_id,
            "root_id": thread.root_id,
            "message": text,
            "props": props,
            "pending_post_id": f"{self.conditions().own.id}:{digest}",
        }

    def _props(self, reply: Reply, number: int, parts: int) -> Json:
        """A patch replaces all props, and older servers do not put `from_bot` back."""
        props = own_props(reply.delivery_id, number, parts, final=reply.final)
        if self._buttons is not None and reply.final and reply.kind == "answer" and number == parts:
            place = Place(
                channel_id=reply.thread.channel_id, root_id=reply.thread.root_id, delivery_id=reply.delivery_id
            )
            language = reply.language or language_of(reply.markdown)
            props["attachments"] = [self._buttons.attachment(place, language, now=self._clock())]
        return props


def own_props(delivery_id: str, number: int, parts: int, *, final: bool) -> Json:
    """The props of a post of the bot that is one of `parts` posts answering a delivery."""
    noted = {"delivery_id": delivery_id, "part": number, "parts": parts, "final": final}
    return {"from_bot": "true", OWN_PROPS: noted}


class MattermostStream:
    """Implements bot.ports.ReplyStream: one post that is edited about once a second. What fails to be shown comes with
    the next edit, and the final reply is posted with patience."""

    def __init__(
        self, replies: Replies, thread: ThreadRef, delivery_id: str, ready: Callable[[], Awaitable[Conditions]]
    ) -> None:
        self._replies = replies
        self._ready = ready
        self._thread = thread
        self._delivery_id = delivery_id
        self._text = ""
        self._post_id: str | None = None
        self._shown = ""
        self._looked = False
        self._not_before_s = float("-inf")

    async def status(self, words: str) -> None:
        if not self._text and words.strip():
            await self._show(f"_{words.strip()}_")

    async def append(self, markdown: str) -> None:
        self._text += markdown
        if self._text.strip():
            await self._show(self._text)

    async def finish(self, reply: Reply) -> str:
        await self._ready()
        return await self._replies.post(reply)

    async def _show(self, text: str) -> None:
        replies = self._replies
        now_s = replies.monotonic()
        if now_s < self._not_before_s:
            return
        try:
            limit_chars = (await self._ready()).limit_chars
            text = (split_markdown(safe_markdown(text), limit_chars) or [EMPTY])[0]
            if text == self._shown:
                return
            if not self._looked:
                self._post_id, self._looked = await self._standing(), True
            if self._post_id is None:
                self._post_id = await replies.create_open(self._thread, self._delivery_id, text)
            else:
                await replies.rest.patch_post_once(self._post_id, {"message": text})
        except RateLimited as error:
            self._not_before_s = now_s + error.retry_after_s
        except PlatformError as error:
            log.warning("mattermost.stream_edit_failed", delivery=self._delivery_id, reason=str(error))
            self._not_before_s = now_s + AFTER_FAILED_EDIT_S
            self._looked = self._post_id is not None  # the post may stand there although its creation failed
        else:
            self._shown = text
            self._not_before_s = now_s + EDIT_EVERY_S

    async def _standing(self) -> str | None:
        """The post that an earlier attempt left open."""
        post = (await self._replies.standing(self._thread, self._delivery_id)).parts.get(1)
        return str(post["id"]) if post else None
