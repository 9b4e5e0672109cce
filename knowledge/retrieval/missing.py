"""Which telling words of a question the evidence lacks: a rule about other loans says nothing about car loans.

Synonyms count as held (the lexicons), and so does a word without its last syllable where that only says what kind of
thing it is (자격증 for 자격, 이용료 for 이용). Words that any question may hold are not telling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import Held, is_everyday, squeeze
from knowledge.retrieval.question import Question

_LOOKED_AT = 4  # pieces of evidence that an answer may rest on
_TELLING_FROM = 4.0  # weight of a word, 0..10, from which it tells what a question is about
_FULL_WEIGHT = 10.0
_NAME_SHARE = 0.5  # of names: the house's own name stands in few of its rules
_FOREIGN_SHARE = 0.4  # of words in another script than the evidence: what the lexicons do not know is not absent
_KIND_SUFFIXES = "증금비료용처서류율률액분치사"
_HANGUL = re.compile(r"[가-힣]")
_LATIN = re.compile(r"[A-Za-z]")
# a grade or class by its letter: "D등급", "라등급", "S급"; what it is called in a table is the bare letter in a cell
_GRADE = re.compile(r"(?<![A-Za-z가-힣])([A-Z]|[가나다라마바사])\s?-?\s?(등급|급)(?![가-힣]*\s*(?:정))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """What the evidence does not hold of a question."""

    words: tuple[str, ...] = ()  # as they are written, the most telling first
    heaviest: float = 0.0  # weight of the most telling one, 0..1
    focus: float = 1.0  # the largest share of the subject's weight that one piece holds with what it links to, 0..1

    @property
    def features(self) -> dict[str, float]:
        """What the gate sees of it."""
        return {"lacking": self.heaviest, "focus": self.focus}


def find_lack(question: Question, ranked: Sequence[Candidate], term_weights: Mapping[str, float]) -> Lack:
    """The subjects of the question that none of the leading pieces holds; nothing for a question without subjects."""
    pieces = [_piece(candidate) for candidate in ranked[:_LOOKED_AT]]
    if not pieces:
        return Lack(heaviest=1.0, focus=0.0)
    weights = {term: term_weights[term] for term in question.subjects if term in term_weights and not is_everyday(term)}
    total = sum(weights.values())
    missing: dict[str, float] = {}
    is_korean = sum(bool(_HANGUL.search(piece.text)) for piece in pieces) * 2 > len(pieces)
    for term, weight in weights.items():
        if any(_holds(piece, question, term) for piece in pieces):
            continue
        if term in question.names:
            weight *= _NAME_SHARE
        if bool(_LATIN.match(term)) is is_korean:
            weight *= _FOREIGN_SHARE
        if weight >= _TELLING_FROM:
            missing[question.subjects[term]] = weight / _FULL_WEIGHT
    for grade in _missing_grades(question.text, pieces):
        missing[grade] = 1.0
    ordered = sorted(missing, key=lambda word: -missing[word])
    focus = max(_share(_joined(pieces, ranked, place), question, weights) for place in range(len(pieces)))
    return Lack(
        words=tuple(ordered),
        heaviest=max(missing.values(), default=0.0),
        focus=focus / total if total > 0.0 else 1.0,
    )


def _piece(candidate: Candidate) -> Held:
    chunk = candidate.chunk
    return Held("\n".join(filter(None, (chunk.title, chunk.locator.label, chunk.text))))


def _joined(pieces: Sequence[Held], ranked: Sequence[Candidate], place: int) -> list[Held]:
    """A piece and those that were brought along by it, or brought it along."""
    own = ranked[place]
    linked = [
        piece
        for piece, other in zip(pieces, ranked, strict=False)
        if other.via == own.chunk.id or own.via == other.chunk.id
    ]
    return [pieces[place], *linked]


def _share(pieces: Sequence[Held], question: Question, weights: Mapping[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if any(_holds(piece, question, term) for piece in pieces))


def _holds(piece: Held, question: Question, term: str) -> bool:
    if term in piece or any(other in piece for other in question.expansions.get(term, ())):
        return True
    whole = [others for word, others in question.expansions.items() if term in word and term != word]
    if any(other in piece for others in whole for other in others):  # 기름 of 기름값, which the lexicon knows
        return True
    bare = term[:-1] if len(term) > 2 and term[-1] in _KIND_SUFFIXES else ""
    return bool(bare) and bare in piece


def _missing_grades(text: str, pieces: Sequence[Held]) -> list[str]:
    missing = []
    for match in _GRADE.finditer(text):
        letter, unit = match[1], match[2]
        written = squeeze(letter + unit)
        cell = re.compile(rf"(?:^|[|\n(,/·~]|\s){re.escape(letter)}\s*(?:$|[|\n),/·~:]|\s)", re.M)
        if not any(written in piece.squeezed or cell.search(piece.text) for piece in pieces):
            missing.append(f"{letter}{unit}")
    return missing
