"""How far has been read in each channel, and catching up after a time without connection.

Slack repeats an event for some minutes only; what was posted while the bot was down longer is read from the histories
of the channels and direct messages that the bot is in, and of the threads that it takes part in. Cursors may lag behind
and windows overlap: whatever is read twice is dropped by its delivery id. Until everything was caught up, cursors stay
where they were, so that an interruption loses nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from bot.errors import PlatformError
from bot.platforms.slack_api import SlackApi, next_cursor
from bot.platforms.slack_failures import SlackRefusal
from bot.platforms.slack_intake import SlackIntake
from bot.ports import PlatformState
from bot.types import Message, ThreadRef

OVERLAP_S = 600.0  # longer than Slack repeats an event that was not acknowledged
ROOTS_BACK_S = 86_400.0  # how much older a root may be whose thread went on meanwhile
THREADS_KEPT = 100  # each may cost a call of a method that answers need too
THREAD_LIFE_S = 7 * 86_400.0
MAX_CHANNELS = 300
PAGE = 200
MAX_CHANNEL_PAGES = 10
FLUSH_EVERY_S = 5.0
ALIVE_EVERY_S = 30.0
_KEY = "reading"

Json = Mapping[str, Any]

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Position:
    """What is stored: the newest ts read of each channel and thread, and when the connection was last known to work."""

    alive_at: float | None = None
    channels: dict[str, str] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)  # "channel:root" -> ts


@dataclass(slots=True)
class _Haul:
    """What a catch-up has found."""

    messages: list[tuple[str, Json]] = field(default_factory=list)  # (channel, message)
    skipped: int = 0  # -1: nobody knows how many
    left_out: str = "some older posts"
    complete: bool = True


class SlackReading:
    """Told of every message that was saved (`heard`) and every thread that was answered in (`took_part`)."""

    def __init__(
        self, api: SlackApi, state: PlatformState, *, clock: Callable[[], datetime], max_age_s: float, max_messages: int
    ) -> None:
        self._api = api
        self._state = state
        self._clock = clock
        self._max_age_s = max_age_s
        self._max_messages = max_messages
        self._position: _Position | None = None
        self._read: dict[str, str] = {}  # since the last time that everything was caught up
        self._threads: dict[str, str] = {}
        self._flushed_at = 0.0
        self._changed = False
        self._caught_up = False
        self.notice: str | None = None  # what the last catch-up left out, for `status`

    async def heard(self, message: Message) -> None:
        """Notes that a message was saved."""
        channel, ts = message.thread.channel_id, message.id
        if message.event != "posted":
            return
        self._changed = True
        self._read[channel] = max(self._read.get(channel, ts), ts)
        if message.mentions_bot or self._key(message.thread) in self._threads:
            self.took_part(message.thread, ts)
        await self.flush()

    def took_part(self, thread: ThreadRef, ts: str | None = None) -> None:
        """Notes that the bot takes part in a thread: what is said there while it is away must be found again."""
        key = self._key(thread)
        self._changed = True
        newest = max(self._threads.pop(key, ""), ts or thread.root_id)
        self._threads[key] = newest
        while len(self._threads) > THREADS_KEPT:
            self._threads.pop(next(iter(self._threads)))

    async def flush(self, quiet_s: float = 0.0, *, now: bool = False) -> None:
        """Writes down how far has been read, at most every few seconds, and when Slack was last heard: `quiet_s` ago.

        That nothing comes is no proof that nothing was said: a quiet time is read again after the next gap.
        """
        moment = self._clock().timestamp()
        pause = FLUSH_EVERY_S if self._changed else ALIVE_EVERY_S
        if not self._caught_up or (not now and moment - self._flushed_at < pause):
            return
        self._flushed_at, self._changed = moment, False
        position = await self._load()
        position.alive_at = max(position.alive_at or 0.0, moment - quiet_s)
        for channel, ts in self._read.items():
            position.channels[channel] = max(position.channels.get(channel, ts), ts)
        position.threads = dict(self._threads)
        stored = {"alive_at": position.alive_at, "channels": position.channels, "threads": position.threads}
        await asyncio.to_thread(self._state.put, _KEY, json.dumps(stored))

    async def catch_up(self, intake: SlackIntake) -> bool:
        """Whether everything was read that was posted since the cursors; what was found has been delivered."""
        position = await self._load()
        if position.alive_at is None:  # the first run of all: what was said before is nobody's question to the bot
            self._caught_up = True
            await self.flush(now=True)
            return True
        self._caught_up = False
        now = self._clock().timestamp()
        haul = _Haul()
        bound = now - self._max_age_s
        if position.alive_at < bound:
            haul.skipped, haul.left_out = -1, f"posts older than {self._max_age_s / 3600:g} h"
        for channel, told in (await self._channels(position, haul)).items():
            read_until = max(float(position.channels.get(channel, 0)), position.alive_at)
            since = max(read_until - OVERLAP_S, bound)
            await self._gather(channel, told, since, position, haul)
        await self._deliver(haul, intake, position)
        self._tell(haul)
        self._caught_up = haul.complete
        await self.flush(now=True)
        return haul.complete

    # --- inside -------------------------------------------------------------------------------

    async def _deliver(self, haul: _Haul, intake: SlackIntake, position: _Position) -> None:
        by_others = [item for item in haul.messages if not intake.is_own(item[1])]
        found = sorted(by_others, key=lambda item: float(item[1]["ts"]))
        left, found = found[: -self._max_messages or None], found[-self._max_messages :] if self._max_messages else []
        unread = [ts for channel, message in left if (ts := message["ts"]) > position.channels.get(channel, "")]
        if unread and haul.skipped >= 0:
            haul.skipped = len(unread)
        new = 0
        for channel, message in found:
            new += await intake.message(message, channel=channel)
        if found:
            log.info("slack.caught_up", read=len(found), delivered=new)

    def _tell(self, haul: _Haul) -> None:
        """Says once, in the log and in `status`, what was left out."""
        if haul.skipped == 0:
            self.notice = None
            return
        what = f"{haul.skipped} older posts" if haul.skipped > 0 else haul.left_out
        self.notice = f"After a time without connection {what} were not read; whoever asked then must ask again."
        log.warning("slack.catch_up_skipped", skipped=what)

    async def _channels(self, position: _Position, haul: _Haul) -> dict[str, Json]:
        """channel -> what its events say of it, of all that the bot is in; of those it has read in when Slack does not
        list them."""
        found: dict[str, Json] = {}
        cursor: str | None = None
        try:
            for _ in range(MAX_CHANNEL_PAGES):
                answer = await self._api.call(
                    "users_conversations", types="public_channel,private_channel,mpim,im", exclude_archived=True,
                    limit=PAGE, cursor=cursor,
                )  # fmt: skip
                for channel in answer.get("channels") or ():
                    found[str(channel["id"])] = _told_of(channel)
                if (cursor := next_cursor(answer)) is None:
                    break
        except SlackRefusal as error:
            log.warning("slack.channels_not_listed", reason=str(error))
        except PlatformError as error:
            haul.complete = False
            log.warning("slack.channels_not_listed", reason=str(error))
        for channel in position.channels:
            found.setdefault(channel, {"channel_type": "im" if channel.startswith("D") else "channel"})
        latest = sorted(found, key=lambda channel: float(position.channels.get(channel, 0)), reverse=True)
        if len(latest) > MAX_CHANNELS:
            haul.skipped = -1
            log.warning("slack.channels_not_read", channels=len(latest) - MAX_CHANNELS)
        return {channel: found[channel] for channel in latest[:MAX_CHANNELS]}

    async def _gather(self, channel: str, told: Json, since: float, position: _Position, haul: _Haul) -> None:
        """Posts of a channel and of its threads after `since`."""
        threads = {key.partition(":")[2] for key in position.threads if key.startswith(f"{channel}:")}
        try:
            for root in await self._history(channel, since - ROOTS_BACK_S, haul):
                if float(root["ts"]) > since:
                    haul.messages.append((channel, {**root, **told}))
                went_on = float(root.get("latest_reply") or 0) > since
                (threads.add if went_on else threads.discard)(str(root["ts"]))
            for root_ts in sorted(threads):
                for message in await self._replies(channel, root_ts, since):
                    haul.messages.append((channel, {**message, **told}))
        except SlackRefusal as error:  # left, archived, not allowed: it will be no better the next time
            log.info("slack.channel_not_read", channel=channel, reason=str(error))
        except PlatformError as error:
            haul.complete = False
            log.warning("slack.channel_not_read", channel=channel, reason=str(error))

    async def _history(self, channel: str, oldest: float, haul: _Haul) -> list[Json]:
        """Newest first, as Slack pages."""
        found: list[Json] = []
        cursor: str | None = None
        while True:
            answer = await self._api.call(
                "conversations_history", channel=channel, oldest=f"{oldest:.6f}", limit=PAGE, cursor=cursor
            )
            found += answer.get("messages") or ()
            cursor = next_cursor(answer)
            if cursor is None:
                return found
            if len(found) > self._max_messages + PAGE:
                haul.skipped = -1 if haul.skipped == 0 else haul.skipped
                return found

    async def _replies(self, channel: str, root: str, since: float) -> list[Json]:
        found: list[Json] = []
        cursor: str | None = None
        while True:
            try:
                answer = await self._api.call(
                    "conversations_replies", channel=channel, ts=root, oldest=f"{since:.6f}", limit=PAGE, cursor=cursor
                )
            except SlackRefusal as error:
                if error.code == "thread_not_found":
                    return found
                raise
            found += [m for m in answer.get("messages") or () if m["ts"] != root and float(m["ts"]) > since]
            cursor = next_cursor(answer)
            if cursor is None or len(found) > self._max_messages:
                return found

    async def _load(self) -> _Position:
        if self._position is None:
            stored = await asyncio.to_thread(self._state.get, _KEY)
            fields = json.loads(stored) if stored else {}
            self._position = _Position(
                alive_at=fields.get("alive_at"),
                channels=dict(fields.get("channels") or {}),
                threads=dict(fields.get("threads") or {}),
            )
            oldest = self._clock().timestamp() - THREAD_LIFE_S
            kept = {key: ts for key, ts in self._position.threads.items() if float(ts) > oldest}
            self._threads = {**kept, **self._threads}
        return self._position

    def _key(self, thread: ThreadRef) -> str:
        return f"{thread.channel_id}:{thread.root_id}"


def _told_of(channel: Json) -> Json:
    """What an event would say of a channel."""
    kinds = (("is_im", "im"), ("is_mpim", "mpim"), ("is_private", "group"))
    kind = next((name for key, name in kinds if channel.get(key)), "channel")
    return {"channel_type": kind, "is_ext_shared": channel.get("is_ext_shared") is True}
