"""Which questions below an alert ask to see a part of its evidence, and which are questions of their own."""

from __future__ import annotations

import pytest

from bot.alerts.follow_up import asks_for, is_about_fault

ASKED = {
    "code": ["코드 보여줘", "관련 코드 좀 볼 수 있을까?", "show me the code", "can you print the function?", "어디서 터졌어?",
             "which line?", "where did it crash?", "@haechi 코드", "함수 코드 확인하고 싶어"],
    "changes": ["뭐가 바뀌었어?", "최근에 뭐가 변경됐어?", "누가 고쳤어?", "what changed?", "who touched this?", "커밋 보여줘",
                "show the last commits", "지난 배포 이후 뭐 있었어?", "blame"],
    "callers": ["이거 호출하는 곳은?", "어디서 호출해?", "누가 호출해?", "who calls this?", "callers?"],
    "cases": ["전에도 있었어?", "비슷한 사례 있어?", "has this happened before?", "past cases?", "지난 사례 보여줘"],
}  # fmt: skip
OWN = [
    "왜 그런데?", "why did it fail?", "어떻게 고쳐?", "how do I fix it?", "연차는 며칠이야?", "휴가 규정 변경됐어?", "고마워", "확인했습니다",
    "what is the travel policy?", "장애 대응 절차 알려줘", "", "원인이 뭐야?", "이 에러 심각해?",
    "show me the code that handles refunds of orders which were paid with two different cards in the same month please",
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "text"), [(wanted, text) for wanted, texts in ASKED.items() for text in texts])
def test_a_part_of_the_evidence_is_asked_for(wanted, text):
    assert asks_for(text) == wanted


@pytest.mark.parametrize("text", OWN)
def test_a_question_of_its_own(text):
    assert asks_for(text) is None


@pytest.mark.parametrize(
    "text", ["왜 그런데?", "why?", "어떻게 고쳐?", "what does this error mean?", "이 함수는 뭐 해?"]
)
def test_questions_about_the_fault(text):
    assert is_about_fault(text)


@pytest.mark.parametrize("text", ["연차는 며칠이야?", "who approves travel?", "회의실 예약 방법 알려줘"])
def test_questions_about_something_else(text):
    assert not is_about_fault(text)
