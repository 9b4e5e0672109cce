"""From Slack's payloads to `receive`: messages, reactions, buttons, commands, each saved before it is acknowledged.

`message` and `app_mention` arrive for one mention, and every delivery may come again: what was saved a moment ago is
acknowledged without being read a second time. What cannot be saved raises, so that Slack delivers it again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog

from bot.errors import PlatformError
from bot.platforms.slack_api import Identity, SlackApi
from bot.platforms.slack_commands import CommandAnswers
from bot.platforms.slack_format import VOTE_ACTION
from bot.platforms.slack_messages import NAME, SlackMessages, delivery_id, is_own
from bot.platforms.slack_posts import reply_payload
from bot.ports import Receive
from bot.types import Author, Command, FeedbackGiven, Message, ThreadRef, Vote

REMEMBERED = 5_000
ALONE_AFTER_S = 60.0  # `message` and `app_mention` of one post come within moments of each other
ALONE_ENOUGH = 3  # one may be lost by chance
ALONE_KEPT = 50

_REACTIONS: Mapping[str, Vote] = {
    "+1": "up", "thumbsup": "up", "-1": "down", "thumbsdown": "down", "x": "wrong", "wrong": "wrong",
    "negative_squared_cross_mark": "wrong", "no_entry_sign": "wrong",
}  # fmt: skip

Json = Mapping[str, Any]
Heard = Callable[[Message], Awaitable[None]]
"""Is told every message once it is saved: how far has been read, and in which threads."""

log = structlog.get_logger(__name__)


class SlackIntake:
    """`receive` is set while somebody listens; `heard` is told what was saved."""

    def __init__(
        self, api: SlackApi, messages: SlackMessages, answers: CommandAnswers, *,
        identity: Callable[[], Identity | None], heard: Heard, monotonic: Callable[[], float],
    ) -> None:  # fmt: skip
        self._api = api
        self._messages = messages
        self._answers = answers
        self._identity = identity
        self._heard = heard
        self._saved: OrderedDict[str, None] = OrderedDict()
        self._turns = _Turns()
        self._monotonic = monotonic
        self._alone: OrderedDict[str, float] = OrderedDict()  # mentions whose `message` has not come, and since when
        self.receive: Receive | None = None

    async def event(self, event: Json) -> None:
        """Takes the `event` of an event callback. Raises what `receive` does, and PlatformError when nobody listens."""
        match event.get("type"):
            case "message" | "app_mention":
                channel = str(event.get("channel") or "")
                self._pair(channel, _key_of(event, channel), is_mention=event["type"] == "app_mention")
                await self.message(event, channel=channel, addressed=event["type"] == "app_mention")
            case "reaction_added" | "reaction_removed":
                await self._reaction(event, taken_back=event["type"] == "reaction_removed")
            case other:
                log.debug("slack.event_ignored", type=other)

    async def message(self, event: Json, *, channel: str, addressed: bool = False) -> bool:
        """Saves a message; whether it was new as far as this run knows."""
        identity = self._require_identity()
        key = _key_of(event, channel)
        thread = f"{channel}:{event.get('thread_ts') or event.get('ts')}"
        async with self._turns.of(thread):  # the second of a pair sees whether the first was saved
            if key in self._saved:
                return False
            message = await self._messages.message(event, channel=channel, identity=identity, addressed=addressed)
            if message is None:
                return False
            await self._require_receive()(message)
            self._remember(key)
        await self._heard(message)
        return True

    @property
    def mentions_come_alone(self) -> bool:
        """Whether mentions arrive and the messages themselves do not: their events are not subscribed, so follow-ups
        and alerts are not heard. Slack has no call that tells."""
        before = self._monotonic() - ALONE_AFTER_S
        return sum(since <= before for since in self._alone.values()) >= ALONE_ENOUGH

    def _pair(self, channel: str, key: str, *, is_mention: bool) -> None:
        if not is_mention:  # any message of a channel, the bot's own too, shows that they are heard there
            for heard in [other for other in self._alone if other.startswith(f"{channel}:")]:
                del self._alone[heard]
        elif key not in self._saved:
            self._alone.setdefault(key, self._monotonic())
            while len(self._alone) > ALONE_KEPT:
                self._alone.popitem(last=False)

    def is_own(self, message: Json) -> bool:
        """Whether the bot wrote it."""
        return is_own(message, self._require_identity())

    async def command(self, body: Json) -> None:
        """Saves a slash command, and where its answer can be sent."""
        channel, user = str(body.get("channel_id") or ""), str(body.get("user_id") or "")
        command = Command(
            name=str(body.get("command") or "").removeprefix("/"),
            args=str(body.get("text") or "").strip(),
            author=Author(id=user, display_name=str(body.get("user_name") or user), is_bot=False),
            thread=ThreadRef(platform=NAME, channel_id=channel, root_id=str(body.get("thread_ts") or "")),
            delivery_id=f"{channel}:command:{body.get('trigger_id') or ''}",
            is_direct=channel.startswith("D"),
        )
        await self._answers.remember(command.delivery_id, str(body.get("response_url") or ""))
        await self._require_receive()(command)

    async def action(self, body: Json) -> bool | None:
        """Saves what a button says: whether the answer under it is known; None when it is none of the bot's."""
        given = _vote_of(body)
        return None if given is None else await self._require_receive()(given) is not False

    async def _reaction(self, event: Json, *, taken_back: bool) -> None:
        identity = self._require_identity()
        vote = _REACTIONS.get(str(event.get("reaction") or "").partition("::")[0])
        item = event.get("item")
        item = item if isinstance(item, Mapping) else {}
        user, author = str(event.get("user") or ""), str(event.get("item_user") or "")
        if vote is None or item.get("type") != "message" or user == identity.user_id or author != identity.user_id:
            return
        channel, ts = str(item.get("channel") or ""), str(item.get("ts") or "")
        person = await self._messages.person(user)
        given = FeedbackGiven(
            reply_id=ts,
            author=Author(id=user, display_name=person.name, is_bot=person.is_bot),
            vote=vote,
            comment="",
            platform=NAME,
            channel_id=channel,
            delivery_id=await self._answered_delivery(channel, ts),
            taken_back=taken_back,
        )
        await self._require_receive()(given)

    async def _answered_delivery(self, channel: str, ts: str) -> str:
        """The delivery that a post of the bot answers, whichever part of the answer it is; empty when unknown."""
        try:
            answer = await self._api.call(
                "conversations_replies", patience="never", channel=channel, ts=ts, limit=10, oldest=ts, latest=ts,
                inclusive=True, include_all_metadata=True,
            )  # fmt: skip
        except PlatformError as error:
            log.info("slack.reaction_read_without_context", reason=str(error))
            return ""
        found = [message for message in answer.get("messages") or () if message.get("ts") == ts]
        payload = reply_payload(found[0]) if found else None
        return str(payload.get("delivery_id") or "") if payload else ""

    def _remember(self, key: str) -> None:
        self._saved[key] = None
        while len(self._saved) > REMEMBERED:
            self._saved.popitem(last=False)

    def _require_receive(self) -> Receive:
        if self.receive is None:
            raise PlatformError("Nobody listens to Slack yet; Slack delivers it again.")
        return self.receive

    def _require_identity(self) -> Identity:
        identity = self._identity()
        if identity is None:
            raise PlatformError("It is not known yet who the bot is on Slack; Slack delivers it again.")
        return identity


