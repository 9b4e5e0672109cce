"""Quotes show the part that answers, keep rows whole, and can do nothing but be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.evidence_text import escape_text, fence, table
from bot.excerpt import CODE_LINES, EXCERPT_ROWS, code_window, excerpt_of
from knowledge.analysis import analyze, analyze_query
from knowledge.types import Chunk, Locator

MARKDOWN = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])


def chunk(text, *, kind="docs", uri="a.md", label=None):
    return Chunk(
        id="c", document_id="d", kind="article", text=text, index_text=text, ordinal=0, tokens=1, group="g",
        evidence_kind=kind, title="규정", locator=Locator(source="s", uri=uri, revision="r", label=label),
    )  # fmt: skip


def quote(text, question, **options):
    return excerpt_of(chunk(text, **options), analyze_query(question), analyze, more_rows="({n} more)")


def test_a_short_article_is_quoted_whole():
    text = "제2조(연차휴가)\n① 15일을 준다.\n② 1일을 더한다."
    assert [line.strip() for line in quote(text, "연차").markdown.splitlines()] == text.splitlines()


def test_a_heading_that_stands_in_the_label_above_is_not_said_twice():
    text = "제2조 (연차휴가)\n① 15일을 준다.\n② 1일을 더한다."
    shown = quote(text, "연차", label="휴가규정 제2조(연차휴가)")
    assert [line.strip() for line in shown.markdown.splitlines()] == text.splitlines()[1:]
    assert shown.quote.startswith("제2조")
    table = "[별표 1] 휴가\n| 구분 | 일수 |\n| --- | --- |\n| 결혼 | 5일 |"
    assert quote(table, "결혼", label="휴가규정 [별표 1] 휴가").markdown.startswith("| 구분 |")
    assert quote("제9조(준용)", "준용", label="휴가규정 제9조(준용)").markdown == "제9조(준용)"
    assert quote(text, "연차", label="휴가규정 제3조(병가)").markdown.startswith("제2조")


def test_of_a_long_article_the_sentences_with_the_questions_words_are_quoted():
    filler = [f"제{n}항에서 정하는 일반적인 사항은 따로 정하는 바에 따라 시행하기로 한다." for n in range(1, 40)]
    filler.insert(20, "경조사 휴가는 결혼일 때 5일로 한다.")
    shown = quote("\n".join(filler), "결혼하면 경조사 휴가가 며칠?").markdown
    assert "경조사 휴가는 결혼일 때 5일로 한다." in shown
    assert len(shown) < 900
    assert "…" in shown


def test_a_long_table_keeps_its_header_and_shows_matching_rows_first_and_whole():
    rows = [f"| 지역{n} | {n},000원 | {n * 2},000원 |" for n in range(1, 41)]
    shown = quote("\n".join(["| 지역 | 숙박비 | 식비 |", "| --- | --- | --- |", *rows]), "지역33 숙박비").markdown
    lines = shown.splitlines()
    assert lines[0] == "| 지역 | 숙박비 | 식비 |"
    assert lines[2] == "| 지역33 | 33,000원 | 66,000원 |"
    assert len([line for line in lines if "원 |" in line]) == EXCERPT_ROWS
    assert "(30 more)" in shown


def test_a_short_table_is_quoted_with_every_row():
    text = "여비는 다음과 같다.\n직급 | 숙박비\n임원 | 150,000\n팀원 | 90,000"
    shown = quote(text, "임원 숙박비").markdown
    assert "| 직급 | 숙박비 |\n| --- | --- |\n| 임원 | 150,000 |\n| 팀원 | 90,000 |" in shown


def test_long_code_shows_the_signature_and_the_lines_that_answer():
    lines = ["def handle(request):", '    """Handles."""', *[f"    step_{n}()" for n in range(60)]]
    lines[45] = "    retry_declined_payment(request)"
    shown = code_window("\n".join(lines), analyze_query("where is the declined payment retried"), analyze)
    assert shown.splitlines()[0] == "def handle(request):"
    assert "retry_declined_payment(request)" in shown
    assert len(shown.splitlines()) <= CODE_LINES


def test_code_inside_a_fence_cannot_end_it():
    code = "x = '''\n```\n# injected\n````\n'''"
    tokens = MARKDOWN.parse(fence(code, "a.py"))
    assert [(token.type, token.info, token.content) for token in tokens] == [("fence", "python", code + "\n")]


@pytest.mark.parametrize(
    "evil",
    [
        "[click](http://evil.example)",
        "![x](http://evil.example/p.png)",
        "<img src=x onerror=alert(1)>",
        "<http://evil.example>",
        "# heading",
        "- item",
        "1. item",
        "> quote",
        "    indented",
        "```\ncode\n```",
        "[x]: http://evil.example",
        "**bold** _it_ ~~no~~ `code`",
        "text\n===",
        "| a | b |\n| - | - |",
    ],
)
def test_evidence_is_shown_as_the_characters_it_consists_of(evil):
    tokens = MARKDOWN.parse(escape_text(evil.strip()))
    kinds = {token.type for token in tokens}
    inner = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"paragraph_open", "inline", "paragraph_close"}
    assert inner <= {"text", "softbreak", "text_special"}


@given(st.text(alphabet="가a1 \n[]()<>!#*_`~|-=+.@:/\\", max_size=80))
def test_no_text_becomes_markup(text):
    tokens = MARKDOWN.parse(escape_text(text))
    inner = {child.type for token in tokens for child in token.children or ()}
    assert inner <= {"text", "softbreak", "hardbreak", "text_special"}


@pytest.mark.parametrize("mention", ["@channel", "@here", "@all", "@미나", "＠here"])
def test_mentions_in_evidence_notify_nobody(mention):
    assert mention not in escape_text(f"공지 {mention} 확인")


def test_a_marker_in_evidence_is_not_taken_for_a_citation():
    import re

    assert re.search(r"\[\d+\]", re.sub(r"\\(.)", r"\1", escape_text("표 [1] 참조"))) is None


def test_a_cell_cannot_break_its_table():
    text = table(["a|b", "c"], [["1\n2", "x | y"], ["only one"]])
    tokens = MARKDOWN.parse(text)
    assert sum(token.type == "tr_open" for token in tokens) == 3
    assert sum(token.type == "td_open" for token in tokens) == 4


def test_a_long_table_shows_the_rows_that_are_asked_for_under_its_header_and_counts_the_others():
    rows = [f"| {kind} | {level}급 | {number},000원 |" for number, (kind, level) in enumerate(
        ((kind, level) for kind in ("숙박비", "식비", "일비", "교통비") for level in range(1, 9)), 10
    )]  # fmt: skip
    text = "\n".join(["| 구분 | 직급 | 상한 |", "| --- | --- | --- |", *rows])
    shown = quote(text, "식비 3급은 얼마인가요?").markdown.splitlines()
    assert shown[0] == "| 구분 | 직급 | 상한 |"
    assert shown[2] == "| 식비 | 3급 | 20,000원 |"
    left_out = len(rows) - sum(line.startswith("| ") for line in shown[1:]) + 1
    assert f"({left_out} more)" in shown[-1]
    assert not any("숙박비 | 1급" in line for line in shown)


def test_a_long_article_is_quoted_from_its_rule_before_what_is_remarked_on_it():
    remarks = [
        f"☞ (참고) 연차휴가를 며칠 주는지는 해석례 {n}에서도 다루며 연차휴가의 산정은 회사마다 다름" for n in range(30)
    ]
    rule = "제33조(연차유급휴가) ① 1년간 80퍼센트 이상 출근한 사원에게 15일의 유급휴가를 준다."
    more = "② 3년 이상 근속한 사원에게는 2년마다 1일의 연차휴가를 더한다."
    shown = quote("\n".join([rule, *remarks[:15], more, *remarks[15:]]), "연차휴가는 며칠?").markdown
    assert shown.startswith("제33조(연차유급휴가) ① 1년간")
    assert "② 3년 이상" in shown


def test_the_items_of_a_list_are_shown_with_their_letters_or_not_at_all():
    items = [
        f"{letter}. {what}증명서 : 현재 {what} 중인 사람에게 준다."
        for letter, what in zip("가나다라", "갑을병정", strict=True)
    ]
    filler = [f"제{n}항에서 정하는 일반적인 사항은 따로 정하는 바에 따라 시행하기로 한다." for n in range(1, 20)]
    shown = quote("\n".join([*filler, *items]), "병증명서는 누구에게?").markdown
    assert "다. 병증명서" in shown
    assert "나. …" not in shown
