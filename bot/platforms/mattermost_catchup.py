"""What was posted while nobody listened, read by REST: after every connection that is new, and again now and then.

`since` returns at most 1,000 posts in no order that could be relied on, takes no pages, counts edits too, and is
sometimes empty although the channel has new posts. So windows overlap, posts are told apart by id, and where `since`
cannot be trusted the channel is read backwards page by page.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from bot.errors import AuthError, BotError, PlatformError
from bot.platforms.mattermost_messages import is_gone
from bot.platforms.mattermost_rest import MattermostRest
from bot.ports import PlatformState

OVERLAP_MS = 30_000
FIRST_LOOKBACK = timedelta(minutes=10)  # at the very first start: what was asked while it was being set up
SINCE_CAP = 1000
PAGE_POSTS = 200
MAX_SEEN = 5000
SAVE_EVERY_S = 5.0
SKIPPED_SHOWN_S = 24 * 3600.0
HOLD_BACK_S = 120.0  # how long new posts wait for older ones that cannot be read
STATE_KEY = "mattermost.cursor"

Json = dict[str, Any]
Deliver = Callable[[Json, Json], Awaitable[None]]
"""Hands over a post of a channel (both as the server describes them). Raises BotError when it was not kept."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Cursor:
    """Everything up to `at_ms` was handed over, in every channel but those that are `behind`."""

    at_ms: int | None = None
    behind: dict[str, int] = field(default_factory=dict)
    seen: OrderedDict[str, int] = field(default_factory=OrderedDict)  # post id -> create_at, for the overlap

    @classmethod
    def read(cls, text: str | None) -> Cursor:
        if text is None:
            return cls()
        try:
            told = json.loads(text)
            return cls(int(told["at_ms"]), dict(told["behind"]), OrderedDict(told["seen"]))
        except (ValueError, TypeError, KeyError):
            log.error("mattermost.cursor_unreadable")
            return cls()

    def text(self) -> str:
        return json.dumps({"at_ms": self.at_ms, "behind": self.behind, "seen": list(self.seen.items())})


