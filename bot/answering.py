"""The straight line from a question to an answer: route, search, gate, then quotes or a checked model, or a refusal.

"Found nothing" and "could not look" lead to different refusals. A refusal asks no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from bot.contradictions import Conflict, find_conflicts
from bot.conversation import read_thread
from bot.doubt import PageImageLink, doubt_notes
from bot.errors import ModelError
from bot.evidence_text import escape_text
from bot.excerpt import Analyze
from bot.finding import Finder, Found
from bot.finding import KnowledgeSearch as KnowledgeSearch
from bot.fusing import with_earlier
from bot.generating import Asked, Generated, Release, generate
from bot.model_chain import ModelChain, ModelPool, ModelRun
from bot.notices import (
    code_notes,
    degraded_lines,
    model_reason,
    model_states,
    quote_words,
    search_tools_down,
    skipped_notes,
    unsearched,
)
from bot.persona import Persona, language_of
from bot.ports import Waiting as Waiting
from bot.quoting import articles_not_found, nearest_sources, quote_evidence, worth_quoting
from bot.routing import Routed, route
from bot.small_talk import SmallTalk, small_talk
from bot.sources import Link, ToolHistory, cite, dated, freshness, place_of
from bot.types import Answer, AnswerLength, Citation, KnownEvidence, Language, Message, Refusal, RefusalReason
from bot.wording import word
from knowledge.errors import CatalogCorrupt, ModelMissing, TransientError
from knowledge.masking import mask
from knowledge.types import Evidence, EvidenceKind, Locator, Scope, ScoredChunk, SourceStatus, ToolStatus, Verdict

log = structlog.get_logger(__name__)

EARLIER_CHUNKS = 3  # pieces of the turn before that a model is shown beside those of the question


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer with what it came from, for the query log."""

    answer: Answer
    evidence: Evidence | None  # None when the search itself failed
    question: str  # without mention and prefix
    language: Language
    searched: str = ""  # the question as it stands alone
    faults: tuple[str, ...] = ()  # why sentences of the model were held back
    skipped: tuple[str, ...] = ()  # models that were to answer and did not


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question with what it found."""

    text: str
    language: Language
    found: Found
    length: AnswerLength = "normal"
    history: str = ""

    @property
    def evidence(self) -> Evidence:
        return self.found.evidence

    @property
    def statuses(self) -> tuple[SourceStatus, ...]:
        return self.found.statuses

    @property
    def chunks(self) -> tuple[ScoredChunk, ...]:
        """The evidence, and behind it that of the turn before."""
        return with_earlier(self.evidence.chunks, self.found.earlier, most=EARLIER_CHUNKS)


class Answering:
    """Answers questions; holds no state but since when tools have been down, and translations of questions."""

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
        contact: str = "",
    ) -> None:
        self._knowledge = knowledge
        self._persona = persona
        self._models = models
        self._link = link
        self._analyze = analyze
        self._clock = clock
        self._page_image = page_image
        self._contact = contact
        self._finder = Finder(
            knowledge=knowledge,
            small=lambda: models.chat_model("small"),
            analyze_query=analyze_query,
            top_k=top_k,
        )
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
        known: KnownEvidence | None = None,
    ) -> Outcome:
        """The outcome for a question. `release` gets text that may be shown before the whole answer is there.

        `thread` is what was said before, oldest first, `known` evidence above it; `waiting` is told the place in line.
        """
        routed = route(text)
        routed = replace(routed, question=mask(routed.question), kind=kind if kind is not None else routed.kind)
        language = language or language_of(routed.question)
        talk = small_talk(routed.question)
        if talk is not None:
            return await self._small_talk(talk, routed, scope, language)
        if scope.sources is not None and not scope.sources:
            return self._unsearched(routed, language, "not_allowed", "the scope holds no source")
        conversation = read_thread(thread, routed.question)
        try:
            found = await self._finder.find(routed, scope=scope, conversation=conversation, known=known)
        except (TransientError, ModelMissing, CatalogCorrupt) as error:
            return self._could_not_look(error, routed, language)
        self.tools.note((*found.evidence.tools, *unsearched(found.statuses, language, now=self._clock())))
        question = _Question(
            text=found.searched, language=language, found=found, length=length, history=conversation.history()
        )
        chain = self._models.chat_model("code" if found.evidence.route == "code" else "docs")
        if chain is not None and found.evidence.chunks and found.evidence.verdict.decision != "none":
            run = chain.run()
            answer, made = await self._generated(question, run, chain, release, waiting)
            faults, skipped = tuple(made.faults), tuple(f"{skip.model}: {skip.error}" for skip in run.skipped)
        else:
            answer, faults, skipped = await asyncio.to_thread(self._ungenerated, question), (), ()
        return Outcome(
            answer=answer,
            evidence=found.evidence,
            question=routed.question,
            language=language,
            searched=found.searched,
            faults=faults,
            skipped=skipped,
        )

    def _ungenerated(self, question: _Question) -> Answer:
        verdict = question.evidence.verdict
        if verdict.decision == "none" or not question.evidence.chunks:
            return self._nothing_found(question)
        if verdict.decision == "weak":
            return self._refuse(question, "weak_evidence", verdict.reason)
        return self._quoted(question, notes=(self._persona.say("no_model", question.language),))

    # --- refusals -----------------------------------------------------------------------------

    async def _small_talk(self, talk: SmallTalk, routed: Routed, scope: Scope, language: Language) -> Outcome:
        """A friendly word instead of "nothing found"; it is no answer, as nothing was looked up."""
        if talk == "thanks":
            return self._unsearched(
                routed, language, "no_evidence", "small talk", said=self._persona.say(talk, language)
            )
        try:
            statuses = await asyncio.to_thread(self._knowledge.status, scope=scope)
        except (TransientError, CatalogCorrupt) as error:
            return self._could_not_look(error, routed, language)
        sources = ", ".join(status.title for status in statuses) or "-"
        said = self._persona.say(talk, language, sources=sources)
        return self._unsearched(routed, language, "no_evidence", "small talk", said=said)

    def _unsearched(
        self, routed: Routed, language: Language, reason: RefusalReason, detail: str, *, said: str | None = None
    ) -> Outcome:
        """The outcome of a text for which nothing is looked up."""
        answer = Answer(
            text=said or self._persona.say(reason, language),
            citations=(),
            refusal=Refusal(reason=reason, detail=detail),
            verdict=Verdict(decision="none", reason=detail),
            route=routed.kind or "both",
        )
        return Outcome(answer=answer, evidence=None, question=routed.question, language=language)

    def _could_not_look(self, error: Exception, routed: Routed, language: Language) -> Outcome:
        name = "catalog" if isinstance(error, CatalogCorrupt) else "index"
        tool = ToolStatus(name=name, state="down", detail=str(error), checked_at=self._clock())
        self.tools.note([tool])
        said = self._persona.say("tool_down", language, tools=self.tools.describe([tool], language))
        return self._unsearched(routed, language, "tool_down", str(error), said=said)

    def _nothing_found(self, question: _Question) -> Answer:
        """No evidence, unless a tool was down or nothing has been indexed yet: then it could not be looked up."""
        language, tools = question.language, ""
        if down := search_tools_down(question.evidence.tools):
            tools = self.tools.describe(down, language)
        elif question.statuses and all(status.last_sync is None for status in question.statuses):
            tools = f"{word('tool_index', language)} ({word('tool_index_building', language)})"
        elif missing := [t for t in unsearched(question.statuses, language, now=self._clock()) if t.state == "down"]:
            tools = self.tools.describe(missing, language)
        if tools:
            return self._refuse(question, "tool_down", tools, tools=tools)
        return self._refuse(question, "no_evidence", question.evidence.verdict.reason)

    def _refuse(
        self, question: _Question, reason: RefusalReason, detail: str, notes: Sequence[str] = (), **values: object
    ) -> Answer:
        """A refusal in the persona's words; the nearest sources are shown unless there is nothing near."""
        near = reason in ("weak_evidence", "uncited")
        evidence = question.evidence
        return Answer(
            text=self._persona.say(reason, question.language, **values),
            citations=(),
            refusal=Refusal(reason=reason, detail=detail),
            verdict=evidence.verdict,
            route=evidence.route,
            degraded=(*notes, *self._degraded(question)),
            nearest=nearest_sources(
                evidence.chunks, question.found.terms, self._analyze, language=question.language, link=self._link
            )
            if near
            else (),
        )

    # --- answers ------------------------------------------------------------------------------

    def _quoted(self, question: _Question, opening: str = "", notes: Sequence[str] = ()) -> Answer:
        """The evidence itself; what is asked for comes first, and what went wrong before it."""
        chunks = worth_quoting(question.evidence.chunks, question.text)
        quotes, citations = quote_evidence(
            chunks, question.found.terms, self._analyze, language=question.language, link=self._link
        )
        places = {citation.chunk_id: citation.index for citation in citations}
        quoted = [scored for scored in chunks if scored.chunk.id in places]
        missing = (*question.evidence.verdict.missing, *articles_not_found(quoted, question.text))
        if missing:
            opening += "\n\n" + self._persona.say("missing_word", question.language, words=quote_words(missing))
        ranked = sorted(chunks, key=lambda scored: places.get(scored.chunk.id, len(places) + 1))
        conflicts = find_conflicts(ranked, list(range(1, len(citations) + 1)), question.text)
        citations, dispute = self._disputed(question, ranked, citations, conflicts)
        return self._answer(question, f"{opening}\n\n{quotes}{dispute}".lstrip(), citations, model=None, notes=notes)

    async def _generated(
        self, question: _Question, run: ModelRun, chain: ModelChain, release: Release | None, waiting: Waiting | None
    ) -> tuple[Answer, Generated]:
        weak = question.evidence.verdict.decision == "weak"
        asked = Asked(
            question=question.text,
            persona=self._persona,
            language=question.language,
            length=question.length,
            history=question.history,
        )
        made = await generate(
            asked,
            question.chunks,
            model=run,
            num_ctx=chain.num_ctx,
            release=None if weak else release,  # a weak answer is shown only when all of it has passed
            waiting=waiting,
        )
        if made.faults or made.failure is not None:
            log.info("answer.held_back", faults=made.faults, failure=str(made.failure or ""), model=run.name)
        self.tools.note(model_states(run.skipped, run.name, made.failure, now=self._clock()))
        return await asyncio.to_thread(self._judged, question, made, run, weak), made

    def _judged(self, question: _Question, made: Generated, run: ModelRun, weak: bool) -> Answer:
        """What becomes of what the model wrote."""
        language = question.language
        notes = skipped_notes(run.skipped, run.name, self.tools, language)
        if made.failure is not None and not made.cited:
            notes = notes[:-1] if len(run.skipped) == len(run.models) else notes
            return self._without_model(question, made.failure, run.name, notes)
        if not made.cited and made.declined and not made.faults:
            return self._refuse(question, "weak_evidence", "the model found no answer in the evidence", notes)
        if not made.cited:
            return self._refuse(question, "uncited", "; ".join(made.faults) or "the model wrote nothing", notes)
        if weak and (made.faults or made.failure is not None):
            return self._refuse(question, "weak_evidence", "; ".join(made.faults) or str(made.failure), notes)
        if weak:
            notes.append(self._persona.say("low_relevance", language))
        if missing := question.evidence.verdict.missing:
            notes.append(word("missing_words", language, words=quote_words(missing)))
        if made.faults:
            notes.append(word("held_back", language, n=len(made.faults)))
        if made.replaced:
            notes.append(word("quoted_instead", language, n=len(made.replaced)))
        notes += code_notes([question.chunks[n - 1] for n in made.cited], language)
        if made.failure is not None:
            notes.append(
                word("model_broke_off", language, reason=model_reason(run.name, made.failure, self.tools, language))
            )
        citations = self._cited(question, made.cited)
        conflicts = find_conflicts(question.chunks, made.cited, question.text, answer=made.text)
        citations, dispute = self._disputed(question, question.chunks, citations, conflicts)
        provisos = f"\n\n{made.provisos}" if made.provisos else ""
        return self._answer(question, made.text.strip() + provisos + dispute, citations, model=run.name, notes=notes)

    def _without_model(self, question: _Question, failure: ModelError, model: str, notes: Sequence[str]) -> Answer:
        """What is given when the model does not answer: the evidence itself where it is good enough."""
        reason = model_reason(model, failure, self.tools, question.language)
        if question.evidence.verdict.decision == "weak":
            away = word("model_away", question.language, reason=reason)
            return self._refuse(question, "weak_evidence", str(failure).rstrip("."), (*notes, away))
        return self._quoted(question, word("model_failed", question.language, reason=reason), notes)

    def _cited(self, question: _Question, numbers: Sequence[int]) -> tuple[Citation, ...]:
        return tuple(self._citation(question, question.chunks[n - 1], n) for n in sorted(numbers))

    def _citation(self, question: _Question, scored: ScoredChunk, number: int) -> Citation:
        near = nearest_sources(
            [scored], question.found.terms, self._analyze, language=question.language, link=self._link
        )
        return cite(number, scored, quote_text=near[0].quote, link=self._link)

    def _disputed(
        self,
        question: _Question,
        chunks: Sequence[ScoredChunk],
        citations: tuple[Citation, ...],
        conflicts: Sequence[Conflict],
    ) -> tuple[tuple[Citation, ...], str]:
        """The citations with those of the other side, and a paragraph that shows both values; "" without conflict."""
        if not conflicts:
            return citations, ""
        language = question.language
        contact = self._contact or self._persona.say("default_contact", language)
        lines = [self._persona.say("contradiction", language, contact=contact), ""]
        sides = {(c.first, c.first_shown) for c in conflicts} | {(c.second, c.second_shown) for c in conflicts}
        for number, shown in sorted(sides):
            locator = chunks[number - 1].chunk.locator
            place = escape_text(
                place_of(locator, chunks[number - 1].chunk.title, language) + self._dated(question, locator)
            )
            lines.append(f"- {place}: {escape_text(shown)} [{number}]")
            if all(citation.index != number for citation in citations):
                citations = (*citations, self._citation(question, chunks[number - 1], number))
        return tuple(sorted(citations, key=lambda citation: citation.index)), "\n\n" + "\n".join(lines)

    def _dated(self, question: _Question, locator: Locator) -> str:
        """ " (2024-01-01 시행)", and for a document that says no date, when it was last read."""
        said = dated(locator, question.language)
        read = next((s.last_sync for s in question.statuses if s.source == locator.source), None)
        return said or (f" ({word('read_at', question.language, day=read.date())})" if read is not None else "")

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
        language, down = question.language, search_tools_down(question.evidence.tools)
        lines = degraded_lines(question.evidence.degraded, question.statuses, language, told=down)
        if down:
            tools = self.tools.describe(down, language)
            lines.insert(0, word("tool_partly_down", language, tools=tools))
        return tuple(dict.fromkeys(lines))
