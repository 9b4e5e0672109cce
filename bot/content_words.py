"""Words that carry meaning, compared so that particles, endings and compounds do not matter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[가-힣]+|[A-Za-z][A-Za-z'-]+")
_HANGUL = re.compile(r"[가-힣]")
_LATIN = re.compile(r"[A-Za-z]")
_ENDINGS = re.compile(
    r"(?:으로서|으로써|으로부터|에서는|에서도|에게는|까지는|부터는|이라도|입니다|습니다|합니다|됩니다|됩니까|했습니다|하여야|해야|하면|되면|"
    r"하고|되고|하며|되며|하는|되는|하여|되어|해서|에서|에게|으로|까지|부터|이며|이고|이나|이란|마다|만큼|보다|처럼|라면|이면|이라|"
    r"은|는|이|가|을|를|의|에|로|와|과|도|만|께|할|한|된|될|함|됨|임)$"
)
_STOP_WORDS = """
    기본 더해 더하면 더한 더하여 아니라 아니요 아닌 아닙니다 맞나요 바랍니다 주세요 합산 합하면 빼면 곱하면 경우
    경우에 수 것 것은 것이 따라 따르면 다음 다음과 같습니다 해당 대한 대하여 위한 위해 또한 그리고 다만 단지
    따라서 즉 있습니다 있다 있음 없습니다 없다 합니다 한다 됩니다 된다 입니다 이다 받습니다 받을 받은 수도 모두
    각각 합계 그 이 저 및 또는 등 때 때는 후 전 내 외 중 간 총 약 최대 최소 이상 이하 초과 미만 이내 까지 부터
    규정 규정에 규정은 문서 문서에 근거 근거에 내용 질문 답변 해야 하며 하고 되며 되고 위 아래 여기 이는 이때
    경우는 관련 대해 기준 기준으로 적용 적용됩니다 정해져 정하고 사용 사용할 가능 가능합니다 불가능 필요
    필요합니다 네 예 아니요 아니오 맞습니다 그렇습니다 하지만 그러나 추가 추가로 더 단 the a an of to in on at
    by for from with and or but is are was were be been being has have had do does did not no can cannot may
    must should shall will would it its this that these those as if then than there their they you your we our i
    he she his her per each any all some such when where which who what how also only more most other into up
    out over under about after before between within without yes according following
"""
_STOP = frozenset(_STOP_WORDS.split())
_LATIN_ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ies|ied|ing|ed|es|s|ly)$")
_SAME_WORD_LATIN = 5  # letters that two forms of a Latin word share


@dataclass(frozen=True, slots=True)
class WordBag:
    """What a text holds, for asking whether it holds a word: pairs of Hangul letters, beginnings of Latin words."""

    pairs: frozenset[str]
    stems: frozenset[str]
    latin: frozenset[str]
    hangul_letters: int
    latin_letters: int

    @property
    def is_korean(self) -> bool:
        """Whether a fifth of the letters is Hangul: enough to look for Korean words in it."""
        return self.hangul_letters * 4 >= self.latin_letters

    def holds(self, word: str) -> bool:
        """Whether the word, a part of it of two letters and most of it, stands here in some form."""
        if not _HANGUL.match(word):
            return latin_stem(word) in self.latin
        pairs = [word[n : n + 2] for n in range(len(word) - 1)]
        if not pairs:
            return word in self.stems
        return sum(pair in self.pairs for pair in pairs) * 5 >= len(pairs) * 3


@lru_cache(maxsize=4096)
def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, without particles and endings, each once."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in _STOP:
            continue
        stem = _stem(word) if _HANGUL.match(word) else word
        if len(stem) >= 2 and stem not in _STOP:
            found[stem] = None
    return tuple(found)


def bag_of(text: str) -> WordBag:
    """The words of a text, prepared for `holds`."""
    pairs: set[str] = set()
    stems: set[str] = set()
    latin: set[str] = set()
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if _HANGUL.match(word):
            pairs.update(word[n : n + 2] for n in range(len(word) - 1))
            stems.add(_stem(word))
        else:
            latin.add(latin_stem(word))
            latin.update(latin_stem(part) for part in re.split(r"['-]", word))
    latin.update(latin_stem(part) for part in re.findall(r"[A-Z]?[a-z]{2,}", text))  # parts of identifiers
    # a compound is written with or without a blank
    pairs.update(left + right for left, right in re.findall(r"([가-힣])\s([가-힣])", text))
    return WordBag(
        frozenset(pairs), frozenset(stems), frozenset(latin), len(_HANGUL.findall(text)), len(_LATIN.findall(text))
    )


def is_korean(text: str) -> bool:
    """Whether a text has Hangul in it."""
    return _HANGUL.search(text) is not None


def held_share(words: Iterable[str], *bags: WordBag) -> float:
    """The share of the words that one of the bags holds; 1 without words."""
    words = list(words)
    if not words:
        return 1.0
    return sum(any(bag.holds(word) for bag in bags) for word in words) / len(words)


def latin_stem(word: str) -> str:
    """The beginning that forms of one Latin word share."""
    word = _LATIN_ENDINGS.sub("", word.lower())
    return word[:_SAME_WORD_LATIN].removesuffix("e").removesuffix("y").removesuffix("i")


def _stem(word: str) -> str:
    for _ in range(2):
        shorter = _ENDINGS.sub("", word)
        if len(shorter) < 2 or shorter == word:
            break
        word = shorter
    return word
