"""From the inbox to a reply in the thread: bounded, in order within each thread, every task awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter

import structlog

from bot.admission import admit
from bot.answering import Answering, Outcome
from bot.errors import PlatformError, StoreError
from bot.feedback import Feedback
from bot.inbox import Inbox, InboxItem, thread_key
from bot.persona import Persona, language_of
from bot.ports import ChatPlatform
from bot.query_log import QueryLog, outcome_name
from bot.types import Delivery, FeedbackGiven, Message, Reply, ReplyKind
from knowledge.types import Scope

MAX_ATTEMPTS = 3

log = structlog.get_logger(__name__)


class Worker:
    """`receive` saves; `run` answers until `stop`."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        feedback: Feedback,
        query_log: QueryLog,
        answering: Answering,
        persona: Persona,
        platforms: Mapping[str, ChatPlatform],
        bot_ids: Mapping[str, str],
        scope_of: Callable[[Message], Scope],
        new_id: Callable[[], str],
        concurrency: int,
        max_question_chars: int,
    ) -> None:
        self._inbox = inbox
        self._feedback = feedback
        self._query_log = query_log
        self._answering = answering
        self._persona = persona
        self._platforms = platforms
        self._bot_ids = bot_ids
        self._scope_of = scope_of
        self._new_id = new_id
        self._concurrency = concurrency
        self._max_question_chars = max_question_chars
        self._busy: set[str] = set()
        self._wake = asyncio.Event()
        self._stopping = False

    async def receive(self, delivery: Delivery) -> None:
        """Saves what is to be answered and returns; the platform acknowledges after that. Raises StoreError."""
        if isinstance(delivery, FeedbackGiven):
            await asyncio.to_thread(self._feedback.save, delivery)
            return
        if not isinstance(delivery, Message):
            log.info("delivery.ignored", delivery=delivery.delivery_id, reason="commands are not known yet")
            return
        answered = await asyncio.to_thread(self._inbox.has_answered, delivery.thread)
        admission = admit(
            delivery,
            bot_id=self._bot_ids.get(delivery.thread.platform),
            answered_thread=answered,
            max_chars=self._max_question_chars,
        )
        log.info(
            "delivery.admission", delivery=delivery.delivery_id, admitted=admission.admitted, reason=admission.reason
        )
        if not admission.admitted and admission.reason.startswith("silent"):
            return
        told = None if admission.admitted else admission.reason
        if await asyncio.to_thread(self._inbox.save, delivery, told=told):
            self._wake.set()

    async def run(self) -> None:
        """Works until `stop`, first on what an earlier run left. Cancelling leaves open items for the next run."""
        resumed = await asyncio.to_thread(self._inbox.resume)
        if resumed:
            log.info("inbox.resumed", deliveries=resumed)
        async with asyncio.TaskGroup() as tasks:
            while not self._stopping:
                self._wake.clear()
                while len(self._busy) < self._concurrency and not self._stopping:
                    item = await self._take()
                    if item is None:
                        break
                    self._busy.add(thread_key(item.message.thread))
                    tasks.create_task(self._work(item))
                await self._wake.wait()

    async def _take(self) -> InboxItem | None:
        """The next delivery; none while the store fails, which the next delivery or answer tries again."""
        try:
            return await asyncio.to_thread(self._inbox.take_next, frozenset(self._busy))
        except StoreError as error:
            log.error("inbox.unavailable", reason=str(error))
            return None

    def stop(self) -> None:
        """Takes nothing new; `run` returns when what is being worked on is done."""
        self._stopping = True
        self._wake.set()

    async def _work(self, item: InboxItem) -> None:
        message = item.message
        with structlog.contextvars.bound_contextvars(delivery=message.delivery_id):
            try:
                await self._answer(item)
            except Exception as error:  # noqa: BLE001 - one question must never end the others
                await self._fail(message, error)
            finally:
                self._busy.discard(thread_key(message.thread))
                self._wake.set()

    async def _answer(self, item: InboxItem) -> None:
        message = item.message
        platform = self._platforms[message.thread.platform]
        posted = await platform.find_own(message.thread, message.delivery_id)
        if posted is not None:  # an earlier run posted and was killed before it could record that
            await asyncio.to_thread(self._inbox.finish, message, post_id=posted, outcome="answered before")
            return
        if item.attempts > MAX_ATTEMPTS:
            raise RuntimeError(f"given up after {MAX_ATTEMPTS} attempts that ended with the process")
        await _sign(platform.react(message, "eyes"))
        if item.told is not None:
            text = self._persona.say(item.told, language_of(message.text), **self._told_values(item.told))
            reply = Reply(
                thread=message.thread, markdown=text, citations=(), delivery_id=message.delivery_id, final=True,
                kind="refusal",
            )  # fmt: skip
            post_id = await platform.post(reply)
            await asyncio.to_thread(self._inbox.finish, message, post_id=post_id, outcome=item.told)
        else:
            await self._answer_question(message, platform)
        await _sign(platform.react(message, "white_check_mark"))

    async def _answer_question(self, message: Message, platform: ChatPlatform) -> None:
        started = perf_counter()
        stream = platform.stream(message.thread, message.delivery_id)
        outcome = await self._answering.answer(message.text, scope=self._scope_of(message), release=stream.append)
        post_id = await stream.finish(reply_of(outcome, message))
        name = outcome_name(outcome)
        await asyncio.to_thread(self._inbox.finish, message, post_id=post_id, outcome=name)
        total_ms = (perf_counter() - started) * 1000
        await asyncio.to_thread(
            self._query_log.record,
            outcome,
            origin=platform.name,
            asker=message.author.id,
            delivery_id=message.delivery_id,
            total_ms=total_ms,
        )
        log.info("delivery.answered", outcome=name, took_ms=round(total_ms), question=outcome.question)

    async def _fail(self, message: Message, error: Exception) -> None:
        """Tells the asker that it failed, with an id that the log knows."""
        error_id = self._new_id()[:8]
        log.error("delivery.failed", error_id=error_id, exc_info=error)
        platform = self._platforms.get(message.thread.platform)
        post_id = None
        if platform is not None:
            text = self._persona.say("error", language_of(message.text), id=error_id)
            reply = Reply(
                thread=message.thread, markdown=text, citations=(), delivery_id=message.delivery_id, final=True,
                kind="error", error_id=error_id,
            )  # fmt: skip
            try:
                post_id = await platform.post(reply)
            except Exception as second:
                log.error("delivery.failure_not_told", error_id=error_id, exc_info=second)
            else:
                await _sign(platform.react(message, "x"))
        try:
            await asyncio.to_thread(
                self._inbox.finish, message, post_id=post_id, outcome=f"error {error_id}", failed=True
            )
        except Exception as third:
            log.error("delivery.failure_not_recorded", error_id=error_id, exc_info=third)

    def _told_values(self, told: str) -> dict[str, object]:
        return {"max_chars": self._max_question_chars} if told == "too_long" else {}


def reply_of(outcome: Outcome, message: Message) -> Reply:
    """The final reply for an outcome."""
    answer = outcome.answer
    kind: ReplyKind = "answer"
    if answer.refusal is not None:  # "could not look" must not look like "found nothing"
        kind = "error" if answer.refusal.reason == "tool_down" else "refusal"
    return Reply(
        thread=message.thread,
        markdown=answer.text,
        citations=answer.citations,
        delivery_id=message.delivery_id,
        final=True,
        kind=kind,
        nearest=answer.nearest,
        notices=answer.degraded,
    )


async def _sign(reaction: Awaitable[None]) -> None:
    """A reaction is a courtesy: that it failed is logged and stops nothing."""
    try:
        await reaction
    except PlatformError as error:
        log.warning("reaction.failed", reason=str(error))
