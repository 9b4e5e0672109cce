"""Refusals in the persona's words: nothing looked up, nothing found, could not look, not certain enough.

"Found nothing" and "could not look" lead to different refusals. A refusal asks no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from bot.excerpt import Analyze
from bot.finding import FoundQuestion
from bot.notices import search_notes, search_tools_down, unsearched
from bot.persona import Persona
from bot.quoting import nearest_sources
from bot.sources import Link, ToolHistory
from bot.types import Answer, Language, Refusal, RefusalReason, Route
from bot.wording import word
from knowledge.errors import CatalogCorrupt
from knowledge.types import ToolStatus, Verdict


class Refusals:
    """Composes refusals; notes in `tools` what was down."""

    def __init__(
        self,
        *,
        persona: Persona,
        tools: ToolHistory,
        link: Link,
        analyze: Analyze,
        clock: Callable[[], datetime],
    ) -> None:
        self._persona = persona
        self._tools = tools
        self._link = link
        self._analyze = analyze
        self._clock = clock

    def unsearched(
        self, reason: RefusalReason, detail: str, *, route: Route, language: Language, said: str | None = None
    ) -> Answer:
        """The answer to a text for which nothing is looked up; `said` replaces the persona's words for the reason."""
        return Answer(
            text=said or self._persona.say(reason, language),
            citations=(),
            refusal=Refusal(reason=reason, detail=detail),
            verdict=Verdict(decision="none", reason=detail),
            route=route,
        )

    def could_not_look(self, error: Exception, *, route: Route, language: Language) -> Answer:
        """The search itself failed: what is down, and since when."""
        name = "catalog" if isinstance(error, CatalogCorrupt) else "index"
        tool = ToolStatus(name=name, state="down", detail=str(error), checked_at=self._clock())
        self._tools.note([tool])
        said = self._persona.say("tool_down", language, tools=self._tools.describe([tool], language))
        return self.unsearched("tool_down", str(error), route=route, language=language, said=said)

    def nothing_found(self, question: FoundQuestion) -> Answer:
        """No evidence, unless a tool was down or nothing has been indexed yet: then it could not be looked up. Where
        only a source or a vector space could not be searched, that is named, and that the others held nothing is said.
        """
        language, statuses = question.language, question.asked
        read = [status.title for status in statuses if status.last_sync is not None]
        if down := search_tools_down(question.evidence.tools):
            tools = self._tools.describe(down, language)
            return self.refuse(question, "tool_down", tools, tools=tools)
        if statuses and not read:
            tools = f"{word('tool_index', language)} ({word('tool_index_building', language)})"
            return self.refuse(question, "tool_down", tools, tools=tools)
        if missing := [tool for tool in unsearched(statuses, language, now=self._clock()) if tool.state == "down"]:
            tools = self._tools.describe(missing, language)
            said = word("nothing_elsewhere", language, searched=", ".join(read), tools=tools)
            return replace(self.refuse(question, "tool_down", tools, tools=tools), text=said)
        return self.refuse(question, "no_evidence", question.evidence.verdict.reason)

    def refuse(
        self, question: FoundQuestion, reason: RefusalReason, detail: str, notes: Sequence[str] = (), **values: object
    ) -> Answer:
        """A refusal after a search; the nearest sources are shown unless there is nothing near."""
        evidence, language = question.evidence, question.language
        near = reason in ("weak_evidence", "uncited")
        return Answer(
            text=self._persona.say(reason, language, **values),
            citations=(),
            refusal=Refusal(reason=reason, detail=detail),
            verdict=evidence.verdict,
            route=evidence.route,
            degraded=(*notes, *search_notes(evidence, question.statuses, self._tools, language)),
            nearest=nearest_sources(
                evidence.chunks, question.found.terms, self._analyze, language=language, link=self._link
            )
            if near
            else (),
        )
