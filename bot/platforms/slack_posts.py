"""The bot's own posts in Slack threads: written part by part, found again by their metadata, never written twice.

Every post carries `haechi_reply` metadata: the delivery that it answers, which part of how many it is, and whether it
is final. A reply counts as posted when all its parts stand there, final. What a killed run left unfinished is completed
in place. chat.postMessage is not repeated blindly: after an error that leaves open whether Slack took the post, the
thread is read first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from bot.errors import PlatformError, Unreachable
from bot.platforms.slack_api import Identity, Patience, SlackApi, next_cursor
from bot.platforms.slack_failures import SlackRefusal
from bot.platforms.slack_format import FORM_REFUSED, FORMS, Part, message_fields, parts_of
from bot.platforms.slack_messages import is_own
from bot.types import Reply, ThreadRef

REPLY_EVENT = "haechi_reply"
PAGE = 999  # the most that one call gives: a follow-up in a long thread must not cost many calls
MAX_PAGES = 10
ATTEMPTS = 4

# The post is there no longer, or may no longer be changed: it is written anew.
UNCHANGEABLE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"})
NOT_STREAMING = frozenset({"message_not_in_streaming_state", "message_not_found", "message_not_owned_by_app"})

Json = Mapping[str, Any]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPost:
    """A post of the bot that answers some delivery. A stream that was never stopped has no metadata: `parts` is 0."""

    ts: str
    part: int = 1
    parts: int = 0
    final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a part of a reply belongs."""

    thread: ThreadRef
    delivery_id: str
    number: int
    total: int
    final: bool

    def metadata(self) -> dict[str, Any]:
        payload = {"delivery_id": self.delivery_id, "part": self.number, "parts": self.total, "final": self.final}
        return {"event_type": REPLY_EVENT, "event_payload": payload}


class SlackPosts:
    """Reads and writes the bot's own posts. `identity` is who the bot is, once that is known."""

    def __init__(self, api: SlackApi, *, identity: Callable[[], Identity | None], retry_pause_s: float = 1.0) -> None:
        self._api = api
        self._identity = identity
        self._retry_pause_s = retry_pause_s

    # --- reading ------------------------------------------------------------------------------

    async def thread(self, thread: ThreadRef, *, after: str | None = None) -> list[Json]:
        """The messages of a thread, oldest first, with metadata; the root and those from `after` on when it is given.

        Raises SlackRefusal with the code thread_not_found when there is no such thread.
        """
        messages: list[Json] = []
        arguments: dict[str, Any] = {"channel": thread.channel_id, "ts": thread.root_id, "limit": PAGE}
        if after is not None:
            arguments |= {"oldest": after, "inclusive": True}
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            answer = await self._api.call(
                "conversations_replies", include_all_metadata=True, cursor=cursor, **arguments
            )
            known = {message["ts"] for message in messages}
            messages += [message for message in answer.get("messages") or () if message.get("ts") not in known]
            cursor = next_cursor(answer)
            if cursor is None:
                break
        if not messages:
            raise SlackRefusal(f"Slack has no thread {thread.root_id} in {thread.channel_id}.", "thread_not_found")
        return messages

    async def own(self, thread: ThreadRef, delivery_id: str) -> list[OwnPost]:
        """The bot's posts that answer a delivery, by part, and behind them streams that were never stopped."""
        asked = delivery_id.removeprefix(f"{thread.channel_id}:")
        after = asked if _is_ts(asked) else None
        identity = self._identity()
        found: list[OwnPost] = []
        strays: list[OwnPost] = []
        for message in await self.thread(thread, after=after):
            payload = reply_payload(message)
            if payload is not None and payload.get("delivery_id") == delivery_id:
                found.append(_own_post(message, payload))
            elif _may_be_stray(message, identity, after, thread):
                strays.append(OwnPost(ts=str(message["ts"])))
        return [*sorted(found, key=lambda post: (post.part, post.ts)), *strays]

    # --- writing ------------------------------------------------------------------------------

    async def deliver(self, reply: Reply, *, own: Sequence[OwnPost] | None = None) -> str:
        """The id of the reply's first post, once all its parts stand in the thread.

        `own` are the posts that already answer the delivery, when the caller has just read them. Unfinished ones are
        written over; a reply that stands there completely is left as it is.
        """
        own = list(own) if own is not None else await self.own(reply.thread, reply.delivery_id)
        done = complete(own)
        if done is not None and reply.final:
            return done
        return await self._write_parts(reply, own, keep_first=False)

    async def edit(self, post_id: str, reply: Reply) -> None:
        """Puts another text in place of a reply. Raises PlatformError when its first post cannot be changed."""
        own = [post for post in await self.own(reply.thread, reply.delivery_id) if post.parts]
        if post_id not in {post.ts for post in own}:
            own = [OwnPost(ts=post_id)]
        await self._write_parts(reply, own, keep_first=True)

    async def start(self, thread: ThreadRef, delivery_id: str, part: Part) -> str:
        """The id of a new, unfinished post."""
        return await self._post(part, _unfinished(thread, delivery_id), patience="never")

    async def show(self, thread: ThreadRef, delivery_id: str, ts: str, part: Part) -> None:
        """Another text in an unfinished post, at once or not at all."""
        await self._update(ts, part, _unfinished(thread, delivery_id), patience="never")

    async def _write_parts(self, reply: Reply, own: Sequence[OwnPost], *, keep_first: bool) -> str:
        parts = parts_of(reply)
        free = list(own)
        first: str | None = None
        for number, part in enumerate(parts, start=1):
            place = _Place(
                thread=reply.thread, delivery_id=reply.delivery_id, number=number, total=len(parts), final=reply.final
            )
            target = _taken(free, number)
            if target is not None and keep_first and number == 1:
                await self._update(target.ts, part, place)
                ts = target.ts
            else:
                ts = await self._place(part, place, target)
            first = first or ts
        for left in free:
            await self._remove(reply.thread, left.ts)
        assert first is not None
        return first

    async def _place(self, part: Part, place: _Place, target: OwnPost | None) -> str:
        """Writes a part over `target` where that is possible, else as a new post."""
        if target is not None:
            try:
                await self._update(target.ts, part, place)
                return target.ts
            except SlackRefusal as error:
                if error.code not in UNCHANGEABLE:
                    raise
                log.info("slack.post_written_anew", ts=target.ts, reason=error.code)
        return await self._post(part, place)

    async def _post(self, part: Part, place: _Place, *, patience: Patience = "once") -> str:
        thread = place.thread
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = await self.in_accepted_form(
                    "chat_postMessage", part, patience=patience, channel=thread.channel_id, thread_ts=thread.root_id,
                    metadata=place.metadata(), unfurl_links=False, unfurl_media=False,
                )  # fmt: skip
                return str(answer["ts"])
            except Unreachable:
                if patience == "never" or attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(self._retry_pause_s)
            for post in await self.own(thread, place.delivery_id):
                if (post.part, post.parts, post.final) == (place.number, place.total, place.final):
                    return post.ts
        raise AssertionError("unreachable")

    async def _update(self, ts: str, part: Part, place: _Place, *, patience: Patience = "repeat") -> None:
        arguments = {"channel": place.thread.channel_id, "ts": ts, "metadata": place.metadata()}
        try:
            await self.in_accepted_form("chat_update", part, patience=patience, **arguments)
        except SlackRefusal as error:
            if "streaming" not in error.code:
                raise
            await self.stop_stream(place.thread, ts)
            await self.in_accepted_form("chat_update", part, patience=patience, **arguments)

    async def in_accepted_form(self, method: str, part: Part, *, patience: Patience, **arguments: Any) -> Any:
        """Sends a part in the richest form that Slack takes."""
        for form in FORMS:
            try:
                return await self._api.call(method, patience=patience, **arguments, **message_fields(part, form))
            except SlackRefusal as error:
                if error.code not in FORM_REFUSED or form == FORMS[-1]:
                    raise
                log.info("slack.form_refused", form=form, reason=error.code)
        raise AssertionError("unreachable")

    async def stop_stream(self, thread: ThreadRef, ts: str) -> None:
        """Ends Slack's own streaming of a post; that it has ended already is no error."""
        try:
            await self._api.call("chat_stopStream", patience="once", channel=thread.channel_id, ts=ts)
        except SlackRefusal as error:
            if error.code not in NOT_STREAMING:
                log.info("slack.stream_not_stopped", ts=ts, reason=error.code)

    async def _remove(self, thread: ThreadRef, ts: str) -> None:
        """Takes away a part that an earlier, longer version of the reply had."""
        try:
            await self._api.call("chat_delete", channel=thread.channel_id, ts=ts)
        except PlatformError as error:
            log.warning("slack.leftover_not_removed", ts=ts, reason=str(error))


