"""Characters of HWP 3: ASCII, Hangul composed of three five-bit parts, KS X 1001 symbols and Hanja by position.

Facts: "한글 문서 파일 구조 3.0", published by Hancom (KSSM composition code, KS X 1001 rows of 96 and 94 places).
"""

from __future__ import annotations

from functools import lru_cache

_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_VOWEL_CODES = (3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 26, 27, 28, 29)
_VOWELS = {code: place for place, code in enumerate(_VOWEL_CODES)}
_FINAL_PLACES = {code: code - 1 if code <= 17 else code - 2 for code in (*range(1, 18), *range(19, 30))}
_OLD_A = 30  # the vowel ㆍ
_FILL_INITIAL, _FILL_VOWEL = 1, 2

# first code, first KS X 1001 row, places a row, last row
_SYMBOLS = (0x3401, 0xA1, 96, 0xAC)
_HANJA = (0x4000, 0xCA, 94, 0xFD)
_PRIVATE = {0x0081: "“", 0x0082: "”", 0x203B: "※", 0x2F67: "▸", 0x3366: "□"}
_LOGO = dict(zip(range(0x37C0, 0x37C6), "한글과컴퓨터", strict=True))
_LINES = range(0x3000, 0x3060)  # the maker's own line drawing


@lru_cache(maxsize=65_536)
def hwp3_char(code: int) -> str:
    """The text of one 16-bit code; "" for private codes whose look is not known."""
    if code < 0x80:
        return chr(code) if code >= 0x20 else ""
    if code >= 0x8000:
        return _hangul(code)
    if code in _PRIVATE:
        return _PRIVATE[code]
    if code in _LOGO:
        return _LOGO[code]
    if code in _LINES:
        return "─"
    return _by_position(code, *_HANJA) if code >= _HANJA[0] else _by_position(code, *_SYMBOLS)


def _hangul(code: int) -> str:
    initial, vowel, final = code >> 10 & 31, code >> 5 & 31, code & 31
    first = initial - 2 if 2 <= initial <= 20 else None
    last = _FINAL_PLACES.get(final)
    if first is not None and vowel in _VOWELS and last is not None:
        return chr(0xAC00 + (first * 21 + _VOWELS[vowel]) * 28 + last)
    if first is not None and vowel == _OLD_A and last is not None:
        return chr(0x1100 + first) + "\u119e" + (chr(0x11A7 + last) if last else "")
    parts = ""
    if first is not None and vowel == _FILL_VOWEL:
        parts += _INITIALS[first]
    if initial == _FILL_INITIAL and vowel in _VOWELS:
        parts += chr(0x314F + _VOWELS[vowel])
    elif initial == _FILL_INITIAL and vowel == _OLD_A:
        parts += "ㆍ"
    if last and (initial == _FILL_INITIAL or vowel == _FILL_VOWEL):
        parts += _FINALS[last]
    return parts


def _by_position(code: int, first: int, first_row: int, width: int, last_row: int) -> str:
    row, cell = divmod(code - first, width)
    if code < first or first_row + row > last_row or cell >= 94:
        return ""
    return bytes((first_row + row, 0xA1 + cell)).decode("euc_kr", errors="ignore")
