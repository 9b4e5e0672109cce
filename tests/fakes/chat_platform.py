"""A chat platform in memory; passes the contract of bot.ports.ChatPlatform, so the worker's tests can rely on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.errors import PlatformError
from bot.ports import Receive, ReplyStream
from bot.types import Author, Message, Reply, ThreadRef
from knowledge.types import ToolStatus


@dataclass(slots=True)
class FakePost:
    id: str
    reply: Reply


class FakePlatform:
    """`say` is what a person does; `posts` what the bot did. `failing` makes every post raise PlatformError."""

    name = "fake"

    def __init__(self, *, new_id: Callable[[], str]) -> None:
        self.bot = Author(id="bot:haechi", display_name="haechi", is_bot=True)
        self.posts: list[FakePost] = []
        self.private: list[tuple[str, str]] = []
        self.reactions: list[tuple[str, str]] = []
        self.shown: list[str] = []  # every text that a reader saw of a growing reply
        self.failing = False
        self._threads: dict[ThreadRef, list[Message | FakePost]] = {}
        self._undelivered: list[Message] = []
        self._receive: Receive | None = None
        self._closed = asyncio.Event()
        self._new_id = new_id

    # --- what people do ---

    async def say(self, text: str, *, author: Author, root: str | None = None, mention: bool = True) -> Message:
        post_id = self._new_id()
        message = Message(
            id=post_id,
            thread=ThreadRef(platform=self.name, channel_id="general", root_id=root or post_id),
            author=author,
            text=text,
            mentions_bot=mention,
            is_direct=False,
            attachments=(),
            posted_at=datetime.now(UTC),
            delivery_id=f"{self.name}:{post_id}",
        )
        self._threads.setdefault(message.thread, []).append(message)
        if self._receive is None:
            self._undelivered.append(message)
        else:
            await self._receive(message)
        return message

    # --- bot.ports.ChatPlatform ---

    async def listen(self, receive: Receive) -> None:
        self._receive = receive
        try:
            while self._undelivered:
                await receive(self._undelivered.pop(0))
            await self._closed.wait()
        finally:
            self._receive = None

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
        post = FakePost(self._new_id(), reply)
        self.posts.append(post)
        self._threads[reply.thread].append(post)
        return post.id

    async def edit(self, post_id: str, reply: Reply) -> None:
        found = [post for post in self.posts if post.id == post_id]
        if not found or self.failing:
            raise PlatformError(f"There is no post {post_id}.")
        found[0].reply = reply

    def stream(self, thread: ThreadRef, delivery_id: str) -> ReplyStream:
        return FakeStream(self, thread, delivery_id)

    async def respond_private(self, thread: ThreadRef, user_id: str, markdown: str) -> None:
        self._require(thread)
        self.private.append((user_id, markdown))

    async def react(self, message: Message, emoji: str) -> None:
        self.reactions.append((message.id, emoji))

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        for post in self.posts:
            if post.reply.thread == thread and post.reply.delivery_id == delivery_id and post.reply.final:
                return post.id
        return None

    def permalink(self, thread: ThreadRef, post_id: str) -> str | None:
        return f"fake://{thread.channel_id}/{thread.root_id}/{post_id}"

    async def check(self) -> ToolStatus:
        state = "down" if self._receive is None else "ok"
        return ToolStatus(name=self.name, state=state, detail="in memory", checked_at=datetime.now(UTC))

    async def close(self) -> None:
        self._closed.set()

    # --- inside ---

    def _require(self, thread: ThreadRef) -> None:
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
            posted_at=datetime.now(UTC),
            delivery_id=post.reply.delivery_id,
        )


class FakeStream:
    def __init__(self, platform: FakePlatform, thread: ThreadRef, delivery_id: str) -> None:
        self._platform = platform
        self._thread = thread
        self._delivery_id = delivery_id
        self._text = ""

    async def append(self, markdown: str) -> None:
        self._text += markdown
        self._platform.shown.append(self._text)
        await self._platform.post(
            Reply(thread=self._thread, markdown=self._text, citations=(), delivery_id=self._delivery_id, final=False)
        )

    async def finish(self, reply: Reply) -> str:
        return await self._platform.post(reply)
