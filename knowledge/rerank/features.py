"""The order of candidates by cheap features, without a model: what each ranking said, and what the text holds.

Every feature lies between 0 and 1. The weights were found on labelled questions (docs/decisions/0003-gate.md) and are
all positive: nothing that speaks for a text can be held against it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowledge.rerank.code_files import rank_with_files
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_names import how_surely_named
from knowledge.retrieval.code_priors import code_prior
from knowledge.retrieval.coverage import Held, best_piece, coverage, held_wordings, worth
from knowledge.retrieval.document_priors import document_prior
from knowledge.retrieval.question import Question
from knowledge.types import Chunk

_MAX_PASSAGES = 200
_WHOLE_SECTION = 1.0  # of what a section holds beyond its best part
_CLEARLY = 0.5  # of a word's weight, 0..10: by less no other part is taken for the better one
_IN_ORDER = 0.6  # "서울-부산" rather than "부산-서울" for "서울에서 부산"
_OTHER_WORDS = 0.8  # of a word that is there in other words
_COMPLETING = {"coverage": 0.3, "label": 0.5, "passage": 0.3, "answer": 0.3}
_PASSAGE_BREAK = re.compile(r"\n|(?<=[.다])\s(?=[①-⑳가-힣A-Z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWeights:
    """What each feature adds to the order."""

    fused: float  # reciprocal rank fusion, 1 for the best candidate
    dense: float  # cosine, 1 for the best and 0 for the worst candidate, averaged over the vector spaces
    dense_added: float  # the same for the question in the words of the texts
    keyword: float  # BM25 relative to the best
    keyword_added: float  # the same with the words of the texts
    coverage: float  # share of the question's weight that the text holds
    label: float  # the same for title, label, path and symbol alone
    passage: float  # the same for the best single line or sentence
    answer: float  # whether the text has the kind of thing that is asked for (amount, days, share, count)
    identifier: float  # how surely the text is the definition that the question names
    mentioned: float  # whether the text stands in a file that the question names


DOCUMENT_WEIGHTS = RankingWeights(
    fused=1.5,
    dense=0.8,
    dense_added=0.1,
    keyword=0.3,
    keyword_added=1.5,
    coverage=3.0,
    label=0.6,
    passage=1.0,
    answer=0.8,
    identifier=0.0,
    mentioned=1.0,
)
CODE_WEIGHTS = RankingWeights(
    fused=0.6,
    dense=0.4,
    dense_added=0.7,
    keyword=0.9,
    keyword_added=0.8,
    coverage=2.0,
    label=1.8,
    passage=0.0,
    answer=0.0,
    identifier=2.0,
    mentioned=1.0,
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
    dense = _relative(candidates, "dense_scores")
    dense_added = _relative(candidates, "added_dense_scores")
    best_rrf = max((candidate.rrf for candidate in candidates), default=0.0) or 1.0
    best_bm25 = max((candidate.keyword_score or 0.0 for candidate in candidates), default=0.0) or 1.0
    best_added = max((candidate.added_keyword_score or 0.0 for candidate in candidates), default=0.0) or 1.0
    for candidate in candidates:
        features = text_features(question, candidate, term_weights)
        features["fused"] = candidate.rrf / best_rrf
        features["dense"] = dense.get(candidate.chunk.id, 0.0)
        features["dense_added"] = dense_added.get(candidate.chunk.id, 0.0)
        features["keyword"] = (candidate.keyword_score or 0.0) / best_bm25
        features["keyword_added"] = (candidate.added_keyword_score or 0.0) / best_added
        candidate.features |= features
        candidate.score = sum(getattr(chosen, name) * value for name, value in features.items())
        if question.kind == "code":
            candidate.score *= code_prior(candidate.chunk, about_tests=question.about_tests)
        else:
            candidate.score *= document_prior(candidate.chunk, question.text)
    ranked = sorted(candidates, key=lambda candidate: -candidate.score)
    return rank_with_files(question, ranked, term_weights) if question.kind == "code" else ranked


def rank_by_whole_sections(
    question: Question,
    leading: Sequence[Candidate],
    term_weights: Mapping[str, float],
    *,
    weights: RankingWeights = DOCUMENT_WEIGHTS,
) -> list[Candidate]:
    """The candidates in the order of what their sections hold, now that their parts are joined; ties keep their order.

    A table that was cut names its columns in one part and the row that is asked for in another.
    """
    for candidate in leading:
        if len(candidate.parts) < 2:
            continue
        for name, value in text_features(question, candidate, term_weights).items():
            more = value - candidate.features.get(name, 0.0)
            if more > 0.0:
                candidate.features[name] = value
                candidate.score += _WHOLE_SECTION * getattr(weights, name) * more
    return sorted(leading, key=lambda candidate: -candidate.score)


def most_telling_part(
    question: Question, chunk: Chunk, parts: Sequence[Chunk], term_weights: Mapping[str, float]
) -> Chunk:
    """The part of a section whose best line holds most of the question; `chunk`, one of them, if none holds more.

    Of a long table every part repeats the header, so that only words count that some parts lack: the row decides.
    """
    texts = {part.id: Held(part.text) for part in parts}
    telling: dict[str, tuple[str, ...]] = {}
    for term in term_weights:
        wordings = (term, *question.expansions.get(term, ()))
        if not all(any(wording in held for wording in wordings) for held in texts.values()):
            telling[term] = wordings
    best = _line_weight(telling, texts[chunk.id], term_weights)
    for part in parts:
        weight = _line_weight(telling, texts[part.id], term_weights)
        if weight > best + _CLEARLY:
            chunk, best = part, weight
    return chunk


def _line_weight(telling: Mapping[str, Sequence[str]], part: Held, term_weights: Mapping[str, float]) -> float:
    """What the best line of a part holds, a little more where the words stand in the order of the question."""
    best = 0.0
    if not any(wording in part for wordings in telling.values() for wording in wordings):
        return best
    for line in _lines(part.text):
        held = Held(line)
        weight = 0.0
        places: list[int] = []
        for term, wordings in telling.items():
            found = next((wording for wording in wordings if wording in held), None)
            if found is not None:
                weight += term_weights[term] if found == term else worth(term_weights, term, found)
                places.append(held.squeezed.find(found))
        if len(places) > 1 and all(0 <= a < b for a, b in itertools.pairwise(places)):
            weight += _IN_ORDER
        best = max(best, weight)
    return best


def completeness(question: Question, first: Candidate, second: Candidate, term_weights: Mapping[str, float]) -> float:
    """How well a second section completes a first one: the words that both hold together, and what the second tells."""
    total = sum(term_weights.values())
    if total <= 0.0:
        return 0.0
    both = sum(
        weight * (1.0 if any(term in c.held for c in (first, second)) else _OTHER_WORDS)
        for term, weight in term_weights.items()
        if any(wording in c.held for wording in (term, *question.expansions.get(term, ())) for c in (first, second))
    )
    told = text_features(question, second, term_weights)
    return both / total + sum(_COMPLETING[name] * told[name] for name in _COMPLETING)


def text_features(question: Question, candidate: Candidate, term_weights: Mapping[str, float]) -> dict[str, float]:
    """The features that depend on one text alone, 0..1 each."""
    chunk = candidate.chunk
    path = chunk.locator.uri if question.kind == "code" else None
    head = Held(" ".join(filter(None, (chunk.title, chunk.locator.label, chunk.locator.symbol, path))))
    pattern = question.answer_pattern
    total = sum(term_weights.values())
    wordings = held_wordings(term_weights, question.expansions, candidate.held) if total > 0.0 else []
    return {
        "coverage": sum(options[0][1] for options in wordings) / total if wordings else 0.0,
        "label": coverage(term_weights, question.expansions, head),
        "passage": 0.0 if question.kind == "code" or not wordings else best_piece(wordings, _lines(chunk.text)) / total,
        "answer": float(pattern is not None and pattern.search(chunk.text) is not None),
        "identifier": how_surely_named(question.identifiers, chunk),
        "mentioned": float(any(_ends_like(chunk.locator.uri, file) for file in question.files)),
    }


def _lines(text: str) -> Iterator[str]:
    """Lines and sentences of a text, the first ones of a long one."""
    return (piece for piece in _PASSAGE_BREAK.split(text)[:_MAX_PASSAGES] if piece.strip())


def _ends_like(uri: str, file: str) -> bool:
    return uri == file or uri.endswith("/" + file)


def _relative(candidates: Sequence[Candidate], scores: str) -> dict[str, float]:
    """Chunk id -> its cosine between the worst (0) and the best (1) of the candidates, averaged over vector spaces."""
    by_space: dict[str, dict[str, float]] = {}
    for candidate in candidates:
        for space, cosine in getattr(candidate, scores).items():
            by_space.setdefault(space, {})[candidate.chunk.id] = cosine
    relative: dict[str, float] = {}
    for known in by_space.values():
        low, high = min(known.values()), max(known.values())
        for chunk_id, cosine in known.items():
            share = (cosine - low) / (high - low) if high > low else 1.0
            relative[chunk_id] = relative.get(chunk_id, 0.0) + share / len(by_space)
    return relative
