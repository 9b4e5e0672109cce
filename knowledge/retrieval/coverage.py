"""How much of a question a text holds, each word weighing what it tells.

Weights are inverse document frequencies, smoothed by a background: a corpus of thirty chunks does not know that
"오늘" or "show" are everyday words, so that every count is blended with what any Korean or English text would give.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from knowledge.analysis import analyze

_PRIOR_CHUNKS = 150.0  # the background weighs as much as this many chunks
_RARE = 0.002  # share of texts that hold a word which the background does not list
_LEVELS = {"very_common": 0.25, "common": 0.08, "known": 0.02}
_SINGLE_SYLLABLE_WEIGHT = 0.4  # 비, 급, 표: mostly left over from compounds, and part of many other words
_NUMBER = re.compile(r"\d")
_GAPS = re.compile(r"[\s,·ㆍ・]+")


@lru_cache(maxsize=1)
def _background() -> Mapping[str, float]:
    """Analysed term -> share of texts that hold it."""
    shares: dict[str, float] = {}
    text = files("knowledge.retrieval.lexicon").joinpath("background.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        level, _, words = line.partition("\t")
        if level in _LEVELS:
            for word in words.split():
                for term in {word, *analyze(word)}:
                    shares[term] = max(shares.get(term, 0.0), _LEVELS[level])
    return shares


def term_weights(terms: Iterable[str], frequencies: Mapping[str, int], total: int) -> dict[str, float]:
    """Term -> weight from 0: the logarithm of how rare it is, in this corpus and in general."""
    background = _background()
    weights: dict[str, float] = {}
    for term in terms:
        prior = background.get(term, _RARE)
        share = (frequencies.get(term, 0) + prior * _PRIOR_CHUNKS) / (total + _PRIOR_CHUNKS)
        weight = max(0.0, -math.log(min(1.0, share)))
        weights[term] = weight * _SINGLE_SYLLABLE_WEIGHT if len(term) == 1 else weight
    return weights


def squeeze(text: str) -> str:
    """The text in the form in which `holds` looks for terms: NFKC, lower case, without gaps and digit separators."""
    return _GAPS.sub("", unicodedata.normalize("NFKC", text)).casefold().replace("_", "")


def holds(term: str, squeezed: str) -> bool:
    """Whether a squeezed text contains the term: a substring, since Korean compounds and identifiers hide words."""
    if term.endswith("다") and len(term) > 1:
        return term[:-1] in squeezed if len(term) > 2 else False  # one-syllable stems are found everywhere
    if _NUMBER.match(term):
        return re.search(rf"(?<![\d.]){re.escape(_written(term))}(?!\d)", squeezed) is not None
    return term in squeezed


def _written(number: str) -> str:
    """A number token as text has it: "1o05pct" -> "1.05%"."""
    return re.sub(r"(?<=\d)o(?=\d)", ".", number).replace("pct", "%")


def coverage(
    weights: Mapping[str, float], expansions: Mapping[str, Sequence[str]], squeezed: str, *, discount: float = 0.8
) -> float:
    """Share of the question's weight that a squeezed text holds, 0..1; 0 for a question without weight.

    A term that is there in other words (`expansions`) counts `discount` of its weight.
    """
    total = sum(weights.values())
    if total <= 0.0:
        return 0.0
    covered = 0.0
    for term, weight in weights.items():
        if holds(term, squeezed):
            covered += weight
        elif any(holds(other, squeezed) for other in expansions.get(term, ())):
            covered += weight * discount
    return covered / total
