"""PDF text: reading order by place, wrapped lines joined, tables by their lines."""

import io

import pytest
from pypdf import PdfReader, PdfWriter

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.types import Extraction
from tests.fixtures.documents.pdf_writer import PdfPage, write_pdf


def read(*pages: PdfPage) -> Extraction:
    return extract(write_pdf(pages), name="rules.pdf")


def texts(extraction: Extraction) -> list[str]:
    return [block.text for block in extraction.blocks]


def test_lines_that_wrap_inside_words_are_joined_and_markers_start_paragraphs() -> None:
    page = PdfPage().lines(
        60,
        780,
        [
            "제1조(목적) 이 규정은 회사의 임직원이 업무로 국내외에 출장하는 때에 지급하는 여비",
            "의 기준을 정함을 목적으로 한다.",
            "제2조(정의) ① 이 규정에서 사용하는 용어의 뜻은 다음 각 호와 같으며 다른 데서도 그",
            "대로 쓴다.",
            "1. 출장이란 근무지를 떠나는 것을 말한다.",
            "가. 국내 출장",
        ],
    )
    assert texts(read(page)) == [
        "제1조(목적) 이 규정은 회사의 임직원이 업무로 국내외에 출장하는 때에 지급하는 여비의 기준을 정함을 목적으로 한다.",
        "제2조(정의) ① 이 규정에서 사용하는 용어의 뜻은 다음 각 호와 같으며 다른 데서도 그대로 쓴다.",
        "1. 출장이란 근무지를 떠나는 것을 말한다.",
        "가. 국내 출장",
    ]


def test_digits_drawn_apart_from_the_text_around_them_stand_in_their_place() -> None:
    page = PdfPage().text(60, 780, "규칙 제").text(105, 780, "조(").text(120, 780, "목적)").text(95, 780, "38")
    assert texts(read(page)) == ["규칙 제38조(목적)"]


def test_columns_are_read_one_after_the_other() -> None:
    left = [f"{number}. 왼쪽 단의 줄은 여기까지 이어진다." for number in range(1, 9)]
    right = [f"{number}. 오른쪽 단의 줄은 여기까지 간다." for number in range(1, 9)]
    page = PdfPage().lines(50, 760, left, size=9).lines(320, 757, right, size=9)
    assert texts(read(page)) == left + right


def test_the_few_lines_that_are_left_of_two_columns_are_not_mixed() -> None:
    page = PdfPage()
    page.lines(60, 760, ["제1조(왼쪽) 왼쪽 단의 첫째 줄은", "여기까지 이어지고 둘째 줄도", "왼쪽에 있다."])
    page.lines(320, 760, ["제2조(오른쪽) 오른쪽 단의 글은", "왼쪽 단이 끝난 다음에 읽는다."])
    texts = [block.text for block in extract(write_pdf([page]), name="a.pdf").blocks]
    assert [text[:3] for text in texts] == ["제1조", "제2조"]
    assert "오른쪽" not in texts[0]


def test_a_ruled_table_keeps_numbers_in_the_row_of_their_header_and_repeats_merged_cells() -> None:
    page = PdfPage().text(60, 790, "[별표 1] 국내여비 기준표")
    page.grid([60, 160, 260, 360], [760, 730, 700])
    page.rule(60, 700, 60, 640).rule(160, 700, 160, 640).rule(260, 700, 260, 640).rule(360, 700, 360, 640)
    page.rule(60, 640, 360, 640).rule(160, 670, 360, 670)
    for x, y, text in [
        (70, 740, "구분"),
        (170, 740, "일비"),
        (270, 740, "숙박비"),
        (70, 710, "임원"),
        (170, 710, "25,000"),
        (270, 710, "100,000"),
        (70, 665, "직원"),
        (170, 680, "20,000"),
        (270, 680, "80,000"),
        (170, 650, "15,000"),
        (270, 650, "70,000"),
    ]:
        page.text(x, y, text)
    extraction = read(page)
    assert extraction.blocks[1].rows == (
        ("구분", "일비", "숙박비"),
        ("임원", "25,000", "100,000"),
        ("직원", "20,000", "80,000"),
        ("직원", "15,000", "70,000"),
    )


