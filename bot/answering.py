"""The straight line from a question to an answer: route, search, gate, then quotes or a checked model, or a refusal.

How answers read is in `answers.py`, how refusals read in `refusals.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from bot.answers import Answers
from bot.conversation import read_thread
from bot.doubt import PageImageLink
from bot.errors import ModelError
from bot.excerpt import Analyze
from bot.finding import Finder, FoundQuestion, KnowledgeSearch
from bot.generating import Asked, Generated, Release, generate
from bot.model_chain import ModelChain, ModelPool, ModelRun
from bot.notices import model_reason, model_states, skipped_notes, unsearched
from bot.persona import Persona, language_of
from bot.ports import Waiting
from bot.refusals import Refusals
from bot.routing import Routed, route
from bot.small_talk import SmallTalk, small_talk
from bot.sources import Link, ToolHistory
from bot.types import Answer, AnswerLength, KnownEvidence, Language, Message
from bot.wording import word
from knowledge.errors import CatalogCorrupt, ModelMissing, TransientError
from knowledge.masking import mask
from knowledge.types import Evidence, EvidenceKind, Scope

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer with what it came from, for the query log."""

    answer: Answer
    evidence: Evidence | None  # None when nothing was searched, or the search itself failed
    question: str  # without mention and prefix
    language: Language
    searched: str = ""  # the question as it stands alone
    faults: tuple[str, ...] = ()  # why sentences of the model were held back
    skipped: tuple[str, ...] = ()  # models that were to answer and did not


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
        self._clock = clock
        self.tools = ToolHistory()
        self._finder = Finder(
            knowledge=knowledge,
            small=lambda: models.chat_model("small"),
            analyze_query=analyze_query,
            top_k=top_k,
        )
        self._answers = Answers(
            persona=persona,
            tools=self.tools,
            link=link,
            analyze=analyze,
            clock=clock,
            page_image=page_image,
            contact=contact,
        )
        self._refusals = Refusals(persona=persona, tools=self.tools, link=link, analyze=analyze, clock=clock)

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
        if (unasked := await self._without_search(routed, scope, language)) is not None:
            return Outcome(answer=unasked, evidence=None, question=routed.question, language=language)
        conversation = read_thread(thread, routed.question)
        try:
            found = await self._finder.find(routed, scope=scope, conversation=conversation, known=known)
        except (TransientError, ModelMissing, CatalogCorrupt) as error:
            failed = self._refusals.could_not_look(error, route=routed.kind or "both", language=language)
            return Outcome(answer=failed, evidence=None, question=routed.question, language=language)
        self.tools.note((*found.evidence.tools, *unsearched(found.statuses, language, now=self._clock())))
        question = FoundQuestion(
            found=found, language=language, length=length, history=conversation.history(), kind=routed.kind
        )
        chain = self._models.chat_model("code" if found.evidence.route == "code" else "docs")
        made, run = None, None
        if chain is None or question.has_nothing:
            answer = await asyncio.to_thread(self._unwritten, question)
        else:
            run = chain.run()
            made = await self._generated(question, run, chain, release, waiting)
            answer = await asyncio.to_thread(self._written, question, made, run)
        return Outcome(
            answer=answer,
            evidence=found.evidence,
            question=routed.question,
            language=language,
            searched=found.searched,
            faults=tuple(made.faults) if made is not None else (),
            skipped=tuple(f"{skip.model}: {skip.error}" for skip in run.skipped) if run is not None else (),
        )

    async def _without_search(self, routed: Routed, scope: Scope, language: Language) -> Answer | None:
        """The answer to what nothing is looked up for: small talk, and questions where no source may be seen."""
        if (talk := small_talk(routed.question)) is not None:
            return await self._small_talk(talk, routed, scope, language)
        if scope.sources is not None and not scope.sources:
            detail = "the scope holds no source"
            return self._refusals.unsearched("not_allowed", detail, route=routed.kind or "both", language=language)
        return None

    async def _small_talk(self, talk: SmallTalk, routed: Routed, scope: Scope, language: Language) -> Answer:
        """A friendly word instead of "nothing found"; it is no answer, as nothing was looked up."""
        kind, values = routed.kind or "both", {}
        if talk != "thanks":
            try:
                statuses = await asyncio.to_thread(self._knowledge.status, scope=scope)
            except (TransientError, CatalogCorrupt) as error:
                return self._refusals.could_not_look(error, route=kind, language=language)
            values["sources"] = ", ".join(status.title for status in statuses) or "-"
        said = self._persona.say(talk, language, **values)
        return self._refusals.unsearched("no_evidence", "small talk", route=kind, language=language, said=said)

    def _unwritten(self, question: FoundQuestion) -> Answer:
        """What is given when no model is asked."""
        if question.has_nothing:
            return self._refusals.nothing_found(question)
        if question.is_weak:
            return self._refusals.refuse(question, "weak_evidence", question.evidence.verdict.reason)
        return self._answers.quoted(question, notes=(self._persona.say("no_model", question.language),))

    async def _generated(
        self,
        question: FoundQuestion,
        run: ModelRun,
        chain: ModelChain,
        release: Release | None,
        waiting: Waiting | None,
    ) -> Generated:
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
            release=None if question.is_weak else release,  # a weak answer is shown only when all of it has passed
            waiting=waiting,
        )
        if made.faults or made.failure is not None:
            log.info("answer.held_back", faults=made.faults, failure=str(made.failure or ""), model=run.name)
        self.tools.note(model_states(run.skipped, run.name, made.failure, now=self._clock()))
        return made

    def _written(self, question: FoundQuestion, made: Generated, run: ModelRun) -> Answer:
        """What becomes of what the model wrote: an answer, a refusal, or the evidence itself."""
        notes = skipped_notes(run.skipped, run.name, self.tools, question.language)
        refuse = self._refusals.refuse
        if made.failure is not None and not made.cited:
            notes = notes[:-1] if len(run.skipped) == len(run.models) else notes
            return self._without_model(question, made.failure, run.name, notes)
        if not made.cited and made.declined and not made.faults:
            return refuse(question, "weak_evidence", "the model found no answer in the evidence", notes)
        if not made.cited:
            return refuse(question, "uncited", "; ".join(made.faults) or "the model wrote nothing", notes)
        if question.is_weak and (made.faults or made.failure is not None):
            return refuse(question, "weak_evidence", "; ".join(made.faults) or str(made.failure), notes)
        return self._answers.written(question, made, model=run.name, notes=notes)

    def _without_model(self, question: FoundQuestion, failure: ModelError, model: str, notes: Sequence[str]) -> Answer:
        """What is given when the model does not answer: the evidence itself where it is good enough."""
        reason = model_reason(model, failure, self.tools, question.language)
        if question.is_weak:
            away = word("model_away", question.language, reason=reason)
            return self._refusals.refuse(question, "weak_evidence", str(failure).rstrip("."), (*notes, away))
        return self._answers.quoted(question, word("model_failed", question.language, reason=reason), notes)
