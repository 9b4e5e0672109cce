from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from tests.unit.knowledge.extract import hwpx_files as h


def outcome(content: bytes) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in extract(content, name="a.hwpx").blocks]


def test_sections_are_read_in_order_of_their_numbers():
    made = h.hwpx(*[[h.paragraph(f"{number}편")] for number in range(12)])
    assert outcome(made) == [("paragraph", f"{number}편") for number in range(12)]


@pytest.mark.parametrize("manifest", [None, "<manifest/>"])
def test_a_file_without_manifest_is_read_all_the_same(manifest: str | None):
    assert outcome(h.hwpx([h.paragraph("본문")], manifest=manifest)) == [("paragraph", "본문")]


def test_merged_cells_captions_and_nested_tables():
    inner = h.table([h.cell(0, 0, "서울"), h.cell(0, 1, "100,000")])
    grid = h.table(
        [h.cell(0, 0, "구분", columns=2), h.cell(0, 2, "상한")],
        [h.cell(1, 0, "숙박", rows=2), h.cell(1, 1, "국내"), h.cell(1, 2, h.paragraph(inner))],
        [h.cell(2, 1, "국외"), h.cell(2, 2, "실비")],
        caption="표 1 여비",
    )
    found = extract(h.hwpx([h.paragraph("앞", grid, "뒤")]), name="a.hwpx").blocks
    assert [(block.kind, block.text) for block in found if block.kind != "table"] == [
        ("paragraph", "앞"), ("paragraph", "표 1 여비"), ("paragraph", "뒤"),
    ]  # fmt: skip
    assert found[2].rows == (("구분", "구분", "상한"), ("숙박", "국내", "서울 | 100,000"), ("숙박", "국외", "실비"))


def test_a_floating_table_at_the_top_of_its_paragraph_stands_above_the_text():
    grid = h.table([h.cell(0, 0, "가"), h.cell(0, 1, "나")], inline=False)
    assert [kind for kind, _ in outcome(h.hwpx([h.paragraph(grid, "비고")]))] == ["table", "paragraph"]


def test_notes_headers_boxes_and_numbers():
    own = '<hp:ctrl><hp:autoNum num="1" numType="FOOTNOTE"/></hp:ctrl>'
    foot = f"<hp:ctrl><hp:footNote number='1'>{h.listed(h.paragraph(own, ' 법'))}</hp:footNote></hp:ctrl>"
    head = f"<hp:ctrl><hp:header>{h.listed('대외비')}</hp:header></hp:ctrl>"
    box = f"<hp:container><hp:rect><hp:drawText>{h.listed('상자')}</hp:drawText></hp:rect></hp:container>"
    number = '<hp:ctrl><hp:autoNum num="3" numType="TABLE"><hp:autoNumFormat type="HANGUL_SYLLABLE" suffixChar="."/></hp:autoNum></hp:ctrl>'
    made = h.hwpx([h.paragraph(head, "연차", foot, "휴가", box), h.paragraph("표 ", number, " 기준")])
    assert outcome(made) == [
        ("note", "대외비"), ("paragraph", "연차휴가(주1)"), ("paragraph", "상자"), ("note", "주1) 법"),
        ("paragraph", "표 다. 기준"),
    ]  # fmt: skip


def test_text_that_a_tracked_change_deleted_is_gone():
    marked = "<hp:t>3일<hp:deleteBegin Id='1'/>을<hp:deleteEnd Id='1'/> <hp:insertBegin/>5일<hp:insertEnd/><hp:tab/>끝<hp:lineBreak/>둘</hp:t>"
    assert outcome(h.hwpx([h.paragraph(marked)])) == [("paragraph", "3일 5일\t끝\n둘")]


def test_automatic_numbers_and_outline_headings():
    header = (
        '<hh:numbering id="1"><hh:paraHead start="1" level="1" numFormat="DIGIT">제^1장</hh:paraHead>'
        '<hh:paraHead start="1" level="2" numFormat="HANGUL_SYLLABLE">^2.</hh:paraHead></hh:numbering>'
        '<hh:bullet id="1" char="❏"/>'
        '<hh:paraPr id="0"><hh:heading type="NONE" idRef="0" level="0"/></hh:paraPr>'
        '<hh:paraPr id="1"><hh:heading type="OUTLINE" idRef="0" level="0"/></hh:paraPr>'
        '<hh:paraPr id="2"><hh:heading type="NUMBER" idRef="1" level="1"/></hh:paraPr>'
        '<hh:paraPr id="3"><hh:heading type="BULLET" idRef="1" level="0"/></hh:paraPr>'
    )
    first = h.paragraph('<hp:secPr outlineShapeIDRef="1"/>', "총칙", shape=1)
    made = h.hwpx([first, *[h.paragraph("항목", shape=n) for n in (2, 2, 3, 0)]], header=header)
    assert outcome(made) == [
        ("heading", "제1장 총칙"), ("paragraph", "가. 항목"), ("paragraph", "나. 항목"), ("paragraph", "❏ 항목"),
        ("paragraph", "항목"),
    ]  # fmt: skip


def test_an_encrypted_file_is_reported_by_its_manifest():
    with pytest.raises(UnreadableFile, match="password"):
        extract(h.hwpx([h.paragraph("x")], manifest="<a><encryption-data/></a>"), name="a.hwpx")


@pytest.mark.parametrize(
    "damage", ['<!DOCTYPE a [<!ENTITY b "c">]>', '<!DOCTYPE a SYSTEM "http://127.0.0.1/x">', "<unclosed>"]
)
def test_entities_and_broken_xml_are_refused(damage: str):
    with pytest.raises(UnreadableFile, match=r"a\.hwpx"):
        extract(h.hwpx([h.paragraph("x")], damage=damage), name="a.hwpx")


def test_a_file_without_sections_or_without_text_is_reported():
    with pytest.raises(UnreadableFile, match="without a section"):
        extract(h.hwpx(), name="a.hwpx")
    with pytest.raises(UnreadableFile, match="without text"):
        extract(h.hwpx([h.paragraph(" ")]), name="a.hwpx")


def test_xml_nested_too_deeply_is_refused():
    inner = "바닥"
    for _ in range(120):
        inner = h.paragraph(h.table([h.cell(0, 0, inner)]))
    with pytest.raises(UnreadableFile, match="deep"):
        extract(h.hwpx([inner]), name="a.hwpx")


def test_a_file_that_is_cut_off_is_reported():
    made = h.hwpx([h.paragraph(f"제{n}조") for n in range(500)])
    for share in (0.3, 0.7, 0.97):
        with pytest.raises(UnreadableFile):
            extract(made[: int(len(made) * share)], name="a.hwpx")


def test_a_damaged_list_of_contents_costs_the_title_only():
    made = h.hwpx([h.paragraph("여비 지급 규정")], title="여비 지급 규정", stored=True)
    assert extract(made, name="a.hwpx").title == "여비 지급 규정"
    broken = extract(made.replace("<title>여비".encode(), "<title>여미".encode()), name="a.hwpx")
    assert (broken.title, [block.text for block in broken.blocks]) == (None, ["여비 지급 규정"])
