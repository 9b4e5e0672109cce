from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract

FONTS = r"{\fonttbl{\f0\fmodern\fcharset129 Batang;}{\f1\fswiss\fcharset0 Arial;}{\f2\fcharset2 Symbol;}}"


def escaped(text: str) -> str:
    return "".join(
        char if char.isascii() else "".join(f"\\'{byte:02x}" for byte in char.encode("cp949")) for char in text
    )


def rtf(body: str, head: str = r"\ansi\ansicpg949\deff0" + FONTS) -> bytes:
    return (r"{\rtf1" + head + r"\f0\fs20 " + body + "}").encode("ascii")


def outcome(content: bytes) -> list[tuple[str, str]]:
    found = extract(content, name="notice.doc")
    assert found.format == "rtf"
    return [(block.kind, block.text) for block in found.blocks]


def test_korean_hex_escapes_are_read_by_their_code_page():
    body = (
        r"\pard "
        + escaped("제1조(목적) 안내")
        + r"\par\pard "
        + escaped("제2조 똠방")
        + r"\line "
        + escaped("둘째 줄")
        + r"\par"
    )
    assert outcome(rtf(body)) == [("paragraph", "제1조(목적) 안내"), ("paragraph", "제2조 똠방\n둘째 줄")]


def test_a_second_byte_that_is_a_letter_belongs_to_its_character():
    assert "갂".encode("cp949") == b"\x81A"
    assert outcome(rtf(r"\'81A\'b0\'a1\par")) == [("paragraph", "갂가")]


def test_unicode_escapes_with_their_replacements_and_symbols():
    body = r"\uc1\u44032?\u45208\'b3{\uc2\u-10179 ab\u-8704 cd}\ldblquote x\rdblquote\~\{y\}\emdash\tab z\par"
    assert outcome(rtf(body)) == [("paragraph", "가나😀“x” {y}—\tz")]


def table_row(*cells: str, edges: tuple[int, ...], marks: tuple[str, ...] = ()) -> str:
    defined = "".join((marks[n] if n < len(marks) else "") + rf"\cellx{edge}" for n, edge in enumerate(edges))
    return r"\trowd\trgaph108 " + defined + "".join(rf"\pard\intbl {escaped(cell)}\cell " for cell in cells) + r"\row "


def test_rows_and_merged_cells():
    body = (
        r"\pard " + escaped("[별표 1]") + r"\par "
        + table_row("구분", "일수", edges=(4000, 6000))
        + table_row("사망", "배우자", "5", edges=(2000, 4010, 6000), marks=(r"\clvmgf",))
        + table_row("", "조부모", "3", edges=(2000, 4010, 6000), marks=(r"\clvmrg",))
        + table_row("계", "", "8", edges=(2000, 4000, 6000), marks=(r"\clmgf", r"\clmrg"))
        + r"\pard " + escaped("끝") + r"\par"
    )  # fmt: skip
    found = extract(rtf(body), name="a.rtf").blocks
    assert [block.kind for block in found] == ["paragraph", "table", "paragraph"]
    assert found[1].rows == (
        ("구분", "구분", "일수"), ("사망", "배우자", "5"), ("사망", "조부모", "3"), ("계", "계", "8"),
    )  # fmt: skip


def test_notes_headers_boxes_lists_and_headings():
    body = (
        r"{\header " + escaped("대외비") + r"\par}{\stylesheet{\s1\outlinelevel0 h;}}\pard\s1 " + escaped("총칙") + r"\par"
        r"\pard {\listtext 1.\tab}" + escaped("연차") + r"{\super\chftn}{\footnote\pard\chftn " + escaped("근거") + r"}"
        + escaped("휴가") + r"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt\pard " + escaped("상자") + r"\par}}{\shprslt x}}\par"
    )  # fmt: skip
    assert outcome(rtf(body)) == [
        ("note", "대외비"), ("heading", "총칙"), ("paragraph", "1.\t연차휴가(주1)"), ("note", "주1) 근거"),
        ("paragraph", "상자"),
    ]  # fmt: skip


def test_pictures_fields_hidden_and_deleted_text_are_left_out():
    body = (
        r"{\pict\wmetafile8 0102ab}{\*\unknown x}{\v hidden}{\deleted gone}{\info{\title t}}"
        r"{\field{\*\fldinst HYPERLINK x}{\fldrslt " + escaped("누리집") + r"}} {\bin3 }}}}ok\par"
    )
    assert outcome(rtf(body)) == [("paragraph", "누리집 ok")]


def test_a_document_that_is_cut_off_or_empty_is_reported():
    whole = rtf(r"\pard " + escaped("제1조 " * 50) + r"\par")
    for size in (8, 60, len(whole) // 2, len(whole) - 1):
        with pytest.raises(UnreadableFile, match=r"notice\.doc .*cut off"):
            extract(whole[:size], name="notice.doc")
    with pytest.raises(UnreadableFile, match="without text"):
        extract(rtf(r"\par"), name="notice.doc")


def test_groups_nested_without_end_are_refused():
    with pytest.raises(UnreadableFile, match="nested"):
        extract(rb"{\rtf1" + b"{" * 100_000, name="a.rtf")
