"""Reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.fusion import fuse_rankings, interleave


def test_scores_are_those_of_the_paper() -> None:
    fused = fuse_rankings({"keyword": ["a", "b"], "dense": ["b", "c"]})
    assert list(fused) == ["b", "a", "c"]
    assert fused["b"] == pytest.approx(1 / 62 + 1 / 61)


def test_a_weight_counts_a_ranking_less() -> None:
    fused = fuse_rankings({"keyword": ["a"], "added": ["b"]}, weights={"added": 0.5})
    assert fused["b"] == pytest.approx(fused["a"] / 2)


def test_no_rankings_give_nothing() -> None:
    assert fuse_rankings({}) == {}


def test_two_lists_alternate() -> None:
    assert interleave([1, 2, 3], [4, 1]) == [1, 4, 2, 3]


@given(st.dictionaries(st.text(max_size=3), st.lists(st.integers(0, 20), max_size=15), max_size=4))
def test_every_item_appears_once_and_in_order_of_its_score(rankings: dict[str, list[int]]) -> None:
    fused = fuse_rankings(rankings)
    assert set(fused) == {item for ranking in rankings.values() for item in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
