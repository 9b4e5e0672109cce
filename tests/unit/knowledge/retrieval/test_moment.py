"""Which time a question asks about; facts with a year in them are not mistaken for one."""

from datetime import date

import pytest

from knowledge.retrieval.moment import moment_of

TODAY = date(2026, 7, 15)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("2022년 기준 숙박비", date(2022, 1, 1), date(2022, 12, 31)),
        ("2022년 3월 기준으로 숙박비가 얼마였나요?", date(2022, 3, 1), date(2022, 3, 31)),
        ("2022. 3. 15. 기준 숙박비", date(2022, 3, 15), date(2022, 3, 15)),
        ("2022년 5월에는 일비가 얼마였어?", date(2022, 5, 1), date(2022, 5, 31)),
        ("작년 3월에는 숙박비가 얼마였죠?", date(2025, 3, 1), date(2025, 3, 31)),
        ("재작년에는 며칠까지 쉬었어요?", date(2024, 1, 1), date(2024, 12, 31)),
        ("lodging limit as of May 2021", date(2021, 5, 1), date(2021, 5, 31)),
        ("What was the lodging limit in 2021?", date(2021, 1, 1), date(2021, 12, 31)),
        ("How many days could I work from home in March 2022?", date(2022, 3, 1), date(2022, 3, 31)),
        ("what was the per diem last year", date(2025, 1, 1), date(2025, 12, 31)),
        ("2024년 개정 전에는 얼마였나요?", date(2023, 12, 31), date(2023, 12, 31)),
        ("내년 기준 숙박비", date(2027, 1, 1), date(2027, 12, 31)),
        ("올해 기준 숙박비", TODAY, TODAY),
        ("2015년 국내 출장 일비는 얼마였나요?", date(2015, 1, 1), date(2015, 12, 31)),
        ("2019년 3월 숙박비 한도가 얼마였지?", date(2019, 3, 1), date(2019, 3, 31)),
        ("작년에 일비가 얼마였어?", date(2025, 1, 1), date(2025, 12, 31)),
    ],
)
def test_days_months_and_years_that_are_asked_about(question: str, first: date, last: date) -> None:
    moment = moment_of(question, today=TODAY)
    assert (moment.first, moment.last, moment.previous, moment.is_today) == (first, last, False, False)


@pytest.mark.parametrize(
    "question",
    [
        "개정 전에는 숙박비가 얼마였어요?",
        "규정이 바뀌기 전 숙박비",
        "예전 규정에서는 며칠이었나요?",
        "What was the limit before the revision?",
        "the previous version of the travel policy",
    ],
)
def test_before_the_last_revision(question: str) -> None:
    assert moment_of(question, today=TODAY).previous


@pytest.mark.parametrize(
    "question",
    [
        "숙박비 한도가 얼마예요?",
        "2015년에 입사했는데 연차가 며칠이에요?",
        "작년에 입사했어요. 복지포인트 얼마 받나요?",
        "2024년 1분기 룩셈부르크 투자금액",
        "개정 절차를 알려 주세요",
        "3년 전에 입사한 직원의 휴가",
        "2015년 1분기 신규 대출 이자율이 얼마였어요?",
        "2015년부터 얼마로 바뀌었죠?",
        "2015년에 입사한 사람은 연차가 며칠인가요?",
        "2024년 13월 기준",
        "",
    ],
)
def test_other_questions_are_about_today(question: str) -> None:
    moment = moment_of(question, today=TODAY)
    assert moment.is_today
    assert (moment.first, moment.last) == (TODAY, TODAY)