def test_a_table_without_lines_is_seen_by_its_alignment() -> None:
    page = PdfPage()
    for number, row in enumerate(
        [("직급", "일비", "식비"), ("임원", "25,000", "30,000"), ("직원", "20,000", "25,000")]
    ):
        for x, text in zip((60, 200, 340), row, strict=True):
            page.text(x, 700 - 20 * number, text)
    table = read(page).blocks[0]
    assert table.rows == (("직급", "일비", "식비"), ("임원", "25,000", "30,000"), ("직원", "20,000", "25,000"))


def test_articles_with_remarks_beside_them_keep_each_remark_with_its_article() -> None:
    page = PdfPage().grid([50, 330, 550], [800, 400])
    page.lines(60, 780, ["제1조(목적) 목적을 정한다.", "둘째 줄이다."]).text(340, 780, "첫 조문의 해설")
    page.lines(60, 700, ["제2조(정의) 뜻을 정한다.", "넷째 줄이다.", "다섯째 줄이다."]).text(
        340, 700, "다음 조문의 해설"
    )
    assert texts(read(page)) == [
        "제1조(목적) 목적을 정한다.",
        "둘째 줄이다.",
        "첫 조문의 해설",
        "제2조(정의) 뜻을 정한다.",
        "넷째 줄이다.",
        "다섯째 줄이다.",
        "다음 조문의 해설",
    ]


def test_running_headers_come_once_and_page_numbers_never() -> None:
    pages = [
        PdfPage().text(60, 810, "가온 여비규정").text(60, 700, f"{name} 본문이다.").text(280, 30, f"- {number} -")
        for number, name in enumerate(["첫", "둘", "셋", "넷"], start=1)
    ]
    assert texts(read(*pages)) == ["가온 여비규정", "첫 본문이다.", "둘 본문이다.", "셋 본문이다.", "넷 본문이다."]


def test_blocks_know_their_page_and_the_title_is_the_big_line() -> None:
    first = PdfPage().text(200, 780, "여비규정", size=20).text(60, 700, "제1조(목적) 목적을 정한다.")
    second = PdfPage().text(60, 780, "제2조(정의) 뜻을 정한다.")
    extraction = read(first, second)
    assert [(block.kind, block.page) for block in extraction.blocks] == [
        ("heading", 1),
        ("paragraph", 1),
        ("paragraph", 2),
    ]
    assert extraction.title == "여비규정"


def test_a_page_without_text_is_warned_of() -> None:
    extraction = read(PdfPage().text(60, 700, "본문"), PdfPage().picture())
    assert extraction.status == "partial"
    assert extraction.warnings == ("page 2 has no text that could be read",)


def test_a_picture_without_text_is_reported() -> None:
    with pytest.raises(UnreadableFile, match=r"rules\.pdf has no text on any of its 1 pages, and OCR found none"):
        read(PdfPage().picture())


def test_a_text_layer_that_lost_its_digits_is_warned_of() -> None:
    extraction = read(PdfPage().lines(60, 780, ["제 조(목적) 정한다.", "제 조(정의) 정한다.", "제 조(적용) 정한다."]))
    assert extraction.status == "partial"
    assert "page 1: the text layer seems to have lost digits" in extraction.warnings[0]


def test_a_password_is_named_as_the_reason() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(write_pdf([PdfPage().text(60, 700, "본문")]))))
    writer.encrypt("secret", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    with pytest.raises(UnreadableFile, match=r"a\.pdf is protected by a password"):
        extract(buffer.getvalue(), name="a.pdf")


def test_a_cut_off_file_is_named_as_damaged() -> None:
    with pytest.raises(UnreadableFile, match=r"a\.pdf is a damaged or cut off PDF"):
        extract(b"%PDF-1.7\n1 0 obj\n<<", name="a.pdf")
