"""Sentences that claim nothing by themselves."""

from __future__ import annotations

import pytest

from bot.citing import EvidenceIndex, NumberedEvidence
from bot.leads import is_verdict

RULE = NumberedEvidence(number=1, text="취업규칙 · 제15조(연차휴가)\n연차휴가는 15일로 한다. 신청은 3일 전까지 한다.")


@pytest.mark.parametrize(
    "sentence", ["네.", "아니요, 필요하지 않습니다", "가능합니다.", "Yes, it is.", "No, it does not.", "안 됩니다"]
)
def test_a_bare_yes_or_no_says_nothing(sentence):
    assert is_verdict(sentence)


@pytest.mark.parametrize("sentence", ["네, 15일입니다", "연차는 필요하지 않습니다", "Yes, you need a badge"])
def test_what_says_more_is_no_verdict(sentence):
    assert not is_verdict(sentence)


def test_a_verdict_is_left_to_what_follows_and_has_the_evidence_behind_it():
    checked = EvidenceIndex([RULE], "연차휴가는 15일인가요?", language="ko").check("네, 그렇습니다 [1].")
    assert (checked.text, checked.fault) == ("", None)
    assert checked.as_quote is not None
    assert "15일" in checked.as_quote.text


def test_a_lead_may_repeat_the_numbers_of_the_question_only():
    index = EvidenceIndex([RULE], "연차휴가 15일은 언제 신청해?", language="ko")
    assert index.check("연차휴가 15일은 다음과 같이 신청합니다:").is_lead
    assert not index.check("연차휴가 20일은 다음과 같이 신청합니다:").is_lead
