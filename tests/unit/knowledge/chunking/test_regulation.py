"""Regulations are cut at articles and appendices, labelled, linked, and never at a mere reference."""

from knowledge.chunking import chunk_document
from knowledge.chunking.splitting import LIMIT_CHARS
from knowledge.types import Block
from tests.unit.knowledge.chunking.documents import chunk_text, document, labels, paragraph, table

TRAVEL = """여비규정
[시행일자 : 2023-10-20]

제1장 총  칙
제1조(목적) 이 규정은 임직원이 업무로 출장할 때의 여비를 정함을 목적으로 한다.
제2조(지급기준) 숙박비와 일비는
별표 1과 같다.
제2조의2(부임) 부임 여비는 제2조를 준용한다.
제2장 국외여비
제3조(국외) 국외여비는 [별표 2]에 따라 지급한다.

부  칙
제1조(시행일) 이 규정은 2023년 10월 20일부터 시행한다.
제2조(경과조치) 종전의 출장에는 종전의 규정을 적용한다.

[별표 1]
국내여비 기준표 <개정 2023. 10. 20.>
직급 | 일비 | 숙박비
임원 | 25,000 | 100,000
직원 | 20,000 | 70,000

[별표 2] 국외여비 기준표 (제3조 관련)
직급 | 일비
임원 | 50
직원 | 30
"""


def test_articles_and_appendices_become_labelled_chunks() -> None:
    drafts = chunk_text(TRAVEL, title="사규집")
    assert labels(drafts) == [
        "여비규정 제1조(목적)",
        "여비규정 제2조(지급기준)",
        "여비규정 제2조의2(부임)",
        "여비규정 제3조(국외)",
        "여비규정 부칙",
        "여비규정 [별표 1] 국내여비 기준표",
        "여비규정 [별표 2] 국외여비 기준표 (제3조 관련)",
    ]
    assert [draft.kind for draft in drafts] == ["article"] * 4 + ["appendix"] * 3
    assert [draft.anchors for draft in drafts] == [
        ("제1조",), ("제2조",), ("제2조의2",), ("제3조",), ("부칙",), ("별표 1",), ("별표 2",),
    ]  # fmt: skip
    assert {draft.regulation for draft in drafts} == {"여비규정"}
    assert len({draft.group for draft in drafts}) == len(drafts)


def test_references_become_links() -> None:
    drafts = chunk_text(TRAVEL)
    assert [draft.refers_to for draft in drafts] == [
        (), ("별표 1",), ("제2조",), ("별표 2",), (), (), ("제3조",),
    ]  # fmt: skip


def test_the_index_text_starts_with_document_regulation_chapter_and_label() -> None:
    article = chunk_text(TRAVEL, title="사규집")[3]
    assert article.index_text.split("\n")[:4] == ["사규집", "여비규정", "제2장 국외여비", "여비규정 제3조(국외)"]
    assert article.index_text.endswith(article.text)


def test_rows_of_an_appendix_stand_in_lines_with_their_header() -> None:
    appendix = chunk_text(TRAVEL)[5]
    assert "직급 | 일비 | 숙박비\n임원 | 25,000 | 100,000\n직원 | 20,000 | 70,000" in appendix.text


def test_articles_of_supplementary_provisions_stay_inside_them() -> None:
    drafts = chunk_text(TRAVEL)
    supplement = next(draft for draft in drafts if draft.anchors == ("부칙",))
    assert "제2조(경과조치)" in supplement.text
    assert [draft.anchors for draft in drafts].count(("제2조",)) == 1


def test_chunks_know_their_lines() -> None:
    drafts = chunk_text(TRAVEL)
    assert (drafts[1].start_line, drafts[1].end_line) == (6, 7)


def test_several_regulations_in_one_file_are_kept_apart() -> None:
    drafts = chunk_text(
        "복무규정\n제정 2001. 3. 1.\n개정 2005. 3. 1.\n제1장 총칙\n제1조(목적) 복무를 정한다.\n제2조(적용) 모두에게 적용한다.\n부칙\n"
        "제1조(시행일) 바로 시행한다.\n[별표 1] 휴가일수\n결혼 | 5\n출산 | 10\n\n"
        "여비규정\n제1조(목적) 여비를 정한다.\n제2조(기준) 별표와 같다.\n부칙\n이 규정은 공포한 날부터 시행한다.\n[별표 1] 여비\n임원 | 9\n직원 | 5\n"
    )
    assert labels(drafts) == [
        "복무규정 제1조(목적)",
        "복무규정 제2조(적용)",
        "복무규정 부칙",
        "복무규정 [별표 1] 휴가일수",
        "여비규정 제1조(목적)",
        "여비규정 제2조(기준)",
        "여비규정 부칙",
        "여비규정 [별표 1] 여비",
    ]
    assert drafts[5].refers_to == ("별표 1",)


