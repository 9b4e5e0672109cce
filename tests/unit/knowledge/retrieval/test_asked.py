"""What kind of thing a question asks for, and which lines hold such a thing."""

import pytest

from knowledge.retrieval.asked import asked_of, without_amendments


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("회의 수당은 얼마예요?", "money"),
        ("얼마나 자주 모여요?", "often"),
        ("차로 얼마나 걸려요?", "period"),
        ("해산하려면 얼마나 찬성해야 해요?", None),
        ("신청은 몇 월 며칠부터예요?", "date"),
        ("월급날이 며칠이에요?", "date"),
        ("휴가는 며칠이에요?", "period"),
        ("몇 시까지 열어요?", "clock"),
        ("교육은 몇 시간이에요?", "hours"),
        ("이율이 어떻게 돼요?", "share"),
        ("위원은 몇 명이에요?", "people"),
        ("담당자 전화번호 알려줘", "phone"),
        ("배점이 몇 점이에요?", "count"),
        ("위원장은 누구예요?", None),
        ("How much is the meal allowance?", "money"),
        ("How many days of leave do I get?", "period"),
        ("How often must passwords be changed?", "often"),
    ],
)
def test_the_words_of_a_question_say_what_kind_of_thing_it_asks_for(question: str, kind: str | None) -> None:
    asked = asked_of(question)
    assert (asked.name if asked else None) == kind


@pytest.mark.parametrize(
    ("question", "line", "head", "stands"),
    [
        ("수당은 얼마예요?", "수당은 따로 정한다.", "", False),
        ("수당은 얼마예요?", "회의마다 100,000원을 준다.", "", True),
        ("수당은 얼마예요?", "재적위원 3분의 2 이상의 찬성으로 의결한다.", "", False),
        ("수당은 얼마예요?", "봉급의 60%를 준다.", "", True),
        ("일비는 얼마예요?", "사장 | 50 | 160", "구분 | 일비 | 숙박비 (단위 : US$)", True),
        ("요금은 얼마예요?", "지하 주차장 | 12", "장소 | 대수", False),
        ("창립기념일이 몇 월 며칠이에요?", "창립기념일인 00월 00일은 휴일로 한다.", "", False),
        ("수습기간은 몇 개월이에요?", "ㅇ개월간을 수습기간으로 한다.", "", False),
        ("수습기간은 몇 개월이에요?", "3개월간을 수습기간으로 한다.", "", True),
        ("몇 번 나눠 쓸 수 있어요?", "2회에 한정하여 나누어 쓴다.", "", True),
        ("얼마나 자주 바꿔요?", "180일마다 바꾼다.", "", True),
        ("감사는 몇 명이에요?", "외부감사인 등에게 알린다.", "", False),
        ("감사는 몇 명이에요?", "감사 2인", "", True),
        ("배점이 몇 점이에요?", "합격자는 12명으로 한다.", "", False),
        ("복지포인트는 몇 점이에요?", "5년 이상 | 1,200", "근속 | 기본 포인트", True),
        ("물은 몇 칼로리예요?", "물 2잔을 마신다.", "", False),
        ("언제까지 알려야 해요?", "지체 없이 알려야 한다.", "", True),
        ("How long is the notice period?", "Give notice two weeks before you leave.", "", True),
    ],
)
def test_only_a_thing_of_that_kind_answers(question: str, line: str, head: str, stands: bool) -> None:
    asked = asked_of(question)
    assert asked is not None
    assert asked.stands_in(line, head) is stands


def test_dates_of_amendments_are_no_part_of_the_rule() -> None:
    assert without_amendments("제3조(기간) <개정 2008. 3. 1., 2015. 2. 1.> 따로 정한다.").split() == [
        "제3조(기간)",
        "따로",
        "정한다.",
    ]
