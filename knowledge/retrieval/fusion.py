"""One ranking out of several."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

RRF_K = 60

Key = TypeVar("Key", bound=Hashable)


def fuse_rankings(
    rankings: Mapping[str, Sequence[Key]], *, weights: Mapping[str, float] | None = None, k: int = RRF_K
) -> dict[Key, float]:
    """Item -> reciprocal rank fusion score, best first; empty for no rankings.

    Each ranking adds weight / (k + rank), ranks from 1 (Cormack, Clarke, Buettcher: "Reciprocal Rank Fusion outperforms
    Condorcet and individual Rank Learning Methods", SIGIR 2009, k = 60). A ranking without a weight counts once. Of an
    item that a ranking names twice the first place counts. Ties keep the order of first appearance.
    """
    scores: dict[Key, float] = {}
    for name, ranking in rankings.items():
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def interleave(first: Sequence[Key], second: Sequence[Key]) -> list[Key]:
    """Items of both in turn, `first` leading, each once."""
    merged: list[Key] = []
    for i in range(max(len(first), len(second))):
        merged += first[i : i + 1]
        merged += second[i : i + 1]
    return list(dict.fromkeys(merged))
