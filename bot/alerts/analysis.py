"""From an alert and its evidence to a checked finding of a model: a claim without evidence is cut, a diff that does not
apply is dropped, and a reply that keeps to no form leaves the evidence to speak for itself."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from typing import Literal

import structlog
from pydantic import BaseModel, Field

from bot.alerts.alert import Alert
from bot.alerts.diffs import DoesNotApply, apply_diff
from bot.alerts.evidence import Gathered, Library, Piece
from bot.citing import EvidenceIndex
from bot.errors import ModelError
from bot.orders import withhold_orders
from bot.ports import ChatModel
from bot.prompting import cut_lines, number_evidence, prompt_text
from bot.sentences import split_sentences
from bot.structured import complete_as
from bot.types import ChatTurn, Language
from knowledge.errors import KnowledgeError
from knowledge.types import ScoredChunk

MAX_CALLS = 3
LIMIT_S = 180.0
ALERT_TOKENS, EVIDENCE_TOKENS, PAST_TOKENS = 900, 3500, 400

log = structlog.get_logger(__name__)


class Request(BaseModel):
    """What the model wants to look up before it concludes; "none" when it has enough."""

    tool: Literal["search_code", "search_documents", "definition", "none"]
    argument: str = Field(default="", max_length=300)


class Fix(BaseModel):
    """A change of one cited file."""

    evidence: int = Field(ge=1)
    diff: str = Field(max_length=12_000)


class Finding(BaseModel):
    """What a model concludes."""

    summary: str = Field(min_length=1, max_length=1200)
    cause: str = Field(min_length=1, max_length=2400)
    fix: Fix | None = None
    confidence: Literal["high", "medium", "low"]
    next_steps: list[str] = Field(default_factory=list, max_length=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """What may be shown: only what passed its checks."""

    gathered: Gathered
    summary: str = ""
    cause: str = ""
    cited: tuple[int, ...] = ()
    fix: str = ""
    fixed: int | None = None  # the piece whose file the fix changes
    confidence: str = ""
    next_steps: tuple[str, ...] = ()
    why_without_model: Literal["", "none", "failed", "invalid"] = "none"

    @property
    def is_valid(self) -> bool:
        """Whether a cause stands on evidence: only such an analysis is remembered."""
        return bool(self.cause and self.cited)


async def analyse(
    alert: Alert, gathered: Gathered, *, model: ChatModel | None, library: Library, language: Language
) -> Analysed:
    """The analysis of a fault; without a usable model, the evidence alone."""
    if model is None or not gathered.pieces:
        return Analysed(gathered=gathered)
    try:
        async with asyncio.timeout(LIMIT_S):
            gathered = await _look_further(alert, gathered, model, library, language)
            return await _conclude(alert, gathered, model, library, language)
    except (ModelError, TimeoutError) as error:
        log.warning("alert.model_failed", reason=str(error) or "too slow")
        return Analysed(gathered=gathered, why_without_model="failed")


async def _look_further(
    alert: Alert, gathered: Gathered, model: ChatModel, library: Library, language: Language
) -> Gathered:
    """The evidence with what the model asked for: read-only, bounded, and within the scope of the channel."""
    asked: set[tuple[str, str]] = set()
    for _ in range(MAX_CALLS):
        turns = _turns(alert, gathered, language, task="alert_tools")
        request = await complete_as(model, turns, Request)
        argument = " ".join(request.argument.split())
        if request.tool == "none" or not argument or (request.tool, argument) in asked:
            break
        asked.add((request.tool, argument))
        try:
            found = await asyncio.to_thread(_carry_out, request.tool, argument, gathered, library)
        except KnowledgeError as error:
            gathered = replace(gathered, degraded=(*gathered.degraded, str(error)))
            break
        known = {piece.scored.chunk.id for piece in gathered.pieces}
        new = [scored for scored in found if scored.chunk.id not in known][:2]
        first = len(gathered.pieces) + 1
        more = tuple(Piece(number=first + n, scored=scored) for n, scored in enumerate(new))
        gathered = replace(gathered, pieces=(*gathered.pieces, *more))
    return gathered


def _carry_out(tool: str, argument: str, gathered: Gathered, library: Library) -> list[ScoredChunk]:
    if tool == "definition":
        return [ScoredChunk(chunk=chunk) for chunk in library.definition(argument, scope=gathered.scope)[:2]]
    kind: Literal["code", "docs"] = "code" if tool == "search_code" else "docs"
    return list(library.search(argument, scope=gathered.scope, top_k=3, kind=kind).chunks)


async def _conclude(
    alert: Alert, gathered: Gathered, model: ChatModel, library: Library, language: Language
) -> Analysed:
    """The finding after its checks; asked for once more, with the fault named, when nothing of the cause is left."""
    turns = _turns(alert, gathered, language, task="alert_conclude")
    numbered = number_evidence([piece.scored for piece in gathered.pieces], EVIDENCE_TOKENS)
    index = EvidenceIndex(numbered, _alert_text(alert), language=language, instructions=turns[0].content)
    for attempt in (1, 2):
        finding = await complete_as(model, turns, Finding)
        summary, _, _ = _checked(finding.summary, index)
        cause, cited, faults = _checked(finding.cause, index)
        if cause:
            fix = await asyncio.to_thread(_tried, finding.fix, gathered, library)
            return Analysed(
                gathered=gathered,
                summary=summary,
                cause=cause,
                cited=cited,
                fix=fix,
                fixed=finding.fix.evidence if fix and finding.fix else None,
                confidence=finding.confidence,
                next_steps=tuple(s for step in finding.next_steps if (s := _step(step, index))),
                why_without_model="",
            )
        log.info("alert.finding_refused", attempt=attempt, faults=faults)
        repair = prompt_text("alert_repair", faults="; ".join(faults)[:600])
        turns = (
            *turns,
            ChatTurn(role="assistant", content=finding.model_dump_json()),
            ChatTurn(role="user", content=repair),
        )
    return Analysed(gathered=gathered, why_without_model="invalid")


def _checked(text: str, index: EvidenceIndex) -> tuple[str, tuple[int, ...], list[str]]:
    """(sentences that pass, the evidence that they name, what was wrong with the others)."""
    kept: list[str] = []
    cited: list[int] = []
    faults: list[str] = []
    for sentence in split_sentences(text):
        checked = index.check(sentence)
        if checked.fault is not None:
            faults.append(checked.fault)
        elif checked.cited and not checked.is_lead:
            kept.append(checked.text.strip())
            cited += checked.cited
    return " ".join(kept), tuple(dict.fromkeys(cited)), faults


def _step(step: str, index: EvidenceIndex) -> str:
    """A next step as one line, without links, mentions and orders."""
    return index.sanitise(" ".join(withhold_orders(step).split()))[:300].strip()


def _tried(fix: Fix | None, gathered: Gathered, library: Library) -> str:
    """The diff when it applies to the file of the evidence that it names; "" when it does not."""
    piece = next((one for one in gathered.pieces if fix is not None and one.number == fix.evidence), None)
    if fix is None or piece is None or piece.scored.chunk.evidence_kind != "code" or "```" in fix.diff:
        return ""
    try:
        passage = library.passage(piece.scored.chunk.id, scope=gathered.scope)
        apply_diff(passage.lines, fix.diff, path=piece.scored.chunk.locator.uri)
    except (DoesNotApply, KnowledgeError) as error:
        log.info("alert.fix_dropped", reason=str(error))
        return ""
    return fix.diff.strip("\n")


def _turns(alert: Alert, gathered: Gathered, language: Language, *, task: str) -> tuple[ChatTurn, ...]:
    evidence = number_evidence([piece.scored for piece in gathered.pieces], EVIDENCE_TOKENS)
    shown = "\n\n".join(f'<evidence id="{item.number}">\n{_inert(item.text)}\n</evidence>' for item in evidence)
    changes = "\n".join(
        f"- [{number}] {change.commit[:10]} {change.committed_at:%Y-%m-%d} {change.author}: {change.summary}"
        for number, change in gathered.changes
    )
    past = "\n".join(f"- {one.case.error_class}: {one.case.cause}" for one in gathered.past)
    content = prompt_text(
        "alert_case",
        alert=cut_lines(_inert(_alert_text(alert)), ALERT_TOKENS) or _inert(alert.title)[:300],
        evidence=shown,
        changes=_inert(changes) or "-",
        past=cut_lines(_inert(past), PAST_TOKENS) or "-",
    )
    system = prompt_text(task, language="Korean" if language == "ko" else "English")
    return (ChatTurn(role="system", content=system), ChatTurn(role="user", content=content))


_TAG = re.compile(r"</?\s*(?:alert|evidence|past)\b", re.IGNORECASE)


def _inert(text: str) -> str:
    """Data without orders, and without what would end the part of the prompt in which it stands."""
    return _TAG.sub("(tag", withhold_orders(text))


def _alert_text(alert: Alert) -> str:
    head = f"{alert.service or '-'} {alert.environment or ''} {alert.error_class or ''}: {alert.message or alert.title}"
    return f"{head}\n{alert.raw}"
