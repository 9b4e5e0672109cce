from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.types import Block


def blocks(body: str) -> tuple[Block, ...]:
    found = extract(f"<!DOCTYPE html><html><body>{body}</body></html>".encode(), name="a.html")
    assert found.format == "html"
    return found.blocks


def outcome(body: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks(body)]


def test_headings_paragraphs_and_lists():
    assert outcome(
        "<h1>휴가 <b>규정</b></h1><p>첫 줄<br>둘째\n 줄</p><ul><li>하나</li><li>① 둘<ul><li>속</li></ul></li></ul>"
        "<ol start=3><li>셋</ol><pre>a\n  b</pre>"
    ) == [
        ("heading", "휴가 규정"), ("paragraph", "첫 줄\n둘째 줄"), ("paragraph", "- 하나"), ("paragraph", "① 둘"),
        ("paragraph", "- 속"), ("paragraph", "3. 셋"), ("paragraph", "a\n  b"),
    ]  # fmt: skip


def test_navigation_scripts_and_footers_are_dropped():
    assert outcome(
        "<nav>메뉴</nav><div class='gnb top'>메뉴</div><div id=footer>주소</div><script>var 가='나'</script>"
        "<style>.가{}</style><button>누름</button><div role=navigation>길</div><aside>광고</aside>"
        "<header><h1>제목</h1></header><p>본문</p><footer>저작권</footer>"
    ) == [("heading", "제목"), ("paragraph", "본문")]


def test_the_main_element_counts_where_it_holds_the_text():
    assert outcome("<div>머리</div><main><p>본문은 길다. 아주 길다.</p></main>") == [
        ("paragraph", "본문은 길다. 아주 길다.")
    ]
    assert ("paragraph", "밖에 있는 긴 본문이 대부분이다.") in outcome(
        "<p>밖에 있는 긴 본문이 대부분이다.</p><main>속</main>"
    )


def test_spans_of_cells_are_repeated_and_the_foot_comes_last():
    found = blocks(
        "<table><caption>휴가 일수</caption><thead><tr><th colspan=2>구분<th>일수</thead><tfoot><tr><td colspan=3>비고</tfoot>"
        "<tbody><tr><td rowspan=2>사망<td>배우자<td>5<tr><td>조부모<td>3</tbody></table>"
    )
    assert found[0] == Block(kind="paragraph", text="휴가 일수")
    assert found[1].rows == (
        ("구분", "구분", "일수"), ("사망", "배우자", "5"), ("사망", "조부모", "3"), ("비고", "비고", "비고"),
    )  # fmt: skip


def test_articles_beside_their_titles_are_text_with_the_article_at_the_line_start():
    assert outcome(
        "<table><tr><th>제1조 (목적)</td><td>이 법인은 학문과 기술의 발전에 이바지함을 목적으로 한다.</td></tr>"
        "<tr><th>제2조 (명칭)</td><td>본회는 다음을 둔다. 회원은 아래와 같이 나눈다.<ul><li>① 정회원</li></ul></td></tr></table>"
    ) == [
        ("paragraph", "제1조 (목적) 이 법인은 학문과 기술의 발전에 이바지함을 목적으로 한다."),
        ("paragraph", "제2조 (명칭) 본회는 다음을 둔다. 회원은 아래와 같이 나눈다.\n① 정회원"),
    ]  # fmt: skip


def test_old_and_new_articles_side_by_side_stay_a_table():
    (found,) = blocks(
        "<table><tr><td>제1조(목적) 이 규정은 종전의 내용이다.<td>제1조(목적) 이 규정은 새 내용이다."
        "<tr><td>제2조(정의) 용어는 다음과 같다.<td>제2조(정의) 용어는 아래와 같다.</table>"
    )
    assert found.kind == "table"


def test_a_table_that_lays_out_the_page_is_what_stands_in_it():
    found = blocks("<table><tr><td>왼쪽 메뉴<td><h2>여비</h2><table><tr><td>가<td>1<tr><td>나<td>2</table></table>")
    assert [block.kind for block in found] == ["paragraph", "heading", "table"]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="euc-kr">', "cp949"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=ks_c_5601-1987">', "cp949"),
        ('<meta charset="euc-kr">', "utf-8"),  # the page lies
        ("", "cp949"),
        ("", "utf-8-sig"),
        ("", "utf-16"),
    ],
)
def test_the_encoding_is_found(head: str, encoding: str):
    page = f"<html><head>{head}<title>샾 안내</title></head><body><p>가격은 얼마입니까? 뷁</p></body></html>"
    found = extract(page.encode(encoding), name="a.htm")
    assert [block.text for block in found.blocks] == ["가격은 얼마입니까? 뷁"]


def test_a_page_behind_server_code_is_html():
    page = "<?php include '../head.php'; ?>\n<div class='c'><div><p>제1조</p></div><ul><li>하나</li></ul></div>"
    found = extract(page.encode(), name="about.php")
    assert (found.format, [block.text for block in found.blocks]) == ("html", ["제1조", "- 하나"])


def test_the_title_is_the_only_first_heading_or_what_the_text_confirms():
    page = "<html><head><title>여비 규정 - 회사</title></head><body><p>여비 규정</p><p>제1조</p></body></html>"
    assert extract(page.encode(), name="a.html").title == "여비 규정"
    assert extract(page.replace("여비 규정 -", "옛 제목 -").encode(), name="a.html").title is None


def test_a_page_without_text_is_reported():
    for page in ("<html><body><script>x()</script></body></html>", "<html></html>", "<!DOCTYPE html>"):
        with pytest.raises(UnreadableFile, match="without text"):
            extract(page.encode(), name="a.html")


def test_endless_nesting_and_huge_spans_end():
    assert outcome("<div>" * 1500 + "바닥" + "</div>" * 1500) == [("paragraph", "바닥")]
    with pytest.raises(UnreadableFile, match="too deeply"):
        blocks("<p>앞</p>" + "<div>" * 5000 + "바닥")
    found = blocks("<table><tr><td colspan=99999999 rowspan=99999999>가<td>나<tr><td>다</table>")
    assert found[0].rows == (("가", "나"), ("가", "다"))