class CatchUp:
    """Reads what was missed and hands it over, oldest first within each channel."""

    def __init__(
        self,
        rest: MattermostRest,
        state: PlatformState,
        *,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float],
        deliver: Deliver,
        max_age: timedelta,
        max_posts: int,
    ) -> None:
        self._skipped: list[str] = []
        self._skipped_at_s = 0.0
        self.channels: dict[str, Json] = {}
        self.failed: str | None = None
        self._rest = rest
        self._state = state
        self._clock = clock
        self._monotonic = monotonic
        self._deliver = deliver
        self._max_age = max_age
        self._max_posts = max_posts
        self._cursor: Cursor | None = None
        self._saved_s = 0.0
        self._behind_since_s: float | None = None

    @property
    def skipped(self) -> list[str]:
        """What a catch-up of the last day left out, one sentence a channel."""
        return self._skipped if self._monotonic() - self._skipped_at_s < SKIPPED_SHOWN_S else []

    @property
    def is_behind(self) -> bool:
        return self.failed is not None or bool(self._cursor and self._cursor.behind)

    def holds_back(self, channel_id: str) -> bool:
        """Whether a new post of this channel has to wait, because older ones were not handed over yet. The next run
        hands over both, in order; a channel that cannot be read for long is not kept silent for it."""
        behind = self.failed is not None or bool(self._cursor and channel_id in self._cursor.behind)
        since_s = self._behind_since_s
        return behind and since_s is not None and self._monotonic() - since_s < HOLD_BACK_S

    async def run(self, why: str) -> None:
        """Hands over what is new in all channels of the bot. What fails is tried again by the next run."""
        try:
            await self._run(why)
            self.failed = None
        except PlatformError as error:
            self.failed = str(error)
            log.warning("mattermost.catch_up.failed", why=why, reason=str(error))
            if isinstance(error, AuthError):
                raise
        finally:
            self._note_behind()

    async def _run(self, why: str) -> None:
        cursor = await self._load()
        self.channels = await self._my_channels()
        start_ms = cursor.at_ms if cursor.at_ms is not None else _ms(self._clock() - FIRST_LOOKBACK)
        floor_ms = _ms(self._clock() - self._max_age)
        skipped: list[str] = []
        handed = 0
        for channel in list(self.channels.values()):
            handed += await self._read_channel(channel, cursor, start_ms, floor_ms, skipped)
        newest_ms = max((int(c.get("last_post_at") or 0) for c in self.channels.values()), default=0)
        cursor.at_ms = max(start_ms, newest_ms)
        cursor.behind = {key: value for key, value in cursor.behind.items() if key in self.channels}
        if skipped:
            self._skipped, self._skipped_at_s = skipped, self._monotonic()
        await self._save(cursor)
        if handed or skipped:
            log.info("mattermost.catch_up", why=why, channels=len(self.channels), posts=handed, skipped=skipped)

    async def was_handed_over(self, post: Json) -> bool:
        return str(post.get("id")) in (await self._load()).seen

    async def handed_over(self, post: Json) -> None:
        """Notes that a post is kept by whoever it was handed to; only now, because a kill may come at any moment."""
        cursor = await self._load()
        cursor.seen[str(post.get("id"))] = int(post.get("create_at") or 0)
        while len(cursor.seen) > MAX_SEEN:
            cursor.seen.popitem(last=False)
        if self._monotonic() - self._saved_s >= SAVE_EVERY_S:
            await self._save(cursor)

    async def not_kept(self, post: Json) -> None:
        """Notes that handing over a post failed, so that the next run reads its channel again from there."""
        cursor = await self._load()
        channel_id, at_ms = str(post.get("channel_id")), int(post.get("create_at") or 0)
        cursor.behind[channel_id] = min(at_ms, cursor.behind.get(channel_id, at_ms))
        self._note_behind()

    async def save(self) -> None:
        if self._cursor is not None:
            await self._save(self._cursor)

    # --- inside ---------------------------------------------------------------------------------

    def _note_behind(self) -> None:
        if not self.is_behind:
            self._behind_since_s = None
        elif self._behind_since_s is None:
            self._behind_since_s = self._monotonic()

    async def _load(self) -> Cursor:
        if self._cursor is None:
            self._cursor = Cursor.read(await asyncio.to_thread(self._state.get, STATE_KEY))
        return self._cursor

    async def _save(self, cursor: Cursor) -> None:
        """Forgets posts that no window reaches any more, then writes."""
        self._saved_s = self._monotonic()
        if cursor.at_ms is None:
            return
        oldest_ms = min([cursor.at_ms, *cursor.behind.values()]) - 2 * OVERLAP_MS
        for post_id in [key for key, at_ms in cursor.seen.items() if at_ms < oldest_ms]:
            del cursor.seen[post_id]
        try:
            await asyncio.to_thread(self._state.put, STATE_KEY, cursor.text())
        except BotError as error:
            log.error("mattermost.cursor_not_saved", reason=str(error))

    async def _my_channels(self) -> dict[str, Json]:
        """id -> channel, of every team; direct and group messages come with each of them."""
        channels: dict[str, Json] = {}
        for team in await self._rest.my_teams():
            for channel in await self._rest.my_channels(str(team["id"])):
                channels[str(channel["id"])] = channel
        return channels

    async def _read_channel(
        self, channel: Json, cursor: Cursor, start_ms: int, floor_ms: int, skipped: list[str]
    ) -> int:
        """How many posts of one channel were handed over."""
        channel_id = str(channel["id"])
        begin_ms = cursor.behind.get(channel_id, start_ms)
        since_ms = begin_ms - OVERLAP_MS
        if int(channel.get("last_post_at") or 0) < since_ms and channel_id not in cursor.behind:
            return 0
        name = str(channel.get("display_name") or channel.get("name") or channel_id)
        if since_ms < floor_ms:
            hours = self._max_age.total_seconds() / 3600
            skipped.append(f"{name}: posts from {_shown(begin_ms)} to {_shown(floor_ms)} (older than {hours:g} h)")
            since_ms = floor_ms
        handed = 0
        try:
            posts, cut = await self._posts_since(channel, since_ms)
            if cut:
                skipped.append(f"{name}: posts before the last {self._max_posts} since {_shown(since_ms)}")
            cursor.behind.pop(channel_id, None)
            for post in posts:
                if await self.was_handed_over(post):
                    continue
                try:
                    await self._deliver(post, channel)
                except BotError:
                    await self.not_kept(post)
                    raise
                await self.handed_over(post)
                handed += 1
        except AuthError:
            cursor.behind.setdefault(channel_id, begin_ms)
            raise
        except BotError as error:
            cursor.behind.setdefault(channel_id, begin_ms)
            log.warning("mattermost.catch_up.channel_failed", channel=channel_id, reason=str(error))
        return handed

    async def _posts_since(self, channel: Json, since_ms: int) -> tuple[list[Json], bool]:
        """(posts created since then, oldest first, whether older ones were left out)."""
        channel_id = str(channel["id"])
        listing = await self._rest.channel_posts(channel_id, since=max(since_ms, 1))
        posts = _created_since(_posts(listing), since_ms)
        cut = False
        expected = int(channel.get("last_post_at") or 0) >= since_ms
        if len(listing.get("order") or ()) >= SINCE_CAP or (not posts and expected):
            posts, cut = await self._paged(channel_id, since_ms)
        ordered = sorted(posts, key=lambda post: (int(post.get("create_at") or 0), str(post["id"])))
        left_out = max(len(ordered) - self._max_posts, 0)
        return ordered[left_out:], cut or left_out > 0

    async def _paged(self, channel_id: str, since_ms: int) -> tuple[list[Json], bool]:
        """Backwards from the newest post; pages are taken by post id, because new posts shift numbered ones."""
        found: dict[str, Json] = {}
        before: dict[str, str | int] = {}
        while True:
            listing = await self._rest.channel_posts(channel_id, per_page=PAGE_POSTS, **before)
            page = _posts(listing)
            found.update({str(post["id"]): post for post in _created_since(page, since_ms)})
            if not page or min(int(post.get("create_at") or 0) for post in page) < since_ms:
                return list(found.values()), False
            if len(found) > self._max_posts:
                return list(found.values()), True
            oldest = min(page, key=lambda post: int(post.get("create_at") or 0))
            if before.get("before") == oldest["id"]:
                return list(found.values()), False
            before = {"before": str(oldest["id"])}


def _posts(listing: Json) -> list[Json]:
    """The posts of a listing in its order; roots that are only there for their replies are no part of it."""
    posts = listing.get("posts") or {}
    return [posts[post_id] for post_id in dict.fromkeys(listing.get("order") or ()) if post_id in posts]


def _created_since(posts: Iterable[Json], since_ms: int) -> list[Json]:
    """Those that are new: `since` also lists edited posts, deleted ones and old versions."""
    return [post for post in posts if int(post.get("create_at") or 0) >= since_ms and not is_gone(post)]


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _shown(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
