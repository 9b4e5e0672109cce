"""OpenDocument files: sheets and slides by their own XML, texts by way of LibreOffice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.errors import NoText, UnreadableFile, UnsupportedFormat
from knowledge.extract import extract
from tests.fixtures.documents.docx_writer import save, with_paragraph_xml
from tests.robustness.own_files import converted
from tests.unit.knowledge.extract.odf_files import COVERED, cell, odf, table
from tests.unit.knowledge.extract.scan_pages import ScanPage, needs_office, needs_tesseract
from tests.unit.knowledge.extract.test_any_office_bytes import Edit, attempt, edited, edits

FARES = table(
    "운임",
    cell("구분") + cell("일반실") + cell("특실"),
    cell("서울-부산", rows=2) + cell("59,800") + cell("83,700"),
    COVERED + cell("53,800") + cell("75,300"),
)
SHOW = (
    '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>여비규정</text:p></draw:text-box>'
    "</draw:frame><draw:g><draw:frame><draw:text-box><text:p>제1조<text:tab/>여비를<text:s text:c='2'/>정한다.</text:p>"
    f"</draw:text-box></draw:frame></draw:g><draw:frame>{FARES}</draw:frame>"
    '<draw:frame presentation:class="page-number"><draw:text-box><text:p>1</text:p></draw:text-box></draw:frame>'
    "<presentation:notes><draw:frame><draw:text-box><text:p>발표자 메모</text:p></draw:text-box></draw:frame>"
    "</presentation:notes></draw:page>"
)
ROWS = (
    ("구분", "일반실", "특실"),
    ("서울-부산", "59,800", "83,700"),
    ("서울-부산", "53,800", "75,300"),
)


def test_a_sheet_shows_its_values_with_merged_cells_in_every_row() -> None:
    extraction = extract(odf("ods", FARES), name="a.ods")
    assert (extraction.format, extraction.status) == ("ods", "ok")
    heading, grid = extraction.blocks
    assert (heading.text, grid.rows) == ("운임", ROWS)


def test_repeated_cells_count_and_a_million_empty_ones_do_not() -> None:
    sheet = table("a", cell("가", again=2) + cell("나"), cell(again=16384), cell("다") + cell("라") + cell("마"))
    sheet = sheet.replace("<table:table-row><table:table-cell table:number-columns-repeated", "<table:table-row"
                          ' table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated')  # fmt: skip
    rows = [row for block in extract(odf("ods", sheet), name="a").blocks for row in block.rows]
    assert ("가", "가", "나") in rows


def test_a_hidden_sheet_is_left_out_and_named() -> None:
    styles = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    extraction = extract(
        odf("ods", FARES + table("비밀", cell("숨은값") + cell("1"), style="h"), styles=styles), name="a"
    )
    assert "비밀" in extraction.warnings[0]
    assert "숨은값" not in str(extraction.blocks)


def test_slides_keep_title_text_groups_tables_and_notes_without_furniture() -> None:
    extraction = extract(odf("odp", SHOW), name="a.odp")
    assert (extraction.format, extraction.title) == ("odp", "여비규정")
    assert [block.kind for block in extraction.blocks] == ["heading", "paragraph", "table", "note"]
    assert extraction.blocks[1].text.split() == ["제1조", "여비를", "정한다."]
    assert extraction.blocks[2].rows == ROWS
    assert {block.page for block in extraction.blocks} == {1}


def test_comments_and_deleted_text_do_not_come_out() -> None:
    noted = cell("금액").replace("</text:p>", "<office:annotation><text:p>몰래</text:p></office:annotation></text:p>")
    body = "<text:tracked-changes><text:p>지운 글</text:p></text:tracked-changes>" + table("a", noted + cell("1"))
    assert "몰래" not in str(extract(odf("ods", body), name="a").blocks)


def test_a_protected_file_and_an_empty_one_and_a_drawing_are_named() -> None:
    with pytest.raises(UnreadableFile, match=r"a\.ods is protected by a password"):
        extract(odf("ods", "", manifest="<encryption-data/>"), name="a.ods")
    with pytest.raises(NoText, match=r"a\.ods"):
        extract(odf("ods", table("a", cell())), name="a.ods")
    with pytest.raises(UnsupportedFormat, match=r"a\.odg.*PDF"):
        extract(odf("odg", ""), name="a.odg")


@needs_tesseract
def test_a_presentation_of_pictures_is_read_by_ocr() -> None:
    picture = ScanPage(1800, 400).text(100, 100, "제1조(목적) 이 규정은 여비를 정한다.").encoded()
    made = odf("odp", "<draw:page/>", pictures={"1.png": picture})
    assert "여비를 정한다" in extract(made, name="a.odp").blocks[0].text


@needs_office
def test_a_text_keeps_its_automatic_numbers() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
        '<w:lvlText w:val="제%1조"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="7"/></w:num>'
    )
    items = "".join(
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p>"
        for text in ("(목적) 여비를 정한다.", "(범위) 모든 직원에게 적용한다.")
    )
    made = converted(save(with_paragraph_xml(items, numbering=numbering)), ".docx", "odt")
    extraction = extract(made, name="여비.odt")
    assert extraction.format == "odt"
    assert [block.text for block in extraction.blocks] == [
        "제1조 (목적) 여비를 정한다.",
        "제2조 (범위) 모든 직원에게 적용한다.",
    ]


@needs_office
def test_word_2003_xml_is_read() -> None:
    made = converted(save(with_paragraph_xml("<w:p><w:r><w:t>제1조(목적) 정한다.</w:t></w:r></w:p>")), ".docx",
                     "xml:MS Word 2003 XML")  # fmt: skip
    extraction = extract(made, name="옛문서.doc")
    assert (extraction.format, extraction.blocks[0].text) == ("wordml", "제1조(목적) 정한다.")


@settings(max_examples=120, deadline=None)
@given(changes=edits, kind=st.sampled_from(["ods", "odp"]))
def test_damaged_files(changes: list[Edit], kind: str) -> None:
    attempt(edited(odf(kind, FARES if kind == "ods" else SHOW), changes))


@settings(max_examples=150, deadline=None)
@given(changes=edits, kind=st.sampled_from(["ods", "odp"]))
def test_damaged_xml_in_a_sound_archive(changes: list[Edit], kind: str) -> None:
    body = edited((FARES if kind == "ods" else SHOW).encode(), changes)
    attempt(odf(kind, body.decode("utf-8", "replace")))
