"""The prefix and the mention are taken off; the prefix decides the kind of evidence."""

from __future__ import annotations

import pytest

from bot.routing import route, search_text


@pytest.mark.parametrize(
    ("text", "question", "kind"),
    [
        ("연차는 며칠인가요?", "연차는 며칠인가요?", None),
        ("@haechi 연차는?", "연차는?", None),
        ("@Haechi야, 연차는?", "연차는?", None),
        ("@haechi: code: where is retry?", "where is retry?", "code"),
        ("CODE : retry", "retry", "code"),
        ("코드: 재시도", "재시도", "code"),
        ("docs：연차", "연차", "docs"),
        ("문서: 연차", "연차", "docs"),
        ("code:", "code:", None),
        ("decode: what does it do?", "decode: what does it do?", None),
        ("@haechi-test 연차", "@haechi-test 연차", None),
        ("code: docs: both", "docs: both", "code"),
    ],
)
def test_what_a_question_is_about(text, question, kind):
    routed = route(text)
    assert (routed.question, routed.kind) == (question, kind)


def test_a_mask_is_not_searched_for():
    assert search_text("키 [masked:aws-key] 가 왜 안 되나요?").split() == ["키", "가", "왜", "안", "되나요?"]
    assert search_text("[masked:aws-key]") == "[masked:aws-key]"
