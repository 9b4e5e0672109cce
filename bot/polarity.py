"""Whether a clause affirms or denies, so that "이월할 수 있습니다" is not let through where the evidence says "없다"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.content_words import WordBag, bag_of, content_words, held_share, is_korean

_CLAUSE_END = re.compile(
    r"(?<=[.!?。])\s+|\n+|;\s*|,\s+|(?<=[가-힣](?:며|나|만|고))\s+|(?<=이고)\s+|\s+(?=but\b|however\b|whereas\b)"
)
_NEGATIVE = re.compile(
    r"(?:없(?:다|습니다|음|으며|고|는|을|어)|않(?:는다|습니다|음|으며|고|는|을|아)|아니(?:한다|합니다|하며|하고|됩니다|된다|함|다)|"
    r"못\s?(?:한다|합니다|함|하며)|안\s?(?:된다|됩니다|됨|되며)|(?:금지|제외|불가|불허|미지급|불인정|면제)(?:한다|합니다|된다|됩니다|됨|함|하며|"
    r"되며|이다|입니다|하다)?|불가능(?:하다|합니다|함)?|아닙니다|아니다)\s*[)\].!?\"'」』]*\s*$"
)
_NEGATIVE_ENGLISH = re.compile(
    r"\b(?:not|cannot|can't|never|no|isn't|aren't|doesn't|don't|won't|neither|prohibited|forbidden|excluded|ineligible|"
    r"unable|without)\b",
    re.IGNORECASE,
)
_DENIED_PREDICATE = re.compile(
    r"(?:지|하지|수|는|은|해서|하여서|하여는|해서는|하여서는|서는)?\s*(?:없|않|아니|못|안\s?[되됩된됨]|금지|제외|불가|불허|있)"
)
_MODAL_TAIL = re.compile(
    r"\s*(?:수\s?)?(?:있|없|않|아니|못|안\s?되|안\s?됩|안\s?된|안\s?됨|한다|합니다|된다|됩니다|하여야|해야|입니다|이다|이며|하며|되며|지\s)"
)
_SHARED = 0.5


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of the evidence, with what it is about."""

    text: str
    words: tuple[str, ...]
    bag: WordBag
    is_denied: bool


def clauses_of(text: str) -> list[Clause]:
    """The clauses of a text that hold at least two telling words."""
    return [
        Clause(piece, words, bag_of(piece), is_denied(piece))
        for piece in split_clauses(text)
        if len(words := content_words(piece)) >= 2
    ]


def split_clauses(text: str) -> Iterator[str]:
    """The clauses of a text, one after the other."""
    for piece in _CLAUSE_END.split(text):
        if piece.strip():
            yield piece.strip()


def is_denied(clause: str) -> bool:
    """Whether the clause ends in a denial."""
    if is_korean(clause):
        return _NEGATIVE.search(clause) is not None
    return len(_NEGATIVE_ENGLISH.findall(clause)) % 2 == 1


def contradicted(claim: str, evidence: Sequence[Clause]) -> str | None:
    """The clause of the evidence that says the opposite of a claim, when none says the same."""
    for piece in split_clauses(claim):
        words = content_words(piece)
        if len(words) < 2:
            continue
        denied = is_denied(piece)
        same = opposite = 0.0
        found = None
        for clause in evidence:
            if is_korean(piece) != is_korean(clause.text) or not _same_predicate(words, clause):
                continue
            share = held_share(words, clause.bag)
            if clause.is_denied == denied:
                same = max(same, share)
            elif share > opposite:
                opposite, found = share, clause.text
        if found is not None and opposite >= _SHARED and opposite > same:
            return found
    return None


def _same_predicate(words: Sequence[str], clause: Clause) -> bool:
    """Whether the last telling word of the claim, its predicate, is one of the last two of the clause."""
    predicate = words[-1]
    return any(predicate[:2] == word[:2] for word in clause.words[-2:])