def test_a_regulation_that_restarts_without_a_title_is_not_given_the_name_before_it() -> None:
    drafts = chunk_text(
        "복무규정\n제1조(목적) 복무를 정한다.\n제2조(적용) 적용한다.\n부칙\n제1조(시행일) 시행한다.\n"
        "이 규정은 끝났다.\n제1조(목적) 여비를 정한다.\n제2조(기준) 기준이다.",
        title="규정 모음",
    )
    assert labels(drafts)[-2:] == ["규정 모음 제1조(목적)", "규정 모음 제2조(기준)"]


def test_a_contract_inside_a_form_stays_with_the_form() -> None:
    drafts = chunk_text(
        "인사규정\n제1조(목적) 인사를 정한다.\n제2조(계약) 별지 제1호 서식으로 계약한다.\n"
        "[별지 제1호 서식] 근로계약서\n근로계약서\n제1조(계약기간) 1년으로 한다.\n제2조(임금) 월급으로 한다.\n[별표 1] 급여표\n1급 | 10\n2급 | 9"
    )
    assert labels(drafts) == [
        "인사규정 제1조(목적)",
        "인사규정 제2조(계약)",
        "인사규정 [별지 제1호 서식] 근로계약서",
        "인사규정 [별표 1] 급여표",
    ]


def test_contents_pages_yield_no_chunks() -> None:
    contents = (
        "취업규칙\n목 차\n제1장 총칙\n제1조(목적) ············ 7\n제2조(적용범위) ········ 7\n제3조(정의) ········ 8\n"
        "제2장 복무\n제4조(근무) ····· 9\n\n"
    )
    body = "제1장 총칙\n제1조(목적) 목적이다.\n제2조(적용범위) 범위이다.\n제3조(정의) 뜻이다.\n제2장 복무\n제4조(근무) 근무이다."
    drafts = chunk_text(contents + body)
    assert labels(drafts) == [
        f"취업규칙 제{n}조({t})" for n, t in [(1, "목적"), (2, "적용범위"), (3, "정의"), (4, "근무")]
    ]
    assert not any("····" in draft.text for draft in drafts)


def test_contents_without_page_numbers_are_known_by_their_repetition() -> None:
    contents = "취업규칙\n제1조(목적)\n제2조(적용범위)\n제3조(정의)\n제4조(근무)\n"
    body = "제1조(목적)\n목적이다.\n제2조(적용범위)\n범위이다.\n제3조(정의)\n뜻이다.\n제4조(근무)\n근무이다."
    assert len(chunk_text(contents + body)) == 4


def test_a_price_list_with_dots_is_no_contents_page() -> None:
    drafts = chunk_text(
        "[별표 1] 가격\n커피 ........ 4,500\n홍차 ........ 3,000\n우유 ........ 2,000\n제1조(목적) 가격을 정한다.\n"
    )
    assert "커피 ........ 4,500" in drafts[0].text


def test_a_long_article_is_split_between_lines_and_keeps_its_title() -> None:
    items = "\n".join(
        f"{n}. 이 호는 {n}번째 사항으로서 위원회가 심의하여 의결하고 그 결과를 통지하여야 한다." for n in range(1, 60)
    )
    drafts = chunk_text(
        f"위원회규정\n제1조(목적) 정한다.\n제2조(심의사항) 위원회는 다음을 심의한다.\n{items}\n제3조(회의) 연다."
    )
    parts = [draft for draft in drafts if draft.anchors == ("제2조",)]
    assert len(parts) >= 3
    assert len({part.group for part in parts}) == 1
    assert all(part.text.startswith("제2조(심의사항)") for part in parts)
    assert all(len(part.text) <= LIMIT_CHARS for part in parts)
    lines = [line for part in parts for line in part.text.split("\n") if line[:1].isdigit()]
    assert lines == items.split("\n")


