"""What people say below alerts and about analyses: votes, corrections, questions that the alert's evidence answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

import structlog

from bot.alerts.cases import CaseKeeper
from bot.alerts.correction import correction_in
from bot.alerts.deploys import Deployments
from bot.alerts.evidence import Change, Library, Piece
from bot.alerts.follow_up import Wanted, asks_for
from bot.alerts.learnt import Background
from bot.alerts.rendering import caller_lines, case_lines, change_lines, code_span, excerpt
from bot.alerts.store import Fault, FaultStore
from bot.alerts.texts import say
from bot.alerts.touched import changes_of
from bot.alerts.verdicts import MAX_CORRECTIONS, MAX_CORRECTIONS_EACH, VerdictStore
from bot.audit import AuditLog
from bot.channels import Channels
from bot.errors import PlatformError
from bot.persona import language_of
from bot.ports import ChatPlatform
from bot.sources import Link, cite
from bot.store import Store
from bot.types import FeedbackGiven, KnownEvidence, Language, Message, Reply, ThreadRef
from knowledge.types import Caller, Scope, ScoredChunk

MAX_SHOWN = 3  # definitions of the code
SHOWN_LINES = 40  # of each
CALLERS = 8

log = structlog.get_logger(__name__)


class AlertThreads:
    """Implements bot.ports.AlertTalk."""

    def __init__(
        self,
        *,
        faults: FaultStore,
        verdicts: VerdictStore,
        keeper: CaseKeeper,
        store: Store,
        library: Library,
        audit: AuditLog,
        channels: Channels,
        link: Link,
        readable: Callable[[Reply, ThreadRef], Reply],
    ) -> None:
        self._faults = faults
        self._verdicts = verdicts
        self._keeper = keeper
        self._store = store
        self._library = library
        self._audit = audit
        self._channels = channels
        self._link = link
        self._readable = readable
        self.platforms: Mapping[str, ChatPlatform] = {}  # put here when they are built
        self.wake: Callable[[], None] = lambda: None  # tells the desk that there is something to learn

    def is_correction(self, message: Message) -> bool:
        """Whether the message names the cause of a fault that is analysed in its thread."""
        if message.author.is_bot or message.event != "posted" or message.id == message.thread.root_id:
            return False
        return correction_in(message.text) is not None and bool(self._faults.in_thread(message.thread))

    async def voted(self, given: FeedbackGiven) -> None:
        """A vote "wrong" on an analysis takes its case out; other votes, and taking one back, change no case, and no
        vote does in a channel that other organisations read, unless an admin has listed it."""
        if given.vote != "wrong" or given.taken_back:
            return
        fault = await self._store.in_thread(
            self._faults.of_post,
            given.platform,
            delivery_key=given.delivery_id,
            post_id=given.reply_id,
            channel_id=given.channel_id,
        )
        if fault is None:
            return
        if await self._is_foreign(fault.thread):
            log.warning("alert.vote_not_counted", channel=fault.thread.channel_id, fault=fault.number)
            return
        actor = _actor(given.platform, given.author.id)
        key = f"{given.platform}:{fault.number}:wrong:{given.author.id}"
        saved = await self._store.in_thread(self._verdicts.save, fault, "wrong", author_id=actor, key=key)
        if saved == "new":
            await self._store.in_thread(self._audit.record, actor, "case wrong", f"fault {fault.number}: {fault.title}")
        self.wake()

    def last_analysis(self, thread: ThreadRef) -> str | None:
        """The delivery that the first analysis of a thread answers; without a thread, the latest of the channel."""
        if thread.root_id:
            found = self._faults.in_thread(thread)
            return found[0].delivery_key if found else None
        fault = self._faults.lately_in(thread.platform, thread.channel_id)
        return fault.delivery_key if fault else None

    async def say_below(self, message: Message, *, scope: Scope, language: Language | None) -> Reply | None:
        """The reply to a correction, or to a question that only asks to see the alert's evidence; None for others."""
        faults = await self._store.in_thread(self._faults.in_thread, message.thread)
        if not faults or message.id == message.thread.root_id:
            return None
        fault = _meant(faults, message.text)
        spoken = language_of(message.text)  # what has no Hangul may be names alone, and is answered like the thread
        language = language or ("ko" if spoken == "ko" else self._keeper.language_of(fault))
        cause = correction_in(message.text)
        if cause is not None:
            return await self._corrected(fault, message, cause, language)
        wanted = asks_for(message.text)
        background = await self._store.in_thread(self._faults.background_of, fault) if wanted else None
        if wanted is None or background is None:
            return None
        reply = await asyncio.to_thread(self._shown, wanted, fault, background, message, scope, language)
        return self._readable(reply, message.thread) if reply is not None else None

    async def known_evidence(self, message: Message, *, scope: Scope) -> KnownEvidence | None:
        """What the analysis above a question was made from, as far as it may be seen now; None where there is none."""
        faults = await self._store.in_thread(self._faults.in_thread, message.thread)
        if not faults:
            return None
        fault = _meant(faults, message.text)
        background = await self._store.in_thread(self._faults.background_of, fault)
        if background is None:
            return None
        chunks = await asyncio.to_thread(self._library.code.chunks, background.chunk_ids, scope=scope)
        return KnownEvidence(topic=background.topic, chunks=tuple(ScoredChunk(chunk=chunk) for chunk in chunks))

    # --- inside ---------------------------------------------------------------------------------

    async def _is_foreign(self, thread: ThreadRef) -> bool:
        """Whether people of other organisations read a channel that is not listed, or that cannot be told now."""
        platform = self.platforms.get(thread.platform)
        if self._channels.is_listed(thread) or platform is None:
            return False
        try:
            return await platform.is_shared(thread.channel_id)
        except PlatformError as error:
            log.warning("alert.channel_unread", channel=thread.channel_id, reason=str(error))
            return True

    async def _corrected(self, fault: Fault, message: Message, cause: str, language: Language) -> Reply:
        actor = _actor(message.thread.platform, message.author.id)
        saved = await self._store.in_thread(
            self._verdicts.save, fault, "correction", author_id=actor, key=message.delivery_id, cause=cause
        )
        if saved == "too_many":
            each, most = MAX_CORRECTIONS_EACH, MAX_CORRECTIONS
            return _reply(message, say("corrected_too_often", language, each=each, most=most), language)
        if saved == "new":
            detail = f"fault {fault.number}: {fault.title}"
            await self._store.in_thread(self._audit.record, actor, "case corrected", detail)
        await self._keeper.learn(self.platforms)
        service = f" ({code_span(fault.service)})" if fault.service else ""
        what = f"{code_span(fault.error_class or fault.title)}{service}"
        text = say("corrected_now", language, what=what, cause=code_span(cause, most=400))
        return _reply(message, text, language)

    def _shown(
        self,
        wanted: Wanted,
        fault: Fault,
        background: Background,
        message: Message,
        scope: Scope,
        language: Language,
    ) -> Reply | None:
        """The part of the evidence that was asked for, looked up again within the scope of now; None without code."""
        framed = set(background.framed_ids)
        chunks = self._library.code.chunks(background.chunk_ids, scope=scope)
        first = [chunk for chunk in chunks if chunk.id in framed] or [c for c in chunks if c.evidence_kind == "code"]
        if wanted == "cases":
            return _reply(message, self._cases(fault, background, scope, language), language)
        if not first:
            return None
        pieces = [
            Piece(number=number, scored=ScoredChunk(chunk=chunk, callers=self._callers(chunk.id, scope)))
            for number, chunk in enumerate(first[:MAX_SHOWN], start=1)
        ]
        if wanted == "changes":
            text = self._changes(pieces, background, scope, language)
        elif wanted == "callers":
            lines = [line for one in pieces for line in caller_lines(one.scored, language, most=CALLERS)]
            text = "\n".join(lines) or say("callers_none", language)
        else:
            texts = [excerpt(one.number, one.scored.chunk, line=None, before=SHOWN_LINES, after=0) for one in pieces]
            text = f"**{say('code', language)}**\n\n" + "\n\n".join(texts)
        reply = _reply(message, text, language)
        citations = [cite(one.number, one.scored, quote_text="", link=self._link) for one in pieces]
        return replace(reply, citations=tuple(citations))

    def _callers(self, chunk_id: str, scope: Scope) -> tuple[Caller, ...]:
        return self._library.callers(chunk_id, scope=scope, limit=CALLERS)

    def _cases(self, fault: Fault, background: Background, scope: Scope, language: Language) -> str:
        past = self._library.memory.recall(
            service=fault.service,
            error_class=background.error_class,
            fingerprint=fault.fingerprint,
            text=f"{background.error_class}\n{background.message}",
            scope=scope,
            limit=5,
        )
        if not past:
            return say("no_cases", language)
        return f"**{say('past', language)}**\n" + "\n".join(case_lines(past, language))

    def _changes(self, pieces: list[Piece], background: Background, scope: Scope, language: Language) -> str:
        degraded: list[str] = []
        changes: tuple[Change, ...] = changes_of(
            pieces, scope, self._library, deploys=Deployments(), degraded=degraded, since=background.since
        )
        since = f"{background.since:%m-%d %H:%M} UTC" if background.since else ""
        if changes:
            title = say("changes_since", language, at=since) if since else say("changes", language)
            return f"**{title}**\n" + "\n".join(change_lines(changes, language))
        if degraded:
            return say("no_changes", language) + "\n" + "\n".join(degraded)
        return say("unchanged_since", language, at=since) if since else say("no_changes", language)


def _meant(faults: list[Fault], text: str) -> Fault:
    """The fault of a thread that a text names by its class, else the first one."""
    named = (one for one in faults if one.error_class and one.error_class.rpartition(".")[2] in text)
    return next(named, faults[0])


def _actor(platform: str, person: str) -> str:
    return person if person.startswith(f"{platform}:") else f"{platform}:{person}"


def _reply(message: Message, text: str, language: Language) -> Reply:
    return Reply(
        thread=message.thread, markdown=text, citations=(), delivery_id=message.delivery_id, final=True,
        language=language,
    )  # fmt: skip
