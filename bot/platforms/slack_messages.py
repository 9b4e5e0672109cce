"""Slack's messages as `bot.types.Message`: who wrote what in which thread, and whether it was written at all."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from bot.errors import PlatformError
from bot.platforms.attached_text import FILES_READ, HeadAndTail, is_text_file
from bot.platforms.slack_api import Identity, SlackApi
from bot.platforms.slack_text import mentioned_users, raw_text, readable
from bot.types import Attachment, Author, Message, MessageEvent, ThreadRef

NAME = "slack"
SPOKEN = frozenset({None, "bot_message", "file_share", "thread_broadcast", "me_message", "file_comment"})
FILE_TIMEOUT_S = 15.0
NAME_TIMEOUT_S = 3.0
NAMES_KEPT = 5_000
NAME_LIFE_S = 3600.0  # people are renamed now and then

Json = Mapping[str, Any]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What users.info or bots.info tells of an author."""

    name: str
    is_bot: bool


class SlackMessages:
    """Translates; asks Slack for names, which it keeps, and for files."""

    def __init__(self, api: SlackApi, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._monotonic = monotonic
        self._people: OrderedDict[str, tuple[float, Person]] = OrderedDict()  # with when that was asked
        self._asking: dict[str, asyncio.Task[Person]] = {}

    async def message(
        self, event: Json, *, channel: str, identity: Identity, addressed: bool = False, read_files: bool = True
    ) -> Message | None:
        """The message of an event or of a history; None when it is the bot's own.

        `addressed`: Slack delivered it as a mention.
        """
        kind, inner, event_id = _unwrapped(event)
        ts = str(inner.get("ts") or event.get("ts") or "")
        if not ts or is_own(inner, identity):
            return None
        raw = raw_text(inner) if kind != "deleted" else ""
        mentioned = mentioned_users(raw)
        names = {user: (await self.person(user)).name for user in mentioned if user != identity.user_id}
        files = [item for item in inner.get("files") or () if isinstance(item, Mapping)]
        return Message(
            id=ts,
            thread=ThreadRef(platform=NAME, channel_id=channel, root_id=str(inner.get("thread_ts") or ts)),
            author=await self._author(inner),
            text=readable(raw, names=names, bot_user_id=identity.user_id),
            mentions_bot=addressed or identity.user_id in mentioned,
            is_direct=_is_direct(event, channel),
            attachments=await self._attachments(files, read=read_files and kind == "posted"),
            posted_at=moment_of(ts),
            delivery_id=delivery_id(channel, ts) + event_id,
            event=kind,
            is_shared=event.get("is_ext_shared") is True,
            mentions_others=any(user != identity.user_id for user in mentioned) or "<!subteam^" in raw,
        )

    async def person(self, user_id: str) -> Person:
        """Name and kind of a user or bot; the id itself as name when Slack does not tell in time."""
        known = self._people.get(user_id)
        if known is not None and self._monotonic() - known[0] < NAME_LIFE_S:
            self._people.move_to_end(user_id)
            return known[1]
        try:
            async with asyncio.timeout(NAME_TIMEOUT_S):
                found = await asyncio.shield(self._asked(user_id))
        except (PlatformError, TimeoutError) as error:
            log.info("slack.name_unknown", user=user_id, reason=str(error))
            return known[1] if known is not None else Person(name=user_id, is_bot=user_id.startswith("B"))
        self._people[user_id] = (self._monotonic(), found)
        self._people.move_to_end(user_id)
        while len(self._people) > NAMES_KEPT:
            self._people.popitem(last=False)
        return found

    def _asked(self, user_id: str) -> asyncio.Task[Person]:
        """The question about a user that is under way: many messages of one person need one answer."""
        task = self._asking.get(user_id)
        if task is None:
            task = self._asking[user_id] = asyncio.create_task(self._ask(user_id))
            task.add_done_callback(lambda done: self._forget(user_id, done))
        return task

    def _forget(self, user_id: str, done: asyncio.Task[Person]) -> None:
        self._asking.pop(user_id, None)
        if not done.cancelled():
            done.exception()  # whoever still waits is told; that nobody does is no error

    async def _ask(self, user_id: str) -> Person:
        if user_id.startswith("B"):
            bot = (await self._api.call("bots_info", patience="never", bot=user_id)).get("bot") or {}
            return Person(name=str(bot.get("name") or user_id), is_bot=True)
        user = (await self._api.call("users_info", patience="never", user=user_id)).get("user") or {}
        profile = user.get("profile") or {}
        name = profile.get("display_name") or profile.get("real_name") or user.get("name") or user_id
        return Person(name=str(name), is_bot=bool(user.get("is_bot")) or user_id == "USLACKBOT")

    async def _author(self, inner: Json) -> Author:
        user, bot = str(inner.get("user") or ""), str(inner.get("bot_id") or "")
        given = str(inner.get("username") or _dig(inner, "bot_profile", "name") or "")
        if bot or inner.get("subtype") == "bot_message":
            name = given or (await self.person(user or bot)).name if user or bot else given
            return Author(id=user or bot or "unknown", display_name=name or "bot", is_bot=True)
        if not user:
            return Author(id="unknown", display_name=given or "unknown", is_bot=False)
        person = await self.person(user)
        return Author(id=user, display_name=person.name, is_bot=person.is_bot)

    async def _attachments(self, files: Sequence[Json], *, read: bool) -> tuple[Attachment, ...]:
        found: list[Attachment] = []
        for number, file in enumerate(files):
            name = str(file.get("name") or file.get("title") or file.get("id") or "file")
            kind = str(file.get("mimetype") or "application/octet-stream")
            text = await self._file_text(file, name, kind) if read and number < FILES_READ else None
            found.append(Attachment(name=name, media_type=kind, text=text))
        return tuple(found)

    async def _file_text(self, file: Json, name: str, kind: str) -> str | None:
        """What a text or log file says; None when it is another kind of file, far too long, or cannot be fetched."""
        url = str(file.get("url_private_download") or file.get("url_private") or "")
        if not url or not is_text_file(name, kind, int(file.get("size") or 0)):
            return None
        content = HeadAndTail()
        try:
            async with asyncio.timeout(FILE_TIMEOUT_S):
                await self._api.download(url, content.take)
        except (PlatformError, TimeoutError, ValueError) as error:
            log.warning("slack.file_unread", file=name, reason=str(error) or "took too long")
            return None
        return await asyncio.to_thread(content.text)


def delivery_id(channel: str, ts: str) -> str:
    """The same for `message`, `app_mention`, their repetitions, and the same post in a history."""
    return f"{channel}:{ts}"


def is_own(message: Json, identity: Identity) -> bool:
    """Whether the bot wrote it."""
    by_user = bool(identity.user_id) and message.get("user") == identity.user_id
    return by_user or (bool(identity.bot_id) and message.get("bot_id") == identity.bot_id)


def moment_of(ts: str) -> datetime:
    """The moment that a timestamp stands for; the epoch when it is none."""
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _unwrapped(event: Json) -> tuple[MessageEvent, Json, str]:
    """What happened, the message that it happened to, and what makes this event's id differ from that of the post."""
    subtype = event.get("subtype")
    stamp = event.get("event_ts") or event.get("ts") or ""
    if subtype == "message_changed" and _mapping(event.get("message")).get("subtype") == "tombstone":
        previous = _mapping(event.get("previous_message"))  # a deleted post with replies below it
        return "deleted", {**_mapping(event.get("message")), **previous, "subtype": None}, f":deleted:{stamp}"
    if subtype == "message_changed":
        return "edited", _mapping(event.get("message")), f":edited:{stamp}"
    if subtype == "message_deleted":
        previous = _mapping(event.get("previous_message"))
        return "deleted", {**previous, "ts": event.get("deleted_ts") or previous.get("ts")}, f":deleted:{stamp}"
    return ("posted" if subtype in SPOKEN and not event.get("hidden") else "system"), event, ""


def _is_direct(event: Json, channel: str) -> bool:
    """Whether it is a conversation with the bot alone; in a group message people talk with each other too."""
    return event.get("channel_type") == "im" or channel.startswith("D")


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _dig(value: Json, first: str, second: str) -> object:
    return _mapping(value.get(first)).get(second)
