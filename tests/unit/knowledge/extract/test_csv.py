from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_encoding_and_delimiter_are_found(delimiter: str, encoding: str):
    lines = [
        ["직급", "숙박비", "비고"],
        ["임원", "100000", "실비, 상한 있음" if delimiter != "," else "실비"],
        ["직원", "70000", ""],
    ]
    content = "\r\n".join(delimiter.join(line) for line in lines).encode(encoding)
    found = extract(content, name="여비.csv")
    assert found.format == "csv"
    assert found.blocks[0].rows == tuple(tuple(line) for line in lines)


def test_quotes_short_rows_empty_lines_and_titles():
    content = '여비 기준표,,\n\n구분,금액,비고\n서울,"27,000","영수증 ""불필요"""\n그 외,24000\n,,\n'
    found = extract(content.encode(), name="a.csv").blocks
    assert found[0].text == "여비 기준표"
    assert found[1].rows == (("구분", "금액", "비고"), ("서울", "27,000", '영수증 "불필요"'), ("그 외", "24000", ""))


def test_a_quote_that_never_closes_costs_no_row():
    found = extract('이름,설명\n가,"열린 따옴표\n나,둘\n'.encode(), name="a.csv").blocks
    assert [row[0] for row in found[0].rows] == ["이름", "가", "나"]


def test_a_single_column_is_text_and_nothing_is_reported():
    assert extract("하나\n둘\n".encode(), name="a.csv").blocks[0].text == "하나\n둘"
    with pytest.raises(UnreadableFile):
        extract(b",,,\n,,\n", name="a.csv")


def test_commas_in_prose_are_no_table():
    assert extract("사과, 배, 감\n하나, 둘, 셋\n".encode(), name="a.txt").format == "txt"
