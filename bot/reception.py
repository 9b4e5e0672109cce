"""Where deliveries arrive: admitted or not, saved, acknowledged by returning, and a sign of life at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog

from bot.admission import Surroundings, admit
from bot.channels import ChannelPolicy, Channels
from bot.commands_parsing import lane_of, parse_command
from bot.feedback import Feedback
from bot.inbox import Inbox, Lane
from bot.limits import HOUR, Limits, OverLimit
from bot.persona import Persona, language_of
from bot.ports import AlertTalk, ChatPlatform
from bot.reply_text import clean_text
from bot.signs import Signs
from bot.store import Store
from bot.tracing import following
from bot.types import Command, Delivery, FeedbackGiven, Language, Message, Reply
from bot.wording import word

OVER_LIMIT_EMOJI = "hourglass_flowing_sand"

log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class Reception:
    """`receive` is what every platform delivers to."""

    store: Store
    inbox: Inbox
    feedback: Feedback
    channels: Channels
    limits: Limits
    persona: Persona
    platforms: Mapping[str, ChatPlatform]
    signs: Signs
    clock: Callable[[], datetime]
    max_question_chars: int
    wake: Callable[[], None]  # tells the worker that there is something to do
    alerts: AlertTalk | None = None

    async def receive(self, delivery: Delivery) -> bool | None:
        """Saves what is to be dealt with and returns; the platform acknowledges after that. False: a vote on a reply
        that is not known. Raises StoreError."""
        delivery = cleaned(delivery)
        if isinstance(delivery, FeedbackGiven):
            known = await self.store.in_thread(self.feedback.save, delivery)
            log.info("feedback.given", vote=delivery.vote, taken_back=delivery.taken_back, on_own_reply=known)
            if known and self.alerts is not None:
                await self.alerts.voted(delivery)
            return known
        with following(delivery.delivery_id):
            if isinstance(delivery, Command):
                await self._receive_command(delivery)
            else:
                await self._receive_message(delivery)
        return None

    # --- messages -------------------------------------------------------------------------------

    async def _receive_message(self, message: Message) -> None:
        if message.event == "deleted" and await self.store.in_thread(self.inbox.withdraw, message):
            log.info("delivery.withdrawn", delivery=message.delivery_id)
            self.wake()  # what was said after it in the thread waits no longer
        policy = self.channels.policy_of(message.thread, is_direct=message.is_direct)
        around, over = await self.store.in_thread(self._surroundings, message, policy)
        admission = admit(message, around)
        log.info("delivery.admission", admitted=admission.admitted, reason=admission.reason)
        if admission.admitted:
            lane: Lane = "alert" if admission.kind == "alert" else "slow"
            save = partial(self.inbox.save, message, kind=admission.kind, lane=lane)
        elif admission.told is not None:
            if over is not None and await self._not_told_again(message, over):
                return
            reply = self._told(message, admission.told, over, policy.language or language_of(message.text))
            save = partial(self.inbox.save, message, lane="quick", told=admission.told, reply=reply)
        else:
            return
        if await self.store.in_thread(save):
            if admission.kind == "message":
                self._sign(message, "eyes")
            self.wake()

    def _surroundings(self, message: Message, policy: ChannelPolicy) -> tuple[Surroundings, OverLimit | None]:
        """What admission has to know, and the limit that is reached; runs in the store's thread."""
        platform = self.platforms.get(message.thread.platform)
        answered = self.inbox.has_answered(message.thread, before=message.posted_at)
        over = None
        if message.event == "posted" and (message.mentions_bot or message.is_direct or answered):
            over = self.limits.reached(self.inbox, message.author, platform=message.thread.platform, now=self.clock())
            if over is not None and self.inbox.knows(message.delivery_id):
                over = None  # it was counted when it came for the first time
        around = Surroundings(
            bot_id=platform.bot_id if platform else None,
            max_chars=self.max_question_chars,
            answered_thread=answered,
            answers=policy.answers,
            is_listed=self.channels.is_listed(message.thread),
            alerts=policy.alerts,
            alert_authors=policy.alert_authors,
            names_cause=self.alerts is not None and self.alerts.is_correction(message),
            over_limit=over is not None,
        )
        return around, over

    async def _not_told_again(self, message: Message, over: OverLimit) -> bool:
        """Whether this person was told about the limit in this window already: then a sign has to do."""

        def record() -> tuple[bool, bool]:
            platform, author = message.thread.platform, message.author
            since = self.clock() - over.window
            if not self.inbox.was_told("over_limit", since, platform=platform, author=author):
                return False, False
            return True, self.inbox.save(message, lane="quick", told="over_limit", outcome="not told again")

        told_before, is_new = await self.store.in_thread(record)
        if is_new:
            self._sign(message, OVER_LIMIT_EMOJI)
        return told_before

    def _told(self, message: Message, told: str, over: OverLimit | None, language: Language) -> Reply:
        text = limit_text(over, self.clock(), language) if over and told == "over_limit" else ""
        if told == "shared":
            text = word("shared", language, platform=message.thread.platform, id=message.thread.channel_id)
        values: dict[str, object] = {"max_chars": self.max_question_chars} if told == "too_long" else {}
        unread = ", ".join(item.name for item in message.attachments if item.text is None)
        return Reply(
            thread=message.thread,
            markdown=text or self.persona.say(told, language, **values),
            citations=(),
            delivery_id=message.delivery_id,
            final=True,
            kind="refusal",
            notices=(word("unread_files", language, names=unread),) if unread else (),
            language=language,
        )

    def _sign(self, message: Message, emoji: str) -> None:
        platform = self.platforms.get(message.thread.platform)
        if platform is not None:
            self.signs.give(message.delivery_id, partial(platform.react, message, emoji))

    # --- commands -------------------------------------------------------------------------------

    async def _receive_command(self, command: Command) -> None:
        """Commands are kept like messages; one that asks the model shows at once that it was heard."""
        policy = self.channels.policy_of(command.thread, is_direct=command.is_direct)
        parsed = parse_command(command.args)
        language = policy.language or language_of(command.args)
        lane = lane_of(parsed)
        platform = self.platforms.get(command.thread.platform)

        def save() -> tuple[bool, str | None]:
            if lane != "slow":
                return self.inbox.save(command, kind="command", lane=lane), None
            over = self.limits.reached(self.inbox, command.author, platform=command.thread.platform, now=self.clock())
            if over is None:
                return self.inbox.save(command, kind="command", lane=lane), word("searching", language)
            is_new = self.inbox.save(command, kind="command", lane="quick", told="over_limit", outcome="over_limit")
            return is_new, limit_text(over, self.clock(), language)

        is_new, at_once = await self.store.in_thread(save)
        log.info("command.received", name=parsed.name, new=is_new)
        if is_new and at_once and platform is not None:
            self.signs.give(command.delivery_id, partial(platform.answer_command, command, at_once))
        if is_new:
            self.wake()


def cleaned(delivery: Delivery) -> Delivery:
    """The delivery without characters that no database, model or client is well with; nothing else is changed."""
    author = replace(delivery.author, display_name=clean_text(delivery.author.display_name))
    if isinstance(delivery, Command):
        return replace(delivery, author=author, args=clean_text(delivery.args))
    if isinstance(delivery, FeedbackGiven):
        return replace(delivery, author=author, comment=clean_text(delivery.comment))
    attachments = tuple(
        replace(item, name=clean_text(item.name), text=None if item.text is None else clean_text(item.text))
        for item in delivery.attachments
    )
    return replace(delivery, author=author, text=clean_text(delivery.text), attachments=attachments)


def limit_text(over: OverLimit, now: datetime, language: Language) -> str:
    """What is said to somebody who has to wait, with how long."""
    seconds = over.wait_s(now)
    wait = (
        word("seconds_left", language, n=seconds)
        if seconds < 120
        else word("minutes_left", language, n=-(-seconds // 60))
    )
    window = word("in_an_hour" if over.window == HOUR else "in_a_minute", language)
    return word(f"over_limit_{over.whose}", language, wait=wait, window=window)
