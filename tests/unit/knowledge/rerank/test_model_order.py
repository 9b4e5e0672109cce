"""What a reranker changes in the order, and what it never changes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest

from knowledge.embed.hashed import HashEmbedder
from knowledge.errors import BadInput, ModelMissing, ToolDown
from knowledge.rerank.config import RerankerConfig
from knowledge.rerank.model_order import ModelOrder, rank_with_model
from knowledge.retrieval.calibration import Calibrations
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.pipeline import SearchPipeline
from knowledge.types import Chunk, Evidence, EvidenceKind, Scope
from tests.unit.knowledge.retrieval.corpus import MemoryCatalog, MemoryVectors, chunk
from tests.unit.knowledge.retrieval.test_pipeline import CODE, LINKS, RULES

ONE = "제1조(목적)"
REVISED = [
    chunk(f"{year}-{number}", f"제{number}조({title}) 출장 숙박비는 {year}0원으로 한다.", label=f"여비규정 제{number}조({title})",
          uri=f"{year}.md", family="여비규정", valid_from=date(year, 1, 1))
    for year in (2020, 2025)
    for number, title in ((7, "국내 숙박비"), (8, "국외 숙박비"))
]  # fmt: skip


class Scoring:
    """A reranker that says of each passage what its table says of a text in it, 0 otherwise."""

    name = "table"

    def __init__(self, table: dict[str, float], trouble: Exception | None = None) -> None:
        self.table = table
        self.trouble = trouble
        self.asked: list[list[str]] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        if self.trouble is not None:
            raise self.trouble
        self.asked.append(list(passages))
        return [max((v for text, v in self.table.items() if text in passage), default=0.0) for passage in passages]

    def check(self) -> str:
        return self.name

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing is held."""


class Noise(Scoring):
    """Says anything."""

    def __init__(self, seed: int) -> None:
        super().__init__({})
        self.random = random.Random(seed)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return [self.random.uniform(-10.0, 10.0) for _ in passages]


