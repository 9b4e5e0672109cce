"""What a model wrote reaches a reader only when the evidence it names confirms it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.citing import EvidenceIndex, NumberedEvidence, SentenceReader, marked_numbers, split_sentences
from bot.claims import claims_of, numbers_of

TABLE = """여비규정 [별표 1] 숙박비 상한
| 직급 | 숙박비 | 식비 |
| --- | --- | --- |
| 임원 | 150,000 | 40,000 |
| 1급 이상 | 80,000 | 25,000 |
| 팀원 | 60,000 | 20,000 |"""
ARTICLE = "취업규칙 제12조(연차휴가)\n1년간 80퍼센트 이상 출근한 직원에게 15일의 연차휴가를 준다. 쓰지 못한 휴가는 3월 31일까지 쓴다."
THOUSANDS = "급여규정 [별표 2] (단위: 천원)\n| 직급 | 수당 |\n| --- | --- |\n| 팀장 | 300 |\n| 팀원 | 120 |"
CODE = "src/pay/retry.py · PaymentRetry.retry_declined\ndef retry_declined(self, payment, max_attempts=3):"

INDEX = EvidenceIndex(
    [NumberedEvidence(number=n, text=text) for n, text in enumerate((TABLE, ARTICLE, THOUSANDS, CODE), start=1)],
    "서울로 2박 출장을 가면 얼마인가요?",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "임원의 숙박비는 15만원입니다 [1].",
        "1급 이상의 숙박비는 80,000원입니다 [1].",
        "1급 이상은 숙박비 8만 원, 식비 2만5천원입니다 [1].",
        "연차휴가는 15일입니다 [2].",
        "제12조에 따라 80퍼센트 이상 출근하면 15일입니다[2].",
        "쓰지 못한 휴가는 3월 31일까지 쓸 수 있습니다 [2].",
        "팀장의 수당은 30만원입니다 [3].",
        "`retry_declined`는 최대 3번 시도합니다 [4].",
        "PaymentRetry.retry_declined in src/pay/retry.py retries up to 3 times [4].",
        "2박이면 팀원은 하루 60,000원씩입니다 [1].",  # 2 stands in the question
        "1. 연차휴가는 15일입니다 [2].",  # list numbering
        "연차휴가는 15일이고 임원의 숙박비는 150,000원입니다 [1][2].",
        "연차휴가는 15일입니다 [1, 2].",
    ],
)
def test_what_the_evidence_confirms_passes_unchanged_in_meaning(sentence):
    checked = INDEX.check(sentence)
    assert checked.fault is None
    assert checked.cited


@pytest.mark.parametrize(
    "sentence",
    [
        "연차휴가는 15일입니다.",  # no marker
        "연차휴가는 15일입니다 [9].",  # a marker that names nothing
        "연차휴가는 16일입니다 [2].",  # invented number
        "연차휴가는 15일입니다 [1].",  # right number, wrong evidence
        "1급 이상의 숙박비는 180,000원입니다 [1].",  # part of the digits only
        "임원의 숙박비는 60,000원입니다 [1].",  # swapped rows
        "임원의 식비는 150,000원입니다 [1].",  # swapped columns
        "제13조에 따라 15일입니다 [2].",  # another article
        "`retry_all`이 3번 시도합니다 [4].",  # invented identifier
        "src/pay/other.py에서 3번 시도합니다 [4].",  # invented path
        "팀장의 수당은 300만원입니다 [3].",  # wrong unit
        "쓰지 못한 휴가는 4월 30일까지 씁니다 [2].",  # wrong date
    ],
)
def test_what_the_evidence_does_not_confirm_is_held_back(sentence):
    checked = INDEX.check(sentence)
    assert checked.fault is not None
    assert (checked.text, checked.cited) == ("", ())


def test_unknown_markers_are_removed_and_known_ones_stay():
    checked = INDEX.check("연차휴가는 15일입니다 [9][2].")
    assert (checked.text, checked.cited) == ("연차휴가는 15일입니다 [2].", (2,))


@pytest.mark.parametrize(
    "made_up",
    [
        "[여기](http://evil.example/a)",
        "http://evil.example/a",
        "www.evil.example",
        "![x](http://evil.example/p.png)",
        "<img src='http://evil.example/p.png'>",
        "<a href='http://evil.example'>여기</a>",
        "@channel",
        "@here",
        "@all",
        "<!channel>",
        "<@U123>",
        "@mina",
    ],
)
def test_links_images_html_and_mentions_do_not_get_through(made_up):
    checked = INDEX.check(f"연차휴가는 15일입니다 {made_up} [2].")
    assert checked.fault is None
    assert "evil" not in checked.text
    assert "@" not in checked.text
    assert "<" not in checked.text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("8만원", {80_000}),
        ("80,000원", {80_000}),
        ("８０,０００ 원", {80_000}),
        ("2만5천원", {25_000}),
        ("3천만 원", {30_000_000}),
        ("1억 2,000만원", {120_000_000}),
        ("5백만원", {5_000_000}),
        ("10.5일", {Decimal("10.5")}),
        ("없음", set()),
    ],
)
def test_amounts_are_values_whatever_the_way_of_writing(text, numbers):
    assert numbers_of(text) == {Decimal(number) for number in numbers}


@given(st.integers(min_value=0, max_value=10**12))
def test_a_number_with_and_without_commas_is_the_same(number):
    assert numbers_of(f"{number:,}원") == numbers_of(f"{number}원") == {Decimal(number)}


def test_names_are_claims_without_the_particle_behind_them():
    claims = claims_of("`retry()`는 src/pay/retry.py의 PaymentRetry.retry_declined에서 max_attempts만큼")
    assert claims.names == ("retry", "src/pay/retry.py", "PaymentRetry.retry_declined", "max_attempts")
    assert claims.quantities == ()


@given(st.text(alphabet="가나다 .!?\n[]1029a-", max_size=200))
def test_sentences_joined_again_are_the_text(text):
    assert "".join(split_sentences(text)) == text


@given(st.lists(st.text(alphabet="가나 .!?\n[1]", max_size=12), max_size=20))
def test_a_stream_cut_anywhere_gives_all_of_its_text(pieces):
    reader = SentenceReader()
    got = [sentence for piece in pieces for sentence in reader.feed(piece)] + reader.finish()
    assert "".join(got).rstrip() == "".join(pieces).rstrip()


@given(st.text(max_size=300))
def test_nothing_a_model_writes_breaks_the_check(text):
    checked = INDEX.check(text)
    assert set(marked_numbers(checked.text)) <= INDEX.numbers
