"""The seams of `bot`: chat platforms and chat models. One file per adapter, one contract suite per protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from bot.types import (
    ChatTurn,
    Command,
    Delivery,
    Diagnosis,
    FeedbackGiven,
    KnownEvidence,
    Language,
    Message,
    Reply,
    ThreadRef,
)
from knowledge.types import Scope, ToolStatus

Receive = Callable[[Delivery], Awaitable[bool | None]]
"""Saves a delivery durably and returns; an adapter acknowledges to its platform only after that. False: a vote on a
reply that is not known, so nobody is thanked for it."""
Waiting = Callable[[int], Awaitable[None]]
"""Is told the place in the queue for a model, from 1, while there is one."""


class PlatformState(Protocol):
    """What an adapter must still know after a restart, such as cursors. Durable when `put` returns."""

    def get(self, key: str) -> str | None:
        """The last value put under `key`."""

    def put(self, key: str, value: str) -> None:
        """Keeps `value` in place of an earlier one."""


class ReplyStream(Protocol):
    """A reply that grows while it is written. What was shown is never lost: a failed edit keeps the last text."""

    async def status(self, words: str) -> None:
        """Shows what is going on ("searching", "third in the queue") until text or the next status takes its place."""

    async def append(self, markdown: str) -> None:
        """Adds text that has passed its check."""

    async def finish(self, reply: Reply) -> str:
        """Replaces the text by the final reply, marks it final, and returns the id of the post."""


class ChatPlatform(Protocol):
    """A place where people talk. Nothing of a platform's own formats leaves its adapter."""

    name: str

    @property
    def bot_id(self) -> str | None:
        """The id of the bot's own account there; None as long as the platform has not told it."""

    async def listen(self, receive: Receive) -> None:
        """Delivers every message, command and feedback to `receive` until `close` is called.

        Posts that were changed, deleted, or written by nobody are delivered too, marked by `event`; reactions on the
        bot's posts come as FeedbackGiven. Connections that drop are replaced inside. Raises PlatformError when it
        cannot go on, for example because a token was revoked; it is then called again after a while.
        """

    async def fetch_thread(self, thread: ThreadRef, limit: int) -> Sequence[Message]:
        """The last `limit` messages of a thread, oldest first."""

    async def post(self, reply: Reply) -> str:
        """Posts a reply in its thread and returns the id of the post. Raises PlatformError."""

    async def open_thread(
        self, channel_id: str, markdown: str, *, delivery_id: str, since: datetime | None
    ) -> ThreadRef:
        """The thread of a new post in a channel; text that one post does not hold is cut.

        `since` is when that was first tried for this `delivery_id`: a post that has stood there since then is found and
        nothing is posted. None: it was never tried. Raises PlatformError; one that is neither Unreachable, RateLimited
        nor AuthError says that the bot cannot post in this channel.
        """

    async def message_person(self, user_id: str, markdown: str, *, delivery_id: str, since: datetime | None) -> str:
        """The id of a new post in the conversation between the bot and one person; as `open_thread`."""

    async def edit(self, post_id: str, reply: Reply) -> None:
        """Replaces the text of a post. Raises PlatformError."""

    def stream(self, thread: ThreadRef, delivery_id: str) -> ReplyStream:
        """A reply whose text is shown as it grows."""

    async def respond_private(self, thread: ThreadRef, user_id: str, markdown: str) -> None:
        """Shows text to one person only."""

    async def answer_command(self, command: Command, markdown: str) -> None:
        """Shows text to whoever gave the command, and to nobody else where the platform allows that."""

    async def show_progress(self, command: Command, markdown: str, *, post_id: str | None) -> str:
        """Shows how far a command has got: posts when `post_id` is None, else replaces; returns the post's id."""

    async def react(self, message: Message, emoji: str) -> None:
        """A sign of life on a message: "eyes" when work starts, "white_check_mark" or "x" when it ended."""

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        """The id of the bot's final post that answers `delivery_id`, if there is one."""

    def permalink(self, thread: ThreadRef, post_id: str) -> str | None:
        """An address that opens the post."""

    async def is_shared(self, channel_id: str) -> bool:
        """Whether people of other organisations read the channel too. Raises PlatformError."""

    async def check(self) -> ToolStatus:
        """Whether the platform can be used now."""

    async def diagnose(self, channel_ids: Sequence[str]) -> Sequence[Diagnosis]:
        """What `haechi doctor` shows: tokens, scopes, events, membership in the given channels, slash commands."""

    async def close(self) -> None:
        """Ends `listen` and releases connections."""


class AlertHandler(Protocol):
    """What becomes of an alert that was posted in a channel with alerts."""

    async def handle(self, message: Message, platform: ChatPlatform) -> str:
        """Deals with the alert, posting and recording what is to be said itself, and returns the name of the outcome
        for the log. Most alerts of a storm say nothing, so nothing is asked of the platform for them.

        It may be called again for the same alert after a restart or a PlatformError: what was posted then is found by
        `find_own` with the delivery id of the alert.
        """


class AlertTalk(Protocol):
    """What people say about analyses of alerts."""

    def is_correction(self, message: Message) -> bool:
        """Whether the message names the cause of a fault that is analysed in its thread; called in threads."""

    async def voted(self, given: FeedbackGiven) -> None:
        """A vote on a reply of the bot, whichever it is."""

    def last_analysis(self, thread: ThreadRef) -> str | None:
        """The delivery that the analysis of a thread answers, or the latest one of its channel; called in threads."""

    async def say_below(self, message: Message, *, scope: Scope, language: Language | None) -> Reply | None:
        """The reply to a message below an alert that needs no search; None for others."""

    async def known_evidence(self, message: Message, *, scope: Scope) -> KnownEvidence | None:
        """What the analysis above a message was made from."""


class ChatModel(Protocol):
    """A language model that continues a conversation."""

    @property
    def name(self) -> str:
        """The name under which its server knows it."""

    def stream(self, turns: Sequence[ChatTurn], *, waiting: Waiting | None = None) -> AsyncIterator[str]:
        """Pieces of the reply as they come. Raises ModelError; a stream that breaks off raises ModelUnavailable."""

    async def complete(self, turns: Sequence[ChatTurn], *, schema: Mapping[str, Any] | None = None) -> str:
        """The whole reply; with a JSON schema the server is asked to keep to it, which it may ignore: validate
        (`bot.structured`). Raises ModelError."""

    async def check(self) -> ToolStatus:
        """Whether the model can be used now."""

    async def close(self) -> None:
        """Releases connections."""
