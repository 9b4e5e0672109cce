"""The order of candidates by features of their texts."""

import pytest

from knowledge.rerank.features import most_telling_part, rank_by_features, text_features
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import term_weights
from knowledge.retrieval.question import understand
from knowledge.types import EvidenceKind
from tests.unit.knowledge.retrieval.corpus import chunk


def order(query: str, kind: EvidenceKind, *candidates: Candidate) -> list[str]:
    question = understand(query, kind)
    ranked = rank_by_features(question, list(candidates), term_weights(question.words, {}, 30))
    return [candidate.chunk.id for candidate in ranked]


def test_a_text_that_holds_the_words_stands_before_one_that_is_only_near() -> None:
    near = Candidate(chunk=chunk("near", "복무에 관한 사항"), rrf=0.033, dense_scores={"use": 0.5})
    holds = Candidate(chunk=chunk("holds", "출장 중 숙박비는 80,000원으로 한다"), rrf=0.030, dense_scores={"use": 0.45})
    assert order("출장 숙박비가 얼마예요?", "docs", near, holds) == ["holds", "near"]


def test_an_amount_is_preferred_when_an_amount_is_asked_for() -> None:
    rule = Candidate(chunk=chunk("rule", "숙박비는 실비로 정산한다"), rrf=0.03)
    table = Candidate(chunk=chunk("table", "숙박비 | 80,000원"), rrf=0.03)
    assert order("숙박비 한도가 얼마예요?", "docs", rule, table) == ["table", "rule"]


def test_the_named_definition_stands_first() -> None:
    caller = Candidate(
        chunk=chunk("caller", "calls retryPayment()\n\n\n\n", symbol="Checkout.pay", uri="a.py", lines=(1, 9)), rrf=0.03
    )
    named = Candidate(
        chunk=chunk(
            "named", "def retryPayment(): ...\n\n\n\n", symbol="Payment.retryPayment", uri="b.py", lines=(1, 9)
        ),
        rrf=0.03,
    )
    assert order("what does retryPayment() do?", "code", caller, named)[0] == "named"


def test_a_definition_named_with_its_class_stands_before_others_of_its_name() -> None:
    texts = {"Engine.value": "value of the request context falls back", "Context.value": "def value(self): return 1"}
    candidates = [
        Candidate(chunk=chunk(symbol, text, source="code", symbol=symbol), rrf=0.03) for symbol, text in texts.items()
    ]
    question = understand("Context.value falls back to the context of the request", "code")
    ranked = rank_by_features(question, candidates, term_weights(question.words, {}, 2))
    assert ranked[0].chunk.locator.symbol == "Context.value"


def test_a_test_may_lead_when_tests_are_asked_for() -> None:
    code = Candidate(
        chunk=chunk("code", "def retry(): pay\n\n\n\n", symbol="retry", uri="src/pay.py", lines=(1, 9)), rrf=0.03
    )
    test = Candidate(
        chunk=chunk(
            "test", "def test_retry(): pay\n\n\n\n", symbol="test_retry", uri="tests/test_pay.py", lines=(1, 9)
        ),
        rrf=0.031,
    )
    assert order("how does retry pay?", "code", code, test)[0] == "code"
    assert order("which test covers retry?", "code", code, test)[0] == "test"


@pytest.mark.parametrize("kind", ["docs", "code"])
def test_features_lie_between_zero_and_one(kind: EvidenceKind) -> None:
    question = understand("배우자 출산휴가는 며칠까지 쓸 수 있나요? retryPayment()", kind)
    candidate = Candidate(chunk=chunk("a", "배우자가 출산한 경우 20일의 휴가를 준다.", label="제28조(특별휴가)"))
    features = text_features(question, candidate, term_weights(question.words, {}, 30))
    assert all(0.0 <= value <= 1.0 for value in features.values())
    assert features["coverage"] > 0.3


def test_no_candidates_give_no_order() -> None:
    assert order("연차", "docs") == []


def test_of_a_long_table_the_part_with_the_row_is_shown_not_the_one_that_repeats_the_header() -> None:
    head = "KTX\n구간 | 책임급 | 선임급"
    rows = ["강릉-경주 | 41,200 | 34,300", "부산-서울 | 78,500 | 54,100", "서울-부산 | 79,100 | 54,400"]
    parts = [chunk(str(i), f"{head}\n{row}", group="ktx") for i, row in enumerate(rows)]
    question = understand("선임급이 서울에서 부산 KTX 타면 운임이 얼마예요?", "docs")
    weights = term_weights(question.words, {}, 1000)
    assert most_telling_part(question, parts[0], parts, weights).id == "2"


def test_a_part_stays_when_no_other_holds_more() -> None:
    parts = [chunk(str(i), f"연차휴가 {i}", group="leave") for i in range(3)]
    question = understand("연차휴가", "docs")
    assert most_telling_part(question, parts[1], parts, term_weights(question.words, {}, 1000)).id == "1"
