"""Numbers as Word writes them."""

import pytest

from knowledge.extract.docx_numbering import format_number


@pytest.mark.parametrize(
    ("number_format", "expected"),
    [
        ("decimal", ["1", "2", "11", "20"]),
        ("ganada", ["가", "나", "카", "바바"]),
        ("chosung", ["ㄱ", "ㄴ", "ㅋ", "ㅂㅂ"]),
        ("decimalEnclosedCircle", ["①", "②", "⑪", "⑳"]),
        ("koreanDigital", ["일", "이", "일일", "이영"]),
        ("koreanCounting", ["일", "이", "십일", "이십"]),
        ("koreanLegal", ["하나", "둘", "열하나", "스물"]),
        ("koreanDigital2", ["一", "二", "一一", "二零"]),
        ("upperRoman", ["I", "II", "XI", "XX"]),
        ("lowerLetter", ["a", "b", "k", "t"]),
        ("decimalEnclosedParen", ["⑴", "⑵", "⑾", "⒇"]),
        ("decimalZero", ["01", "02", "11", "20"]),
        ("numberInDash", ["- 1 -", "- 2 -", "- 11 -", "- 20 -"]),
        ("decimalFullWidth", ["１", "２", "１１", "２０"]),
        ("none", ["", "", "", ""]),
        ("somethingNew", ["1", "2", "11", "20"]),
    ],
)
def test_number_formats(number_format: str, expected: list[str]) -> None:
    assert [format_number(number, number_format) for number in (1, 2, 11, 20)] == expected


def test_circled_numbers_beyond_twenty() -> None:
    assert [format_number(number, "decimalEnclosedCircle") for number in (21, 36, 50, 51)] == ["㉑", "㊱", "㊿", "(51)"]
