"""Keeps the memory in step with what is posted and said: cases of posted analyses, wrong ones, corrections.

What is to be done stands in bot.sqlite3 until the memory, which lies in the catalog, has it: a kill in between loses
nothing and doubles nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import structlog

from bot.alerts.alert import Alert
from bot.alerts.analysis import Analysed
from bot.alerts.evidence import Library
from bot.alerts.store import Fault, FaultStore
from bot.alerts.texts import say
from bot.alerts.verdicts import Verdict, VerdictStore
from bot.channels import Channels
from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.persona import language_of
from bot.ports import ChatPlatform
from bot.reply_text import clean_text
from bot.store import Store
from bot.types import Language, Reply
from knowledge.errors import KnowledgeError
from knowledge.types import Chunk, Scope
from knowledge.types_cases import CitedText, NewCase

log = structlog.get_logger(__name__)


class CaseKeeper:
    """May be asked at any time, also by several at once."""

    def __init__(
        self, *, faults: FaultStore, verdicts: VerdictStore, store: Store, library: Library, channels: Channels
    ) -> None:
        self._faults = faults
        self._verdicts = verdicts
        self._store = store
        self._library = library
        self._channels = channels
        self._one_at_a_time = asyncio.Lock()

    async def learn(self, platforms: Mapping[str, ChatPlatform]) -> None:
        """Brings the memory up to date, and tells in the threads of wrong analyses what was done. What cannot be done
        now is done at the next time."""
        async with self._one_at_a_time:
            try:
                for number, case in await self._store.in_thread(self._verdicts.cases_to_remember):
                    await asyncio.to_thread(self._library.memory.remember, case)
                    await self._store.in_thread(self._verdicts.remembered, number)
                for origin in await self._store.in_thread(self._verdicts.to_forget):
                    await asyncio.to_thread(self._library.memory.forget_origin, origin)
                    await self._store.in_thread(self._verdicts.forgotten, origin)
                for verdict, fault in await self._store.in_thread(self._verdicts.open):
                    platform = platforms.get(fault.thread.platform)
                    url = platform.permalink(fault.thread, fault.post_id) if platform and fault.post_id else None
                    was_known = await asyncio.to_thread(self._apply, verdict, fault, url)
                    if await self._told(verdict, fault, was_known, platforms):
                        await self._store.in_thread(self._verdicts.applied, verdict)
            except KnowledgeError as error:
                log.error("alert.not_remembered", reason=str(error))

    def language_of(self, fault: Fault) -> Language:
        """The language in which is spoken in the thread of a fault."""
        told = fault.reply.language if fault.reply else None
        return self._channels.policy_of(fault.thread).language or told or language_of(fault.title)

    def _apply(self, verdict: Verdict, fault: Fault, url: str | None) -> bool:
        """Whether a case of the analysis was in the memory."""
        was_known = self._library.memory.take_out(origin_of(fault))
        if verdict.kind == "correction":
            scope = self._channels.policy_of(fault.thread).scope
            self._library.memory.remember(self._correction(verdict, fault, scope, url))
        return was_known

    def _correction(self, verdict: Verdict, fault: Fault, scope: Scope, url: str | None) -> NewCase:
        background = self._faults.background_of(fault)
        framed = self._library.code.chunks(background.framed_ids, scope=scope) if background else ()
        named = {status.source for status in self._library.status(scope=scope)}
        return NewCase(
            service=fault.service,
            error_class=fault.error_class,
            fingerprint=fault.fingerprint,
            message=background.message if background else fault.title,
            summary="",
            cause=clean_text(verdict.cause),
            fix="",
            cited=tuple(cited_text(chunk) for chunk in framed),
            is_correction=True,
            origin=f"{origin_of(fault)}:correction:{verdict.key}",
            url=url,
            sources=tuple(sorted(named)),  # a person may speak of anything that the channel shows
        )

    async def _told(
        self, verdict: Verdict, fault: Fault, was_known: bool, platforms: Mapping[str, ChatPlatform]
    ) -> bool:
        """Whether nothing is left to be told; the answer to a correction is a reply of its own."""
        platform = platforms.get(fault.thread.platform)
        if verdict.kind == "correction" or platform is None or fault.post_id is None:
            return True
        key = f"{fault.delivery_key}:wrong"
        try:
            if await platform.find_own(fault.thread, key) is None:
                language = self.language_of(fault)
                text = say("taken_out" if was_known else "nothing_to_take_out", language)
                await platform.post(
                    Reply(thread=fault.thread, markdown=text, citations=(), delivery_id=key, final=True,
                          language=language)
                )  # fmt: skip
        except (Unreachable, RateLimited, AuthError) as error:
            log.warning("alert.verdict_not_told", reason=str(error))
            return False
        except PlatformError as error:  # the thread has gone, for example
            log.warning("alert.verdict_never_told", reason=str(error))
        return True


def origin_of(fault: Fault) -> str:
    """What a case of this fault was learnt from."""
    return f"{fault.thread.platform}:{fault.delivery_key}"


def cited_text(chunk: Chunk) -> CitedText:
    """What a case keeps of a piece of evidence."""
    where = chunk.locator
    return CitedText(
        source=where.source, uri=where.uri, revision=where.revision, start_line=where.start_line,
        end_line=where.end_line, symbol=where.symbol, text=chunk.text,
    )  # fmt: skip


def case_of(alert: Alert, analysed: Analysed, fault: Fault) -> NewCase:
    """What is remembered of a valid analysis, with all that its words and its fix rest on: seen only where that is."""
    rests_on = {*analysed.cited, analysed.fixed}
    cited = [cited_text(one.scored.chunk) for one in analysed.gathered.pieces if one.number in rests_on]
    return NewCase(
        service=fault.service,
        error_class=alert.error_class or "",
        fingerprint=fault.fingerprint,
        message=alert.message or alert.title,
        summary=analysed.summary,
        cause=analysed.cause,
        fix=analysed.fix,
        cited=tuple(cited),
        origin=origin_of(fault),
    )


def without_cause(analysed: Analysed) -> Analysed:
    """The evidence alone, where people have called wrong what a model concluded from it."""
    return replace(
        analysed, summary="", cause="", cited=(), fix="", fixed=None, confidence="", next_steps=(),
        why_without_model="denied",
    )  # fmt: skip
