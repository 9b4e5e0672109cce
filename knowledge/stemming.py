"""English stems by the algorithm of M. F. Porter, "An algorithm for suffix stripping" (Program 14(3), 1980).

Written from the description in the paper, with the two departures of the author's own reference version
(`-abli` and `-logi`), so that "policy"/"policies", "cache"/"caching" and "validate"/"validation" meet.
"""

from __future__ import annotations

import re
from functools import lru_cache

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip

_MEASURE = re.compile(r"V+C+")


def _shape(word: str) -> str:
    """The word as V and C; y is a vowel after a consonant."""
    shape: list[str] = []
    for i, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and i > 0 and shape[-1] == "C")
        shape.append("V" if is_vowel else "C")
    return "".join(shape)


def _measure(word: str) -> int:
    return len(_MEASURE.findall(_shape(word)))


def _ends_cvc(word: str) -> bool:
    return _shape(word)[-3:] == "CVC" and word[-1] not in "wxy"


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """The word with the longest matching suffix exchanged when what is left has a measure above 0."""
    for suffix, other in sorted(rules, key=lambda rule: -len(rule[0])):
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            return root + other if _measure(root) > 0 else word
    return word


def _step_1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return _y_to_i(word[:-1] if _measure(word[:-3]) > 0 else word)
    for suffix in ("ed", "ing"):
        root = word[: -len(suffix)]
        if word.endswith(suffix) and "V" in _shape(root):
            if root.endswith(("at", "bl", "iz")):
                word = root + "e"
            elif len(root) > 1 and root[-1] == root[-2] and _shape(root)[-1] == "C" and root[-1] not in "lsz":
                word = root[:-1]
            elif _measure(root) == 1 and _ends_cvc(root):
                word = root + "e"
            else:
                word = root
            break
    return _y_to_i(word)


def _y_to_i(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "V" in _shape(word[:-1]) else word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            if _measure(root) > 1 and (suffix != "ion" or root[-1:] in ("s", "t")):
                return root
            return word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        if _measure(root) > 1 or (_measure(root) == 1 and not _ends_cvc(root)):
            word = root
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; words of one or two letters stay as they are."""
    if len(word) <= 2:
        return word
    return _step_5(_step_4(_replace(_replace(_step_1(word), _STEP_2), _STEP_3)))
