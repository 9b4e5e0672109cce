"""Telling words that the evidence lacks: what merely matches is not judged to answer, and the words are named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import term_weights
from knowledge.retrieval.gate import judge
from knowledge.retrieval.missing import Lack, find_lack
from knowledge.retrieval.question import understand
from knowledge.types import Chunk
from tests.unit.knowledge.retrieval.corpus import chunk
from tests.unit.knowledge.retrieval.test_pipeline import ask, build

LOANS = chunk(
    "loans",
    "구분 | 이율\n전세자금 대출 | 1.8%\n생활안정 대출 | 2.5%",
    label="복리후생규정 [별표 3] 대출 이율",
    kind="appendix",
)
CARS = chunk("cars", "자가용으로 출장하면 자동차 1km에 280원을 준다.", label="여비규정 제7조(자가용)")
MOURNING = chunk(
    "mourning", "구분 | 경조금\n조부모 사망 | 400,000원", label="경조사지원규정 [별표 1] 경조금", kind="appendix"
)
GRADES = chunk(
    "grades", "등급 | 지급률\nS | 300%\nA | 250%\nB | 200%", label="급여규정 [별표 4] 성과상여금", kind="appendix"
)
LICENCES = chunk(
    "licences", "자격증 | 월 수당\n기술사 | 150,000원", label="급여규정 [별표 3] 자격수당", kind="appendix"
)
HALF = chunk("half", "수습 중인 직원에게는 별표 1의 절반을 준다.", label="경조사지원규정 제2조(대상)")
PLANET = chunk(
    "planet", "Employees may work remotely up to two days a week.", label="Remote work > 1. Who", kind="section"
)


def lack(question: str, *chunks: Chunk) -> Lack:
    understood = understand(question, "docs")
    candidates = [Candidate(chunk=one) for one in chunks]
    return find_lack(understood, candidates, term_weights(understood.words, {}, 1000))


AGREED = chunk(
    "agreed",
    "개최일자 | 합의사항\n1분기(‘13.4.12) | 휴가를 늘린다.",
    label="노사협의회 합의사항 <2010~2014년>",
    kind="table",
)
STRANGERS = chunk("strangers", "직원이 아닌 자에게도 여비를 준다.", label="여비규정 제27조(직원 이외의 여비)")
BOSS = chunk("boss", "부회장의 수당은 500,000원으로 한다.", label="급여규정 제9조(수당)")
TRAINS = chunk("trains", "구간 | 운임\n강릉-서울 | 30,900원", label="철도 운임")


@pytest.mark.parametrize(
    ("question", "evidence", "words"),
    [
        ("반려견이 죽으면 경조금이 나와요?", [MOURNING], ("반려견",)),
        ("D등급이면 성과상여금 지급률이 얼마예요?", [GRADES], ("D등급",)),
        ("박사 자격수당은 얼마예요?", [LICENCES], ("박사",)),
        ("A등급이면 성과상여금 지급률이 얼마예요?", [GRADES], ()),
        ("할머니가 돌아가시면 경조금이 얼마예요?", [MOURNING], ()),
        ("자격증 수당이 얼마예요?", [LICENCES], ()),
        ("하루 이틀 나중에 오늘", [MOURNING], ()),
        ("고양이가 죽으면 조의금이 나와요?", [MOURNING], ("고양이",)),
        ("2008년 노사협의회 합의사항이 뭐예요?", [AGREED], ("2008년",)),
        ("2013년 노사협의회 합의사항이 뭐예요?", [AGREED], ()),
        ("2011년 노사협의회 합의사항이 뭐예요?", [AGREED], ()),
        ("직원이 아닌 사람도 여비를 받아요?", [STRANGERS], ()),
        ("직원이 아닌 사람도 경조금을 받아요?", [MOURNING], ("직원이 아닌",)),
        ("여비규정 제35조가 뭐예요?", [CARS], ("제35조",)),
        ("여비규정 제7조가 뭐예요?", [CARS], ()),
        ("강릉서울 철도 요금은 얼마예요?", [TRAINS], ()),
    ],
)
def test_words_that_no_evidence_holds_are_named_as_they_are_written(
    question: str, evidence: Sequence[Chunk], words: tuple[str, ...]
) -> None:
    assert lack(question, *evidence).words == words


def test_a_word_that_stands_in_other_evidence_only_is_apart() -> None:
    found = lack("자동차 대출 이율이 몇 퍼센트예요?", LOANS, CARS)
    assert found.words == ()
    assert found.apart_words == ("자동차",)
    assert found.focus < 1.0


def test_the_year_of_the_one_who_asks_is_no_subject() -> None:
    assert "2015년" not in lack("2015년에 입사한 직원의 합의사항은?", AGREED).words
    assert "2015년" in lack("2015년 합의사항은?", AGREED).words


def test_a_word_inside_another_one_that_changes_its_meaning_is_not_there() -> None:
    assert lack("회장의 수당은 얼마예요?", BOSS).focus < lack("부회장의 수당은 얼마예요?", BOSS).focus


def test_an_article_and_the_appendix_that_it_names_are_read_together() -> None:
    assert lack("수습인데 할머니가 돌아가시면 경조금이 얼마예요?", MOURNING, HALF).apart_words == ()


def test_an_english_word_lacks_where_no_korean_one_says_it() -> None:
    assert lack("Is there condolence money for grandparents?", MOURNING).words == ()
    assert "retirement" in lack("What is the retirement procedure?", MOURNING).words


def test_things_of_everyday_life_lack_in_english_too() -> None:
    assert "football" in lack("Who won the football world cup in 2018?", PLANET).words
    assert "between" not in lack("What is the difference between the days?", PLANET).words


def test_korean_words_are_not_held_against_english_evidence() -> None:
    assert lack("재택근무는 일주일에 며칠까지 돼요?", PLANET).words == ()


def test_without_evidence_everything_lacks() -> None:
    assert lack("연차휴가").focus == 0.0


def test_a_lacking_word_bars_ok_and_is_told() -> None:
    features = {"coverage": 0.9, "lacking": 1.0, "apart": 1.0}
    verdict = judge(features, None, lack=Lack(words=("반려견",), apart_words=("반려견",), heaviest=1.0, apart=1.0))
    assert verdict.decision == "weak"
    assert verdict.missing == ("반려견",)
    assert "반려견" in verdict.reason
    assert judge({"coverage": 0.9}, None).decision == "ok"


def test_a_word_that_stands_apart_bars_ok_too() -> None:
    verdict = judge({"coverage": 0.9, "apart": 1.0}, None, lack=Lack(apart_words=("자동차",), apart=1.0))
    assert verdict.decision == "weak"
    assert verdict.missing == ()
    assert "자동차" in verdict.reason


def test_what_is_asked_for_and_told_nowhere_bars_ok() -> None:
    features = {"coverage": 0.9, "told": 0.2}
    verdict = judge(features, None, lack=Lack(told=0.2))
    assert verdict.decision == "weak"
    assert "of the kind that is asked for" in verdict.reason


def test_words_in_common_without_a_title_or_a_meaning_in_common_bar_ok() -> None:
    features = {"coverage": 0.9, "told": 1.0, "label": 0.0, "contrast": -0.02}
    verdict = judge(features, None)
    assert verdict.decision == "weak"
    assert "only words in common" in verdict.reason
    assert judge(features | {"label": 0.4}, None).decision == "ok"
    assert judge(features | {"contrast": 0.1}, None).decision == "ok"
    assert judge({"coverage": 0.9, "label": 0.0, "contrast": -0.02}, None).decision == "ok"  # code is judged elsewise


def test_search_tells_what_is_missing() -> None:
    evidence = ask(build([MOURNING, LOANS, GRADES]), "반려견이 죽으면 경조금이 얼마 나와요?")
    assert evidence.verdict.decision != "ok"
    assert evidence.verdict.missing == ("반려견",)
