"""A chat platform in memory; passes the contract of bot.ports.ChatPlatform, so the worker's tests can rely on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.errors import PlatformError, Unreachable
from bot.ports import Receive, ReplyStream
from bot.types import (
    Attachment,
    Author,
    Command,
    Delivery,
    Diagnosis,
    FeedbackGiven,
    Message,
    MessageEvent,
    Reply,
    ThreadRef,
    Vote,
)
from knowledge.types import ToolStatus


@dataclass(slots=True)
class FakePost:
    id: str
    reply: Reply
    posted_at: datetime


class FakePlatform:
    """`say`, `command`, `vote` are what a person does; `posts` what the bot did.

    `failing` makes every post raise PlatformError; `errors` are raised one a call, by whatever talks to the platform.
    """

    def __init__(self, *, new_id: Callable[[], str], name: str = "fake") -> None:
        self.name = name
        self.bot = Author(id="bot:haechi", display_name="haechi", is_bot=True)
        self.posts: list[FakePost] = []
        self.roots: list[FakePost] = []  # posts that opened threads of their own, direct messages among them
        self.channels = {"general"}
        self.private: list[tuple[str, str]] = []
        self.progress: dict[str, list[str]] = {}  # post id -> what it said, one after the other
        self.reactions: list[tuple[str, str]] = []
        self.shared: set[str] = set()  # channels that people of other organisations read
        self.shown: list[str] = []  # every text that a reader saw of a growing reply
        self.statuses: list[str] = []
        self.failing = False
        self.errors: list[Exception] = []
        self._threads: dict[ThreadRef, list[Message | FakePost]] = {}
        self._undelivered: list[Delivery] = []
        self._receive: Receive | None = None
        self._closed = asyncio.Event()
        self._new_id = new_id

    # --- what people do ---

    async def say(
        self,
        text: str,
        *,
        author: Author,
        root: str | None = None,
        mention: bool = True,
        channel: str = "general",
        direct: bool = False,
        mentions_others: bool = False,
        shared: bool = False,
        attachments: tuple[Attachment, ...] = (),
    ) -> Message:
        post_id = self._new_id()
        if shared:
            self.shared.add(channel)
        message = Message(
            id=post_id,
            thread=ThreadRef(platform=self.name, channel_id=channel, root_id=root or post_id),
            author=author,
            text=text,
            mentions_bot=mention,
            is_direct=direct,
            attachments=attachments,
            posted_at=datetime.now(UTC),
            delivery_id=f"{self.name}:{post_id}",
            mentions_others=mentions_others,
            is_shared=shared,
        )
        self._threads.setdefault(message.thread, []).append(message)
        await self.deliver(message)
        return message

    async def change(self, message: Message, event: MessageEvent, text: str = "") -> None:
        """An edit, a deletion, or a system post in the place of `message`."""
        await self.deliver(replace(message, event=event, text=text or message.text))

    async def command(self, args: str, *, author: Author, channel: str = "general", direct: bool = False) -> Command:
        command = Command(
            name="haechi",
            args=args,
            author=author,
            thread=ThreadRef(platform=self.name, channel_id=channel, root_id=""),
            delivery_id=f"{self.name}:command:{self._new_id()}",
            is_direct=direct,
        )
        await self.deliver(command)
        return command

    async def vote(
        self, post_id: str, vote: Vote, *, author: Author, comment: str = "", taken_back: bool = False
    ) -> None:
        await self.deliver(
            FeedbackGiven(
                reply_id=post_id,
                author=author,
                vote=vote,
                comment=comment,
                platform=self.name,
                taken_back=taken_back,
            )
        )

    async def deliver(self, delivery: Delivery) -> None:
        """Hands over what happened, again if it is called again; it waits while nobody listens."""
        if self._receive is None:
            self._undelivered.append(delivery)
        else:
            await self._receive(delivery)

    # --- bot.ports.ChatPlatform ---

    @property
    def bot_id(self) -> str | None:
        return self.bot.id

    async def listen(self, receive: Receive) -> None:
        self._raise_next()
        self._receive = receive
        try:
            while self._undelivered:
                await receive(self._undelivered.pop(0))
            await self._closed.wait()
        finally:
            self._receive = None
            self._closed.clear()  # listened to again, it is open again

    async def fetch_thread(self, thread: ThreadRef, limit: int) -> Sequence[Message]:
        shown = [item for item in self._threads.get(thread, []) if isinstance(item, Message) or item.reply.final]
        return [item if isinstance(item, Message) else self._as_message(item) for item in shown[-limit:]]

    async def post(self, reply: Reply) -> str:
        self._require(reply.thread)
        for post in self.posts:
            if (
                post.reply.thread == reply.thread
                and post.reply.delivery_id == reply.delivery_id
                and not post.reply.final
            ):
                post.reply = reply
                return post.id
        post = FakePost(self._new_id(), reply, datetime.now(UTC))
        self.posts.append(post)
        self._threads[reply.thread].append(post)
        return post.id

    async def open_thread(
        self, channel_id: str, markdown: str, *, delivery_id: str, since: datetime | None
    ) -> ThreadRef:
        self._raise_next()
        if channel_id not in self.channels:
            raise PlatformError(f"There is no channel {channel_id}.")
        if self.failing:
            raise Unreachable("The platform does not answer.")
        return self._opened(channel_id, markdown, delivery_id, since).reply.thread

    async def message_person(self, user_id: str, markdown: str, *, delivery_id: str, since: datetime | None) -> str:
        self._raise_next()
        if not user_id:
            raise PlatformError("There is no such person.")
        if self.failing:
            raise Unreachable("The platform does not answer.")
        return self._opened(f"direct:{user_id}", markdown, delivery_id, since).id

    async def edit(self, post_id: str, reply: Reply) -> None:
        found = [post for post in (*self.posts, *self.roots) if post.id == post_id]
        if not found or self.failing:
            raise PlatformError(f"There is no post {post_id}.")
        found[0].reply = reply

    def stream(self, thread: ThreadRef, delivery_id: str) -> ReplyStream:
        return FakeStream(self, thread, delivery_id)

    async def respond_private(self, thread: ThreadRef, user_id: str, markdown: str) -> None:
        self._require(thread)
        self.private.append((user_id, markdown))

    async def answer_command(self, command: Command, markdown: str) -> None:
        self._raise_next()
        self.private.append((command.author.id, markdown))

    async def show_progress(self, command: Command, markdown: str, *, post_id: str | None) -> str:
        self._raise_next()
        if post_id is None:
            post_id = self._new_id()
            self.progress[post_id] = []
        elif post_id not in self.progress:
            raise PlatformError(f"There is no post {post_id}.")
        self.progress[post_id].append(markdown)
        return post_id

    async def react(self, message: Message, emoji: str) -> None:
        self.reactions.append((message.id, emoji))

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        self._raise_next()
        return next((post.id for post in self._finals(thread, delivery_id)), None)

    def permalink(self, thread: ThreadRef, post_id: str) -> str | None:
        return f"fake://{thread.channel_id}/{thread.root_id}/{post_id}"

    async def is_shared(self, channel_id: str) -> bool:
        self._raise_next()
        return channel_id in self.shared

    async def check(self) -> ToolStatus:
        state = "down" if self._receive is None else "ok"
        return ToolStatus(name=self.name, state=state, detail="in memory", checked_at=datetime.now(UTC))

    async def diagnose(self, channel_ids: Sequence[str]) -> Sequence[Diagnosis]:
        return [
            Diagnosis(name=f"{self.name} channel {channel}", ok=True, detail="in memory") for channel in channel_ids
        ]

    async def close(self) -> None:
        self._closed.set()

    # --- inside ---

    def _opened(self, channel_id: str, markdown: str, delivery_id: str, since: datetime | None) -> FakePost:
        """A new root, or the one of this delivery; without `since` nothing is looked up, as on real platforms."""
        for post in self.roots:
            if since is not None and (post.reply.thread.channel_id, post.reply.delivery_id) == (
                channel_id,
                delivery_id,
            ):
                return post
        post_id = self._new_id()
        thread = ThreadRef(platform=self.name, channel_id=channel_id, root_id=post_id)
        reply = Reply(
            thread=thread, markdown=markdown, citations=(), delivery_id=delivery_id, final=True, kind="notice"
        )
        post = FakePost(post_id, reply, datetime.now(UTC))
        self.roots.append(post)
        self._threads[thread] = [post]
        return post

    def _finals(self, thread: ThreadRef, delivery_id: str) -> Iterator[FakePost]:
        for post in self.posts:
            if post.reply.thread == thread and post.reply.delivery_id == delivery_id and post.reply.final:
                yield post

    def _raise_next(self) -> None:
        if self.errors:
            raise self.errors.pop(0)

    def _require(self, thread: ThreadRef) -> None:
        self._raise_next()
        if self.failing:
            raise PlatformError("The platform does not answer.")
        if thread not in self._threads:
            raise PlatformError(f"There is no thread {thread.root_id}.")

    def _as_message(self, post: FakePost) -> Message:
        return Message(
            id=post.id,
            thread=post.reply.thread,
            author=self.bot,
            text=post.reply.markdown,
            mentions_bot=False,
            is_direct=False,
            attachments=(),
            posted_at=post.posted_at,
            delivery_id=post.reply.delivery_id,
        )


class FakeStream:
    def __init__(self, platform: FakePlatform, thread: ThreadRef, delivery_id: str) -> None:
        self._platform = platform
        self._thread = thread
        self._delivery_id = delivery_id
        self._text = ""

    async def status(self, words: str) -> None:
        self._platform.statuses.append(words)

    async def append(self, markdown: str) -> None:
        self._text += markdown
        self._platform.shown.append(self._text)
        await self._platform.post(
            Reply(thread=self._thread, markdown=self._text, citations=(), delivery_id=self._delivery_id, final=False)
        )

    async def finish(self, reply: Reply) -> str:
        return await self._platform.post(reply)
