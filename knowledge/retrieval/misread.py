"""Words of a question as a scan may have them misread: 등록 as "둥록", 총괄 as "종괄".

A misread word differs from the real one in a letter of one syllable, and it is no word at all: what a dictionary knows
is another word (증원, 충원) and never taken for the one that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from knowledge.analysis import is_unknown_noun
from knowledge.retrieval.question import Question

_MAX_WORDS = 8
_LONGEST = 6  # syllables
_MAX_FORMS = 3  # of one word
_HANGUL = re.compile(r"[가-힣]+")
_FIRST_SYLLABLE, _VOWELS, _FINALS = 0xAC00, 21, 28
_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWEL_LETTERS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_FINAL_LETTERS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
# letters that look alike in print, so that a scan takes one for the other
_ALIKE_INITIALS = (
    "ㅈㅊㅅ",
    "ㄱㅋ",
    "ㄷㅌㄹ",
    "ㅂㅍ",
    "ㅇㅎ",
    "ㄱㄲ",
    "ㄷㄸ",
    "ㅂㅃ",
    "ㅅㅆ",
    "ㅈㅉ",
    "ㄱㅍ",
    "ㄴㄷ",
    "ㅁㅇ",
)
_ALIKE_VOWELS = (
    "ㅡㅜㅗ",
    "ㅜㅠ",
    "ㅗㅛ",
    "ㅏㅑ",
    "ㅓㅕ",
    "ㅐㅔ",
    "ㅐㅒ",
    "ㅔㅖ",
    "ㅏㅐ",
    "ㅓㅔ",
    "ㅣㅏ",
    "ㅣㅓ",
    "ㅟㅢ",
    "ㅚㅟ",
    "ㅘㅏ",
)
_ALIKE_FINALS = (
    "ㅇㅁ",
    "ㅇㅎ",
    "ㄱㅋ",
    "ㄴㄹ",
    "ㄹㅌ",
    "ㅂㅍ",
    "ㅈㅊ",
    "ㅅㅆ",
    "ㅁㅂ",
    "ㄹㅁ",
    " ㄴ",
    " ㄱ",
    "ㄱㄴ",
    "ㅊㅈ",
)


def near_forms(word: str) -> list[str]:
    """The word with one syllable that looks alike in its place, for words of two and more syllables."""
    if not 2 <= len(word) <= _LONGEST or not _HANGUL.fullmatch(word):
        return []
    return [
        f"{word[:place]}{near}{word[place + 1 :]}"
        for place, letter in enumerate(word)
        for near in _near_syllables(letter)
    ]


def with_misread_forms(question: Question, frequencies_of: Callable[[Sequence[str]], Mapping[str, int]]) -> Question:
    """The question with the forms of its nouns that the texts hold and that are no words, as further wordings."""
    nouns = [word for word in question.words if not word.endswith("다")][:_MAX_WORDS]
    forms = {word: near_forms(word) for word in nouns}
    wanted = [form for near in forms.values() for form in near]
    if not wanted:
        return question
    held = frequencies_of(wanted)
    found = {
        word: tuple(form for form in near if held.get(form) and is_unknown_noun(form))[:_MAX_FORMS]
        for word, near in forms.items()
    }
    found = {word: near for word, near in found.items() if near}
    if not found:
        return question
    expansions = dict(question.expansions)
    for word, near in found.items():
        expansions[word] = tuple(dict.fromkeys((*expansions.get(word, ()), *near)))
    added = (*question.added_terms, *(form for near in found.values() for form in near))
    return replace(question, expansions=expansions, added_terms=tuple(dict.fromkeys(added)))


def _near_syllables(syllable: str) -> list[str]:
    code = ord(syllable) - _FIRST_SYLLABLE
    initial, vowel, final = code // (_VOWELS * _FINALS), code // _FINALS % _VOWELS, code % _FINALS
    initials = [initial, *_alike(initial, _INITIALS, _ALIKE_INITIALS)]
    vowels = [vowel, *_alike(vowel, _VOWEL_LETTERS, _ALIKE_VOWELS)]
    finals = [final, *_alike(final, _FINAL_LETTERS, _ALIKE_FINALS)]
    near = [(i, v, final) for i in initials for v in vowels] + [(initial, vowel, f) for f in finals]
    codes = dict.fromkeys((i * _VOWELS + v) * _FINALS + f for i, v, f in near)
    return [chr(_FIRST_SYLLABLE + other) for other in codes if other != code]


def _alike(place: int, letters: str, groups: Sequence[str]) -> list[int]:
    letter = letters[place]
    return [letters.index(other) for group in groups if letter in group for other in group if other != letter]
