"""Several readings of one line put together: letter by letter the one that most readings see.

A small picture read at several sizes gives other mistakes each time (회감, 회갑, 회갑); what most of them see is right
more often than what the surest of them sees. Figures on which they differ stay doubtful, whoever wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from knowledge.extract.ocr_tesseract import OcrWord

_SURE_OF_ONE = 75.0  # confidence from which a figure counts that the other readings do not see
DISPUTED = 50.0  # confidence of a word with a figure on which the readings differ


def vote(readings: Sequence[Sequence[OcrWord]]) -> tuple[int, list[OcrWord]]:
    """(number of the reading whose boxes are kept, its words as voted). The first one stays when no two are as long.

    A figure that only one of them sees is kept and doubted: "대" beside "1대" has lost it.
    """
    texts = ["".join(word.text for word in words) for words in readings]
    lengths = Counter(len(text) for text in texts if text)
    if not lengths or max(lengths.values()) < 2:
        return 0, list(readings[0])
    usual = max(lengths, key=lambda length: (lengths[length], length == len(texts[0])))
    if not any(_has_figure(text) for text in texts if len(text) == usual):
        seen = [number for number, text in enumerate(texts) if _has_figure(text) and len(text) == usual + 1]
        best = max(seen, key=lambda number: _confidence(readings[number]), default=None)
        if best is not None and _confidence(readings[best]) > _SURE_OF_ONE:
            return best, _rewritten(readings[best], [(letter, letter.isdigit()) for letter in texts[best]])
    voters = [number for number, text in enumerate(texts) if len(text) == usual]
    base = max(voters, key=lambda number: _confidence(readings[number]))
    letters = [
        _winner([(texts[number][place], _confidence(readings[number])) for number in voters]) for place in range(usual)
    ]
    return base, _rewritten(readings[base], letters)


def _has_figure(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _winner(votes: Sequence[tuple[str, float]]) -> tuple[str, bool]:
    """(the letter with most votes, that of the first reading among equals; whether figures are disputed)."""
    counts: Counter[str] = Counter()
    sureness: dict[str, float] = {}
    for letter, confidence in votes:
        counts[letter] += 1
        sureness[letter] = max(confidence, sureness.get(letter, 0.0))
    best = max(counts, key=lambda letter: (counts[letter], letter == votes[0][0], sureness[letter]))
    return best, len(counts) > 1 and any(letter.isdigit() for letter in counts)


def _rewritten(words: Sequence[OcrWord], letters: Sequence[tuple[str, bool]]) -> list[OcrWord]:
    made = []
    place = 0
    for word in words:
        part = letters[place : place + len(word.text)]
        place += len(word.text)
        disputed = any(is_disputed for _, is_disputed in part)
        confidence = min(word.confidence, DISPUTED) if disputed else word.confidence
        made.append(replace(word, text="".join(letter for letter, _ in part), confidence=confidence))
    return made


def _confidence(words: Sequence[OcrWord]) -> float:
    length = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.confidence for word in words) / length if length else 0.0
