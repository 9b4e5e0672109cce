"""How much of a question a text holds, each word weighing what it tells.

Weights are inverse document frequencies, smoothed by a background: a corpus of thirty chunks does not know that
"오늘" or "show" are everyday words, so that every count is blended with what any Korean or English text would give.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from knowledge.analysis import analyze, latin_terms

_PRIOR_CHUNKS = 150.0  # the background weighs as much as this many chunks
_FULL_WEIGHT = 10.0
_RARE = 0.002  # share of texts that hold a word which the background does not list
_LEVELS = {"very_common": 0.25, "common": 0.08, "known": 0.02, "office": 0.08}
_SINGLE_SYLLABLE_WEIGHT = 0.4  # 비, 급, 표: mostly left over from compounds, and part of many other words
_DETAIL_WEIGHT = 0.5  # of words behind the first line of a report
_NUMBER_WEIGHT = 0.5  # of "12년" or "10km": rules speak of ranges, not of the case of the one who asks
_LABEL = re.compile(r"[조항호장]")
_NUMBER = re.compile(r"\d")
_STEM_KEEPS = 2  # first letters of a word that no stemming changes
_TRANSLATED = 0.95  # of a word that is there in the other language
_FIRST_SYLLABLE, _SYLLABLES, _VOWELS, _FINALS = 0xAC00, 11172, 21, 28  # of Hangul in Unicode
_VOWEL_YEO, _VOWEL_I = 6, 20
_SEPARATORS = ",·ㆍ・ᆞ_"


@lru_cache(maxsize=1)
def _background() -> tuple[Mapping[str, float], frozenset[str], frozenset[str]]:
    """Analysed term -> share of texts that hold it, those terms that are of the office, and those that are things."""
    shares: dict[str, float] = {}
    office: set[str] = set()
    things: set[str] = set()
    text = files("knowledge.retrieval.lexicon").joinpath("background.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        level, _, words = line.partition("\t")
        if level in _LEVELS:
            for word in words.split():
                for term in {word, *analyze(word)}:
                    shares[term] = max(shares.get(term, 0.0), _LEVELS[level])
                    if level == "office":
                        office.add(term)
                    if level == "known" and len(word) > 1 and (term == word or term.isascii()):
                        things.add(term)
    rare = _LEVELS["known"]  # what is listed as more common as well is no thing: between, 친구
    return shares, frozenset(office), frozenset(term for term in things if shares[term] == rare)


def is_everyday(term: str) -> bool:
    """Whether any text, or any text about programming, may hold the term, and not those of a company above all."""
    shares, office, _ = _background()
    return term in shares and term not in office


def is_everyday_thing(term: str) -> bool:
    """Whether the term is a word for a thing of everyday life, which no rule means unless it says so."""
    return term in _background()[2]


def term_weights(
    terms: Iterable[str], frequencies: Mapping[str, int], total: int, *, details: Collection[str] = ()
) -> dict[str, float]:
    """Term -> weight from 0 to 10: the logarithm of how rare it is, in this corpus and in general.

    10 is the weight of a word that neither knows, so that weights of large and of small corpora compare. A word that is
    common in general never weighs more than that, however seldom this corpus has it; `details` weigh half.
    """
    background, *_ = _background()
    longest = -math.log(_RARE * _PRIOR_CHUNKS / (total + _PRIOR_CHUNKS))
    weights: dict[str, float] = {}
    for term in terms:
        prior = background.get(term, _RARE)
        share = (frequencies.get(term, 0) + prior * _PRIOR_CHUNKS) / (total + _PRIOR_CHUNKS)
        weight = max(0.0, -math.log(min(1.0, share)))
        if term in background:
            weight = min(weight, -math.log(prior))
        if len(term) == 1:
            weight *= _SINGLE_SYLLABLE_WEIGHT
        elif _NUMBER.match(term) and not _LABEL.search(term):
            weight *= _NUMBER_WEIGHT
        if term in details:
            weight *= _DETAIL_WEIGHT
        weights[term] = _FULL_WEIGHT * weight / longest
    return weights


def squeeze(text: str) -> str:
    """The text in the form in which Korean terms are looked for: NFKC, lower case, without gaps and separators."""
    squeezed = "".join(unicodedata.normalize("NFKC", text).split()).casefold()
    for separator in _SEPARATORS:
        squeezed = squeezed.replace(separator, "")
    return squeezed


class Held:
    """A text that can be asked which terms it holds."""

    __slots__ = ("_latin", "squeezed", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.squeezed = squeeze(text)
        self._latin: frozenset[str] | None = None

    def __contains__(self, term: str) -> bool:
        """Whether the text holds an analysed term.

        Korean terms are looked for as substrings, since compounds hide words; those of one syllable stand in nearly
        every text that way, and count as absent. English terms are compared as whole stems.
        """
        look = _look_for(term)
        if isinstance(look, str):
            return look in self.squeezed
        if look is not None:
            return look.search(self.squeezed) is not None
        if not term.isascii() or term[:_STEM_KEEPS] not in self.squeezed:
            return False
        if self._latin is None:
            self._latin = latin_terms(self.text)
        return term in self._latin


@lru_cache(maxsize=8192)
def _look_for(term: str) -> str | re.Pattern[str] | None:
    """What of a term is looked for in squeezed text: a substring, or a pattern for a number; None for stems."""
    if _NUMBER.match(term):
        return re.compile(rf"(?<![\d.]){re.escape(_written(term))}" + (r"(?!\d)" if term.isascii() else ""))
    if term.isascii():
        return None
    if not term.endswith("다"):
        return term if len(term) > 1 else None
    return _verb(term[:-1]) if len(term) > 2 else None


def _verb(stem: str) -> str | re.Pattern[str]:
    """A stem of a verb, which an open last syllable joins with its ending: 보내다 in "보낸다", 알리다 in "알린다"."""
    code = ord(stem[-1]) - _FIRST_SYLLABLE
    if not 0 <= code < _SYLLABLES or code % _FINALS:
        return stem
    first = ord(stem[-1])
    forms = f"{chr(first)}-{chr(first + _FINALS - 1)}"
    if code // _FINALS % _VOWELS == _VOWEL_I:  # 알리어 is written 알려
        contracted = first - (_VOWEL_I - _VOWEL_YEO) * _FINALS
        forms += f"{chr(contracted)}-{chr(contracted + _FINALS - 1)}"
    return re.compile(f"{re.escape(stem[:-1])}[{forms}]")


def _written(number: str) -> str:
    """A number token as text has it: "1o05pct" -> "1.05%"."""
    return re.sub(r"(?<=\d)o(?=\d)", ".", number).replace("pct", "%")


class TermWeights(dict[str, float]):
    """Weights of the words of a question, and of the words that say the same in texts (`others`).

    A word that is there in other words counts no more than those weigh: "월급날" is not found wherever "임금" stands.
    """

    __slots__ = ("others",)

    def __init__(self, weights: Mapping[str, float], others: Mapping[str, float]) -> None:
        super().__init__(weights)
        self.others = others


def worth(weights: Mapping[str, float], term: str, other: str, *, discount: float = 0.8) -> float:
    """What another wording of a term counts where a text holds it; a translation says the same."""
    if term.isascii() is not other.isascii():
        return weights[term] * max(discount, _TRANSLATED)
    own = weights[term]
    if isinstance(weights, TermWeights):
        own = (own + min(own, weights.others.get(other, own))) / 2
    return own * discount


def covered_weight(
    weights: Mapping[str, float], expansions: Mapping[str, Sequence[str]], text: Held, *, discount: float = 0.8
) -> float:
    """The weight of those terms that a text holds; a term that is there in other words counts `discount` of it."""
    return sum(options[0][1] for options in held_wordings(weights, expansions, text, discount=discount))


def held_wordings(
    weights: Mapping[str, float], expansions: Mapping[str, Sequence[str]], text: Held, *, discount: float = 0.8
) -> list[list[tuple[str, float]]]:
    """For each term that a text holds, in whatever words: those wordings with what they weigh, the heaviest first."""
    found = []
    for term, weight in weights.items():
        wordings = [(term, weight)] if term in text else []
        others = [other for other in expansions.get(term, ()) if other in text]
        wordings += [(other, worth(weights, term, other, discount=discount)) for other in others]
        if wordings:
            found.append(sorted(wordings, key=lambda wording: -wording[1]))
    return found


def best_piece(wordings: Sequence[Sequence[tuple[str, float]]], pieces: Iterable[str]) -> float:
    """The most that one of the pieces holds of these wordings, each term once."""
    best = 0.0
    most = sum(options[0][1] for options in wordings)
    for piece in pieces:
        held = Held(piece)
        weight = 0.0
        for options in wordings:
            for wording, worth in options:
                if wording in held:
                    weight += worth
                    break
        if weight > best:
            best = weight
            if best >= most:
                break
    return best


def coverage(weights: Mapping[str, float], expansions: Mapping[str, Sequence[str]], text: Held) -> float:
    """Share of the question's weight that a text holds, 0..1; 0 for a question without weight."""
    total = sum(weights.values())
    return covered_weight(weights, expansions, text) / total if total > 0.0 else 0.0
