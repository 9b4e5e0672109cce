"""A question on its way through answering: what was said before, the channel's scope, the reply that comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import Protocol

import structlog

from bot.answering import Outcome
from bot.channels import ChannelPolicy, Channels, is_within
from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.evidence_grants import EvidenceLinks
from bot.generating import Release
from bot.inbox import Answered, Inbox
from bot.persona import language_of
from bot.ports import AlertTalk, ChatPlatform, ReplyStream, Waiting
from bot.query_log import QueryLog, outcome_name
from bot.routing import route
from bot.store import Store
from bot.types import Answer, AnswerLength, Author, KnownEvidence, Language, Message, Reply, ReplyKind, ThreadRef
from bot.wording import word
from knowledge.masking import mask
from knowledge.types import EvidenceKind, Scope, Verdict

THREAD_MESSAGES = 20  # of what was said before
ATTACHED_HEAD_CHARS, ATTACHED_TAIL_CHARS = 1000, 2000  # of one file: a log says at its end what went wrong
ATTACHED_FILES = 3
OVERTAKEN_WITHIN = timedelta(hours=1)
PATIENCE_S = 2.0  # a quick answer shows no status
STATUS_EVERY_S = 5.0  # and longer further behind in the queue, so that a long queue does not use up the platform's rate

log = structlog.get_logger(__name__)


class Overtaken(Exception):
    """Something that was said to the bot earlier in the thread has not been delivered yet."""

    def __init__(self, earlier: Sequence[Message]) -> None:
        super().__init__(f"{len(earlier)} earlier messages of the thread have not been delivered yet")
        self.earlier = tuple(earlier)


class Answers(Protocol):
    """What questions need of bot.answering.Answering."""

    async def answer(
        self,
        text: str,
        *,
        scope: Scope,
        kind: EvidenceKind | None = None,
        release: Release | None = None,
        thread: Sequence[Message] = (),
        language: Language | None = None,
        length: AnswerLength = "normal",
        waiting: Waiting | None = None,
        known: KnownEvidence | None = None,
    ) -> Outcome: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, wherever it came from."""

    text: str
    author: Author
    thread: ThreadRef
    delivery_id: str
    is_direct: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A reply that is ready to be posted, and what is kept of it."""

    reply: Reply
    scope: Scope
    outcome: Outcome
    name: str
    took_ms: float

    def answered(self, post_id: str) -> Answered:
        evidence = self.outcome.evidence
        answer = self.outcome.answer
        cited = [citation.chunk_id for citation in (*answer.citations, *answer.nearest)]
        shown = [scored.chunk.id for scored in evidence.chunks] if evidence else []
        return Answered(
            post_id=post_id,
            question=self.outcome.question,
            answer=self.reply.markdown,
            evidence_ids=tuple(dict.fromkeys([*cited, *shown])),
            scope=self.scope,
        )


class Questions:
    """Turns questions into replies."""

    def __init__(
        self,
        *,
        answering: Answers,
        channels: Channels,
        inbox: Inbox,
        store: Store,
        query_log: QueryLog,
        links: EvidenceLinks,
        alerts: AlertTalk | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._answering = answering
        self._channels = channels
        self._inbox = inbox
        self._store = store
        self._query_log = query_log
        self._links = links
        self._alerts = alerts
        self._patience_s = patience_s

    def scope_of(self, message: Message) -> Scope:
        """The scope of the channel in which the message stands, now."""
        return self._channels.policy_of(message.thread, is_direct=message.is_direct).scope

    async def prepare(
        self, message: Message, platform: ChatPlatform, stream: ReplyStream, *, in_turn: bool = False
    ) -> Prepared:
        """The reply to a message; what may be shown before it is complete goes to `stream`.

        Raises PlatformError when the thread cannot be read now, and Overtaken, unless it is `in_turn`, when something
        that was said to the bot before stands in the thread and has not been delivered.
        """
        policy = self._channels.policy_of(message.thread, is_direct=message.is_direct)
        if self._alerts is not None:
            said = await self._alerts.say_below(message, scope=policy.scope, language=policy.language)
            if said is not None:
                return _said_at_once(said, message, policy)
        before = await self._said_before(message, platform, policy.scope, in_turn=in_turn)
        asked = asked_by(message, policy.language or language_of(message.text))
        status = _Status(stream, word("searching", policy.language or language_of(asked.text)), self._patience_s)
        async with status.shown():
            known = await self._alerts.known_evidence(message, scope=policy.scope) if self._alerts else None
            return await self.answer(
                asked, policy, thread=before, release=status.release, waiting=status.waiting, known=known
            )

    async def answer(
        self,
        asked: Asked,
        policy: ChannelPolicy,
        *,
        thread: Sequence[Message] = (),
        release: Release | None = None,
        waiting: Waiting | None = None,
        known: KnownEvidence | None = None,
    ) -> Prepared:
        """The reply to a question under the policy of its channel; `known` is evidence that stands above it."""
        started = perf_counter()
        named = route(asked.text).kind  # who writes "code:" or "docs:" overrules the channel
        outcome = await self._answering.answer(
            asked.text,
            scope=policy.scope,
            kind=None if named is not None else policy.route,
            release=release,
            thread=thread,
            language=policy.language,
            length=policy.length,
            waiting=waiting,
            known=known,
        )
        reply = self._links.readable(reply_of(outcome, asked), policy.scope)
        return Prepared(
            reply=reply,
            scope=policy.scope,
            outcome=outcome,
            name=outcome_name(outcome),
            took_ms=(perf_counter() - started) * 1000,
        )

    async def record(self, prepared: Prepared, asked: Author, platform: str, delivery_id: str) -> None:
        """Writes the query log."""
        await self._store.in_thread(
            self._query_log.record,
            prepared.outcome,
            origin=platform,
            asker=asked.id,
            delivery_id=delivery_id,
            total_ms=prepared.took_ms,
        )
        log.info("delivery.answered", outcome=prepared.name, took_ms=round(prepared.took_ms))

    async def _said_before(
        self, message: Message, platform: ChatPlatform, scope: Scope, *, in_turn: bool
    ) -> list[Message]:
        """What stands in the thread above the message, oldest first. Of the bot's own posts only those that were made
        from sources that may be seen here: a thread may have begun elsewhere, or the channel's sources been cut."""
        if message.id == message.thread.root_id:
            return []
        try:
            found = await platform.fetch_thread(message.thread, THREAD_MESSAGES + 1)
        except (Unreachable, RateLimited, AuthError):
            raise
        except PlatformError as error:
            log.warning("thread.unread", reason=str(error))
            return []
        before = [said for said in found if said.id != message.id and said.posted_at <= message.posted_at]
        if not in_turn and (missed := await self._store.in_thread(self._missed, before, message)):
            raise Overtaken(missed)
        known = await self._store.in_thread(self._inbox.scopes_of, message.thread)
        return [
            said
            for said in before
            if (not said.author.is_bot or (said.id in known and is_within(known[said.id], scope)))
        ]

    def _missed(self, before: Sequence[Message], message: Message) -> list[Message]:
        """What was said to the bot shortly before `message` and never arrived: a platform may deliver out of order."""
        return [
            said
            for said in before
            if (said.mentions_bot or said.is_direct)
            and not said.author.is_bot
            and message.posted_at - said.posted_at < OVERTAKEN_WITHIN
            and not self._inbox.knows(said.delivery_id)
        ]


