"""Which telling words of a question the evidence lacks: a rule about other loans says nothing about car loans.

Synonyms count as held (the lexicons), and so does a word without its last syllable where that only says what kind of
thing it is (자격증 for 자격, 이용료 for 이용). Words that any question may hold are not telling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.retrieval.asked import asked_of, without_amendments
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.coverage import Held, is_everyday, is_everyday_thing, squeeze
from knowledge.retrieval.question import Question
from knowledge.retrieval.subjects import holds, share_held
from knowledge.retrieval.told import told_of

# Below this share of the subject (0..1) the kind of thing that is asked for stands somewhere else in the evidence.
TOLD_FROM = 0.6
_LOOKED_AT = 4  # pieces of evidence that an answer may rest on
_TELLING_FROM = 4.0  # weight of a word, 0..10, from which it tells what a question is about
_FULL_WEIGHT = 10.0
_NAME_SHARE = 0.5  # of names: the house's own name stands in few of its rules; and of what the asker is
_FOREIGN_SHARE = 0.4  # of Korean words where the evidence is English: what the lexicons do not know is not absent
_STANDING = frozenset({"입사", "재직", "년차"})  # what somebody says of himself
_HANGUL = re.compile(r"[가-힣]")
_LATIN = re.compile(r"[A-Za-z]")
_APPENDIX = re.compile(r"\[((?:별표|별지|별첨|서식)\s*(?:제?\d+)?)")
_FULL_WEIGHT_OF_THINGS = 0.8  # of 1
_NOT = re.compile(r"(?P<word>[가-힣]{2,})[이가]\s?(?:아닌|아니면|아니라면|아니고|아니어도)")
_SECTION = re.compile(
    r"제\s*(?P<article>\d{1,4})\s*조(?:\s*의\s*(?P<sub>\d{1,3})(?!\d))?|별\s*표\s*(?:제|#)?\s*(?P<table>\d{1,3})"
)
# the year of a question, not of a fact about the one who asks ("2015년에 입사했는데")
_YEAR = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d{2})(?:\s?년|\s?학년도|\b)(?!\s?(?:\d{1,2}월\s?)?(?:에|생|부터)?\s?(?:입사|입학|들어|출생|생|태어|근무|다니))"
)
_ANY_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}\s?(?:년|\.|\s?학년도)|['‘’]\d{2}\.")
_SPAN_OF_YEARS = re.compile(r"(?<!\d)((?:19|20)\d{2})\s?년?\s?[~∼-]\s?((?:19|20)\d{2})(?!\d)")
# a grade by its letter: "D등급", "라등급", "S급"; in a table it stands as the bare letter in a cell
_GRADE = re.compile(r"(?<![A-Za-z가-힣])([A-Z]|[가나다라마바사])\s?-?\s?(등급|급)(?!여|식|한|히)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """What the evidence does not hold of the subject of a question."""

    words: tuple[str, ...] = ()  # that no piece holds, as they are written, the most telling first
    apart_words: tuple[str, ...] = ()  # that the piece which holds most of the subject does not hold
    heaviest: float = 0.0  # weight of the most telling one of `words`, 0..1
    apart: float = 0.0  # the same of `apart_words`
    focus: float = 1.0  # share of the subject's weight in that piece and what it is linked with, 0..1
    told: float = 1.0  # how far the kind of thing that is asked for stands where the pieces speak most of the subject
    beside: float = 1.0  # how much of the subject the best line holds that has such a thing, 0..1

    @property
    def features(self) -> dict[str, float]:
        """What the gate sees of it."""
        return {
            "lacking": self.heaviest,
            "apart": self.apart,
            "focus": self.focus,
            "told": self.told,
            "beside": self.beside,
        }


def find_lack(question: Question, ranked: Sequence[Candidate], term_weights: Mapping[str, float]) -> Lack:
    """The subjects of the question that the leading pieces do not hold; nothing for a question without subjects."""
    leading = ranked[:_LOOKED_AT]
    pieces = [_piece(candidate) for candidate in leading]
    if not pieces:
        return Lack(heaviest=1.0, apart=1.0, focus=0.0, told=0.0, beside=0.0)
    weights = _subject_weights(question, pieces, term_weights)
    together = [_joined(leading, pieces, place) for place in range(len(pieces))]
    best = max(together, key=lambda held: share_held(held, question, weights))
    told = told_of(question, leading, term_weights)
    asked = asked_of(question.text)
    if asked is not None and told.share >= TOLD_FROM:  # "요금" need not be said where the amount stands
        weights = {term: weight for term, weight in weights.items() if term not in asked.nouns}
    absent = _missing(question, pieces, weights)
    apart = _missing(question, best, weights)
    total = sum(weights.values())
    return Lack(
        words=_by_weight(absent),
        apart_words=_by_weight(apart),
        heaviest=max(absent.values(), default=0.0),
        apart=max(apart.values(), default=0.0),
        focus=share_held(best, question, weights) / total if total > 0.0 else 1.0,
        told=told.share,
        beside=told.beside,
    )


def _subject_weights(question: Question, pieces: Sequence[Held], term_weights: Mapping[str, float]) -> dict[str, float]:
    """Subject -> what it tells; names, and Korean words among English evidence, tell less when they are missing."""
    is_korean = sum(bool(_HANGUL.search(piece.text)) for piece in pieces) * 2 > len(pieces)
    weights: dict[str, float] = {}
    for term in question.subjects:
        if term in term_weights and not is_everyday(term):
            share = _NAME_SHARE if term in question.names or _of_the_asker(term, question.text) else 1.0
            share *= _FOREIGN_SHARE if not is_korean and not _LATIN.match(term) else 1.0
            weights[term] = term_weights[term] * share
    return weights


def _of_the_asker(term: str, text: str) -> bool:
    """Whether the word says who asks ("대리인데", "입사 12년차"): rules speak of grades, not of each title."""
    return term in _STANDING or re.search(rf"{re.escape(term)}(?:인데|입니다|이라서|라서|이고)", text) is not None


def _missing(question: Question, pieces: Sequence[Held], weights: Mapping[str, float]) -> dict[str, float]:
    """Telling word as it is written -> its weight, 0..1, where none of the pieces holds it."""
    missing = {
        question.subjects[term]: weight / _FULL_WEIGHT
        for term, weight in weights.items()
        if weight >= _TELLING_FROM and not any(holds(piece, question, term) for piece in pieces)
    }
    missing |= dict.fromkeys(_things(question, pieces), _FULL_WEIGHT_OF_THINGS)
    missing |= dict.fromkeys((*_sections(question.text, pieces), *_denied(question.text, pieces)), 1.0)
    missing |= dict.fromkeys(_other_years(question.text, pieces), 1.0)
    for letter, unit in _GRADE.findall(question.text):
        written = squeeze(letter + unit)
        cell = re.compile(rf"(?:^|[|\n(,/·~\s]){re.escape(letter)}\s*(?:$|[|\n),/·~:\s])", re.M)
        if not any(written in piece.squeezed or cell.search(piece.text) for piece in pieces):
            missing[f"{letter}{unit}"] = 1.0
    return missing


def _things(question: Question, pieces: Sequence[Held]) -> list[str]:
    """Things of everyday life (고양이, 아파트) that no piece mentions: no rule about something else is about them."""
    return [
        written
        for term, written in question.subjects.items()
        if is_everyday_thing(term)
        and term not in question.names
        and not any(holds(piece, question, term) for piece in pieces)
    ]


def _sections(text: str, pieces: Sequence[Held]) -> list[str]:
    """The articles and appendices that the question names by number and that no piece is, nor speaks of."""
    found = []
    for match in _SECTION.finditer(text):
        sub = rf"의{match['sub']}" if match["sub"] else r"(?!의\d)"
        said = rf"제{match['article']}조{sub}" if match["article"] else rf"별표(?:제|#)?{match['table']}(?!\d)"
        if not any(re.search(said, piece.squeezed) for piece in pieces):
            found.append(match.group().strip())
    return found


def _denied(text: str, pieces: Sequence[Held]) -> list[str]:
    """What the question says that it is not about ("공무가 아닌"), where no piece speaks of what is not."""
    found = []
    for match in _NOT.finditer(text):
        word = match["word"]
        said = re.compile(
            rf"{word}(?:[이가은는]|에\s?해당하지)?\s?(?:아닌|아니|않)|{word}\s?(?:[의을를]\s?)?(?:이외|외의|외에|제외)|비{word}"
        )
        if not any(said.search(piece.text) for piece in pieces):
            found.append(match.group().strip())
    return found


def _other_years(text: str, pieces: Sequence[Held]) -> list[str]:
    """The years that the question is about, where the pieces speak of other years only."""
    years = [match["year"] for match in _YEAR.finditer(text)]
    texts = [without_amendments(piece.text) for piece in pieces]
    if not any(_ANY_YEAR.search(found) for found in texts):
        return []
    return [f"{year}년" for year in years if not any(_says_year(found, year) for found in texts)]


def _says_year(text: str, year: str) -> bool:
    """Whether a text names a year, in full, in short ("'13.4.12"), or within a span ("2010~2014")."""
    if year in text or re.search(rf"['‘’`]{year[2:]}(?!\d)", text):
        return True
    return any(int(span[1]) <= int(year) <= int(span[2]) for span in _SPAN_OF_YEARS.finditer(text))


def _by_weight(missing: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(missing, key=lambda word: -missing[word]))


def _piece(candidate: Candidate) -> Held:
    chunk = candidate.chunk
    return Held("\n".join(filter(None, (chunk.title, chunk.locator.label, chunk.text))))


def _joined(leading: Sequence[Candidate], pieces: Sequence[Held], place: int) -> list[Held]:
    """A piece and the other leading ones that it refers to, or that refer to it: they are read together."""
    own = leading[place]
    linked = [
        piece
        for piece, other in zip(pieces, leading, strict=True)
        if own.chunk.id in (other.via, other.chunk.id) or own.via == other.chunk.id or _refer(own, other)
    ]
    return linked


def _refer(left: Candidate, right: Candidate) -> bool:
    """Whether one is an appendix of the same document that the other names."""
    if left.chunk.document_id != right.chunk.document_id:
        return False
    for appendix, article in ((left, right), (right, left)):
        label = _APPENDIX.search(appendix.chunk.locator.label or "")
        if appendix.chunk.kind == "appendix" and label and squeeze(label[1]) in article.held.squeezed:
            return True
    return False
