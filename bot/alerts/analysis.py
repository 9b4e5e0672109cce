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
from bot.alerts.diffs import DoesNotApply, proved_diff
from bot.alerts.evidence import Change, Gathered, Library
from bot.alerts.tools import Request, carry_out
from bot.citing import EvidenceIndex
from bot.errors import ModelError, ModelReplyInvalid
from bot.orders import withhold_orders
from bot.ports import ChatModel
from bot.prompting import cut_lines, number_evidence, prompt_text
from bot.sentences import split_sentences
from bot.structured import complete_as
from bot.types import ChatTurn, Language
from knowledge.errors import KnowledgeError
from knowledge.masking import mask
from knowledge.types_cases import Recalled

MAX_CALLS = 3
LIMIT_S = 180.0
ALERT_TOKENS, EVIDENCE_TOKENS, PAST_TOKENS = 900, 3500, 400

log = structlog.get_logger(__name__)


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
    why_without_model: Literal["", "none", "failed", "invalid", "denied"] = "none"

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
    except ModelReplyInvalid as error:
        log.warning("alert.model_failed", reason=str(error))
        return Analysed(gathered=gathered, why_without_model="invalid")
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
        try:
            request = await complete_as(model, turns, Request)
        except ModelReplyInvalid:  # it may still be able to conclude
            break
        argument = " ".join(request.argument.split())
        if request.tool == "none" or not argument or (request.tool, argument) in asked:
            break
        asked.add((request.tool, argument))
        try:
            gathered = await asyncio.to_thread(carry_out, request.tool, argument, gathered, library)
        except KnowledgeError as error:
            return replace(gathered, degraded=(*gathered.degraded, str(error)))
    return gathered


async def _conclude(
    alert: Alert, gathered: Gathered, model: ChatModel, library: Library, language: Language
) -> Analysed:
    """The finding after its checks; asked for once more, with the fault named, when nothing of the cause is left."""
    turns = _turns(alert, gathered, language, task="alert_conclude")
    numbered = number_evidence([piece.scored for piece in gathered.pieces], EVIDENCE_TOKENS)
    index = EvidenceIndex(numbered, _alert_text(alert), language=language, instructions=turns[0].content)
    for attempt in (1, 2):
        finding = await complete_as(model, turns, Finding)
        summary, summed, _ = _checked(finding.summary, index)
        cause, cited, faults = _checked(finding.cause, index)
        if cause:
            fix = await asyncio.to_thread(_tried, finding.fix, gathered, library)
            return Analysed(
                gathered=gathered,
                summary=summary,
                cause=cause,
                cited=tuple(dict.fromkeys((*cited, *summed))),
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
            kept.append(mask(checked.text.strip()))
            cited += checked.cited
    return " ".join(kept), tuple(dict.fromkeys(cited)), faults


def _step(step: str, index: EvidenceIndex) -> str:
    """A next step as one line, without links, mentions and orders."""
    return mask(index.sanitise(" ".join(withhold_orders(step).split()))[:300].strip())


def _tried(fix: Fix | None, gathered: Gathered, library: Library) -> str:
    """The diff when it applies to the file of the evidence that it names; "" when it does not."""
    piece = next((one for one in gathered.pieces if fix is not None and one.number == fix.evidence), None)
    if fix is None or piece is None or piece.scored.chunk.evidence_kind != "code":
        return ""
    try:
        passage = library.passage(piece.scored.chunk.id, scope=gathered.scope)
        return proved_diff(passage.lines, fix.diff, path=passage.uri, ends_with_newline=passage.ends_with_newline)
    except (DoesNotApply, KnowledgeError) as error:
        log.info("alert.fix_dropped", reason=str(error))
        return ""


def _turns(alert: Alert, gathered: Gathered, language: Language, *, task: str) -> tuple[ChatTurn, ...]:
    evidence = number_evidence([piece.scored for piece in gathered.pieces], EVIDENCE_TOKENS)
    shown = "\n\n".join(f'<evidence id="{item.number}">\n{_inert(item.text)}\n</evidence>' for item in evidence)
    changes = "\n".join(_change_line(change) for change in gathered.changes)
    past = "\n".join(
        [f"- {_kind_of(one)}: {one.case.error_class}: {one.case.cause}" for one in gathered.past]
        + [f"- people called this WRONG for this fault, do not conclude it again: {cause}" for cause in gathered.wrong]
    )
    content = prompt_text(
        "alert_case",
        alert=cut_lines(_inert(_alert_text(alert)), ALERT_TOKENS) or _inert(alert.title)[:300],
        evidence=shown,
        changes=_inert(changes) or "-",
        past=cut_lines(_inert(past), PAST_TOKENS) or "-",
    )
    system = prompt_text(task, language="Korean" if language == "ko" else "English")
    return (ChatTurn(role="system", content=system), ChatTurn(role="user", content=content))


def _change_line(change: Change) -> str:
    commit = change.commit
    marks = ", wrote the failing line" if change.is_line else ""
    marks += ", not deployed yet" if change.is_later else ""
    when = f"{commit.committed_at:%Y-%m-%d}"
    return f"- [{change.piece}] {commit.commit[:10]} {when} {commit.author}: {commit.summary}{marks}"


def _kind_of(one: Recalled) -> str:
    said = "told by a person" if one.case.is_correction else f"{one.match} fault before"
    return f"{said}, its code has changed since" if one.case.is_stale else said


_TAG = re.compile(r"</?\s*(?:alert|evidence|past)\b", re.IGNORECASE)


def _inert(text: str) -> str:
    """Data without orders, and without what would end the part of the prompt in which it stands."""
    return _TAG.sub("(tag", withhold_orders(text))


def _alert_text(alert: Alert) -> str:
    head = f"{alert.service or '-'} {alert.environment or ''} {alert.error_class or ''}: {alert.message or alert.title}"
    return f"{head}\n{alert.raw}"
