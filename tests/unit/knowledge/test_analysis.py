"""What becomes an index token, and what a question is reduced to."""

import sqlite3
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knowledge.analysis import analyze, analyze_query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("직원의 연차휴가는 15일로 한다.", {"연차", "휴가", "연차휴가", "15", "15일", "직원"}),
        ("급여규정에 따른다", {"급여", "규정", "급여규정"}),
        ("배우자 출산휴가를 신청한다", {"배우자", "출산", "휴가", "배우자출산", "출산휴가", "신청"}),
    ],
)
def test_two_syllable_words_are_found_inside_compounds(text: str, expected: set[str]) -> None:
    assert expected <= set(analyze(text))


def test_a_compound_is_the_same_with_and_without_a_space() -> None:
    assert "연차휴가" in analyze("연차 휴가를 쓴다")
    assert "연차휴가" in analyze("연차휴가를 쓴다")


@pytest.mark.parametrize("text", ["25,000원", "2만5천원", "2만 5천 원", "이만오천원", "25000 원"])
def test_an_amount_is_one_token_however_it_is_written(text: str) -> None:
    assert {"25000", "25000원"} <= set(analyze(f"식비 {text} 지급"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("한 달 이내", "1개월"),
        ("석달 동안", "3개월"),
        ("이틀", "2일"),
        ("일주일 안에", "7일"),
        ("1.05%", "1o05pct"),
        ("15퍼센트", "15pct"),
        ("재적 회원 3분의 2 이상", "3분의2"),
        ("12km 미만", "12km"),
    ],
)
def test_numbers_carry_their_unit(text: str, expected: str) -> None:
    assert expected in analyze(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("제12조의2", "제12조의2"),
        ("제 12 조의 2에", "제12조의2"),
        ("[별표 1]", "별표1"),
        ("별표 제3호와 같다", "별표3"),
        ("별지 제2호 서식", "별지2"),
    ],
)
def test_labels_of_regulations_are_tokens_of_their_own(text: str, label: str) -> None:
    assert label in analyze(text)


def test_an_article_with_a_branch_is_another_article() -> None:
    assert "제12조" not in analyze("제12조의2")


def test_identifiers_are_split_stemmed_and_kept_whole() -> None:
    tokens = analyze("PaymentService.retryPolicies(HTTP_STATUS_404)")
    assert {"payment", "servic", "paymentservice", "retri", "polici", "retrypolicies"} <= set(tokens)
    assert {"http", "statu", "404", "httpstatus404"} <= set(tokens)


def test_camel_case_and_snake_case_meet() -> None:
    assert analyze("getUserName") == analyze("get_user_name")


def test_code_never_loads_the_korean_model() -> None:
    script = "import sys; from knowledge.analysis import analyze; analyze('def f(x): return x'); print('kiwipiepy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_question_is_reduced_to_its_subject() -> None:
    terms = analyze_query("@해치야 연차휴가는 며칠까지 쓸 수 있는지 좀 알려줘요")
    assert {"연차", "휴가", "연차휴가"} <= set(terms)
    assert not {"해치", "해치야", "며칠", "알리다", "좀", "수"} & set(terms)
    assert analyze_query("How many days can I take?") == ["dai", "take"]


def test_query_terms_are_distinct_and_ordered() -> None:
    assert analyze_query("출장, 여비, 출장") == ["출장", "여비"]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
@example("\0제12조\0의2 ①②③ Ⅰ. ﬁ ß İ ς ½ 가\u1100")
@example("1" * 400 + "만" * 30)
@example("日本語 ㈜해치 ㎡ café naïve Ångström")
def test_any_string_gives_tokens_that_the_keyword_index_keeps_as_they_are(text: str) -> None:
    tokens = analyze(text)
    assert all(tokens)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'unicode61')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        connection.execute("INSERT INTO t VALUES (?)", (" ".join(tokens),))
        stored = [term for (term,) in connection.execute("SELECT term FROM v ORDER BY offset")]
    finally:
        connection.close()
    assert stored == tokens


def test_the_same_text_gives_the_same_tokens() -> None:
    text = "제5조(여비) 직원이 출장을 갈 때에는 별표 1의 여비를 지급한다."
    assert analyze(text) == analyze(text)


def test_text_without_letters_gives_nothing() -> None:
    assert analyze("") == []
    assert analyze("?!… —") == []
