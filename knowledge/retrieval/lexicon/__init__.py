"""Word lists that bring the words of a question nearer to the words of what it asks about.

Each file is a table of two columns, words of the question and words of the text, both separated by spaces; lines that
start with "#" are comments. Words are analysed like any text, so that a line covers inflected forms as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from knowledge.analysis import analyze

LexiconName = Literal["workplace_ko", "workplace_en_ko", "software_ko_en", "software_en"]


@lru_cache(maxsize=8)
def load_lexicon(name: LexiconName) -> Mapping[str, tuple[str, ...]]:
    """Analysed term of a question -> words of texts (as they are written), in the order of the file."""
    lexicon: dict[str, list[str]] = {}
    text = files(__package__).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        asked, _, written = line.partition("\t")
        for word in asked.split():
            for key in _keys(word):
                known = lexicon.setdefault(key, [])
                known += (other for other in written.split() if other not in known and other != word)
    return {key: tuple(words) for key, words in lexicon.items()}


@lru_cache(maxsize=2)
def load_reversed(name: LexiconName) -> Mapping[str, tuple[str, ...]]:
    """The same file read from right to left: analysed word of the texts -> words of questions, as they are written."""
    lexicon: dict[str, list[str]] = {}
    text = files(__package__).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        asked, _, written = line.partition("\t")
        for word in written.split():
            for key in _keys(word):
                known = lexicon.setdefault(key, [])
                known += (other for other in asked.split() if other not in known)
    return {key: tuple(words) for key, words in lexicon.items()}


@lru_cache(maxsize=1)
def load_phrases() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """English expressions as analysed tokens -> Korean words of texts: "leave of absence" is no holiday."""
    phrases: dict[tuple[str, ...], tuple[str, ...]] = {}
    text = files(__package__).joinpath("workplace_en_phrases.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            asked, _, written = line.partition("\t")
            for expression in asked.split("|"):
                phrases[tuple(analyze(expression))] = tuple(written.split())
    return phrases


@lru_cache(maxsize=1)
def plain_english() -> frozenset[str]:
    """Analysed English words that tell nothing of what a question is about."""
    text = files(__package__).joinpath("plain_en.txt").read_text(encoding="utf-8")
    return frozenset(analyze(" ".join(line for line in text.splitlines() if not line.startswith("#"))))


def phrases_in(tokens: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Token -> Korean words of the expression that it belongs to, the longest expression first."""
    phrases = load_phrases()
    longest = max(map(len, phrases))
    found: dict[str, tuple[str, ...]] = {}
    start = 0
    while start < len(tokens):
        for end in range(min(len(tokens), start + longest), start, -1):
            if (written := phrases.get(tuple(tokens[start:end]))) is not None:
                for token in tokens[start:end]:
                    found[token] = tuple(dict.fromkeys((*found.get(token, ()), *written)))
                start = end - 1
                break
        start += 1
    return found


def translations(terms: Sequence[str], name: LexiconName) -> dict[str, tuple[str, ...]]:
    """Term -> words of texts, for those of `terms` (analysed) that the lexicon knows."""
    lexicon = load_lexicon(name)
    return {term: lexicon[term] for term in terms if term in lexicon}


def _keys(word: str) -> set[str]:
    """The word itself (a verb keeps its "-다"), and the one token that stands for it: the whole of a compound."""
    return {word, max(analyze(word), key=len, default=word)}
