"""Whether the kind of thing that is asked for stands where the text speaks of the subject.

"The fee is set elsewhere" holds every word of a question about the fee, and a table of other fees beside it holds the
amounts: only a line that has both tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowledge.retrieval.asked import asked_of, without_amendments
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import Held
from knowledge.retrieval.question import Question
from knowledge.retrieval.subjects import holds

_LINE_END = re.compile(r"\n|(?<=[다음임함]\.)\s")
_LIST_FOLLOWS = re.compile(r"다음\s?각|다음과\s?같|아래와\s?같|following|:\s*$")
_UNIT = re.compile(r"단위\s?:[^)\n]{1,20}|\bin (?:KRW|USD|won|dollars)\b")
_LISTED_LINES = 6  # of a list that belong to the line in front of it
_NEXT_LINES = 1
_HEADER_ROWS = 2
_MAX_LINES = 300
_OTHER_WORDS = 0.8  # of a word that is there in other words: those stand in other rules, too
_NAME_SHARE = 0.5  # as in `missing`: a name is often not said again where a rule speaks of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How much of the subject the best line holds that has the kind of thing that is asked for, 0..1.

    share: of the most that any line holds; 0 where no piece has such a thing beside any word of the subject.
    beside: of all of it. Where the kind is not clear any line will do.
    """

    share: float
    beside: float


def told_of(question: Question, leading: Sequence[Candidate], term_weights: Mapping[str, float]) -> Told:
    """What the leading pieces tell of the subjects of a question."""
    asked = asked_of(question.text)
    weights = {
        term: term_weights[term] * (_NAME_SHARE if term in question.names else 1.0)
        for term in question.subjects
        if term in term_weights
    }
    most = most_told = 0.0
    stands = False
    for candidate in leading:
        chunk = candidate.chunk
        label = Held(" ".join(filter(None, (chunk.title, chunk.locator.label))))
        named = {term: _worth(label, question, term, own) for term, own in weights.items()}
        unit = " ".join(_UNIT.findall(chunk.text))
        for line, head, following in _lines(without_amendments(chunk.text), alone=asked is None or asked.in_one_line):
            held = Held(f"{head}\n{line}")
            weight = sum(max(named[term], _worth(held, question, term, own)) for term, own in weights.items())
            most = max(most, weight)
            if weight <= most_told and stands:
                continue  # a value beside less of the subject changes nothing
            over = f"{label.text} {unit} {head}"
            if asked is None or any(asked.stands_in(row, over) for row in following):
                stands = True
                most_told = max(most_told, weight)
    if most == 0.0:
        return Told(share=float(stands), beside=float(stands and not weights))
    return Told(share=most_told / most, beside=most_told / sum(weights.values()))


def _worth(held: Held, question: Question, term: str, weight: float) -> float:
    """What a line holds of a term: less where it holds it in other words only."""
    if term in held:
        return weight
    return weight * _OTHER_WORDS if holds(held, question, term) else 0.0


def _lines(text: str, *, alone: bool) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Each line, the head of the table that it is a row of, and the lines in which a value may stand.

    Those are a row itself, or a sentence and the next one, a list that follows it; `alone` leaves out what follows.
    """
    lines = [line for line in _LINE_END.split(text)[:_MAX_LINES] if line.strip()]
    first_row = 0
    for place, line in enumerate(lines):
        if "|" in line:
            if place == 0 or "|" not in lines[place - 1]:
                first_row = place
            yield line, "\n".join(lines[first_row : min(first_row + _HEADER_ROWS, place)]), (line,)
        else:
            more = 0 if alone else _LISTED_LINES if _LIST_FOLLOWS.search(line) else _NEXT_LINES
            yield line, "", lines[place : place + 1 + more]
