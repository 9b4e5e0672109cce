"""A reply that grows in Slack.

In direct messages by Slack's own streaming, which closes after about five minutes (`message_not_in_streaming_state`)
and is then continued by chat.update on the same post. In channels by chat.postMessage and chat.update: of a stream in a
channel only the one person it is addressed to would see more than the first words. Edits come no faster than Slack
takes them: one a second in a channel, and below the limit a minute of the workspace; what is skipped is in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog

from bot.errors import PlatformError, RateLimited, Unreachable
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_failures import SlackRefusal
from bot.platforms.slack_format import PART_CHARS, Part, growing_part, status_part
from bot.platforms.slack_posts import UNCHANGEABLE, OwnPost, SlackPosts
from bot.reply_text import safe_markdown
from bot.types import Reply, ThreadRef

INTERVAL_S = 1.0
EDITS_A_MINUTE = 40.0  # of at least 50 that Slack allows for chat.update; final texts need some too
BURST = 12.0

log = structlog.get_logger(__name__)


class EditPace:
    """How fast unfinished replies may be edited, over all of them together."""

    def __init__(self, monotonic: Callable[[], float], *, interval_s: float = INTERVAL_S) -> None:
        self._monotonic = monotonic
        self._interval_s = interval_s
        self._last: dict[str, float] = {}
        self._left = BURST
        self._counted_at = monotonic()
        self._held_until = 0.0

    def may_edit(self, channel_id: str) -> bool:
        """Whether an edit may be made now; it then counts as made."""
        now = self._monotonic()
        if now < self._held_until or now - self._last.get(channel_id, -self._interval_s) < self._interval_s:
            return False
        self._left = min(BURST, self._left + (now - self._counted_at) * EDITS_A_MINUTE / 60)
        self._counted_at = now
        if self._left < 1:
            return False
        self._left -= 1
        self._last[channel_id] = now
        return True

    def hold(self, seconds: float) -> None:
        """No edits for a while: Slack has asked for it."""
        self._held_until = max(self._held_until, self._monotonic() + seconds)

    @property
    def is_held(self) -> bool:
        return self._monotonic() < self._held_until


class NativeStreams:
    """Whether Slack's own streaming and statuses work in this workspace; told by the first refusal."""

    def __init__(self, api: SlackApi, *, enabled: bool) -> None:
        self.api = api
        self.works = enabled
        self.statuses_work = enabled

    def fits(self, thread: ThreadRef) -> bool:
        return self.works and thread.channel_id.startswith("D")


