"""What each kind of source has to say to a question, and one result of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from knowledge.retrieval.fusion import interleave
from knowledge.types import Evidence, EvidenceKind, ScoredChunk, ToolStatus, Verdict

_CLOSE = 0.15  # two kinds whose probabilities differ by less both belong to the answer
_BAND_ORDER = {"none": 0, "weak": 1, "ok": 2}


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What one kind of source has to say."""

    kind: EvidenceKind
    evidence: list[ScoredChunk]
    verdict: Verdict
    tools: list[ToolStatus] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    took_ms: dict[str, float] = field(default_factory=dict)
    features: dict[str, float] = field(default_factory=dict)
    vanished: bool = False  # whether something that was found by its words was replaced before it could be read

    @property
    def strength(self) -> float:
        """Comparable between kinds: the probability, or a value inside the band of the verdict without one."""
        if self.verdict.probability is not None:
            return self.verdict.probability
        return (_BAND_ORDER[self.verdict.decision] + self.features.get("coverage", 0.0)) / 3


def combine(
    query: str, outcomes: Sequence[Outcome], *, asked: EvidenceKind | None, top_k: int, total_ms: float
) -> Evidence:
    """One result of the outcomes of both kinds: the stronger leads, the other joins when it is about as strong."""
    ordered = sorted(outcomes, key=lambda outcome: -outcome.strength)
    took_ms = {"total": total_ms} | dict.fromkeys(("embed", "dense", "keyword", "rerank"), 0.0)
    for outcome in outcomes:
        for stage, ms in outcome.took_ms.items():
            took_ms[stage] = took_ms.get(stage, 0.0) + ms
    taking_part = _taking_part(ordered)
    route: Literal["docs", "code", "both"] = asked or "both"
    if len(taking_part) == 1:
        route = taking_part[0].kind
    nothing = Verdict(decision="none", reason="there is no source of this kind to search")
    return Evidence(
        query=query,
        route=route,
        chunks=tuple(_merged(taking_part)[:top_k]),
        verdict=ordered[0].verdict if ordered else nothing,
        tools=_states(outcomes),
        degraded=tuple(dict.fromkeys(sentence for outcome in outcomes for sentence in outcome.degraded)),
        took_ms=took_ms,
    )


def _states(outcomes: Sequence[Outcome]) -> tuple[ToolStatus, ...]:
    """The tools by name; one that was down for either kind is down."""
    found: dict[str, ToolStatus] = {}
    for tool in (tool for outcome in outcomes for tool in outcome.tools):
        if tool.name not in found or found[tool.name].state == "ok":
            found[tool.name] = tool
    return tuple(found.values())


def _taking_part(ordered: Sequence[Outcome]) -> list[Outcome]:
    """The strongest kind, and the other one when its evidence is close and not of a lower band than "weak"."""
    with_evidence = [outcome for outcome in ordered if outcome.evidence]
    if len(with_evidence) < 2:
        return list(with_evidence)
    first, second = with_evidence
    close = first.strength - second.strength < _CLOSE
    belongs = second.verdict.decision != "none" or first.verdict.decision == "none"
    return [first, second] if close and belongs else [first]


def _merged(outcomes: Sequence[Outcome]) -> list[ScoredChunk]:
    if len(outcomes) < 2:
        return [chunk for outcome in outcomes for chunk in outcome.evidence]
    by_id = {scored.chunk.id: scored for outcome in outcomes for scored in outcome.evidence}
    first, second = ([scored.chunk.id for scored in outcome.evidence] for outcome in outcomes)
    return [by_id[chunk_id] for chunk_id in interleave(first, second)]