def search(
    chunks: Sequence[Chunk],
    query: str,
    reranker: Scoring | None,
    *,
    kind: EvidenceKind | None = None,
    config: RerankerConfig | None = None,
    top_k: int = 8,
) -> Evidence:
    catalog = MemoryCatalog(chunks, links=LINKS)
    pipeline = SearchPipeline(
        catalog=catalog,
        keywords=catalog,
        vectors=MemoryVectors(chunks, HashEmbedder()),  # type: ignore[arg-type]
        spaces=lambda source: [(HashEmbedder(), source)],
        reranker=reranker,
        reranking=config,
        calibrations=Calibrations(),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    return pipeline.search(query, scope=Scope.everything(), top_k=top_k, kind=kind)


def ids(evidence: Evidence) -> list[str]:
    return [scored.chunk.id for scored in evidence.chunks]


def groups(evidence: Evidence) -> set[str]:
    """Sections, whichever part of them is shown."""
    return {scored.chunk.group for scored in evidence.chunks}


def candidates(*scores: float) -> list[Candidate]:
    return [Candidate(chunk=chunk(f"c{n}", "", label=f"제{n}조"), score=score) for n, score in enumerate(scores)]


def order(ranked: list[Candidate], said: Sequence[float], *, weight: float = 1.0) -> list[str]:
    return [c.chunk.id for c in rank_with_model(ranked, said, weight=weight, prior=lambda chunk: 1.0)]


# --- scores and features together -----------------------------------------------------------------


def test_where_the_model_is_sure_it_decides():
    assert order(candidates(5.0, 4.0, 3.0), [-8.0, -7.0, 6.0])[0] == "c2"


def test_where_it_tells_nothing_apart_the_features_decide():
    assert order(candidates(5.0, 4.9, 3.0), [0.30, 0.31, 0.32]) == ["c0", "c1", "c2"]


@pytest.mark.parametrize("shift", [-100.0, 0.0, 40.0])
def test_only_differences_count_not_where_a_models_numbers_lie(shift):
    said = [-3.0, 1.0, 2.5]
    assert order(candidates(5.0, 4.0, 3.0), [s + shift for s in said]) == order(candidates(5.0, 4.0, 3.0), said)


def test_a_small_weight_lets_it_decide_between_equals_only():
    assert order(candidates(5.0, 4.9, 1.0), [-9.0, 0.0, 9.0], weight=0.1) == ["c1", "c0", "c2"]


def test_what_it_was_not_asked_about_stays_behind():
    assert order(candidates(5.0, 4.0, 3.9, 3.8), [0.0, -9.0]) == ["c0", "c1", "c2", "c3"]


def test_the_first_by_features_fall_a_few_places_at_most():
    ranked = candidates(*(10.0 - 0.1 * n for n in range(20)))
    placed = order(ranked, [-9.0, -9.0, -9.0, *([9.0] * 17)])
    assert all(placed.index(f"c{n}") < 8 for n in range(3))
    assert placed[0] == "c3"


@pytest.mark.parametrize("scores", [(), (0.0,), (0.0, 0.0, 0.0)])
def test_candidates_without_any_score_are_no_trouble(scores):
    assert len(order(candidates(*scores), [1.0] * len(scores))) == len(scores)


# --- in a search ----------------------------------------------------------------------------------


def test_the_scores_are_in_the_evidence_and_the_state_among_the_tools():
    evidence = search(RULES, "출장 여비", Scoring({ONE: 9.0}), config=RerankerConfig(weight=1.0))
    assert ids(evidence)[0] == "goal"
    assert evidence.chunks[0].rerank == 9.0
    assert {tool.name: tool.state for tool in evidence.tools}["reranker"] == "ok"
    assert evidence.degraded == ()


def test_without_a_reranker_none_is_spoken_of():
    evidence = search(RULES, "출장 여비", None)
    assert all(scored.rerank is None for scored in evidence.chunks)
    assert "reranker" not in {tool.name for tool in evidence.tools}


@pytest.mark.parametrize(
    ("coverages", "shares"),
    [([0.9], [20]), ([0.9, 0.5], [20, 0]), ([0.5, 0.7], [10, 10]), ([0.0, 0.0], [10, 10]), ([], [])],
)
def test_a_question_never_waits_for_more_candidates_than_are_set_however_many_kinds_there_are(coverages, shares):
    by_model = ModelOrder(Scoring({}), RerankerConfig(candidates=20), lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert by_model.shares(coverages) == shares


def test_parts_of_one_section_are_read_once_so_that_more_sections_are():
    scoring = Scoring({})
    search(RULES, "국내여비 숙박비 1급 2급", scoring, config=RerankerConfig(candidates=3))
    (passages,) = scoring.asked
    assert sum("[별표 1]" in passage for passage in passages) == 1
    assert len(passages) == 3


def test_measuring_the_gate_asks_no_model():
    scoring = Scoring({})
    catalog = MemoryCatalog(RULES, links=LINKS)
    pipeline = SearchPipeline(
        catalog=catalog,
        keywords=catalog,
        vectors=MemoryVectors(RULES, HashEmbedder()),  # type: ignore[arg-type]
        spaces=lambda source: [(HashEmbedder(), source)],
        reranker=scoring,
        calibrations=Calibrations(),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert pipeline.gate_features("연차휴가는 며칠?", scope=Scope.everything(), kind="docs")
    assert scoring.asked == []


def test_it_reads_as_many_candidates_as_are_set_with_their_labels():
    scoring = Scoring({})
    search(RULES, "출장 여비 숙박비", scoring, config=RerankerConfig(candidates=2))
    assert [len(passages) for passages in scoring.asked] == [2]
    assert all("여비규정" in passage for passage in scoring.asked[0])


@pytest.mark.parametrize(
    "error", [ToolDown("it is down: start it"), ModelMissing("no model.onnx: copy it"), BadInput("too long: cut it")]
)
def test_trouble_leaves_the_order_of_the_features_and_is_told(error):
    without = search(RULES, "출장 여비의 지급", None)
    evidence = search(RULES, "출장 여비의 지급", Scoring({}, error))
    assert ids(evidence) == ids(without)
    assert evidence.verdict == without.verdict
    assert evidence.degraded == (f"reranker could not be used: {error}",)
    assert {tool.name: (tool.state, tool.detail) for tool in evidence.tools}["reranker"] == ("down", str(error))


def test_a_reranker_that_is_down_is_waited_for_once_a_question_however_many_kinds_are_searched():
    asked = []

    class Down(Scoring):
        def score(self, query: str, passages: Sequence[str]) -> list[float]:
            asked.append(query)
            raise ToolDown("it takes too long: use a smaller one")

    evidence = search([*RULES, *CODE], "출장 여비 retry payment", Down({}))
    assert len(asked) == 1
    assert evidence.degraded == ("reranker could not be used: it takes too long: use a smaller one",)
    assert {tool.name: tool.state for tool in evidence.tools}["reranker"] == "down"


def test_a_linked_appendix_still_follows_its_article():
    evidence = search(RULES, "출장 여비의 지급", Scoring({"제5조": 9.0, ONE: 8.0, "별표 1] 국내": -9.0}), top_k=4)
    place = ids(evidence).index("travel")
    assert evidence.chunks[place + 1].via == "travel"


def test_a_stack_trace_is_not_given_to_the_model_and_its_frame_stays_first():
    trace = 'Traceback:\n  File "/app/src/cart.py", line 5, in total\nTypeError: unsupported operand'
    scoring = Scoring({"retry": 9.0, "total": -9.0})
    evidence = search(CODE, trace, scoring, kind="code")
    assert ids(evidence)[0] == "cart"
    assert evidence.verdict.decision == "ok"
    assert scoring.asked == []


def test_an_article_that_is_named_by_its_number_stays_first():
    said = Scoring({"2020": -9.0, "제7조": 9.0, "제8조": -9.0})
    assert ids(search(REVISED, "여비규정 제8조는 무슨 내용인가요?", said))[0] == "2025-8"


def test_tests_stay_behind_the_code_that_they_test_when_the_model_likes_both():
    said = Scoring({"PaymentService.retry": 4.0, "test_retry": 5.0, "Cart": -5.0})
    order = ids(search(CODE, "where is a failed payment retried with backoff?", said))
    assert order.index("retry") < order.index("retry-test")


@pytest.mark.parametrize("liked", ["2020", "2025"])
def test_the_wording_that_holds_stays_in_front_of_the_one_that_held(liked):
    evidence = search(REVISED, "출장 숙박비는 얼마인가요?", Scoring({f"{liked}0원": 9.0}))
    placed = ids(evidence)
    for number in (7, 8):
        assert placed.index(f"2025-{number}") < placed.index(f"2020-{number}")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "query",
    [
        "출장 여비의 지급",
        "연차휴가는 며칠이에요?",
        "오늘 저녁 김치찌개 맛있게 끓이는 법",
        "where is a failed payment retried?",
    ],
)
def test_whatever_it_says_the_gate_refuses_and_passes_the_same_questions(query, seed):
    without = search([*RULES, *CODE], query, None)
    evidence = search([*RULES, *CODE], query, Noise(seed))
    assert (evidence.verdict.decision == "none") == (without.verdict.decision == "none")
    assert evidence.route == without.route
    assert groups(evidence) == groups(without)
