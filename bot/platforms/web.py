"""The `web` chat platform: channels and threads on Haechi's own page, kept in bot.sqlite3.

The HTTP side (bot/http) renders what stands here and calls `submit` and `vote`; towards the bot this is an adapter like
the ones of Slack and Mattermost. Database calls run in threads so that an fsync never stalls the event loop.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime

from bot.errors import PlatformError
from bot.platforms.web_events import ChangeLog
from bot.ports import Receive, ReplyStream
from bot.store import Store
from bot.types import Author, Command, Diagnosis, FeedbackGiven, Message, Reply, ThreadRef, Vote
from bot.web_posts import GENERAL, Post, WebPosts
from knowledge.masking import mask
from knowledge.types import ToolStatus

NAME = "web"
COMMAND = "haechi"

_COMMAND = re.compile(rf"/{COMMAND}(?:\s+|$)", re.IGNORECASE)


class WebPlatform:
    """Implements bot.ports.ChatPlatform."""

    name = NAME

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        bot_name: str = "haechi",
        public_url: str = "",
    ) -> None:
        self.bot = Author(id=f"bot:{bot_name}", display_name=bot_name, is_bot=True)
        self.posts = WebPosts(store, platform=NAME, clock=clock, new_id=new_id)
        self.changes = ChangeLog(new_id())
        self._store = store
        self._clock = clock
        self._public_url = public_url.rstrip("/")
        self._mention = mention_pattern(bot_name)
        self._receive: Receive | None = None
        self._closed = asyncio.Event()

    # --- towards the bot ----------------------------------------------------------------------

    @property
    def bot_id(self) -> str | None:
        return self.bot.id

    async def listen(self, receive: Receive) -> None:
        """Hands over what was typed while nobody listened, then everything new, until `close`."""
        self._receive = receive
        try:
            for post in await self._store.in_thread(self.posts.undelivered):
                await self._deliver(post)
            await self._closed.wait()
        finally:
            self._receive = None

    async def fetch_thread(self, thread: ThreadRef, limit: int) -> Sequence[Message]:
        posts = await self._store.in_thread(self.posts.thread, thread.channel_id, thread.root_id, limit=limit)
        return [self._message(post) for post in posts if post.private_to is None and post.final]

    async def post(self, reply: Reply) -> str:
        await self._require_thread(reply.thread)
        post_id = await self._store.in_thread(self.posts.add_reply, reply, self.bot)
        self._changed(reply.thread, post_id)
        return post_id

    async def open_thread(
        self, channel_id: str, markdown: str, *, delivery_id: str, since: datetime | None
    ) -> ThreadRef:
        if await self._store.in_thread(self.posts.channel, channel_id) is None:
            raise PlatformError(f"The web page has no channel {channel_id}; its address shows the id: /c/ID.")
        post = await self._store.in_thread(
            self.posts.open_root, channel_id, self.bot, markdown, delivery_id=delivery_id
        )
        self._changed(post.thread, post.id)
        return post.thread

    async def message_person(self, user_id: str, markdown: str, *, delivery_id: str, since: datetime | None) -> str:
        """In the channel that is always there, as a thread that this person alone sees."""
        post = await self._store.in_thread(
            self.posts.open_root, GENERAL, self.bot, markdown, delivery_id=delivery_id, private_to=user_id
        )
        self._changed(post.thread, post.id)
        return post.id

    async def edit(self, post_id: str, reply: Reply) -> None:
        if not await self._store.in_thread(self.posts.change_reply, post_id, reply, edited=True):
            raise PlatformError(f"The web page has no post {post_id} of the bot that could be edited.")
        self._changed(reply.thread, post_id)

    def stream(self, thread: ThreadRef, delivery_id: str) -> ReplyStream:
        return WebStream(self, thread, delivery_id)

    async def respond_private(self, thread: ThreadRef, user_id: str, markdown: str) -> None:
        await self._require_thread(thread)
        post_id = await self._store.in_thread(self.posts.add_private, thread, self.bot, user_id, markdown)
        self._changed(thread, post_id)

    async def answer_command(self, command: Command, markdown: str) -> None:
        await self.respond_private(command.thread, command.author.id, markdown)

    async def show_progress(self, command: Command, markdown: str, *, post_id: str | None) -> str:
        if post_id is None:
            await self._require_thread(command.thread)
            post_id = await self._store.in_thread(
                self.posts.add_private, command.thread, self.bot, command.author.id, markdown
            )
        elif not await self._store.in_thread(self.posts.change_private, post_id, markdown):
            raise PlatformError(f"The web page has no private post {post_id} of the bot that could be changed.")
        self._changed(command.thread, post_id)
        return post_id

    async def react(self, message: Message, emoji: str) -> None:
        await self._store.in_thread(self.posts.set_reaction, message.id, emoji)
        self._changed(message.thread, message.id)

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        found = await self._store.in_thread(self.posts.find_reply, thread, delivery_id, final=True)
        return found.id if found else None

    def permalink(self, thread: ThreadRef, post_id: str) -> str | None:
        return f"{self._public_url}{thread_path(thread.channel_id, thread.root_id)}#post-{post_id}"

    async def is_shared(self, channel_id: str) -> bool:
        return False  # whoever opens the page has an account here

    async def check(self) -> ToolStatus:
        listening = self._receive is not None
        return ToolStatus(
            name=NAME,
            state="ok" if listening else "down",
            detail="The page takes questions." if listening else "The page is not being listened to yet.",
            checked_at=self._clock(),
        )

    async def diagnose(self, channel_ids: Sequence[str]) -> Sequence[Diagnosis]:
        channels = {channel.id for channel in await self._store.in_thread(self.posts.channels)}
        missing = [channel_id for channel_id in channel_ids if channel_id not in channels]
        return [
            Diagnosis(
                name=f"web channel {channel_id}",
                ok=False,
                detail="the page has no such channel",
                remedy="correct its id in [[channels]]; the page's address shows it: /c/ID",
            )
            for channel_id in missing
        ] or [Diagnosis(name="web channels", ok=True, detail=f"{len(channels)} channels")]

    async def close(self) -> None:
        self._closed.set()
        self.changes.close()

    # --- towards the page ---------------------------------------------------------------------

    async def submit(
        self, *, channel_id: str, root_id: str | None, author: Author, text: str, client_key: str | None = None
    ) -> Post:
        """The post, once the bot has saved it; sending again with the same `client_key` gives the same post. A post
        that begins with /haechi is a command and is shown to its author alone.

        Before the bot listens the post waits in the database and is handed over when it does. Raises LookupError when
        channel or thread are not there.
        """
        if await self._store.in_thread(self.posts.channel, channel_id) is None:
            raise LookupError(channel_id)
        if root_id is not None:
            above = await self._store.in_thread(self.posts.summary, channel_id, root_id)
            if above is None or not above.root.visible_to(author.id):
                raise LookupError(root_id)
        post = await self._store.in_thread(
            self.posts.add_message,
            channel_id=channel_id,
            root_id=root_id,
            author=author,
            text=mask(unicodedata.normalize("NFC", text)),  # before it is stored and shown to others
            client_key=client_key,
            private=_COMMAND.match(text) is not None,
        )
        self._changed(post.thread, post.id)
        if not post.delivered:
            await self._deliver(post)
        return post

    async def vote(self, *, post_id: str, author: Author, vote: Vote, comment: str) -> None:
        """Passes feedback on, then shows it as given.

        Raises LookupError when there is no such answer that this person can see, PlatformError when nobody listens.
        """
        post = await self._store.in_thread(self.posts.find, post_id)
        if post is None or not post.author.is_bot or not post.final or not post.visible_to(author.id):
            raise LookupError(post_id)
        if self._receive is None:
            raise PlatformError("The bot is not listening to the page yet; vote again in a moment.")
        given = FeedbackGiven(
            reply_id=post_id, author=author, vote=vote, comment=comment, platform=NAME,
            delivery_id=post.delivery_id or "",
        )  # fmt: skip
        await self._receive(given)
        await self._store.in_thread(self.posts.vote, post_id, author.id, vote)

    def mentions_bot(self, text: str) -> bool:
        return self._mention.search(text) is not None

    # --- inside -------------------------------------------------------------------------------

    async def _deliver(self, post: Post) -> None:
        if self._receive is None:
            return
        await self._receive(self._command(post) or self._message(post))
        await self._store.in_thread(self.posts.mark_delivered, post.id)

    def _command(self, post: Post) -> Command | None:
        """The command that a post is; a person's words after "/haechi"."""
        found = _COMMAND.match(post.text) if post.private_to == post.author.id else None
        if found is None:
            return None
        return Command(
            name=COMMAND,
            args=post.text[found.end() :].strip(),
            author=post.author,
            thread=post.thread,
            delivery_id=post.delivery_id or post.id,
        )

    def _message(self, post: Post) -> Message:
        return Message(
            id=post.id,
            thread=post.thread,
            author=post.author,
            text=post.text if post.author.is_bot else without_mention(post.text, self._mention),
            mentions_bot=not post.author.is_bot and self.mentions_bot(post.text),
            is_direct=False,
            attachments=(),
            posted_at=post.posted_at,
            delivery_id=post.delivery_id or post.id,
        )

    async def _require_thread(self, thread: ThreadRef) -> None:
        if await self._store.in_thread(self.posts.summary, thread.channel_id, thread.root_id) is None:
            raise PlatformError(f"The web page has no thread {thread.root_id} in channel {thread.channel_id}.")

    def _changed(self, thread: ThreadRef, post_id: str) -> None:
        self.changes.add(channel_id=thread.channel_id, root_id=thread.root_id, post_id=post_id)


