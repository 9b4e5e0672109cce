"""Evidence for a question as it was meant: standing alone within its thread, and searched in English where code is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from bot.alerts.follow_up import is_about_fault
from bot.content_words import bag_of, held_share
from bot.conversation import Conversation, condense, with_old_topic, with_question_before
from bot.conversation_words import leans_on_before, may_change_topic, telling_words
from bot.excerpt import Analyze
from bot.fusing import fuse_translated
from bot.ports import ChatModel
from bot.routing import Routed, search_text
from bot.translation import Translator
from bot.types import AnswerLength, KnownEvidence, Language, Route
from knowledge.errors import ModelMissing, TransientError
from knowledge.types import Evidence, EvidenceKind, Scope, ScoredChunk, SourceStatus, Verdict

EARLIER_CHUNKS = 3  # of the turn before
KNOWN_CHUNKS = 5  # of what stands above a question

log = structlog.get_logger(__name__)


class KnowledgeSearch(Protocol):
    """What answering needs of knowledge.api.Knowledge."""

    def search(self, query: str, *, scope: Scope, top_k: int, kind: EvidenceKind | None) -> Evidence: ...

    def status(self, *, scope: Scope) -> list[SourceStatus]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a question found. `searched` is the question as it stands alone."""

    searched: str
    evidence: Evidence
    statuses: tuple[SourceStatus, ...]
    terms: tuple[str, ...]
    earlier: tuple[ScoredChunk, ...] = ()  # evidence of the turn before


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundQuestion:
    """A question with what it found, and how it is to be answered."""

    found: Found
    language: Language
    length: AnswerLength = "normal"
    history: str = ""  # what was said before, one line a turn
    kind: EvidenceKind | None = None  # of the evidence that was asked for; None: any

    @property
    def text(self) -> str:
        return self.found.searched

    @property
    def evidence(self) -> Evidence:
        return self.found.evidence

    @property
    def statuses(self) -> tuple[SourceStatus, ...]:
        return self.found.statuses

    @property
    def asked(self) -> list[SourceStatus]:
        """The sources that may answer: all, unless documents or code alone were asked for."""
        fitting = {"docs": "documents", "code": "repository"}
        return [one for one in self.statuses if self.kind is None or one.kind == fitting[self.kind]]

    @property
    def chunks(self) -> tuple[ScoredChunk, ...]:
        """The evidence, and behind it what the turn before found besides."""
        known = {scored.chunk.id for scored in self.evidence.chunks}
        return (*self.evidence.chunks, *(one for one in self.found.earlier if one.chunk.id not in known))

    @property
    def has_nothing(self) -> bool:
        return self.evidence.verdict.decision == "none" or not self.evidence.chunks

    @property
    def is_weak(self) -> bool:
        return self.evidence.verdict.decision == "weak"


