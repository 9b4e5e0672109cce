"""Search as a whole, over a small rulebook and a small service."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest

from knowledge.embed.hashed import HashEmbedder
from knowledge.errors import ToolDown
from knowledge.ports import Embedder, Vectors
from knowledge.retrieval.calibration import Calibration, Calibrations, Fingerprint
from knowledge.retrieval.pipeline import SearchPipeline
from knowledge.retrieval.versions import chunking_version
from knowledge.types import Chunk, Evidence, EvidenceKind, Scope, VectorSpace
from tests.unit.knowledge.retrieval.corpus import MemoryCatalog, MemoryVectors, chunk

RULES = [
    chunk("leave", "연차휴가는 15일로 한다. 사용하려는 날의 3일 전까지 신청한다.", label="취업규칙 제12조(연차휴가)"),
    chunk("sick", "질병으로 근무할 수 없는 직원에게 60일 이내의 병가를 준다.", label="취업규칙 제13조(병가)"),
    chunk("travel", "출장 직원에게 별표 1의 여비를 지급한다.", label="여비규정 제5조(여비의 지급)", uri="travel.md"),
    chunk(
        "table-a",
        "구분 | 숙박비\n2급 | 80,000원",
        label="여비규정 [별표 1] 국내여비",
        uri="travel.md",
        group="table",
        kind="appendix",
    ),
    chunk(
        "table-b",
        "구분 | 숙박비\n1급 | 100,000원",
        label="여비규정 [별표 1] 국내여비",
        uri="travel.md",
        group="table",
        kind="appendix",
    ),
    chunk("goal", "이 규정은 여비에 관한 사항을 정함을 목적으로 한다.", label="여비규정 제1조(목적)", uri="travel.md"),
]
CODE = [
    chunk(
        "retry", "def retry(self, payment):\n    # Retries a failed payment with backoff\n    return self.gateway.charge(payment)\n\n",
        source="shop", uri="src/payment/service.py", symbol="PaymentService.retry", lines=(10, 25), symbol_kind="method",
    ),
    chunk(
        "retry-test", "def test_retry_failed_payment():\n    # Retries a failed payment with backoff\n    assert retry(payment)\n    x\n",
        source="shop", uri="tests/test_payment.py", symbol="test_retry_failed_payment", lines=(1, 12), symbol_kind="function",
    ),
    chunk(
        "cart", "def total(self):\n    return sum(item.price for item in self.items)\n\n\n",
        source="shop", uri="src/cart.py", symbol="Cart.total", lines=(3, 9), symbol_kind="method",
    ),
]  # fmt: skip
LINKS = {"travel": ["table-a", "table-b"]}


class DeadEmbedder:
    """An embedder whose server has gone."""

    space = VectorSpace(name="gone", digest="0", dim=4, prefix_scheme="")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise ToolDown("the embedding server does not answer")

    embed_passages = embed_queries


def build(
    chunks: Sequence[Chunk],
    *,
    embedder: Embedder | None = None,
    calibrations: Calibrations | None = None,
    catalog: MemoryCatalog | None = None,
) -> SearchPipeline:
    catalog = catalog or MemoryCatalog(chunks, links=LINKS)
    hashing = HashEmbedder()
    return SearchPipeline(
        catalog=catalog,
        keywords=catalog,
        vectors=MemoryVectors(chunks, hashing),  # type: ignore[arg-type]
        spaces=lambda source: [(embedder or hashing, source)],
        reranker=None,
        calibrations=calibrations or Calibrations(),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )


def ask(pipeline: SearchPipeline, query: str, *, top_k: int = 8, kind: EvidenceKind | None = None) -> Evidence:
    return pipeline.search(query, scope=Scope.everything(), top_k=top_k, kind=kind)


def ids(evidence: Evidence) -> list[str]:
    return [scored.chunk.id for scored in evidence.chunks]


def test_the_article_that_answers_comes_first() -> None:
    evidence = ask(build(RULES), "연차휴가는 며칠이에요?")
    assert ids(evidence)[0] == "leave"
    assert evidence.route == "docs"
    assert evidence.took_ms["total"] > 0


def test_everyday_words_find_the_words_of_the_regulation() -> None:
    evidence = ask(build(RULES), "출장 가면 방값 얼마까지 나와요?")
    assert "table" in [scored.chunk.group for scored in evidence.chunks[:2]]


def test_a_linked_appendix_follows_its_article_directly() -> None:
    evidence = ask(build(RULES), "출장 여비의 지급", top_k=3)
    place = ids(evidence).index("travel")
    assert evidence.chunks[place + 1].via == "travel"
    assert evidence.chunks[place + 1].chunk.locator.label == "여비규정 [별표 1] 국내여비"


def test_parts_of_one_table_appear_once_and_together() -> None:
    evidence = ask(build(RULES), "국내여비 숙박비")
    tables = [scored for scored in evidence.chunks if scored.chunk.group == "table"]
    assert len(tables) == 1
    assert "80,000원" in tables[0].chunk.text
    assert "100,000원" in tables[0].chunk.text


@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_there_are_never_more_chunks_than_asked_for(top_k: int) -> None:
    assert len(ask(build(RULES), "출장 여비 별표 숙박비 연차휴가", top_k=top_k).chunks) <= top_k


def test_tests_stand_behind_the_code_that_they_test() -> None:
    order = ids(ask(build(CODE), "where is a failed payment retried with backoff?"))
    assert order.index("retry") < order.index("retry-test")


def test_korean_questions_find_english_code() -> None:
    assert ids(ask(build(CODE), "실패한 결제를 다시 시도하는 코드가 어디 있어?"))[0] == "retry"


def test_a_stack_frame_leads_to_its_function() -> None:
    trace = 'Traceback:\n  File "/app/src/cart.py", line 5, in total\nTypeError: unsupported operand'
    evidence = ask(build(CODE), trace, kind="code")
    assert ids(evidence)[0] == "cart"
    assert evidence.verdict.decision == "ok"


def test_an_off_topic_question_is_refused_by_both_kinds() -> None:
    evidence = ask(build([*RULES, *CODE]), "오늘 저녁 김치찌개 맛있게 끓이는 법 알려줘")
    assert evidence.verdict.decision == "none"


def test_the_route_follows_the_evidence() -> None:
    pipeline = build([*RULES, *CODE])
    assert ask(pipeline, "연차휴가는 며칠 전까지 신청해요?").route == "docs"
    assert ask(pipeline, "where is a failed payment retried with backoff?").route == "code"


def test_an_embedder_that_is_down_leaves_keyword_results() -> None:
    evidence = ask(build(RULES, embedder=DeadEmbedder()), "연차휴가 신청")
    assert ids(evidence)[0] == "leave"
    assert any("gone" in sentence for sentence in evidence.degraded)
    assert {tool.name: tool.state for tool in evidence.tools} == {"keyword": "ok", "dense:gone": "down"}


def test_pending_vectors_are_told() -> None:
    catalog = MemoryCatalog(RULES, links=LINKS)
    catalog.pending[("rules", HashEmbedder().space.key)] = (2, 6)
    assert ask(build(RULES, catalog=catalog), "연차휴가").degraded == ("vectors pending for 2 of 6 chunks of rules",)


def test_a_scope_hides_other_sources() -> None:
    pipeline = build([*RULES, *CODE])
    evidence = pipeline.search("연차휴가는 며칠?", scope=Scope.of("shop"), top_k=8, kind=None)
    assert all(scored.chunk.locator.source == "shop" for scored in evidence.chunks)


def test_an_empty_scope_finds_nothing() -> None:
    evidence = build(RULES).search("연차휴가", scope=Scope.of(), top_k=8, kind=None)
    assert evidence.chunks == ()
    assert evidence.verdict.decision == "none"


def test_orphan_vectors_are_never_shown() -> None:
    pipeline = build(RULES)
    vectors = MemoryVectors(RULES, HashEmbedder())
    vectors.add("rules", "orphan", HashEmbedder().embed_queries(["연차휴가"])[0])
    pipeline._recall._vectors = vectors  # type: ignore[assignment]
    assert "orphan" not in ids(ask(pipeline, "연차휴가"))


def test_a_calibration_for_this_index_gives_a_probability() -> None:
    fingerprint = Fingerprint(kind="docs", spaces=(HashEmbedder().space.key,), chunking=chunking_version("docs"))
    calibration = Calibration(
        fingerprint=fingerprint, intercept=0.0, weights={"matched": 1.0}, means={"matched": 1.0}, scales={"matched": 0.5},
        weak_from=0.3, ok_from=0.7,
    )  # fmt: skip
    pipeline = build(RULES, calibrations=Calibrations([calibration]))
    assert ask(pipeline, "연차휴가는 며칠?").verdict.probability is not None
    assert pipeline.is_calibrated("rules", "docs")
    assert not build(RULES).is_calibrated("rules", "docs")
    assert ask(build(RULES), "연차휴가는 며칠?").verdict.probability is None


@pytest.mark.parametrize("query", ["", "?", "뭐야?", "the", "\0", "a" * 5000, "'; DROP TABLE chunks; --"])
def test_odd_questions_give_a_verdict(query: str) -> None:
    assert ask(build(RULES), query).verdict.decision in ("none", "weak", "ok")


@pytest.mark.parametrize(("timezone", "today"), [("Asia/Seoul", date(2026, 1, 2)), ("UTC", date(2026, 1, 1))])
def test_the_day_is_that_of_the_place_where_the_regulations_hold(timezone: str, today: date) -> None:
    catalog = MemoryCatalog(RULES, links=LINKS)
    pipeline = SearchPipeline(
        catalog=catalog,
        keywords=catalog,
        vectors=MemoryVectors(RULES, HashEmbedder()),  # type: ignore[arg-type]
        spaces=lambda source: [(HashEmbedder(), source)],
        reranker=None,
        calibrations=Calibrations(),
        clock=lambda: datetime(2026, 1, 1, 15, 30, tzinfo=UTC),  # half past midnight in Seoul
        timezone=timezone,
    )
    assert pipeline._moment("숙박비는 얼마인가요?").first == today
