"""A reranker in memory: it counts the words that question and passage share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_WORD = re.compile(r"\w+")


class WordReranker:
    """Reranker port. `trouble` is asked first and may raise what a real one raises."""

    name = "words"

    def __init__(self, trouble: Callable[[], None] = lambda: None) -> None:
        self.trouble = trouble
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        if not passages:
            return []
        self.trouble()
        self.asked.append((query, list(passages)))
        words = set(_WORD.findall(query.lower()))
        return [float(len(words & set(_WORD.findall(passage.lower())))) for passage in passages]

    def check(self) -> str:
        self.trouble()
        return self.name

    def warm_up(self) -> None:
        self.trouble()

    def close(self) -> None:
        """Nothing is held."""
