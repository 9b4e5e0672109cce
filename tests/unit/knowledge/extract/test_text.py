"""Plain text and Markdown, whatever encoding they come in."""

import pytest

from knowledge.errors import UnreadableFile, UnsupportedFormat
from knowledge.extract import extract

KOREAN = "제1조(목적) 이 규정은 임직원의 복무에 관한 사항을 정한다.\r\n\r\n제2조(정의) 용어의 뜻은 다음과 같다.\r\n"


@pytest.mark.parametrize(
    "content",
    [
        KOREAN.encode(),
        b"\xef\xbb\xbf" + KOREAN.encode(),
        b"\xff\xfe" + KOREAN.encode("utf-16-le"),
        b"\xfe\xff" + KOREAN.encode("utf-16-be"),
        KOREAN.encode("utf-16-le"),
        KOREAN.encode("utf-16-be"),
        KOREAN.encode("cp949"),
    ],
    ids=["utf-8", "utf-8 bom", "utf-16-le bom", "utf-16-be bom", "utf-16-le", "utf-16-be", "cp949"],
)
def test_korean_text_reads_the_same_in_every_encoding(content: bytes) -> None:
    extraction = extract(content, name="rules.txt")
    assert [block.text for block in extraction.blocks] == [
        "제1조(목적) 이 규정은 임직원의 복무에 관한 사항을 정한다.",
        "제2조(정의) 용어의 뜻은 다음과 같다.",
    ]
    assert [(block.start_line, block.end_line) for block in extraction.blocks] == [(1, 1), (3, 3)]


def test_a_long_cp949_text_keeps_every_character() -> None:
    text = "교직원의 근무시간은 09:00부터 18:00까지로 한다. ㈜가온 ① ㎡ 金\n" * 300
    extraction = extract(text.encode("cp949"), name="a.txt")
    assert "\n".join(block.text for block in extraction.blocks) == text.strip()


def test_zero_bytes_and_control_characters_are_removed_and_lines_stay() -> None:
    extraction = extract("연차\x00휴가\x07는\r\n15일\x0b이다\u200b".encode(), name="a.txt")
    assert extraction.blocks[0].text == "연차휴가는\n15일 이다"


def test_decomposed_hangul_is_composed() -> None:
    import unicodedata

    extraction = extract(unicodedata.normalize("NFD", "연차휴가").encode(), name="a.txt")
    assert extraction.blocks[0].text == "연차휴가"


def test_a_few_broken_bytes_are_dropped_with_a_warning() -> None:
    extraction = extract("여비 지급 기준을 정한다. ".encode() * 20 + b"\xff\xfe" + "끝".encode(), name="a.txt")
    assert "\ufffd" not in extraction.blocks[0].text
    assert "2 characters could not be decoded" in extraction.warnings[0]


def test_binary_rubbish_is_named_as_such() -> None:
    with pytest.raises(UnsupportedFormat, match=r"a\.txt is binary data"):
        extract(bytes(range(256)) * 40, name="a.txt")


def test_text_in_no_known_encoding_is_unreadable() -> None:
    with pytest.raises(UnreadableFile, match=r"a\.txt cannot be decoded as text"):
        extract("日本語のテキスト、これは規程です。".encode("euc-jp") * 30, name="a.txt")


@pytest.mark.parametrize("content", [b"", b"   \r\n\t ", b"\x00\x00\x00"])
def test_an_empty_file_says_so(content: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.md"):
        extract(content, name="a.md")


def test_articles_start_paragraphs_of_their_own_without_blank_lines() -> None:
    extraction = extract("제1장 총칙\n제1조(목적) 가.\n① 나.\n제2조(정의) 다.\n[별표 1] 기준".encode(), name="a.txt")
    assert [block.text for block in extraction.blocks] == [
        "제1장 총칙",
        "제1조(목적) 가.\n① 나.",
        "제2조(정의) 다.",
        "[별표 1] 기준",
    ]


def test_lines_of_cells_between_bars_are_a_table() -> None:
    extraction = extract(
        "[별표 1] 연가\n구분 | 기준\n1년 미만 | 월 1일\n1년 이상 | 연 15일\n\n끝".encode(), name="a.txt"
    )
    table = extraction.blocks[1]
    assert table.rows == (("구분", "기준"), ("1년 미만", "월 1일"), ("1년 이상", "연 15일"))
    assert (table.start_line, table.end_line) == (2, 4)


MARKDOWN = """---
title: "여비규정"
---

# 여비규정

## 제1조 (목적)
이 규정은 **여비**를 [정한다](https://example.com). <2025. 1. 1. 신설>
1. 첫째
   - 하위
2. 둘째

| 직급 | 숙박비 |
|------|-------:|
| 임원 | 100,000 |
| 직원 | 70,000 |

```
# 제목이 아니다
```
"""


def test_markdown_becomes_headings_tables_lists_and_code() -> None:
    extraction = extract(MARKDOWN.encode(), name="a.md")
    assert (extraction.format, extraction.title) == ("md", "여비규정")
    shown = [(block.kind, block.level, block.text, block.start_line) for block in extraction.blocks]
    assert shown == [
        ("note", None, 'title: "여비규정"', 1),
        ("heading", 1, "여비규정", 5),
        ("heading", 2, "제1조 (목적)", 7),
        ("paragraph", None, "이 규정은 여비를 정한다. <2025. 1. 1. 신설>", 8),
        ("paragraph", None, "1. 첫째\n  - 하위\n2. 둘째", 9),
        ("table", None, "직급 | 숙박비\n임원 | 100,000\n직원 | 70,000", 13),
        ("paragraph", None, "# 제목이 아니다", 18),
    ]
    assert extraction.blocks[5].rows == (("직급", "숙박비"), ("임원", "100,000"), ("직원", "70,000"))


def test_markdown_is_recognised_without_its_extension() -> None:
    assert extract(b"# Travel policy\n\nText.\n", name="policy").format == "md"


def test_a_plain_text_with_the_extension_of_markdown_keeps_its_lines() -> None:
    extraction = extract("제1조(목적) 가.\n제2조(정의) 나.".encode(), name="a.md")
    assert [block.text for block in extraction.blocks] == ["제1조(목적) 가.", "제2조(정의) 나."]


@pytest.mark.parametrize("text", [">" * 5000, "- " * 3000 + "a"])
def test_marks_nested_without_end_are_read_as_plain_text(text: str) -> None:
    extraction = extract(text.encode(), name="a.md")
    assert "".join(block.text for block in extraction.blocks).strip() == text.strip()
