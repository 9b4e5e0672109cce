"""What is understood of a question."""

from __future__ import annotations

from knowledge.retrieval.coverage import term_weights
from knowledge.retrieval.document_priors import document_prior
from knowledge.retrieval.question import understand
from tests.unit.knowledge.retrieval.corpus import chunk


def test_a_compound_that_the_lexicon_knows_replaces_its_syllables() -> None:
    question = understand("방값은 얼마까지예요?", "docs")
    assert "방값" in question.words
    assert "방" not in question.words
    assert "숙박비" in question.expansions["방값"]


def test_the_case_of_the_one_who_asks_weighs_less_than_the_subject() -> None:
    question = understand("12년차 직원의 명예퇴직", "docs")
    weights = term_weights(question.words, {}, 1000)
    assert weights["12년"] < weights["명예퇴직"]


def test_receiving_something_is_no_award() -> None:
    assert "받다" not in understand("밥값을 받을 수 있나요?", "docs").expansions


def test_forms_and_supplements_stand_behind_what_they_belong_to_until_they_are_asked_for() -> None:
    form = chunk("f", "성명, 소속", label="[별지 3] 수당지급신청서", kind="appendix")
    supplement = chunk("s", "이 규정은 공포한 날부터 시행한다.", label="여비규정 부칙", kind="appendix")
    table = chunk("t", "1급 | 100", label="[별표 1] 지급액 산정표", kind="appendix")
    assert document_prior(table, "수당은 얼마예요?") == 1.0
    assert document_prior(form, "수당은 얼마예요?") < 1.0
    assert document_prior(form, "어떤 신청서를 써요?") == 1.0
    assert document_prior(supplement, "수당은 얼마예요?") < 1.0
    assert document_prior(supplement, "시행일이 언제예요?") == 1.0