class Finder:
    """Searches; holds nothing but the latest translations."""

    def __init__(
        self, *, knowledge: KnowledgeSearch, small: Callable[[], ChatModel | None], analyze_query: Analyze, top_k: int
    ) -> None:
        self._knowledge = knowledge
        self._small = small
        self._translator = Translator(small())
        self._analyze_query = analyze_query
        self._top_k = top_k

    async def find(
        self, routed: Routed, *, scope: Scope, conversation: Conversation, known: KnownEvidence | None = None
    ) -> Found:
        """The evidence; `known` stands above the question already and answers what leans on it.

        Raises TransientError, ModelMissing, CatalogCorrupt when it could not look.
        """
        searched = await condense(routed.question, conversation, self._small())
        statuses = await asyncio.to_thread(self._knowledge.status, scope=scope)
        has_code = routed.kind != "docs" and any(status.kind == "repository" for status in statuses)
        translating = self._translator.start(searched) if has_code else None
        try:
            evidence, earlier = await asyncio.gather(
                self._search(searched, scope, routed.kind),
                self._earlier(routed.question, conversation, scope, routed.kind),
            )
            searched, evidence = await self._better_topic(routed, conversation, scope, searched, evidence)
            if known is not None and known.chunks:
                searched, evidence = await self._above(routed, known, scope, searched, evidence)
            if translating is not None and _may_be_code(evidence, routed.kind):
                evidence = await self._with_english(await translating, evidence, scope)
        finally:
            if translating is not None and not translating.done():
                translating.cancel()
                with suppress(asyncio.CancelledError):
                    await translating
        terms = tuple(await asyncio.to_thread(self._analyze_query, search_text(searched)))
        return Found(searched=searched, evidence=evidence, statuses=tuple(statuses), terms=terms, earlier=earlier)

    async def _search(self, question: str, scope: Scope, kind: EvidenceKind | None) -> Evidence:
        evidence = await asyncio.to_thread(
            self._knowledge.search, search_text(question), scope=scope, top_k=self._top_k, kind=kind
        )
        log.info(
            "search.done",
            route=evidence.route,
            verdict=evidence.verdict.decision,
            results=len(evidence.chunks),
            degraded=evidence.degraded,
            took_ms=round(evidence.took_ms.get("total", 0.0), 1),
        )
        return evidence

    async def _better_topic(
        self, routed: Routed, conversation: Conversation, scope: Scope, searched: str, evidence: Evidence
    ) -> tuple[str, Evidence]:
        """The question with the topic of the one before as well, when one piece of evidence speaks of both: "임원은?"
        after "숙박비 상한은 얼마인가요?" narrows the topic, "병가는?" after "연차는 며칠인가요?" changes it.

        The question by itself when one piece answers it so, and none speaks of it together with the one before.
        """
        if searched != routed.question and may_change_topic(routed.question) and not _one_holds(evidence, searched):
            alone = await self._search(routed.question, scope, routed.kind)
            if alone.verdict.decision == "ok" and _one_holds(alone, routed.question):
                return routed.question, alone
        fuller = with_old_topic(routed.question, conversation.previous)
        if fuller is None:
            return await self._with_before(routed, conversation, scope, searched, evidence)
        if fuller == searched:
            return searched, evidence
        found = await self._search(fuller, scope, routed.kind)
        if _one_holds(found, fuller) and found.verdict.decision != "none":
            return fuller, found
        if evidence.verdict.decision != "ok" and found.verdict.decision == "ok":
            return fuller, found
        return searched, evidence

    async def _with_before(
        self, routed: Routed, conversation: Conversation, scope: Scope, searched: str, evidence: Evidence
    ) -> tuple[str, Evidence]:
        """The question with the one before beside it, when only both together find an answer, or one piece of evidence
        speaks of both: "비밀은 지켜지나요?" after a question about reports."""
        fuller = with_question_before(routed.question, conversation.previous)
        if fuller is None or searched != routed.question:
            return searched, evidence
        found = await self._search(fuller, scope, routed.kind)
        better = evidence.verdict.decision != "ok" or _one_holds(found, fuller)
        return (fuller, found) if better and found.verdict.decision == "ok" else (searched, evidence)

    async def _earlier(
        self, question: str, conversation: Conversation, scope: Scope, kind: EvidenceKind | None
    ) -> tuple[ScoredChunk, ...]:
        """The evidence of the turn before, searched again within the scope of now: a scope never grows by a thread."""
        if conversation.previous is None or not leans_on_before(question):
            return ()
        try:
            before = await self._search(conversation.previous, scope, kind)
        except (TransientError, ModelMissing):
            return ()  # the search of the question itself tells what is down
        return before.chunks[:EARLIER_CHUNKS] if before.verdict.decision == "ok" else ()

    async def _above(
        self, routed: Routed, known: KnownEvidence, scope: Scope, searched: str, evidence: Evidence
    ) -> tuple[str, Evidence]:
        """The question with its topic, and the known evidence before what that finds, when the question by itself found
        no answer and speaks of what stands above it: "왜 그런데?", "how do I fix it?"."""
        question = routed.question
        if not is_about_fault(question) and telling_words(question):
            return searched, evidence
        if evidence.verdict.decision == "ok" and not leans_on_before(question):
            return searched, evidence
        found = await self._search(f"{question} {known.topic}", scope, routed.kind)
        others = [one for one in found.chunks if one.chunk.id not in {scored.chunk.id for scored in known.chunks}]
        chunks = (*known.chunks[:KNOWN_CHUNKS], *others)[: self._top_k]
        verdict = Verdict(decision="ok", reason="the evidence of the alert above")
        has_docs = any(one.chunk.evidence_kind == "docs" for one in chunks)
        route: Route = "both" if has_docs else "code"
        return f"{question} {known.topic}", replace(found, chunks=chunks, verdict=verdict, route=route)

    async def _with_english(self, english: str | None, evidence: Evidence, scope: Scope) -> Evidence:
        if english is None:
            return evidence
        try:
            second = await self._search(english, scope, "code")
        except (TransientError, ModelMissing):
            return evidence
        return fuse_translated(evidence, second, top_k=self._top_k)


def _one_holds(found: Evidence, question: str) -> bool:
    """Whether one of the first pieces of evidence has all telling words of a question."""
    words = telling_words(question)
    return any(held_share(words, bag_of(scored.chunk.index_text)) >= 0.99 for scored in found.chunks[:3])


def _may_be_code(evidence: Evidence, kind: EvidenceKind | None) -> bool:
    """Whether code may answer: it was asked for or found, or documents do not answer for certain."""
    return kind == "code" or evidence.route != "docs" or evidence.verdict.decision != "ok"
