from __future__ import annotations

import datetime as dt
import io
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.extract.sheet_blocks import Sheet, sheet_blocks
from knowledge.extract.sheet_numbers import shown
from knowledge.types import Block

MARCH = dt.datetime(2024, 3, 1)  # noqa: DTZ001  # dates of sheets have no time zone


def saved(book: Any) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def book_with(*rows: list[object]) -> Any:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book


def rows_of(content: bytes) -> list[tuple[str, ...]]:
    return [row for block in extract(content, name="a.xlsx").blocks for row in block.rows]


def test_each_sheet_has_a_heading_and_its_table():
    book = book_with(["직급", "숙박비"], ["임원", 100000])
    book.active.title = "여비"
    book.create_sheet("빈 시트")
    other = book.create_sheet("식비")
    other.append(["구분", "금액"])
    other.append(["서울", 27000])
    found = extract(saved(book), name="a.xlsx")
    assert [(block.kind, block.text.split("\n")[0]) for block in found.blocks] == [
        ("heading", "여비"), ("table", "직급 | 숙박비"), ("heading", "식비"), ("table", "구분 | 금액"),
    ]  # fmt: skip


def test_values_are_shown_as_a_person_sees_them():
    book = book_with([1234567, 0.05, MARCH, True, 3.0], ["", "", "", "", "글"])
    for cell, code in zip(book.active[1], ["#,##0", "0%", 'yyyy"년" m"월" d"일"', "General", "General"], strict=True):
        cell.number_format = code
    assert rows_of(saved(book))[0] == ("1,234,567", "5%", "2024년 3월 1일", "TRUE", "3")


def test_merged_cells_are_repeated_and_empty_rows_and_columns_are_left_out():
    book = openpyxl.Workbook()
    sheet = book.active
    for place, value in {"C4": "사망", "D4": "배우자", "F4": 5, "D5": "조부모", "F5": 3, "C6": "계", "F6": 8}.items():
        sheet[place] = value
    sheet.merge_cells("C4:C5")
    sheet.merge_cells("C6:D6")
    assert rows_of(saved(book)) == [("사망", "배우자", "5"), ("사망", "조부모", "3"), ("계", "계", "8")]


def test_hidden_sheets_are_left_out_and_named():
    book = book_with(["보이는 값", "1"])
    hidden = book.create_sheet("옛날 기준")
    hidden.append(["숨은 값", "2"])
    hidden.sheet_state = "hidden"
    found = extract(saved(book), name="a.xlsx")
    assert "옛날 기준" in found.warnings[0]
    assert not any("숨은" in block.text for block in found.blocks)


def test_comments_become_notes():
    book = book_with(["금액", 5], ["가", 6])
    book.active["B1"].comment = Comment("부가세 포함", "작성자")
    assert extract(saved(book), name="a.xlsx").blocks[-1] == Block(kind="note", text="Sheet B1: 부가세 포함")


def table_texts(texts: dict[tuple[int, int], str]) -> list[str]:
    return [block.text for block in sheet_blocks(Sheet(title="시트", texts=texts))[1:]]


def test_a_title_above_and_a_remark_below_are_not_rows_of_the_table():
    cells = {(0, 0): "여비 기준", (1, 0): "직급", (1, 1): "금액", (2, 0): "임원", (2, 1): "10", (4, 0): "※ 비고"}
    assert table_texts(cells) == ["여비 기준", "직급 | 금액\n임원 | 10", "※ 비고"]


def test_a_second_table_behind_a_gap_keeps_its_own_header():
    cells = {
        (0, 0): "2023", (0, 1): "금액", (1, 0): "서울", (1, 1): "10",
        (3, 0): "구분", (3, 1): "금액", (4, 0): "서울", (4, 1): "20",
        (6, 0): "부산", (6, 1): "30",
    }  # fmt: skip
    assert table_texts(cells) == ["2023 | 금액\n서울 | 10", "구분 | 금액\n서울 | 20\n부산 | 30"]


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1234.5, "#,##0", "1,235"), (-5, "#,##0;(#,##0)", "(5)"), (0, '#,##0;-#,##0;"-"', "-"), (0.1234, "0.0%", "12.3%"),
        (5, '0"일"', "5일"), (1234.5, "[$₩-412]#,##0", "₩1,235"), (1.5, "[h]:mm", "36:00"), (7, "000", "007"),
        (3.0, "0.##", "3"), (2.5, "0.##", "2.5"), (1234567, "#,##0,", "1,235"), (0.1, "General", "0.1"),
        (45352, "yyyy-mm-dd", "2024-03-01"), (45352.5, "m/d/yy h:mm", "3/1/24 12:00"), (2, 'General"명"', "2명"),
        (dt.time(15, 5), "오전/오후 h:mm", "오후 3:05"), (MARCH, "m월 d일 (aaa)", "3월 1일 (금)"),
        (dt.date(2024, 3, 1), "General", "2024-03-01"), (15, '[<10]0"개";[>=10]0"건"', "15건"),
        (1e300, "#,##0", "1e+300"), (-1, "0.00_);[Red](0.00)", "(1.00)"), (45352, "[$-412]yyyy년", "2024년"),
        (float("nan"), "0", "#NUM!"), (10**9, "yyyy-mm-dd", "9999-12-31"), ("글", "#,##0", "글"), (None, "0", ""),
        (dt.timedelta(hours=30), "[h]:mm:ss", "30:00:00"), (12.5, "# ?/?", "12.5"), (5, "@", "5"),
    ],
)  # fmt: skip
def test_number_formats(value: object, code: str, text: str):
    assert shown(value, code) == text


def test_a_workbook_without_values_is_reported():
    with pytest.raises(UnreadableFile, match="without values"):
        extract(saved(openpyxl.Workbook()), name="a.xlsx")


def test_a_workbook_that_is_cut_off_is_reported():
    content = saved(book_with(*[[n, n * 7] for n in range(500)]))
    for share in (0.3, 0.6, 0.95):
        with pytest.raises(UnreadableFile):
            extract(content[: int(len(content) * share)], name="a.xlsx")
