from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from tests.unit.knowledge.extract.xls_files import xls

CELLS = {
    (0, 0): "구분", (0, 1): "운임", (0, 2): "시행일",
    (1, 0): "고속철도", (1, 1): (41200.0, 0), (1, 2): (45352.0, 1),
    (2, 1): (0.05, 2), (2, 2): (0.5, 3),
}  # fmt: skip
FORMATS = ["#,##0", "yyyy/mm/dd", "0%", "h:mm"]


def test_text_numbers_dates_and_merged_cells():
    found = extract(xls(CELLS, formats=FORMATS, merged=[(1, 2, 0, 0)], title="운임표"), name="a.xls")
    assert (found.format, found.blocks[0].kind, found.blocks[0].text) == ("xls", "heading", "운임표")
    assert found.blocks[1].rows == (
        ("구분", "운임", "시행일"), ("고속철도", "41,200", "2024/03/01"), ("고속철도", "5%", "12:00"),
    )  # fmt: skip


def test_a_workbook_whose_only_sheet_is_hidden_has_no_values():
    with pytest.raises(UnreadableFile, match="visible"):
        extract(xls(CELLS, formats=FORMATS, hidden=True), name="a.xls")


def test_an_encrypted_workbook_is_reported():
    with pytest.raises(UnreadableFile, match="password"):
        extract(xls(CELLS, formats=FORMATS, encrypted=True), name="a.xls")


@pytest.mark.parametrize("size", [600, 2000, 4000])
def test_a_workbook_that_is_cut_off_is_reported(size: int):
    content = xls({(row, 0): f"값 {row}" for row in range(300)} | {(0, 1): "둘"})
    with pytest.raises(UnreadableFile):
        extract(content[:size], name="a.xls")