def asked_by(message: Message, language: Language) -> Asked:
    """The question of a message with its attached texts; files that were not read are named in a notice."""
    texts = [message.text.strip()]
    unread: list[str] = []
    cut: list[str] = []
    for attachment in message.attachments:
        if attachment.text is None or len(texts) > ATTACHED_FILES:
            unread.append(attachment.name)
            continue
        shown = _bounded(attachment.text)
        if shown != attachment.text:
            cut.append(attachment.name)
        texts.append(f"[{attachment.name}]\n{shown}")
    notices = []
    if unread:
        notices.append(word("unread_files", language, names=", ".join(unread)))
    if cut:
        notices.append(word("attached_cut", language, names=", ".join(cut)))
    return Asked(
        text="\n\n".join(text for text in texts if text),
        author=message.author,
        thread=message.thread,
        delivery_id=message.delivery_id,
        is_direct=message.is_direct,
        notices=tuple(notices),
    )


def reply_of(outcome: Outcome, asked: Asked) -> Reply:
    """The final reply for an outcome."""
    answer = outcome.answer
    kind: ReplyKind = "answer"
    if answer.refusal is not None:  # "could not look" must not look like "found nothing"
        kind = "error" if answer.refusal.reason == "tool_down" else "refusal"
    return Reply(
        thread=asked.thread,
        markdown=answer.text,
        citations=answer.citations,
        delivery_id=asked.delivery_id,
        final=True,
        kind=kind,
        nearest=answer.nearest,
        notices=(*asked.notices, *answer.degraded),
        language=outcome.language,
    )


def _said_at_once(reply: Reply, message: Message, policy: ChannelPolicy) -> Prepared:
    """A reply for which nothing was searched: the evidence of an alert, or that a correction was heard."""
    answer = Answer(
        text=reply.markdown,
        citations=reply.citations,
        refusal=None,
        verdict=Verdict(decision="ok", reason="the alert's own evidence"),
        route="code",
    )
    language = reply.language or language_of(message.text)
    outcome = Outcome(answer=answer, evidence=None, question=mask(message.text), language=language)
    return Prepared(reply=reply, scope=policy.scope, outcome=outcome, name="below an alert", took_ms=0.0)


def _bounded(text: str) -> str:
    if len(text) <= ATTACHED_HEAD_CHARS + ATTACHED_TAIL_CHARS:
        return text
    return f"{text[:ATTACHED_HEAD_CHARS]}\n…\n{text[-ATTACHED_TAIL_CHARS:]}"


class _Status:
    """What a reader sees while nothing of the answer is there yet."""

    def __init__(self, stream: ReplyStream, words: str, patience_s: float) -> None:
        self._stream = stream
        self._words = words
        self._language = language_of(words)
        self._patience_s = patience_s
        self._pause_s = STATUS_EVERY_S
        self._released = False
        self._ended = asyncio.Event()
        self._sending = asyncio.Lock()  # a status must not overtake text

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Shows the status while the block runs, from the time when patience ends. What is being sent then is waited
        for: a post whose id is not known could not be replaced by the answer."""
        task = asyncio.create_task(self._show())
        try:
            yield
        finally:
            self._ended.set()
            await task

    async def waiting(self, position: int) -> None:
        """Takes the place in the queue."""
        self._words = word("queue_position", self._language, n=position)
        self._pause_s = STATUS_EVERY_S * max(1, position)

    async def release(self, markdown: str) -> None:
        """Shows text. That it cannot be shown now is no reason to stop: the final reply holds all of it."""
        async with self._sending:
            self._released = True
            await _shown(self._stream.append(markdown))

    async def _show(self) -> None:
        shown = ""
        await self._pause(self._patience_s)
        while not self._released and not self._ended.is_set():
            async with self._sending:
                if self._words != shown and not self._released:
                    shown = self._words
                    await _shown(self._stream.status(shown))
            await self._pause(self._pause_s)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()


async def _shown(showing: Awaitable[None]) -> None:
    try:
        await showing
    except PlatformError as error:
        log.warning("stream.failed", reason=str(error))
