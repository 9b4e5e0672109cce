"""The order of candidates by cheap features, without a model: what each ranking said, and what the text holds.

Every feature lies between 0 and 1. The weights were found on labelled questions (docs/decisions/0003-gate.md) and are
all positive: nothing that speaks for a text can be held against it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_priors import code_prior
from knowledge.retrieval.coverage import coverage, squeeze
from knowledge.retrieval.question import Question

_PASSAGE_BREAK = re.compile(r"\n|(?<=[.다])\s(?=[①-⑳가-힣A-Z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWeights:
    """What each feature adds to the order."""

    fused: float  # reciprocal rank fusion, 1 for the best candidate
    dense: float  # cosine, 1 for the best and 0 for the worst candidate, averaged over the vector spaces
    keyword: float  # BM25 relative to the best
    coverage: float  # share of the question's weight that the text holds
    label: float  # the same for label or symbol and title alone
    passage: float  # the same for the best single line or sentence
    answer: float  # whether the text has the kind of thing that is asked for (amount, days, share, count)
    identifier: float  # whether the text is the definition that the question names


DOCUMENT_WEIGHTS = RankingWeights(
    fused=1.0, dense=0.3, keyword=0.2, coverage=0.6, label=0.2, passage=0.2, answer=0.15, identifier=0.0
)
CODE_WEIGHTS = RankingWeights(
    fused=1.0, dense=0.3, keyword=0.2, coverage=0.2, label=0.3, passage=0.0, answer=0.0, identifier=0.6
)


def rank_by_features(
    question: Question,
    candidates: Sequence[Candidate],
    term_weights: Mapping[str, float],
    *,
    weights: RankingWeights | None = None,
) -> list[Candidate]:
    """The candidates, best first, with `features` and `score` filled in; ties keep their order.

    `term_weights` holds the weight of every word of the question (`coverage.term_weights`).
    """
    chosen = weights or (CODE_WEIGHTS if question.kind == "code" else DOCUMENT_WEIGHTS)
    dense = _relative_cosines(candidates)
    best_rrf = max((candidate.rrf for candidate in candidates), default=0.0) or 1.0
    best_bm25 = max((candidate.keyword_score or 0.0 for candidate in candidates), default=0.0) or 1.0
    for candidate in candidates:
        features = text_features(question, candidate, term_weights)
        features["fused"] = candidate.rrf / best_rrf
        features["dense"] = dense.get(candidate.chunk.id, 0.0)
        features["keyword"] = (candidate.keyword_score or 0.0) / best_bm25
        candidate.features |= features
        candidate.score = sum(getattr(chosen, name) * value for name, value in features.items())
        if question.kind == "code":
            candidate.score *= code_prior(candidate.chunk, about_tests=question.about_tests)
    return sorted(candidates, key=lambda candidate: -candidate.score)


def text_features(question: Question, candidate: Candidate, term_weights: Mapping[str, float]) -> dict[str, float]:
    """The features that depend on one text alone, 0..1 each."""
    chunk = candidate.chunk
    head = squeeze(" ".join(filter(None, (chunk.title, chunk.locator.label, chunk.locator.symbol))))
    if question.kind == "code":
        head += squeeze(chunk.locator.uri)
    pattern = question.answer_pattern
    return {
        "coverage": coverage(term_weights, question.expansions, candidate.squeezed),
        "label": coverage(term_weights, question.expansions, head),
        "passage": 0.0 if question.kind == "code" else _best_passage(question, chunk.text, term_weights),
        "answer": float(pattern is not None and pattern.search(chunk.text) is not None),
        "identifier": float(_is_named(question, chunk.locator.symbol)),
    }


def _best_passage(question: Question, text: str, term_weights: Mapping[str, float]) -> float:
    pieces = [squeeze(piece) for piece in _PASSAGE_BREAK.split(text)[:200]]
    return max((coverage(term_weights, question.expansions, piece) for piece in pieces if piece), default=0.0)


def _is_named(question: Question, symbol: str | None) -> bool:
    """Whether the question names this definition, alone or with its class."""
    if not symbol:
        return False
    parts = symbol.casefold().split(".")
    for identifier in question.identifiers:
        named = identifier.casefold().split(".")
        if named == parts[-len(named) :] or (len(parts) == 1 and parts[0] == named[0]):
            return True
    return False


def _relative_cosines(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Chunk id -> its cosine between the worst (0) and the best (1) of the candidates, averaged over vector spaces."""
    spaces = {space for candidate in candidates for space in candidate.dense_scores}
    relative: dict[str, float] = {}
    for space in spaces:
        known = [candidate.dense_scores[space] for candidate in candidates if space in candidate.dense_scores]
        low, high = min(known), max(known)
        for candidate in candidates:
            if space in candidate.dense_scores:
                share = (candidate.dense_scores[space] - low) / (high - low) if high > low else 1.0
                relative[candidate.chunk.id] = relative.get(candidate.chunk.id, 0.0) + share / len(spaces)
    return relative
