"""Numbers in words, Korean and English, as values with the place where they stand.

A word is read as a number only in front of a unit: "사원" is an employee, "만일" is "if", "이 일" is "this matter".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

Found = tuple[int, int, Decimal, str]  # start, end, value, unit as it is written

_SINO_DIGITS = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", 1)}
_SMALL = {"십": 10, "백": 100, "천": 1_000}
_LARGE = {"만": 10_000, "억": 100_000_000, "조": 1_000_000_000_000}
_SINO_UNITS = "원|달러|개월|퍼센트|프로|킬로미터|시간|영업일|일|년|주|회|명|인|분|초|건|세|급|학점|호봉|배|차|장|쪽|점"
# A unit ends here: a particle, an ending or a limit follows, not the rest of another word.
_AFTER_UNIT = (
    r"(?=$|[^가-힣]|(?:은|는|이|가|을|를|의|에|로|으로|과|와|도|만|씩|당|간|마다|까지|부터|이내|"
    r"이상|이하|미만|초과|동안|정도|쯤|째|"
    r"뿐|전|후|중|내|치|분|짜리|입|임|인|하고|한도|보다|에서|이며|이고)(?![가-힣]{5}))"
)
_SINO = re.compile(rf"(?<![가-힣\d])([일이삼사오육칠팔구십백천만억조]{{1,14}})(\s?)({_SINO_UNITS}){_AFTER_UNIT}")
_NOT_NUMBER_WORDS = """
    만일 만년 천일 백일 천년 백년 사원 이원 일원 구원 사회 이회 일회용 이주 사주 사인 이인 일인 오인 구인 이일
    사일 일일 이년 일년 만점 이점 일점 오점 사건 이건 일명 이명 사명 구명 일시간 이급 일급 사급 일세 이세 만세
    일차 이차 사장 이장 일장 구장 일조 이조 천주 백분 일분 이분 사분 일건 구점 오분 구분 이초 일초 사주 오일
    육일 구일
"""
_NOT_NUMBERS = frozenset(_NOT_NUMBER_WORDS.split())
_SURE_UNITS = frozenset({"개월", "퍼센트", "프로", "킬로미터", "영업일", "학점", "호봉"})  # one numeral is enough

_NATIVE = {
    "한": 1, "두": 2, "세": 3, "석": 3, "서": 3, "네": 4, "넉": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8,
    "아홉": 9, "열": 10, "열한": 11, "열두": 12, "열세": 13, "열네": 14, "열다섯": 15, "열여섯": 16, "열일곱": 17,
    "열여덟": 18, "열아홉": 19, "스무": 20, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60,
}  # fmt: skip
_NATIVE_UNITS = "명|사람|번|차례|달|개월|시간|살|주|해|개|건|장|배|곳"
_NATIVE_COUNT = re.compile(
    rf"(?<![가-힣])({'|'.join(sorted(_NATIVE, key=len, reverse=True))})\s?({_NATIVE_UNITS}){_AFTER_UNIT}"
)
_DAYS = {
    "하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "여드레": 8, "아흐레": 9,
    "열흘": 10, "보름": 15, "스무날": 20,
}  # fmt: skip
_DAY = re.compile(rf"(?<![가-힣])({'|'.join(_DAYS)})")
_HALF_YEAR = re.compile(r"(?<![가-힣])반년")
_A_WEEK = re.compile(r"(?<![가-힣])일주일")

_ENGLISH_UP_TO_20 = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty
"""
_ENGLISH = {
    **{word: value for value, word in enumerate(_ENGLISH_UP_TO_20.split(), 1)},
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ENGLISH_WORD = "|".join((*_ENGLISH, *_ENGLISH_SCALES, "a(?= hundred| thousand| million)"))
ENGLISH_UNITS = (
    r"business days?|working days?|days?|weeks?|months?|years?|hours?|minutes?|seconds?|times|"
    r"people|persons?|employees?|"
    r"members?|won|dollars?|percent|per cent|pages?|points?|credits?|nights?|items?|cases?|attempts?|retries|copies"
)
_ENGLISH_NUMBER = re.compile(
    rf"\b((?:{_ENGLISH_WORD})(?:[\s-]+(?:and\s+)?(?:{_ENGLISH_WORD}))*)[\s-]+({ENGLISH_UNITS})\b", re.IGNORECASE
)
_ADVERBS = {"twice": (2, "times"), "thrice": (3, "times")}
_ADVERB = re.compile(r"\b(twice|thrice)\b", re.IGNORECASE)


def number_words(text: str) -> Iterator[Found]:
    """All numbers in words, in no order. "하루" is left out: it mostly says "a day"."""
    for match in _SINO.finditer(text):
        if _is_number(match):
            yield match.start(), match.end(), sino_value(match[1]), match[3]
    for match in _NATIVE_COUNT.finditer(text):
        if not text[: match.start()].endswith(("다시 ", "또 ")):
            yield match.start(), match.end(), Decimal(_NATIVE[match[1]]), match[2]
    for match in _DAY.finditer(text):
        if match[1] != "하루":
            yield match.start(), match.end(), Decimal(_DAYS[match[1]]), "일"
    for match in _HALF_YEAR.finditer(text):
        yield match.start(), match.end(), Decimal(6), "개월"
    for match in _A_WEEK.finditer(text):
        yield match.start(), match.end(), Decimal(7), "일"
    for match in _ENGLISH_NUMBER.finditer(text):
        yield match.start(), match.end(), english_value(match[1]), match[2]
    for match in _ADVERB.finditer(text):
        value, unit = _ADVERBS[match[1].lower()]
        yield match.start(), match.end(), Decimal(value), unit


def sino_value(word: str) -> Decimal:
    """ "이만오천" -> 25000, "만" -> 10000."""
    total = section = digit = 0
    for letter in word:
        if letter in _SINO_DIGITS:
            digit = _SINO_DIGITS[letter]
        elif letter in _SMALL:
            section += (digit or 1) * _SMALL[letter]
            digit = 0
        else:
            total += ((section + digit) or 1) * _LARGE[letter]
            section = digit = 0
    return Decimal(total + section + digit)


def english_value(words: str) -> Decimal:
    """ "thirty-one" -> 31, "a hundred and fifty thousand" -> 150000."""
    total = section = 0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in _ENGLISH:
            section += _ENGLISH[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _ENGLISH_SCALES:
            total += (section or 1) * _ENGLISH_SCALES[word]
            section = 0
        elif word == "a":
            section = 1
    return Decimal(total + section)


def _is_number(match: re.Match[str]) -> bool:
    numeral, gap, unit = match[1], match[2], match[3]
    if not gap and numeral + unit in _NOT_NUMBERS:
        return False
    if len(numeral) == 1:
        return unit in _SURE_UNITS or (unit == "원" and numeral in "십백천만억")
    return any(letter in "십백천만억조" for letter in numeral)
