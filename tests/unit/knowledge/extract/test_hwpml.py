from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from tests.unit.knowledge.extract.hwpx_files import hwpml


def outcome(content: bytes, name: str = "law.hwp") -> list[tuple[str, str]]:
    found = extract(content, name=name)
    assert found.format == "hwpml"
    return [(block.kind, block.text) for block in found.blocks]


def line(text: str, shape: int = 0) -> str:
    return f'<P ParaShape="{shape}"><TEXT CharShape="0"><CHAR>{text}</CHAR></TEXT></P>'


def test_a_file_named_hwp_is_told_by_its_content():
    assert outcome(hwpml(line("제1조(목적)") + line("") + line("부칙"))) == [
        ("paragraph", "제1조(목적)"), ("paragraph", "부칙"),
    ]  # fmt: skip


def test_cells_carry_their_addresses_and_spans():
    def cell(row: int, column: int, text: str, spans: str = "") -> str:
        return f'<CELL RowAddr="{row}" ColAddr="{column}" {spans}><PARALIST>{line(text)}</PARALIST></CELL>'

    span = 'RowSpan="2"'
    grid = (
        '<P><TEXT><TABLE><SHAPEOBJECT TextWrap="TopAndBottom"><POSITION TreatAsChar="true"/>'
        f"<CAPTION><PARALIST>{line('표 1')}</PARALIST></CAPTION></SHAPEOBJECT>"
        f"<ROW>{cell(0, 0, '사망', span)}{cell(0, 1, '배우자')}{cell(0, 2, '5')}</ROW>"
        f"<ROW>{cell(1, 1, '조부모')}{cell(1, 2, '3')}</ROW></TABLE></TEXT></P>"
    )
    found = extract(hwpml(grid), name="a.hml").blocks
    assert found[0].text == "표 1"
    assert found[1].rows == (("사망", "배우자", "5"), ("사망", "조부모", "3"))


def test_notes_boxes_breaks_and_numbers():
    note = f"<FOOTNOTE><PARALIST>{line('근거')}</PARALIST></FOOTNOTE>"
    box = f"<RECTANGLE><DRAWINGOBJECT><DRAWTEXT><PARALIST>{line('상자')}</PARALIST></DRAWTEXT></DRAWINGOBJECT></RECTANGLE>"
    body = f"<P><TEXT><CHAR>첫<LINEBREAK/>둘<TAB/>셋</CHAR>{note}{box}</TEXT></P>" + line("번호", shape=1)
    shapes = (
        '<PARASHAPE Id="1" HeadingType="Number" Heading="1" Level="0"/>'
        '<NUMBERING Id="1"><PARAHEAD Level="1" NumFormat="CircledDigit" Start="1">^1</PARAHEAD></NUMBERING>'
    )
    assert outcome(hwpml(body, shapes=shapes)) == [
        ("paragraph", "첫\n둘\t셋(주1)"), ("paragraph", "상자"), ("note", "주1) 근거"), ("paragraph", "① 번호"),
    ]  # fmt: skip


def test_an_entity_that_names_one_character_is_read_as_the_law_portal_writes_it():
    prolog = '<!DOCTYPE HWPML [\n\t<!ENTITY nbsp\t"&#160;">\n]>'
    assert outcome(hwpml(line("제1조&nbsp;목적") + "\n", prolog=prolog)) == [("paragraph", "제1조 목적")]


def test_a_document_type_alone_is_read_and_entities_are_refused():
    assert outcome(hwpml(line("본문"), prolog='<!DOCTYPE HWPML SYSTEM "hwpml.dtd">')) == [("paragraph", "본문")]
    bomb = '<!DOCTYPE a [<!ENTITY b "ㅋ"><!ENTITY c "&b;&b;&b;">]>'
    with pytest.raises(UnreadableFile, match="entities"):
        extract(hwpml(line("&c;"), prolog=bomb), name="a.hml")
    outside = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>'
    with pytest.raises(UnreadableFile, match="entities"):
        extract(hwpml(line("&b;"), prolog=outside), name="a.hml")


def test_a_file_that_is_cut_off_or_empty_is_reported():
    made = hwpml("".join(line(f"제{n}조") for n in range(50)))
    with pytest.raises(UnreadableFile, match="cut off"):
        extract(made[: len(made) // 2], name="a.hml")
    with pytest.raises(UnreadableFile, match="without text"):
        extract(hwpml(""), name="a.hml")
