"""What is certain of a sentence about code, and what is not: then the lines are shown."""

from __future__ import annotations

import pytest

from bot.citing import EvidenceIndex, NumberedEvidence
from bot.generating import Asked, Writer
from bot.types import ChatTurn
from tests.fakes.chat_model import FakeChatModel, FakeReply
from tests.unit.bot.model_outputs import PERSONA

CODE = '''limits.py · TokenBucket.take
(gateway/limits.py lines 14-40, commit ab12ffcd90)
CAPACITY = 20
REFILL_SECONDS = 5

class TokenBucket:
    def take(self, key, cost=1, audit=True):
        """Whether the request may pass; takes tokens when it may."""
        if key is None:
            raise MissingKey()
        bucket = self.store.get(key) or Bucket(tokens=CAPACITY)
        if bucket.tokens < cost:
            metrics.increment("rate_limited")
            return False
        bucket.tokens -= cost
        self.store.save(bucket, ttl=3600)
        if audit:
            self.log.info("token taken")
        self.events.publish(Taken(key))
        return True
called by: handle(request) (gateway/server.py)'''


def check(sentence: str, question: str = "어떻게 동작해?"):
    evidence = [NumberedEvidence(number=1, text=CODE, is_code=True, start_line=14, end_line=40)]
    language = "ko" if any("가" <= c <= "힣" for c in sentence) else "en"
    return EvidenceIndex(evidence, question, language=language).check(f"{sentence} [1].")


@pytest.mark.parametrize(
    "sentence",
    [
        "`CAPACITY`는 20입니다",
        "버킷 용량은 20입니다",
        "토큰이 `cost`보다 적으면 `False`를 반환합니다",
        "If there are fewer tokens than `cost`, it returns `False`",
        "토큰이 `cost`보다 적으면 `rate_limited`를 올리고 `False`를 반환합니다",
        "key가 `None`이면 `MissingKey` 예외를 던집니다",
        "`TokenBucket.take`는 gateway/limits.py에 있습니다",
        "gateway/server.py의 `handle`이 호출합니다",
        "It is called by `handle`",
        "버킷을 저장한 뒤 `Taken` 이벤트를 발행합니다",
        "`audit`의 기본값은 `True`입니다",
    ],
)
def test_what_a_line_says_is_told_in_the_models_words(sentence):
    checked = check(sentence)
    assert (checked.fault, checked.doubt) == (None, None)


@pytest.mark.parametrize(
    "sentence",
    [
        "토큰이 `cost`보다 적으면 `True`를 반환합니다",
        "토큰이 `cost`보다 많으면 `False`를 반환합니다",
        "`cost`가 토큰보다 적으면 `False`를 반환합니다",
        "key가 있으면 `MissingKey` 예외를 던집니다",
        "`False`를 반환합니다",
        "토큰이 부족해도 항상 저장합니다",
        "`Taken` 이벤트를 발행한 뒤 버킷을 저장합니다",
        "`take`가 `handle`을 호출합니다",
        "`audit`의 기본값은 `False`입니다",
        "용량은 5입니다",
        "키마다 20개까지 허용합니다",
        "토큰을 가져갈 수 있습니다",
        "It logs every request",
        "`CAPACITY`만큼 기다립니다",
    ],
)
def test_what_nobody_can_tell_gives_way_to_the_lines(sentence):
    checked = check(sentence)
    assert checked.fault is not None or checked.doubt is not None
    shown = checked.as_quote
    assert shown is not None
    assert "```" in shown.text
    assert "[1]" in shown.text


def test_a_condition_of_the_question_goes_on_in_the_answer():
    assert check("`False`를 반환합니다", "토큰이 cost보다 적으면?").doubt is None
    assert check("`Taken` 이벤트를 발행합니다", "토큰이 cost보다 적으면?").doubt is not None


def test_the_order_of_steps_is_never_certain():
    evidence = [NumberedEvidence(number=1, text=CODE, is_code=True, start_line=14, end_line=40)]
    index = EvidenceIndex(evidence, "순서는?", language="ko")
    assert index.check("- `Taken` 이벤트를 발행합니다 [1].").doubt is None
    assert index.check("1. `Taken` 이벤트를 발행합니다 [1].").doubt is not None


def test_a_lead_hands_its_condition_on():
    evidence = [NumberedEvidence(number=1, text=CODE, is_code=True, start_line=14, end_line=40)]
    index = EvidenceIndex(evidence, "무엇을 해?", language="ko")
    lead = "토큰이 `cost`보다 적으면 다음을 합니다:"
    assert index.check("- `False`를 반환합니다 [1].", context=lead).doubt is None
    assert index.check("- `Taken` 이벤트를 발행합니다 [1].", context=lead).doubt is not None


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("토큰이 `cost`보다 적으면 `False`를 반환합니다 [1].", [1]),
        ("토큰이 `cost`보다 적으면 `True`를 반환합니다 [1].", []),
    ],
    ids=["in the model's words", "as lines"],
)
async def test_it_is_known_what_of_the_code_is_told_in_the_models_words(sentence, told):
    evidence = [NumberedEvidence(number=1, text=CODE, is_code=True, start_line=14, end_line=40)]
    asked = Asked(question="제한되면?", persona=PERSONA, language="ko")
    writer = Writer(asked, evidence, None)
    await writer.write(FakeChatModel(FakeReply(pieces=(sentence,))), [ChatTurn(role="user", content="제한되면?")])
    assert (writer.result.cited, writer.result.told) == ([1], told)
