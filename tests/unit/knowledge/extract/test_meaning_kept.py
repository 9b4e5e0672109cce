"""Small marks that change what a number means: raised digits, signs of symbol fonts, values that are not there."""

from __future__ import annotations

import io

import openpyxl
import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.extract.raised import raised
from knowledge.extract.symbol_fonts import symbol
from tests.fixtures.documents.docx_writer import save, with_paragraph_xml

TEXT = "제1조(목적) 이 규정은 여비를 정한다.\n제2조(범위) 모든 직원에게 적용한다.\n"


def test_raised_digits_do_not_join_the_number_before_them() -> None:
    run = '<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r></w:p>'
    assert extract(save(with_paragraph_xml(run)), name="a.docx").blocks[0].text == "10²"
    html = b"<!DOCTYPE html><p>10<sup>2</sup> m<sup>3</sup>, a<sup>1)</sup> x<sup>note</sup></p>"
    assert extract(html, name="a.html").blocks[0].text == "10² m³, a¹⁾ xnote"


@pytest.mark.parametrize(("text", "made"), [("2", "²"), ("-1", "⁻¹"), ("th", "th"), ("", ""), ("1234567", "1234567")])
def test_what_has_no_raised_form_stays(text: str, made: str) -> None:
    assert raised(text) == made


@pytest.mark.parametrize(
    ("code", "font", "made"),
    [
        ("F0B3", "Symbol", "≥"), ("F0A3", "Symbol", "≤"), ("B1", "Symbol", "±"), ("F0FE", "Wingdings", "☑"),
        ("F081", "Wingdings", "①"), ("F0B3", "Webdings", "•"), ("2265", "Arial", "≥"), ("zz", "Symbol", ""),
    ],
)  # fmt: skip
def test_signs_of_symbol_fonts(code: str, font: str, made: str) -> None:
    assert symbol(code, font) == made


def test_a_formula_that_was_never_computed_is_named() -> None:
    book = openpyxl.Workbook()
    book.active.append(["일비", 30000, "=B1*2"])
    buffer = io.BytesIO()
    book.save(buffer)
    extraction = extract(buffer.getvalue(), name="a.xlsx")
    assert extraction.status == "partial"
    assert extraction.warnings == (
        "1 formulas have no computed value, so their cells are empty here; open the workbook in Excel and save it",
    )


def test_a_table_inside_a_cell_does_not_take_its_row_apart() -> None:
    inner = "<table><tr><td>서울<td>1</tr><tr><td>부산<td>2</tr></table>"
    html = f"<!DOCTYPE html><table><tr><th>직급<th>일비<th>숙박</tr><tr><td>임원<td>10,000<td>{inner}</tr></table>"
    (block,) = extract(html.encode(), name="a.html").blocks
    assert block.rows == (("직급", "일비", "숙박"), ("임원", "10,000", "서울 | 1\n부산 | 2"))


def test_a_table_that_lays_out_the_page_gives_what_it_holds() -> None:
    html = "<!DOCTYPE html><table><tr><td>메뉴<td><h1>규정</h1><table><tr><td>임원<td>1</tr><tr><td>직원<td>2</table></table>"
    assert [block.kind for block in extract(html.encode(), name="a.html").blocks] == ["paragraph", "heading", "table"]


def test_johab_is_read_and_text_in_no_korean_encoding_is_no_text() -> None:
    assert extract(TEXT.encode("johab"), name="a.txt").blocks[0].text == "제1조(목적) 이 규정은 여비를 정한다."
    with pytest.raises(UnreadableFile, match=r"a\.txt cannot be decoded"):
        extract("쮏쯵뾃뛙쓁꿻".encode("cp949") * 8, name="a.txt")
