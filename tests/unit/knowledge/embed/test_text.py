"""Preparation keeps what a text says and removes what breaks an embedder."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.embed.text import embeddable, halves

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=80)


def test_a_nul_becomes_a_space_so_that_nothing_behind_it_is_lost():
    assert embeddable("연차\0휴가") == "연차 휴가"


def test_decomposed_korean_becomes_the_same_text_as_composed():
    assert embeddable(unicodedata.normalize("NFD", "연차휴가 규정")) == "연차휴가 규정"


def test_a_lone_surrogate_becomes_a_replacement_and_a_pair_becomes_its_character():
    assert embeddable("a\ud83d b") == "a\ufffd b"
    assert embeddable("a\ud83d\ude00b") == "a😀b"


@given(ANY_TEXT)
def test_every_text_can_be_encoded_and_holds_no_nul(text):
    assert b"\0" not in embeddable(text).encode("utf-8")
    assert embeddable(embeddable(text)) == embeddable(text)


@given(st.text(min_size=2, max_size=200))
def test_two_halves_are_the_text_and_none_is_empty(text):
    first, second = halves(text)
    assert first + second == text
    assert first
    assert second


@pytest.mark.parametrize(("text", "cut"), [("aaaa bbbbb", 4), ("aaaaaaaaaa", 5), ("a bbbbbbbbbbbb", 7)])
def test_the_cut_falls_on_white_space_near_the_middle_or_else_in_the_middle(text, cut):
    assert len(halves(text)[0]) == cut