class SlackStream:
    """Implements bot.ports.ReplyStream. `earlier` are unfinished posts that a killed run left for this delivery."""

    def __init__(
        self, thread: ThreadRef, delivery_id: str, *, posts: SlackPosts, pace: EditPace, native: NativeStreams,
        earlier: Sequence[OwnPost] | None,
    ) -> None:  # fmt: skip
        self._thread = thread
        self._delivery_id = delivery_id
        self._posts = posts
        self._pace = pace
        self._native = native
        self._earlier = earlier
        self._ts: str | None = earlier[0].ts if earlier else None
        self._certain = earlier is not None  # whether the posts that answer this delivery are all known
        self._covers_answer = any(post.final for post in earlier or ())  # parts of an answer stand there already
        self._lost = False  # whether the first post may stand there without its id being known: no second one then
        self._streaming = False  # by Slack's own means
        self._sent_chars = 0  # of the text, to Slack's own stream
        self._text = ""

    async def status(self, words: str) -> None:
        if self._text or (self._ts is not None and not self._pace.may_edit(self._thread.channel_id)):
            return
        if self._ts is None and self._native.fits(self._thread):
            await self._native_status(words)
        else:
            await self._show(status_part(words))

    async def append(self, markdown: str) -> None:
        self._text += markdown
        if self._ts is not None and not self._pace.may_edit(self._thread.channel_id):
            return
        if self._streaming or (self._ts is None and self._native.fits(self._thread)):
            await self._stream_on()
        if not self._streaming:
            await self._show(growing_part(self._text))

    async def finish(self, reply: Reply) -> str:
        if self._streaming and self._ts is not None:
            self._streaming = False
            await self._end_stream(self._ts)
        return await self._posts.deliver(reply, own=self._known())

    def _known(self) -> list[OwnPost] | None:
        if not self._certain:
            return None
        if self._earlier:
            return list(self._earlier)
        return [OwnPost(ts=self._ts)] if self._ts is not None else []

    async def _show(self, part: Part) -> None:
        """Shows a text now if that is possible; a failure keeps what is shown and is mended by the next text."""
        if self._pace.is_held or self._covers_answer or self._lost:
            return
        try:
            if self._ts is None:
                self._certain = False  # until the answer is here, nobody knows whether there is a post
                self._ts = await self._posts.start(self._thread, self._delivery_id, part)
                self._certain = self._earlier is not None
            else:
                await self._posts.show(self._thread, self._delivery_id, self._ts, part)
        except PlatformError as error:
            self._after_failure(error)

    def _after_failure(self, error: PlatformError) -> None:
        if isinstance(error, RateLimited):
            self._pace.hold(error.retry_after_s)
            self._certain = self._certain or (self._ts is None and self._earlier is not None)  # nothing was posted
        elif isinstance(error, SlackRefusal) and error.code in UNCHANGEABLE:
            self._ts, self._earlier = None, None
            self._certain = False
        elif self._ts is None and not isinstance(error, SlackRefusal):
            self._lost = True
        log.info("slack.not_shown_yet", delivery=self._delivery_id, reason=str(error))

    # --- Slack's own streaming ----------------------------------------------------------------

    async def _native_status(self, words: str) -> None:
        if not self._native.statuses_work:
            return
        try:
            await self._native.api.call(
                "assistant_threads_setStatus", patience="never", channel_id=self._thread.channel_id,
                thread_ts=self._thread.root_id, status=words[:100],
            )  # fmt: skip
        except SlackRefusal as error:
            self._native.statuses_work = False
            log.info("slack.statuses_unavailable", reason=error.code)
        except PlatformError as error:
            log.info("slack.not_shown_yet", delivery=self._delivery_id, reason=str(error))

    async def _stream_on(self) -> None:
        """Sends what is new to Slack's stream; leaves `_streaming` false when that is not possible."""
        fresh = safe_markdown(self._text[self._sent_chars : PART_CHARS])
        if not fresh or self._lost or self._pace.is_held:
            return
        call, channel = self._native.api.call, self._thread.channel_id
        try:
            if self._ts is None:
                self._certain = False
                answer = await call(
                    "chat_startStream", patience="never", channel=channel, thread_ts=self._thread.root_id,
                    markdown_text=fresh,
                )  # fmt: skip
                self._ts, self._streaming = str(answer["ts"]), True
                self._certain = self._earlier is not None
            else:
                await call("chat_appendStream", patience="never", channel=channel, ts=self._ts, markdown_text=fresh)
            self._sent_chars = min(len(self._text), PART_CHARS)
        except SlackRefusal as error:
            if self._ts is None:
                self._native.works = False
                self._certain = self._earlier is not None
            self._streaming = False  # the post goes on by chat.update
            log.info("slack.stream_ended_early", reason=error.code)
        except PlatformError as error:
            if isinstance(error, RateLimited):
                self._pace.hold(error.retry_after_s)
            elif self._ts is None:
                self._lost = True
            self._streaming = self._streaming and not isinstance(error, Unreachable)
            log.info("slack.not_shown_yet", delivery=self._delivery_id, reason=str(error))

    async def _end_stream(self, ts: str) -> None:
        try:
            await self._posts.stop_stream(self._thread, ts)
        except PlatformError as error:  # the final text is written over the post in any case
            log.info("slack.stream_not_stopped", ts=ts, reason=str(error))
