"""Evidence in prose cut into clauses, each with what it is about: the stretches that a claim is held against."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.claims import Claims, claims_of
from bot.content_words import WordBag, bag_of, content_words
from bot.quantities import Quantity

_SENTENCE = re.compile(r"\n+|(?<=[가-힣A-Za-z)\"'”」][.!?])\s+|(?<=\d[.])\s+(?=[A-Z가-힣])")
_CLAUSE = re.compile(
    r";\s*|,\s+|\s/\s|(?<=[가-힣](?:며|나|고|되))\s+|(?<=지만)\s+|(?<=는데)\s+|"
    r"\s+(?=(?:but|however|whereas|while)\b)|\s+and\s+(?=(?:a|an|the|post|must|may|updates?)\b)",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?:^|\s)([가-힣A-Za-z0-9]+?)(?:은|는|도|에게는|에는|이|가|의?\s경우(?:에는|에도|는|에)?)(?=\s)|^\s*(?:[-*•]|\d{1,2}[.)]|제\d항)?\s*\**([^\s:*|]{2,16})\**\s?:"
)
_CODED = re.compile(r"\b[A-Za-z]{1,6}-?\d{1,4}\b")
_SHORT_LINE = 46
_ENDED = re.compile(r"[.!?:]\s*$|[다음함됨임요]\s*$")


@dataclass(frozen=True, slots=True)
class Window:
    """One clause of the evidence."""

    text: str
    sentence: str
    bag: WordBag
    sentence_bag: WordBag
    codes: frozenset[str]
    sentence_codes: frozenset[str]
    topics: tuple[str, ...]
    claims: Claims
    line: int

    def covers(self, word: str) -> float:
        """1 when the clause holds the word, half when only the rest of its sentence does."""
        if word in self.codes or (not word.isupper() and self.bag.holds(word)):
            return 1.0
        if word in self.sentence_codes or (not word.isupper() and self.sentence_bag.holds(word)):
            return 0.5
        return 0.0

    def sentence_holds(self, word: str) -> bool:
        return word in self.sentence_codes or self.sentence_bag.holds(word)

    def score(self, words: Sequence[str]) -> float:
        """How many of the words it covers."""
        return sum(map(self.covers, words))

    def holds_amount(self, quantity: Quantity) -> bool:
        return any(q.equals(quantity) and not q.contradicts_bound(quantity) for q in self.claims.quantities)


def windows_of(text: str) -> list[Window]:
    """The clauses of the prose of a piece of evidence, in order, without its short lines (names and headings)."""
    found: list[Window] = []
    line = 0
    for sentence in _SENTENCE.split(text):
        line += 1
        sentence = sentence.strip()
        if not sentence or (len(sentence) < _SHORT_LINE and not _ENDED.search(sentence)):
            continue
        sentence_bag, sentence_codes = bag_of(sentence), codes_of(sentence)
        topics: tuple[str, ...] = ()
        for clause in clauses_of_sentence(sentence):
            topics = topics_of(clause) or topics
            claims = claims_of(clause, is_evidence=True)
            found.append(
                Window(
                    clause,
                    sentence,
                    bag_of(clause),
                    sentence_bag,
                    codes_of(clause),
                    sentence_codes,
                    topics,
                    claims,
                    line,
                )
            )
    return found


def clauses_of_sentence(sentence: str) -> Iterator[str]:
    """The clauses of one sentence."""
    for clause in _CLAUSE.split(sentence):
        if clause and clause.strip():
            yield clause.strip()


@lru_cache(maxsize=2048)
def topics_of(clause: str) -> tuple[str, ...]:
    """What a clause is about: the words that its particles mark, or the name in front of a colon."""
    return tuple(name for match in _TOPIC.finditer(clause) if len(name := match[1] or match[2]) > 1)


@lru_cache(maxsize=2048)
def codes_of(text: str) -> frozenset[str]:
    """Short names with a number: "SEV2", "P1"."""
    return frozenset(code.upper() for code in _CODED.findall(text))


def words_of(clause: str) -> list[str]:
    """The telling words of a clause, and its short names with a number."""
    return [*content_words(_CODED.sub(" ", clause)), *sorted(codes_of(clause))]