class WebStream:
    """Implements bot.ports.ReplyStream: every piece is stored before it is shown, so a restart keeps it."""

    def __init__(self, platform: WebPlatform, thread: ThreadRef, delivery_id: str) -> None:
        self._platform = platform
        self._thread = thread
        self._delivery_id = delivery_id
        self._text = ""

    async def status(self, words: str) -> None:
        if not self._text:
            await self._platform.post(self._reply(words))

    async def append(self, markdown: str) -> None:
        self._text += markdown
        await self._platform.post(self._reply(self._text))

    async def finish(self, reply: Reply) -> str:
        return await self._platform.post(reply)

    def _reply(self, text: str) -> Reply:
        return Reply(thread=self._thread, markdown=text, citations=(), delivery_id=self._delivery_id, final=False)


def thread_path(channel_id: str, root_id: str) -> str:
    """The address of a thread on the page."""
    return f"/c/{channel_id}/t/{root_id}"


def mention_pattern(bot_name: str) -> re.Pattern[str]:
    """Finds "@name" anywhere, with a Korean particle attached too ("@haechi야"), but not inside an e-mail address,
    a longer name ("@haechi-test") or a host ("@haechi.com")."""
    name = re.escape(unicodedata.normalize("NFC", bot_name))
    return re.compile(rf"(?<![A-Za-z0-9._%+\-@])[@＠]{name}(?![A-Za-z0-9_\-@]|\.[A-Za-z0-9])", re.IGNORECASE)


def without_mention(text: str, pattern: re.Pattern[str]) -> str:
    """`text` as a question: mentions of the bot taken out, with a particle of address ("@haechi야") and the comma
    or colon that separates them from the rest."""
    mention = re.compile(
        rf"(?<![ \t])[ \t]*+(?:{pattern.pattern})(?:(?:야|아|님|씨)(?![가-힣]))?[ \t]*", pattern.flags
    )  # the blanks around it go with it; those elsewhere are the indentation of code
    return mention.sub(" ", text).strip(" \t\n,:")