def complete(own: Sequence[OwnPost]) -> str | None:
    """The id of the first part when all parts stand there and are final."""
    final = {post.part: post for post in own if post.final and post.parts}
    total = max((post.parts for post in final.values()), default=0)
    return final[1].ts if total and set(final) >= set(range(1, total + 1)) else None


def reply_payload(message: Json) -> Json | None:
    """What the bot noted about a post of its own; None for any other message."""
    metadata = message.get("metadata")
    if not isinstance(metadata, Mapping) or metadata.get("event_type") != REPLY_EVENT:
        return None
    payload = metadata.get("event_payload")
    return payload if isinstance(payload, Mapping) else None


def _own_post(message: Json, payload: Json) -> OwnPost:
    return OwnPost(
        ts=str(message["ts"]),
        part=int(payload.get("part") or 1),
        parts=int(payload.get("parts") or 1),
        final=payload.get("final") is True,
    )


def _may_be_stray(message: Json, identity: Identity | None, after: str | None, thread: ThreadRef) -> bool:
    """Whether it is a stream in a direct message that was never stopped: only those come without metadata."""
    return (
        identity is not None
        and thread.channel_id.startswith("D")
        and is_own(message, identity)
        and not message.get("metadata")
        and after is not None
        and float(message["ts"]) > float(after)
    )


def _taken(free: list[OwnPost], number: int) -> OwnPost | None:
    """The post to write part `number` over, taken out of `free`."""
    found = next((post for post in free if post.part == number), None)
    if found is not None:
        free.remove(found)
    return found


def _unfinished(thread: ThreadRef, delivery_id: str) -> _Place:
    return _Place(thread=thread, delivery_id=delivery_id, number=1, total=1, final=False)


def _is_ts(text: str) -> bool:
    seconds, _, fraction = text.partition(".")
    return seconds.isascii() and seconds.isdigit() and fraction.isascii() and fraction.isdigit()
