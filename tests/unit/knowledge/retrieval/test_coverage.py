"""How much of a question a text holds."""

import pytest

from knowledge.retrieval.coverage import Held, TermWeights, coverage, term_weights


def test_everyday_words_weigh_little_even_in_a_tiny_corpus() -> None:
    weights = term_weights(["오늘", "연차휴가"], {"오늘": 0, "연차휴가": 2}, 30)
    assert weights["오늘"] < weights["연차휴가"] / 2


def test_a_large_corpus_decides_for_itself() -> None:
    weights = term_weights(["여비", "할증"], {"여비": 9000, "할증": 3}, 10000)
    assert weights["여비"] < 0.2
    assert weights["할증"] > 3


@pytest.mark.parametrize(
    ("term", "text", "held"),
    [
        ("연차", "연차휴가는 15일로 한다", True),
        ("출산휴가", "배우자 출산 휴가", True),
        ("비", "여비를 지급한다", False),  # one syllable stands in everything
        ("25000원", "일비는 25,000원이다", True),
        ("5000원", "일비는 25,000원이다", False),
        ("20", "20일 이내", True),
        ("1o05pct", "이자율 1.05%", True),
        ("신청하다", "신청하여야 한다", True),
        ("life", "the lifecycle of a job", False),
        ("retri", "def retryPayment():", True),
    ],
)
def test_which_terms_a_text_holds(term: str, text: str, held: bool) -> None:
    assert (term in Held(text)) is held


def test_other_words_for_the_same_count_less() -> None:
    weights = {"밥값": 2.0, "출장": 2.0}
    assert coverage(weights, {}, Held("출장 식비")) == pytest.approx(0.5)
    assert coverage(weights, {"밥값": ("식비",)}, Held("출장 식비")) == pytest.approx(0.9)


def test_a_question_without_weight_is_not_covered() -> None:
    assert coverage({}, {}, Held("무엇이든")) == 0.0


def test_a_rare_word_is_not_found_wherever_a_common_one_stands() -> None:
    plain = {"월급날": 10.0, "휴일": 5.0}
    weights = TermWeights(plain, {"임금": 2.0, "지급일": 9.0})
    expansions = {"월급날": ("임금", "지급일")}
    wages = coverage(weights, expansions, Held("임금을 지급한다"))
    payday = coverage(weights, expansions, Held("임금 지급일이 쉬는 날이면"))
    assert wages < payday
    assert coverage(plain, expansions, Held("임금을 지급한다")) == pytest.approx(payday, abs=0.05)
