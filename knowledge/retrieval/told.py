"""Whether the kind of thing that is asked for stands where the text speaks of the subject.

"The fee is set elsewhere" holds every word of a question about the fee, and a table of other fees beside it holds the
amounts: only a line that has both tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from knowledge.retrieval.asked import asked_of, without_amendments
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import Held
from knowledge.retrieval.question import Question
from knowledge.retrieval.subjects import holds

_LINE_END = re.compile(r"\n|(?<=[다음임함]\.)\s")
_LIST_FOLLOWS = re.compile(r"다음\s?각|다음과\s?같|아래와\s?같|following|:\s*$")
_LISTED_LINES = 6  # of a list that belong to the line in front of it
_NEXT_LINES = 1
_HEADER_ROWS = 2
_MAX_LINES = 300
_OTHER_WORDS = 0.5  # of a word: synonyms of a rule's words stand in other rules, too
_NAME_SHARE = 0.5  # as in `missing`: a name is often not said again where a rule speaks of it


def told_share(question: Question, leading: Sequence[Candidate], term_weights: Mapping[str, float]) -> float:
    """How much of the subject the best line with a thing of the kind that is asked for holds, 0..1.

    It is a share of the most that any line holds: 1 where no line speaks more of the subject than one that has such a
    thing, 0 where no piece has it beside any word of the subject. 1 where the kind is not clear.
    """
    asked = asked_of(question.text)
    if asked is None:
        return 1.0
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
        for line, following in _lines(without_amendments(chunk.text), alone=asked.in_one_line):
            held = Held(line)
            weight = sum(named.get(term, 0.0) or _worth(held, question, term, own) for term, own in weights.items())
            most = max(most, weight)
            told = any(map(asked.stands_in, following))
            stands = stands or told
            most_told = max(most_told, weight if told else 0.0)
    if most == 0.0:
        return float(stands)
    return most_told / most


def _worth(held: Held, question: Question, term: str, weight: float) -> float:
    """What a line holds of a term: less where it holds it in other words only."""
    if term in held:
        return weight
    return weight * _OTHER_WORDS if holds(held, question, term) else 0.0


def _lines(text: str, *, alone: bool) -> Iterator[tuple[str, Sequence[str]]]:
    """Each line with what is read together with it: a row with the head of its table, a sentence and the next one.

    The first is where words are looked for, the second where values are; `alone` leaves out the next sentences.
    """
    lines = [line for line in _LINE_END.split(text)[:_MAX_LINES] if line.strip()]
    first_row = 0
    for place, line in enumerate(lines):
        if "|" in line:
            if place == 0 or "|" not in lines[place - 1]:
                first_row = place
            head = lines[first_row : min(first_row + _HEADER_ROWS, place)]
            yield "\n".join((*head, line)), (line,)
        else:
            more = 0 if alone else _LISTED_LINES if _LIST_FOLLOWS.search(line) else _NEXT_LINES
            yield line, lines[place : place + 1 + more]
