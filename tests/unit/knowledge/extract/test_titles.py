from __future__ import annotations

import pytest

from knowledge.extract.page_margins import telling_margins
from knowledge.extract.titles import confirmed_title
from knowledge.types import Block

BODY = [Block(kind="paragraph", text="여비 지급\n규정"), Block(kind="table", text="", rows=(("2010", "별표 서식"),))]


@pytest.mark.parametrize(
    ("said", "title"),
    [("여비  지급 규정", "여비 지급 규정"), ("별표서식", "별표서식"), ("옛 서식 이름", None), ("2010", None), ("규정", None), (None, None)],
)  # fmt: skip
def test_a_title_is_believed_where_the_text_says_the_same(said: str | None, title: str | None):
    assert confirmed_title(said, BODY) == title


def test_a_title_far_down_in_the_text_confirms_nothing():
    assert confirmed_title("여비 지급 규정", [Block(kind="paragraph", text="가" * 4000), *BODY]) is None


def test_margins_that_repeat_the_text_or_one_another_are_dropped():
    kept = telling_margins(["여비 지급 - 3 -", "대외비", "대외비 - 4 -", "- 5 -"], BODY)
    assert kept == [Block(kind="note", text="대외비")]
