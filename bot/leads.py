"""Sentences that claim nothing by themselves: introductions of what follows, and a bare yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.claims import Claims, claims_of, squeeze
from bot.code_terms import words_of
from bot.content_words import bag_of, content_words, held_share
from bot.evidence_pieces import EvidencePiece
from bot.word_forms import forms_of

LEAST_SHARE = 0.3  # of the words that the evidence or the question must hold
_LONGEST_CHARS = 120
_INTRODUCES = re.compile(
    r"(?:다음|아래)(?:과|와)?\s?(?:같|표|순서|절차|내용|단계|방법|사항|을\s합|를\s합|일을)|정리(?:하면|해\s?드리|했)|"
    r"\b(?:as follows|here (?:is|are)|the following|below|does this)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#.*|\|.*|\*\*[^*]+\*\*|.*(?::|：|:\*\*)$", re.DOTALL)
_PLAIN_ENGLISH = frozenset({"here", "summary", "follows", "overview", "steps", "details", "answer", "key", "points"})
_VERDICT = re.compile(
    r"그렇(?:습니다|지\s?않습니다|다|지\s?않다)|맞(?:습니다|아요|다)|아닙니다|"
    r"\b(?:yes|no|correct|it (?:is|does|can)|(?:is|does|can)(?:\s?n[o']t| not))\b",
    re.IGNORECASE,
)


def is_verdict(bare: str) -> bool:
    """Whether a sentence says yes or no and nothing else: "아니요, 필요하지 않습니다"."""
    return claims_of(bare).is_empty and not forms_of(_VERDICT.sub(" ", bare))


def introduces(sentence: str) -> bool:
    """Whether a sentence leads to a list or to steps, whatever else it says."""
    return _INTRODUCES.search(sentence) is not None


def is_lead(bare: str, question: str, pieces: Iterable[EvidencePiece]) -> bool:
    """Whether a sentence only introduces what follows: a heading, or a line that ends with a colon, without claims
    that the question does not make."""
    line = bare.strip()
    leads_on = introduces(line)
    if not (leads_on or _HEADING.fullmatch(line)) or len(line) > _LONGEST_CHARS:
        return False
    if not _asks_the_same(claims_of(bare), question):
        return False
    words = [word for word in content_words(line) if word not in _PLAIN_ENGLISH]
    pieces = list(pieces)
    share = held_share(words, bag_of(question), *(piece.bag for piece in pieces))
    forms = forms_of(line)
    for piece in pieces:
        if piece.is_code and forms:  # what code calls it is said in other words
            held = words_of(piece.evidence.text)
            share = max(share, sum(map(held.holds, forms)) / len(forms))
    return not words or share >= (LEAST_SHARE if leads_on else 0.5)


def _asks_the_same(claims: Claims, question: str) -> bool:
    """Whether all that the sentence claims stands in the question."""
    if claims.is_empty:
        return True
    asked = claims_of(question)
    return (
        not (claims.dates or claims.times or claims.labels or claims.lines)
        and all(any(q.equals(other) for other in asked.quantities) for q in claims.quantities)
        and all(squeeze(name) in squeeze(question) for name in claims.names)
    )
