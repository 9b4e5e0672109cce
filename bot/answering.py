"""The straight line from a question to an answer: route, search, gate, then quotes or a checked model, or a refusal.

"Found nothing" and "could not look" lead to different refusals. A refusal asks no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.doubt import PageImageLink, doubt_notes
from bot.excerpt import Analyze
from bot.generating import Generated, Release, generate
from bot.persona import Persona, language_of
from bot.model_chain import ModelChain, ModelPool
from bot.quoting import nearest_sources, quote_evidence
from bot.routing import Routed, route, search_text
from bot.sources import Link, ToolHistory, cite, freshness, unfinished
from bot.types import Answer, AnswerLength, Citation, Language, Message, Refusal, RefusalReason
from bot.wording import word
from knowledge.errors import CatalogCorrupt, ModelMissing, TransientError
from knowledge.masking import mask
from knowledge.types import Evidence, EvidenceKind, Scope, SourceStatus, ToolStatus, Verdict

Waiting = Callable[[int], Awaitable[None]]

_SEARCH_TOOLS = ("dense", "keyword", "catalog")


class KnowledgeSearch(Protocol):
    """What answering needs of knowledge.api.Knowledge."""

    def search(self, query: str, *, scope: Scope, top_k: int, kind: EvidenceKind | None) -> Evidence: ...

    def status(self, *, scope: Scope) -> list[SourceStatus]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer with what it came from, for the query log."""

    answer: Answer
    evidence: Evidence | None  # None when the search itself failed
    question: str  # without mention and prefix
    language: Language


