"""Thoughts never reach a reader, wherever the stream cuts its pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.thinking import ThoughtFilter


def shown(pieces: list[str]) -> str:
    thoughts = ThoughtFilter()
    return "".join([thoughts.feed(piece) for piece in pieces]) + thoughts.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain answer", "plain answer"),
        ("<think>let me see</think>\n\nanswer", "answer"),
        ("\n <think>\nlet me see\n</think>answer", "answer"),
        ("<think></think>answer", "answer"),
        ("<think>never ends", ""),
        ("<thinking is hard", "<thinking is hard"),
        ("<thi", "<thi"),
        ("The tag <think> opens a block </think>.", "The tag <think> opens a block </think>."),
        ("", ""),
    ],
)
def test_a_block_of_thoughts_at_the_start_is_dropped_and_everything_else_stays(text, expected):
    assert shown([text]) == expected
    assert shown(list(text)) == expected


@given(st.text(max_size=40), st.lists(st.integers(0, 60), max_size=6))
def test_where_pieces_are_cut_makes_no_difference(answer, cuts):
    text = f"<think>why? </think>{answer}"
    borders = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[start:end] for start, end in pairwise(borders)]
    assert shown(pieces) == answer.lstrip()


def test_text_that_is_no_thought_is_released_at_once():
    thoughts = ThoughtFilter()
    assert [thoughts.feed(piece) for piece in ("An", "swer", " <think>")] == ["An", "swer", " <think>"]