class _Turns:
    """Lets one after the other through, in the order of their coming, within each thread."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def of(self, thread: str) -> AsyncIterator[None]:
        self._users[thread] += 1
        lock = self._locks.setdefault(thread, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            self._users[thread] -= 1
            if not self._users[thread]:
                del self._users[thread], self._locks[thread]


def _key_of(event: Json, channel: str) -> str:
    """The same for every delivery of the same post; another one for each change of it."""
    if event.get("subtype") in ("message_changed", "message_deleted"):
        return f"{channel}:{event.get('subtype')}:{event.get('event_ts') or event.get('ts')}"
    return delivery_id(channel, str(event.get("ts") or ""))


def _vote_of(body: Json) -> FeedbackGiven | None:
    """The vote of a button, whether one of three or Slack's own pair of them."""
    for action in body.get("actions") or ():
        if not str(action.get("action_id") or "").startswith(VOTE_ACTION):
            continue
        word, _, delivery = str(action.get("value") or "").partition(":")
        votes: Mapping[str, Vote] = {"up": "up", "down": "down", "wrong": "wrong"}
        user, container = body.get("user") or {}, body.get("container") or {}
        if word not in votes or not user.get("id"):
            continue
        return FeedbackGiven(
            reply_id=str(container.get("message_ts") or (body.get("message") or {}).get("ts") or ""),
            author=Author(
                id=str(user["id"]), display_name=str(user.get("name") or user.get("username") or ""), is_bot=False
            ),
            vote=votes[word],
            comment="",
            platform=NAME,
            channel_id=str(container.get("channel_id") or (body.get("channel") or {}).get("id") or ""),
            delivery_id=delivery,
        )
    return None
