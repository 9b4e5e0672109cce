"""What an answer is made of: quotes or checked sentences, their citations, contradictions, and what is said below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from bot.contradictions import Conflict, find_conflicts
from bot.doubt import PageImageLink, doubt_notes
from bot.evidence_text import escape_text
from bot.excerpt import Analyze
from bot.finding import FoundQuestion
from bot.generating import Generated
from bot.notices import code_notes, model_reason, quote_words, search_notes
from bot.persona import Persona
from bot.quoting import articles_not_found, nearest_sources, quote_evidence, worth_quoting
from bot.sources import Link, ToolHistory, cite, dated, freshness, place_of
from bot.types import Answer, Citation
from bot.wording import word
from knowledge.types import Locator, ScoredChunk


class Answers:
    """Composes answers from evidence, and from what a model wrote and the checks let pass."""

    def __init__(
        self,
        *,
        persona: Persona,
        tools: ToolHistory,
        link: Link,
        analyze: Analyze,
        clock: Callable[[], datetime],
        page_image: PageImageLink | None,
        contact: str,
    ) -> None:
        self._persona = persona
        self._tools = tools
        self._link = link
        self._analyze = analyze
        self._clock = clock
        self._page_image = page_image
        self._contact = contact

    def quoted(self, question: FoundQuestion, opening: str = "", notes: Sequence[str] = ()) -> Answer:
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

    def written(self, question: FoundQuestion, made: Generated, *, model: str, notes: Sequence[str] = ()) -> Answer:
        """What a model wrote, with its sources; below it first `notes`, then what became of its sentences."""
        citations = tuple(self._citation(question, question.chunks[n - 1], n) for n in sorted(made.cited))
        conflicts = find_conflicts(question.chunks, made.cited, question.text, answer=made.text)
        citations, dispute = self._disputed(question, question.chunks, citations, conflicts)
        provisos = f"\n\n{made.provisos}" if made.provisos else ""
        notes = (*notes, *self._notes_on(question, made, model))
        return self._answer(question, made.text.strip() + provisos + dispute, citations, model=model, notes=notes)

    def _notes_on(self, question: FoundQuestion, made: Generated, model: str) -> list[str]:
        """What a reader must know of a model's answer, one sentence each."""
        language, notes = question.language, []
        if question.is_weak:
            notes.append(self._persona.say("low_relevance", language))
        if missing := question.evidence.verdict.missing:
            notes.append(word("missing_words", language, words=quote_words(missing)))
        if made.faults:
            notes.append(word("held_back", language, n=len(made.faults)))
        if made.replaced:
            notes.append(word("quoted_instead", language, n=len(made.replaced)))
        notes += code_notes([question.chunks[n - 1] for n in made.told], language)
        if made.failure is not None:
            reason = model_reason(model, made.failure, self._tools, language)
            notes.append(word("model_broke_off", language, reason=reason))
        return notes

    def _citation(self, question: FoundQuestion, scored: ScoredChunk, number: int) -> Citation:
        near = nearest_sources(
            [scored], question.found.terms, self._analyze, language=question.language, link=self._link
        )
        return cite(number, scored, quote_text=near[0].quote, link=self._link)

    def _disputed(
        self,
        question: FoundQuestion,
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

    def _dated(self, question: FoundQuestion, locator: Locator) -> str:
        """ " (2024-01-01 시행)", and for a document that says no date, when it was last read."""
        said = dated(locator, question.language)
        read = next((s.last_sync for s in question.statuses if s.source == locator.source), None)
        return said or (f" ({word('read_at', question.language, day=read.date())})" if read is not None else "")

    def _answer(
        self,
        question: FoundQuestion,
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
            degraded=(
                *notes,
                *doubts,
                *search_notes(question.evidence, question.statuses, self._tools, question.language),
                *fresh,
            ),
            model=model,
        )