def test_a_split_table_repeats_its_header_in_every_part() -> None:
    rows = [(f"{n}급", f"{n * 1000:,}", "출장지의 물가와 거리를 고려하여 정한 금액") for n in range(1, 60)]
    drafts = chunk_document(
        document(
            [
                paragraph("여비규정"),
                paragraph("제1조(목적) 여비를 정한다."),
                paragraph("제2조(기준) 별표 1과 같다."),
                paragraph("[별표 1] 기준표", page=4),
                table(("직급", "금액", "비고"), *rows, page=4),
            ]
        )
    )
    parts = [draft for draft in drafts if draft.anchors == ("별표 1",)]
    assert len(parts) >= 2
    for part in parts:
        lines = part.text.split("\n")
        assert lines[:2] == ["[별표 1] 기준표", "직급 | 금액 | 비고"]
        assert part.page == 4
    shown = [line for part in parts for line in part.text.split("\n")[2:]]
    assert shown == [" | ".join(row) for row in rows]


def test_a_title_box_drawn_as_a_table_of_one_cell_opens_the_appendix() -> None:
    drafts = chunk_document(
        document(
            [
                paragraph("여비규정"),
                paragraph("제1조(목적) 여비를 정한다."),
                table(("[별표 1] 기준표", "[별표 1] 기준표"), ("직급", "금액"), ("임원", "9")),
            ]
        )
    )
    assert drafts[-1].label == "여비규정 [별표 1] 기준표"
    assert drafts[-1].text == "[별표 1] 기준표\n직급 | 금액\n임원 | 9"


def test_articles_quoted_in_a_table_do_not_open_sections() -> None:
    drafts = chunk_document(
        document(
            [
                paragraph("제1조(목적) 목적이다."),
                paragraph("제2조(정의) 뜻이다."),
                table(("현행", "개정"), ("제1조(목적) 옛것", "제1조(목적) 새것")),
            ]
        )
    )
    assert [draft.anchors for draft in drafts] == [("제1조",), ("제2조",)]


def test_deleted_appendices_make_one_chunk_and_all_can_be_found() -> None:
    drafts = chunk_text(
        "복무규정\n제1조(목적) 정한다.\n제2조(정의) 뜻이다.\n[별지 제1호 서식] <삭제 2024. 6. 1.>\n\n[별지 제2호 서식] <삭제 2024. 6. 1.>\n"
    )
    assert len(drafts) == 3
    assert drafts[2].anchors == ("별지 1", "별지 2")


def test_markdown_headings_with_articles_are_cut_the_same_way() -> None:
    drafts = chunk_text(
        "# 회칙\n## 제1장 총칙\n### 제1조 (명칭)\n이 단체는 가온이다.\n### 제2조 (목적)\n나눔이다.\n", name="a.md"
    )
    assert labels(drafts) == ["회칙 제1조(명칭)", "회칙 제2조(목적)"]


def test_text_in_front_of_the_first_article_is_kept() -> None:
    drafts = chunk_document(
        document(
            [
                Block(kind="heading", text="표준 취업규칙", level=1),
                paragraph("◈ 이 자료는 사업장의 사정에 맞게 고쳐 쓸 수 있도록 만든 것이다."),
                paragraph("제1조(목적) 목적이다."),
                paragraph("제2조(정의) 뜻이다."),
            ]
        )
    )
    assert drafts[0].kind == "section"
    assert "사업장의 사정에 맞게" in drafts[0].text


def test_a_part_that_starts_inside_a_list_repeats_the_items_above_it() -> None:
    countries = (
        "뉴질랜드, 방글라데시, 브루나이, 중국, 터키, 파키스탄, 피지, 가이아나, 과테말라, 브라질, 칠레, 파나마 " * 3
    )
    grades = "\n".join(
        f"{letter}. {letter}등급\n"
        + "\n".join(
            f"{n}) {region} : {countries}" for n, region in enumerate(("아시아", "미주", "유럽", "아프리카"), 1)
        )
        for letter in "가나다라"
    )
    drafts = chunk_text(
        f"여비규정\n제1조(목적) 정한다.\n제2조(등급) 별표 1과 같다.\n[별표 1] 등급표\n1. 국가별 등급\n{grades}"
    )
    parts = [draft.text for draft in drafts if draft.anchors == ("별표 1",)]
    grade = ""
    for part in parts:
        lines = part.split("\n")
        for line in lines:
            grade = line if line[1:2] == "." and line.endswith("등급") else grade
            if line[1:2] == ")":
                assert grade in lines


