"""A sentence is shown in its own words only where one clause or one row of the evidence is certain to say the same."""

from __future__ import annotations

import pytest

from bot.anchoring import unanchored
from bot.citing import EvidenceIndex
from bot.evidence_pieces import NumberedEvidence, piece_of

RULES = piece_of(
    NumberedEvidence(
        number=1,
        text="""복무규정 · 제9조(재택근무)
제9조(재택근무)
① 정규직 직원은 팀장의 승인을 받아 주 2일까지 재택근무를 할 수 있다. 다만, 수습사원은 제외한다.
② 재택근무 신청은 시행일 3일 전까지 하여야 하며, 팀장은 1일 이내에 승인 여부를 알려야 한다.
③ 노트북을 잃어버린 때에는 정보보호팀에 먼저 신고한 뒤 총무팀에 알린다.
④ 회사 자료를 개인 저장장치에 복사하여서는 아니 된다. 통신비는 매월 2만 원을 지급한다.
⑤ 다음 각 호의 경우에는 재택근무를 중지할 수 있다.
1. 업무에 지장이 있는 때: 1개월 이내
2. 보안 사고가 발생한 때: 3개월 이내

| 직급 | 장비 | 지원금 |
| --- | --- | --- |
| 팀장 | 모니터 | 30만원 |
| 팀원 | 의자 | 20만원 |""",
    )
)
REMOTE = piece_of(
    NumberedEvidence(
        number=2,
        text="""Remote work · Section 2
Section 2. Rules
Employees may work from home up to two days a week with the approval of their manager. The team lead keeps the calendar
and the office manager orders the desks. Contractors must not copy company data to private devices.""",
    )
)


def doubts(sentence: str, question: str = "재택근무", *, english: bool = False) -> list[str]:
    return [doubt.reason for doubt in unanchored(sentence, (REMOTE if english else RULES).units, question=question)]


@pytest.mark.parametrize(
    "sentence",
    [
        "정규직 직원은 팀장의 승인을 받으면 주 2일까지 재택근무를 할 수 있습니다.",
        "재택근무 신청은 시행일 3일 전까지 해야 합니다.",
        "팀장은 1일 이내에 승인 여부를 알려야 합니다.",
        "회사 자료를 개인 저장장치에 복사하면 안 됩니다.",
        "통신비는 매월 2만 원이 지급됩니다.",
        "노트북을 분실하면 정보보호팀에 먼저 신고한 뒤 총무팀에 알립니다.",
        "보안 사고가 발생하면 3개월 이내로 재택근무를 중지할 수 있습니다.",
        "팀장의 지원금은 30만 원입니다.",
    ],
)
def test_what_a_clause_or_a_row_says_is_certain(sentence):
    assert doubts(sentence) == []


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("another subject", "계약직 직원은 팀장의 승인을 받아 주 2일까지 재택근무를 할 수 있습니다."),
        ("another office", "정규직 직원은 본부장의 승인을 받아 주 2일까지 재택근무를 할 수 있습니다."),
        ("a limit left out", "정규직 직원은 주 2일까지 재택근무를 할 수 있습니다."),
        ("a duty for a permission", "정규직 직원은 팀장의 승인을 받아 주 2일까지 재택근무를 하여야 합니다."),
        ("a denial lost", "회사 자료를 개인 저장장치에 복사할 수 있습니다."),
        ("a denial added", "통신비는 매월 2만 원을 지급하지 않습니다."),
        ("the direction of a limit", "재택근무 신청은 시행일 3일 뒤까지 해야 합니다."),
        ("the order of steps", "노트북을 분실하면 총무팀에 먼저 신고한 뒤 정보보호팀에 알립니다."),
        ("an invented step", "노트북을 분실하면 경찰서에 신고하고 총무팀에 알립니다."),
        ("the amount of another item", "보안 사고가 발생하면 1개월 이내로 재택근무를 중지할 수 있습니다."),
        ("two rules merged", "재택근무 신청은 1일 이내에 하여야 합니다."),
        ("another period", "통신비는 매주 2만 원이 지급됩니다."),
        ("an extent", "모든 직원은 주 2일까지 재택근무를 할 수 있습니다."),
        ("another row", "팀원은 모니터를 지원받습니다."),
    ],
)
def test_what_is_turned_is_not(kind, sentence):
    assert doubts(sentence) != [], kind


@pytest.mark.parametrize(
    ("sentence", "is_certain"),
    [
        ("Employees may work from home up to two days a week if their manager approves.", True),
        ("Employees may work from home up to two days a week.", False),
        ("Employees may work from home two days a month with the approval of their manager.", False),
        ("The office manager keeps the calendar.", False),
        ("Contractors must not copy company data to private devices.", True),
        ("Contractors may copy company data to private devices.", False),
    ],
)
def test_the_same_in_english(sentence, is_certain):
    assert (doubts(sentence, "remote work", english=True) == []) is is_certain


@pytest.mark.parametrize(
    ("sentence", "is_certain"),
    [
        ("Requests must be made at least 3 days ahead.", True),
        ("Company data must not be copied to personal storage devices.", True),
        ("Company data may be copied to personal storage devices.", False),
        ("It is sunny in Busan and the ferry is on time.", False),
    ],
)
def test_across_languages_what_can_be_translated_is_compared(sentence, is_certain):
    assert (doubts(sentence) == []) is is_certain


def test_the_reason_names_the_word_that_is_nowhere():
    [reason] = doubts("정규직 직원은 본부장의 승인을 받아 주 2일까지 재택근무를 할 수 있습니다.")
    assert "본부장" in reason


def test_a_proviso_that_an_answer_leaves_out_is_told_beside_it():
    index = EvidenceIndex([RULES.evidence], "재택근무 며칠?", language="ko")
    told = "정규직 직원은 팀장의 승인을 받으면 주 2일까지 재택근무를 할 수 있습니다 [1]."
    left_out = index.left_out_of(told, [1])
    assert left_out is not None
    assert left_out.text == "단서 조항: “다만, 수습사원은 제외한다.” [1]"
    assert index.left_out_of(f"{told} 다만 수습사원은 제외됩니다 [1].", [1]) is None


def test_the_proviso_of_a_rule_that_an_answer_does_not_tell_is_not_shown():
    index = EvidenceIndex([RULES.evidence], "통신비?", language="ko")
    assert index.left_out_of("통신비는 매월 2만 원이 지급됩니다 [1].", [1]) is None
