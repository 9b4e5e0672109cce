"""Long Markdown in several posts: nothing lost, every part readable by itself."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.platforms.splitting import SMALLEST_LIMIT, split_markdown


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_a_short_text_is_one_part():
    assert split_markdown("연차는 15일입니다. [1]", 100) == ["연차는 15일입니다. [1]"]


def test_blank_text_has_no_part():
    assert split_markdown(" \n\n ", 100) == []


def test_parts_end_at_paragraphs():
    paragraphs = [f"{number}. 문단입니다. " + "가" * 60 for number in range(6)]
    parts = split_markdown("\n\n".join(paragraphs), 160)
    assert [part.split("\n\n") for part in parts] == [paragraphs[:2], paragraphs[2:4], paragraphs[4:]]


def test_code_that_fits_into_one_part_is_kept_whole():
    code = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(8)) + "\n```"
    parts = split_markdown("앞의 설명. " * 12 + "\n\n" + code + "\n\n" + "뒤의 설명. " * 12, 200)
    assert sum(code in part for part in parts) == 1


def test_code_that_is_too_long_is_closed_and_opened_again_with_its_language():
    lines = [f"    value_{n} = compute({n})" for n in range(60)]
    parts = split_markdown("먼저:\n\n```python\n" + "\n".join(lines) + "\n```\n\n끝입니다.", 300)
    code = [part for part in parts if "compute" in part]
    assert len(code) > 3
    for part in code:
        assert part.count("```") == 2
        assert "```python\n" in part
    assert [line for part in parts for line in part.split("\n") if "compute" in line] == lines
    assert parts[-1].endswith("끝입니다.")


def test_code_inside_a_list_is_closed_and_opened_with_its_indentation():
    lines = [f"  step_{n}()" for n in range(40)]
    text = "- 설치:\n  ```sh\n" + "\n".join(lines) + "\n  ```\n- 다음"
    parts = split_markdown(text, 200)
    for part in parts[:-1]:
        assert part.count("```") == 2
        assert "  ```sh\n" in part


def test_a_longer_fence_is_closed_by_a_fence_of_its_own_length():
    text = "````md\n" + "\n".join(f"```\nexample {n}\n```" for n in range(30)) + "\n````"
    for part in split_markdown(text, 200):
        assert part.startswith("````md\n")
        assert part.endswith("\n````")


def test_a_table_that_is_cut_repeats_its_header_and_keeps_its_rows_whole():
    rows = [f"| {n}급 | {n * 1000}원 | 비고 {n} |" for n in range(50)]
    header = "| 구분 | 금액 | 비고 |\n|---|---|---|"
    parts = split_markdown(f"표입니다.\n\n{header}\n" + "\n".join(rows) + "\n\n끝.", 300)
    shown = [line for part in parts for line in part.split("\n") if line.startswith("| ") and "구분" not in line]
    assert shown == rows
    for part in parts:
        if "급 |" in part:
            assert header in part


def test_a_table_that_fits_into_one_part_is_kept_whole():
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {n} |" for n in range(10))
    parts = split_markdown("설명. " * 30 + "\n\n" + table, 200)
    assert parts[-1] == table


def test_a_heading_stays_with_what_follows_it():
    parts = split_markdown("가" * 100 + "\n\n## 지급 기준\n\n" + "나" * 80, 150)
    assert parts == ["가" * 100, "## 지급 기준\n\n" + "나" * 80]


def test_a_long_paragraph_is_cut_after_a_sentence():
    text = "연차 휴가는 근속 연수에 따라 달라집니다. " * 20
    for part in split_markdown(text, 120):
        assert part.endswith("달라집니다.")


@pytest.mark.parametrize(
    "whole", ["[여비 규정 [별표 1]](https://h/evidence/abc_(1)#cited)", "`a very long code span`", "[12]"]
)
def test_no_cut_falls_inside_a_link_a_code_span_or_a_marker(whole):
    for before in range(60, 100):
        parts = split_markdown("가" * before + whole + "나" * 200, 100)
        assert sum(whole in part for part in parts) == 1, before


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "e\u0301", "🇰🇷", "👍🏽", "\u1112\u1161\u11ab", "❤️"])
def test_no_cut_falls_inside_a_character(character):
    for before in range(90, 101):
        parts = split_markdown("x" * before + character * 40, 100)
        assert "".join(parts) == "x" * before + character * 40
        for part in parts:
            assert part.strip("x").count(character) * len(character) == len(part.strip("x"))


def test_marks_without_end_do_not_stop_it():
    parts = split_markdown("a" + "\u0301" * 5000, 100)
    assert "".join(parts) == "a" + "\u0301" * 5000


def test_a_platform_may_count_in_its_own_way():
    def in_bytes(text: str) -> int:
        return len(text.encode())

    parts = split_markdown("가나다라 " * 100, 100, measure=in_bytes)
    assert all(in_bytes(part) <= 100 for part in parts)
    assert words("".join(part + " " for part in parts)) == ["가나다라"] * 100


def test_a_limit_that_cannot_hold_anything_is_refused():
    with pytest.raises(ValueError, match="80"):
        split_markdown("text", SMALLEST_LIMIT - 1)


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "`", "**", "> ", "- ", "| a ", "```\n", "\u0301", "<https://a", "#", "* a\n ", "@"]
)
def test_a_hundred_thousand_hostile_characters_take_little_time(piece):
    started = time.perf_counter()
    parts = split_markdown(piece * (100_000 // len(piece)), 4000)
    assert time.perf_counter() - started < 5
    assert all(len(part) <= 4000 for part in parts)


MARKDOWN = st.lists(
    st.sampled_from(
        ["# 제목\n", "문장입니다. ", "word ", "\n", "\n\n", "```py\n", "```\n", "~~~~\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n",
         "- item\n", "  ```\n", "> quote\n", "[link](https://example.com/a)", "`code`", "x" * 130, "가" * 90, "[1]", "\r\n", "    indented\n"]
    )
).map("".join)  # fmt: skip


@given(MARKDOWN, st.integers(SMALLEST_LIMIT, 400))
@settings(max_examples=400, deadline=None)
def test_every_part_keeps_the_limit_and_no_word_is_lost(text, limit):
    parts = split_markdown(text, limit)
    assert all(0 < len(part) <= limit for part in parts)
    cut = "".join(character for character in "".join(parts) if character in "가x다")
    assert cut == "".join(character for character in text if character in "가x다")
    for part in parts:
        assert part.strip()
