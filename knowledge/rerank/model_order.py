"""What a reranking model says, joined with the order by features.

A model's numbers are the logarithms of odds, and only their differences mean something: 0 stands for the worst of the
candidates, 1 for the best. What that is worth is added to the scores, so that both have a say and whatever is looked up
later (whole sections, appendices, revisions) goes on from one score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from knowledge.errors import BadInput, ModelMissing, ToolDown
from knowledge.ports import Reranker
from knowledge.rerank.config import RerankerConfig
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_priors import code_prior
from knowledge.retrieval.document_priors import document_prior
from knowledge.retrieval.question import Question
from knowledge.retrieval.recall import Recalled
from knowledge.retrieval.revisions import OTHER_TIME_PRIOR, Revisions
from knowledge.types import Chunk, ToolStatus

RERANKER = "reranker"
_FAR_BEHIND = 0.3  # of the question's weight: a kind that holds so much less is not what is asked for
_JUDGED = 3  # leading candidates on which the gate's verdict rests: they stay among what is shown
_JUDGED_BEHIND = 4  # places that may come before them
_TELLING_SPREAD = 2.0  # between best and worst, in logarithms of odds: a model that tells less apart says less


class ModelOrder:
    """Asks the reranker, if there is one; without it, or when it cannot be used, the order stays as it is."""

    def __init__(self, reranker: Reranker | None, config: RerankerConfig, clock: Callable[[], datetime]) -> None:
        self._reranker = reranker
        self._config = config
        self._clock = clock

    def shares(self, coverages: Sequence[float]) -> list[int]:
        """How many candidates of each kind the model reads: a question never waits for more than are set. A kind that
        holds far less of the question (0..1 each) gets none, else they share."""
        best = max(coverages, default=0.0)
        near = [coverage >= best - _FAR_BEHIND for coverage in coverages]
        return [self._config.candidates // sum(near) if is_near else 0 for is_near in near]

    def order(
        self,
        question: Question,
        ranked: list[Candidate],
        revisions: Revisions,
        recalled: Recalled,
        *,
        candidates: int,
    ) -> list[Candidate]:
        """The candidates, best first; in `recalled` stands whether the model could be asked.

        It reads the best part of each of so many sections. A stack trace is no question that a model could read: its
        frames say what comes first.
        """
        if self._reranker is None or not ranked or question.frames or candidates < 1:
            return ranked
        sections = {candidate.group: candidate for candidate in reversed(ranked)}  # the best part of each stays
        best = [candidate for candidate in ranked if sections[candidate.group] is candidate][:candidates]
        try:
            said = self._reranker.score(question.text, [candidate.chunk.index_text for candidate in best])
        except (ModelMissing, ToolDown, BadInput) as error:
            recalled.degraded.append(f"reranker could not be used: {error}")
            recalled.tools.append(ToolStatus(name=RERANKER, state="down", detail=str(error), checked_at=self._clock()))
            return ranked
        recalled.tools.append(ToolStatus(name=RERANKER, state="ok", detail="", checked_at=self._clock()))

        def prior(chunk: Chunk) -> float:
            if question.kind == "code":
                return code_prior(chunk, about_tests=question.about_tests)
            return document_prior(chunk, question.text) * (1.0 if revisions.holds(chunk) else OTHER_TIME_PRIOR)

        chosen = {id(candidate) for candidate in best}
        rest = [candidate for candidate in ranked if id(candidate) not in chosen]
        return rank_with_model([*best, *rest], said, weight=self._config.weight, prior=prior)


def rank_with_model(
    ranked: Sequence[Candidate],
    said: Sequence[float],
    *,
    weight: float,
    prior: Callable[[Chunk], float],
) -> list[Candidate]:
    """The candidates, best first, with `rerank` and `score` of the leading ones filled in; ties keep their order.

    `said` holds what the model says of the first ones; the others stay behind those. `weight` is what the best is
    given, as a share of the best score; `prior`, 0..1, holds back what is no answer for other reasons than its words.
    Whatever the model says, the first by features fall a few places at most: the verdict was passed on them.
    """
    leading, rest = ranked[: len(said)], ranked[len(said) :]
    if not leading:
        return list(ranked)
    worst, best = min(said), max(said)
    spread = max(best - worst, _TELLING_SPREAD)
    most = weight * max((candidate.score for candidate in leading), default=0.0)
    for candidate, value in zip(leading, said, strict=True):
        candidate.rerank = value
        candidate.score += most * (value - worst) / spread * prior(candidate.chunk)
    ordered = sorted(leading, key=lambda candidate: -candidate.score)
    floor = ordered[min(_JUDGED_BEHIND, len(ordered)) - 1].score
    for candidate in leading[:_JUDGED]:
        candidate.score = max(candidate.score, floor)
    return [*sorted(ordered, key=lambda candidate: -candidate.score), *rest]