class Answering:
    """Answers questions; holds no state but since when tools have been down."""

    def __init__(
        self,
        *,
        knowledge: KnowledgeSearch,
        persona: Persona,
        models: ModelPool,
        link: Link,
        analyze: Analyze,
        analyze_query: Analyze,
        clock: Callable[[], datetime],
        top_k: int,
        page_image: PageImageLink | None = None,
    ) -> None:
        self._knowledge = knowledge
        self._persona = persona
        self._models = models
        self._link = link
        self._analyze = analyze
        self._analyze_query = analyze_query
        self._clock = clock
        self._top_k = top_k
        self._page_image = page_image
        self.tools = ToolHistory()

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
    ) -> Outcome:
        """The outcome for a question. `release` gets text that may be shown before the whole answer is there.

        `thread` is what was said before, oldest first; `waiting` is told the place in the queue for the model.
        """
        routed = route(text)
        routed = replace(routed, question=mask(routed.question), kind=kind if kind is not None else routed.kind)
        language = language or language_of(routed.question)
        try:
            evidence = await asyncio.to_thread(
                self._knowledge.search, search_text(routed.question), scope=scope, top_k=self._top_k, kind=routed.kind
            )
            statuses = await asyncio.to_thread(self._knowledge.status, scope=scope)
        except (TransientError, ModelMissing, CatalogCorrupt) as error:
            return self._could_not_look(error, routed, language)
        self.tools.note(evidence.tools)
        terms = tuple(await asyncio.to_thread(self._analyze_query, search_text(routed.question)))
        question = _Question(routed.question, language, evidence, tuple(statuses), terms)
        chain = self._models.chat_model("code" if evidence.route == "code" else "docs")
        if chain is not None and evidence.chunks and evidence.verdict.decision != "none":
            answer = await self._generated(question, chain, release)
        else:
            answer = await asyncio.to_thread(self._ungenerated, question)
        return Outcome(answer=answer, evidence=evidence, question=routed.question, language=language)

    def _ungenerated(self, question: _Question) -> Answer:
        verdict = question.evidence.verdict
        if verdict.decision == "none" or not question.evidence.chunks:
            return self._nothing_found(question)
        if verdict.decision == "weak":
            return self._refuse(question, "weak_evidence", verdict.reason)
        return self._quoted(question, self._persona.say("no_model", question.language))

    # --- refusals -----------------------------------------------------------------------------

    def _could_not_look(self, error: Exception, routed: Routed, language: Language) -> Outcome:
        name = "catalog" if isinstance(error, CatalogCorrupt) else "index"
        tool = ToolStatus(name=name, state="down", detail=str(error), checked_at=self._clock())
        self.tools.note([tool])
        answer = Answer(
            text=self._persona.say("tool_down", language, tools=self.tools.describe([tool], language)),
            citations=(),
            refusal=Refusal(reason="tool_down", detail=str(error)),
            verdict=Verdict(decision="none", reason=str(error)),
            route=routed.kind or "both",
        )
        return Outcome(answer=answer, evidence=None, question=routed.question, language=language)

    def _nothing_found(self, question: _Question) -> Answer:
        """No evidence, unless a tool was down or nothing has been indexed yet: then it could not be looked up."""
        down = [tool for tool in question.evidence.tools if _is_search_tool(tool) and tool.state == "down"]
        if down:
            tools = self.tools.describe(down, question.language)
            return self._refuse(question, "tool_down", tools, tools=tools)
        if question.statuses and all(status.last_sync is None for status in question.statuses):
            language = question.language
            tools = f"{word('tool_index', language)} ({word('tool_index_building', language)})"
            return self._refuse(question, "tool_down", tools, tools=tools)
        return self._refuse(question, "no_evidence", question.evidence.verdict.reason)

    def _refuse(self, question: _Question, reason: RefusalReason, detail: str, **values: object) -> Answer:
        """A refusal in the persona's words; the nearest sources are shown unless there is nothing near."""
        near = reason in ("weak_evidence", "uncited")
        evidence = question.evidence
        return Answer(
            text=self._persona.say(reason, question.language, **values),
            citations=(),
            refusal=Refusal(reason=reason, detail=detail),
            verdict=evidence.verdict,
            route=evidence.route,
            degraded=self._degraded(question),
            nearest=nearest_sources(
                evidence.chunks, question.terms, self._analyze, language=question.language, link=self._link
            )
            if near
            else (),
        )

    # --- answers ------------------------------------------------------------------------------

    def _quoted(self, question: _Question, opening: str) -> Answer:
        quotes, citations = quote_evidence(
            question.evidence.chunks, question.terms, self._analyze, language=question.language, link=self._link
        )
        return self._answer(question, f"{opening}\n\n{quotes}", citations, model=None)

    async def _generated(self, question: _Question, setup: ModelChain, release: Release | None) -> Answer:
        weak = question.evidence.verdict.decision == "weak"
        made = await generate(
            question.text,
            question.evidence.chunks,
            model=setup,
            num_ctx=setup.num_ctx,
            persona=self._persona,
            language=question.language,
            release=None if weak else release,  # a weak answer is shown only when all of it has passed
        )
        if made.failure is not None and not made.cited:
            return self._without_model(question, made)
        if made.declined and not made.cited:
            return self._refuse(question, "weak_evidence", "the model found no answer in the evidence")
        if not made.cited:
            return self._refuse(question, "uncited", "; ".join(made.faults) or "the model wrote nothing")
        if weak and (made.faults or made.failure is not None):
            return self._refuse(question, "weak_evidence", "; ".join(made.faults) or str(made.failure))
        notes = [self._persona.say("low_relevance", question.language)] if weak else []
        if made.faults:
            notes.append(word("held_back", question.language, n=len(made.faults)))
        if made.failure is not None:
            notes.append(word("model_broke_off", question.language, reason=str(made.failure).rstrip(".")))
        citations = self._cited(question, made.cited)
        return self._answer(question, made.text.strip(), citations, model=setup.name, notes=notes)

    def _without_model(self, question: _Question, made: Generated) -> Answer:
        """What is given when the model does not answer: the evidence itself where it is good enough."""
        reason = str(made.failure).rstrip(".")
        if question.evidence.verdict.decision == "weak":
            return self._refuse(question, "weak_evidence", reason)
        return self._quoted(question, word("model_failed", question.language, reason=reason))

    def _cited(self, question: _Question, numbers: Sequence[int]) -> tuple[Citation, ...]:
        chunks = question.evidence.chunks
        near = {
            number: nearest_sources(
                [chunks[number - 1]], question.terms, self._analyze, language=question.language, link=self._link
            )[0].quote
            for number in numbers
        }
        return tuple(cite(n, chunks[n - 1], quote_text=near[n], link=self._link) for n in sorted(numbers))

    def _answer(
        self,
        question: _Question,
        text: str,
        citations: tuple[Citation, ...],
        *,
        model: str | None,
        notes: Sequence[str] = (),
    ) -> Answer:
        used = {citation.locator.source for citation in citations}
        fresh = freshness(question.statuses, used, now=self._clock(), language=question.language)
        doubts = doubt_notes(text, citations, language=question.language, page_image=self._page_image)
        return Answer(
            text=text,
            citations=citations,
            refusal=None,
            verdict=question.evidence.verdict,
            route=question.evidence.route,
            degraded=(*notes, *doubts, *self._degraded(question), *fresh),
            model=model,
        )

    def _degraded(self, question: _Question) -> tuple[str, ...]:
        down = [tool for tool in question.evidence.tools if _is_search_tool(tool) and tool.state == "down"]
        lines = [*question.evidence.degraded, *unfinished(question.statuses, question.language)]
        if down:
            tools = self.tools.describe(down, question.language)
            lines.insert(0, word("tool_partly_down", question.language, tools=tools))
        return tuple(dict.fromkeys(lines))


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    language: Language
    evidence: Evidence
    statuses: tuple[SourceStatus, ...]
    terms: tuple[str, ...]


def _is_search_tool(tool: ToolStatus) -> bool:
    return tool.name.partition(":")[0] in _SEARCH_TOOLS
