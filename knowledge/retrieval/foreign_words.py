"""What the words of an English question tell among Korean texts: as much as the Korean words that say the same.

By themselves they would be the rarest words of all there, and a single one that the lexicons do not know would outweigh
everything that matches.
"""

from __future__ import annotations

from collections.abc import Mapping

from knowledge.retrieval.question import Question

ENGLISH_PROBE = "the"  # stands in nearly every English text
_UNKNOWN_SHARE = 0.75  # of the weight of a word that neither the lexicons nor the texts know, where no text is English
_ALL_ENGLISH = 0.5  # share of the texts that hold the probe from which the texts are taken for English ones


def with_wordings_counted(question: Question, frequencies: Mapping[str, int]) -> dict[str, int]:
    """The frequencies, those of English words together with their first Korean wording that some text holds."""
    counted = dict(frequencies)
    for word in question.words:
        if word.isascii():
            wordings = question.expansions.get(word, ())
            counted[word] = frequencies.get(word, 0) + next(
                (held for other in wordings if not other.isascii() and (held := frequencies.get(other, 0))), 0
            )
    return counted


def temper_unknown(
    question: Question, weights: Mapping[str, float], counted: Mapping[str, int], total: int
) -> dict[str, float]:
    """The weights, those of English words that no text holds in any wording cut down as far as the texts are Korean."""
    english = min(1.0, counted.get(ENGLISH_PROBE, 0) / (_ALL_ENGLISH * total)) if total else 1.0
    share = _UNKNOWN_SHARE + (1.0 - _UNKNOWN_SHARE) * english
    return {
        word: weight * share if word.isascii() and word.isalpha() and not counted.get(word) else weight
        for word, weight in weights.items()
    }
