"""What is understood of a question."""

from __future__ import annotations

import pytest

from knowledge.retrieval.coverage import term_weights
from knowledge.retrieval.document_priors import document_prior
from knowledge.retrieval.question import understand, without_wordings
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


@pytest.mark.parametrize(
    "text",
    [
        "파이썬에서 문자열 자르는 법",
        "how do I reverse a list in Python?",
        "CSS로 가운데 정렬하려면?",
        "깃으로 되돌리려면?",
        "how to style a div",
    ],
)
def test_questions_about_programming_in_general_name_their_setting(text: str) -> None:
    assert understand(text, "code").has_setting


@pytest.mark.parametrize(
    "text", ["결제 실패하면 재시도는 어디서 해?", "where do we retry failed payments?", "C급 출장자 숙박비"]
)
def test_questions_about_this_code_or_rulebook_name_no_setting(text: str) -> None:
    question = understand(text, "code")
    assert not question.has_setting
    assert question.generality == 0.0


REPORT = "Fix search ordered by best match\nDon't force an order by created date.\n* Add test for the ordering\n"


def test_the_first_line_of_a_report_says_what_it_is_about() -> None:
    question = understand(REPORT, "code")
    assert "forc" in question.details
    assert "search" not in question.details
    assert not question.about_tests
    weights = term_weights(question.words, {}, 1000, details=question.details)
    assert weights["forc"] < term_weights(question.words, {}, 1000)["forc"]


def test_english_questions_find_the_words_of_programmers() -> None:
    assert "reserv" in understand("how long is stock held for an order?", "code").added_terms


def test_everyday_words_weigh_little_in_a_corpus_of_any_size() -> None:
    for total in (100, 10_000, 1_000_000):
        weights = term_weights(["날씨", "출장여비"], {}, total)
        assert weights["날씨"] < weights["출장여비"] / 1.5
        assert weights["출장여비"] == pytest.approx(10.0)


def test_instructions_of_the_office_are_no_questions_for_a_search_engine() -> None:
    for text in ("연차 신청하는 방법", "비밀번호 변경 방법", "How do I request parental leave?"):
        assert understand(text, "docs").generality == 0.0
    for text in (
        "여행 사진 찍는 방법",
        "영화 추천해 줘",
        "how do I sort a list by value?",
        "write me a poem",
    ):
        assert understand(text, "docs").generality > 0.0


def test_words_of_korean_and_english_lead_both_ways() -> None:
    korean = understand("재택근무는 일주일에 며칠까지 돼요?", "docs")
    assert "remot" in korean.expansions["재택근무"]
    english = understand("How often must passwords be changed?", "docs")
    assert "비밀번호" in english.expansions["password"]


def test_wordings_that_no_text_holds_can_be_left_out() -> None:
    question = understand("재택근무 한도", "docs")
    left = without_wordings(question, {t for terms in question.expansions.values() for t in terms if t.isascii()})
    assert all(not t.isascii() for terms in left.expansions.values() for t in terms)
    assert left.words == question.words


def test_subjects_are_nouns_as_they_are_written() -> None:
    question = understand("반려견이 죽으면 부산에서 Passwords를 얼마나 바꾸나요?", "docs")
    assert question.subjects["반려견"] == "반려견"
    assert question.subjects["password"] == "Passwords"
    assert "부산" in question.names
    assert "얼마" not in question.subjects


@pytest.mark.parametrize(("text", "named"), [
    ("Context.Value falls back to the request", "Context.Value"),
    ("why does Cart::total ignore the coupon", "Cart.total"),
    ("`Order#cancel` is called twice", "Order.cancel"),
    ("gate->send never returns", "gate.send"),
])  # fmt: skip
def test_a_member_is_named_with_its_class_in_the_spelling_of_any_language(text: str, named: str) -> None:
    assert named in understand(text, "code").identifiers


@pytest.mark.parametrize(
    "text", ["It fails. Then it works.", "mail mina@shop.example.com", "see docs/setup.md or https://a.example.com/x"]
)
def test_sentences_addresses_and_paths_name_no_member(text: str) -> None:
    assert understand(text, "code").identifiers == ()