def test_titles_that_speak_of_coming_into_force_are_titles() -> None:
    drafts = chunk_text(
        "여비규정\n제1조(목적) 정한다.\n제2조(시행 및 통보) 통보한다.\n제3조(개정 절차) 의결한다.\n제4조(삭제)"
    )
    assert labels(drafts)[1:] == ["여비규정 제2조(시행 및 통보)", "여비규정 제3조(개정 절차)", "여비규정 제4조(삭제)"]


def test_an_english_regulation_is_cut_at_articles_and_appendices_that_refer_to_each_other() -> None:
    drafts = chunk_text(
        "Travel Expense Policy\n\nChapter 1 General Provisions\n\nArticle 1 (Purpose) This policy sets out how travel is"
        " paid for by the company.\n\nArticle 2 (Lodging) Lodging is paid up to the amounts in Appendix A, on receipts."
        "\n\nArticle 2 of the former rules applies to trips that began before.\n\nAppendix A Lodging Rates\n\n"
        "Staff may claim USD 120 a night in cities and USD 80 a night elsewhere.\n"
    )
    assert labels(drafts) == [
        "Travel Expense Policy Article 1 Purpose",
        "Travel Expense Policy Article 2 Lodging",
        "Travel Expense Policy Appendix A Lodging Rates",
    ]
    assert "former rules" in drafts[1].text
    assert "Appendix A" in drafts[1].refers_to
    assert "Appendix A" in drafts[2].anchors


def sheet_heading(text: str, level: int = 1) -> Block:
    return Block(kind="heading", text=text, level=level)


def test_an_appendix_without_a_number_is_found_by_the_article_that_its_title_names() -> None:
    drafts = chunk_text(
        "차량관리규정\n제4조(유류비) 유류비는 별표에 따라 지급한다.\n제5조(사고) 사고가 나면 즉시 총무팀에 보고한다.\n\n"
        "별표 유류비 지급기준(제4조 관련)\n\n배기량 | 단가\n1,600cc 이상 | 210원\n전기차 | 90원\n"
    )
    assert labels(drafts)[-2:] == ["차량관리규정 제5조(사고)", "차량관리규정 [별표] 유류비 지급기준(제4조 관련)"]
    assert "전기차" not in drafts[-2].text
    assert drafts[0].refers_to == ("별표",)


def test_a_sheet_behind_the_sheet_of_an_appendix_is_no_part_of_it() -> None:
    drafts = chunk_document(
        document(
            [
                sheet_heading("별표 1"),
                paragraph("별표 1 복지포인트 지급기준"),
                table(("직급", "연간 포인트"), ("사원", "1,000,000"), ("부장", "1,500,000")),
                sheet_heading("별표 2"),
                table(("직급", "한도"), ("사원", "100,000"), ("부장", "150,000")),
                sheet_heading("사용처"),
                table(("구분", "사용 가능 여부"), ("도서", "가능"), ("상품권", "현금화 금지로 불가")),
            ],
            title="복지포인트 운영기준",
        )
    )
    name = "복지포인트 운영기준"
    assert labels(drafts) == [f"{name} [별표 1] 복지포인트 지급기준", f"{name} [별표 2]", f"{name} 사용처"]
    assert "상품권" not in drafts[1].text
    assert drafts[2].anchors == ()


def test_headings_that_divide_an_appendix_stay_in_it() -> None:
    drafts = chunk_document(
        document(
            [
                paragraph("제1조(목적) 이 규정은 여비를 정함을 목적으로 한다."),
                paragraph("제2조(여비) 여비는 별표 1과 같이 지급하고 정산한다."),
                sheet_heading("별표 1"),
                sheet_heading("여비 지급 기준"),
                table(("직급", "일비"), ("사원", "20,000"), ("부장", "30,000")),
                sheet_heading("비고"),
                paragraph("서울과 부산의 숙박비는 20,000원을 더하여 지급한다."),
                sheet_heading("국외", level=2),
                table(("직급", "일비"), ("사원", "$40"), ("부장", "$60")),
            ],
            title="여비규정",
        )
    )
    assert labels(drafts)[-1] == "여비규정 [별표 1] 여비 지급 기준"
    assert "$60" in drafts[-1].text
    assert "20,000원을 더하여" in drafts[-1].text
