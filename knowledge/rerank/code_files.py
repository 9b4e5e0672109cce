"""How a file speaks for the definitions in it: what is asked for is often spread over several of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_history import CHANGED
from knowledge.retrieval.code_literals import QUOTED, note_quotes
from knowledge.retrieval.code_priors import code_prior
from knowledge.retrieval.question import Question

SUPPORT = 0.8  # of the mean score of the best neighbours in the file, relative to the best of all
CHANGES = 0.7  # of what the commits say that touched the file
QUOTES = 2.0  # of a text that holds what the question quotes
TOGETHER = 1.0  # of the share of the question that the candidates of a file hold together, for translated questions
_NEIGHBOURS = 3
_TOGETHER_CANDIDATES = 6
_HANGUL = re.compile(r"[가-힣]")


def rank_with_files(
    question: Question, ranked: Sequence[Candidate], term_weights: Mapping[str, float]
) -> list[Candidate]:
    """The candidates, best first, with what their files add to their scores; ties keep their order.

    A definition in a file that holds more of what was found goes before an equal one that stands alone. The words of a
    translated question are less exact, so that for those the file as a whole is asked for them too.
    """
    if not ranked or ranked[0].score <= 0.0:
        return list(ranked)
    by_file: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in ranked:
        locator = candidate.chunk.locator
        by_file.setdefault((locator.source, locator.uri), []).append(candidate)
    note_quotes(ranked, question)
    best = ranked[0].score
    translated = _HANGUL.search(question.text) is not None and bool(question.expansions)
    added: list[tuple[Candidate, float]] = []
    for of_file in by_file.values():
        together = _held_together(question, of_file, term_weights) if translated else 0.0
        leading = of_file[: _NEIGHBOURS + 1]
        for candidate in of_file:
            others = sum(other.score for other in leading if other is not candidate)
            candidate.features["file_support"] = min(1.0, others / (_NEIGHBOURS * best))
            candidate.features["file_coverage"] = together
            support = SUPPORT * others / (_NEIGHBOURS * best) + TOGETHER * together
            support += CHANGES * candidate.features.get(CHANGED, 0.0) + QUOTES * candidate.features.get(QUOTED, 0.0)
            added.append((candidate, support * code_prior(candidate.chunk, about_tests=question.about_tests)))
    for candidate, support in added:
        candidate.score += support
    return sorted(ranked, key=lambda candidate: -candidate.score)


def _held_together(question: Question, of_file: Sequence[Candidate], term_weights: Mapping[str, float]) -> float:
    """Share of the question's weight that the leading candidates of a file hold together, 0..1."""
    total = sum(term_weights.values())
    if total <= 0.0:
        return 0.0
    held = sum(
        weight
        for term, weight in term_weights.items()
        if any(
            wording in candidate.held
            for candidate in of_file[:_TOGETHER_CANDIDATES]
            for wording in (term, *question.expansions.get(term, ()))
        )
    )
    return held / total
