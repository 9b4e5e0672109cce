"""Evidence of a question and of its translation as one: reciprocal rank fusion of the code, the stronger verdict."""

from __future__ import annotations

from dataclasses import replace

from knowledge.types import Evidence, ScoredChunk, Verdict

_K = 60  # Cormack, Clarke, Buettcher 2009
_BANDS = {"none": 0, "weak": 1, "ok": 2}


def fuse_translated(first: Evidence, second: Evidence, *, top_k: int) -> Evidence:
    """`first` with the code that `second`, the search in English, found; the better verdict holds."""
    took_ms = {**first.took_ms, "translated": second.took_ms.get("total", 0.0)}
    degraded = tuple(dict.fromkeys((*first.degraded, *second.degraded)))
    first = replace(first, took_ms=took_ms, degraded=degraded)
    if second.verdict.decision == "none" or not second.chunks:
        return first
    docs = [scored for scored in first.chunks if scored.chunk.evidence_kind == "docs"]
    if docs and _strength(first.verdict) > _strength(second.verdict) and first.route == "docs":
        return first
    code = _fused([s for s in first.chunks if s.chunk.evidence_kind == "code"], list(second.chunks))
    verdict = max(first.verdict, second.verdict, key=_strength)
    both = bool(docs) and _BANDS[first.verdict.decision] >= _BANDS[second.verdict.decision]
    if not both:
        return replace(first, route="code", chunks=tuple(code[:top_k]), verdict=verdict)
    kept = docs[: top_k // 2]
    return replace(first, route="both", chunks=(*code[: top_k - len(kept)], *kept), verdict=verdict)


def _strength(verdict: Verdict) -> tuple[int, float]:
    return _BANDS[verdict.decision], verdict.probability or 0.0


def _fused(first: list[ScoredChunk], second: list[ScoredChunk]) -> list[ScoredChunk]:
    scores: dict[str, float] = {}
    known: dict[str, ScoredChunk] = {}
    for ranking in (first, second):
        for rank, scored in enumerate(ranking, start=1):
            known.setdefault(scored.chunk.id, scored)
            scores[scored.chunk.id] = scores.get(scored.chunk.id, 0.0) + 1.0 / (_K + rank)
    return [known[chunk_id] for chunk_id in sorted(scores, key=lambda chunk_id: -scores[chunk_id])]
