from __future__ import annotations

import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.extract.hwp3 import extract_hwp3
from knowledge.extract.hwp3_chars import hwp3_char
from tests.unit.knowledge.extract import hwp3_files as h


def outcome(content: bytes) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in extract(content, name="a.hwp").blocks]


@pytest.mark.parametrize("compressed", [True, False])
def test_composed_hangul_comes_out_as_syllables(compressed: bool):
    text = "제1조(목적) 값진 뷁 넓이를 정한다."
    assert outcome(h.hwp3(h.paragraphs(h.paragraph(text)), compressed=compressed)) == [("paragraph", text)]


@pytest.mark.parametrize(
    ("number", "char"),
    [(0x41, "A"), (0x36E7, "①"), (0x3590, "Ⅰ"), (0x3438, "※"), (0x4222, "權"), (0x8841 | 0x20, "가"), (0x8841, "ㄱ"),
     (0x2FFF, ""), (0x7FFF, ""), (0x0081, "“"), (0x03, "")],
)  # fmt: skip
def test_codes_of_every_range(number: int, char: str):
    assert hwp3_char(number) == char


def test_every_syllable_has_its_code():
    assert all(hwp3_char(h.code(chr(n))) == chr(n) for n in range(0xAC00, 0xD7A4))


def test_cells_find_their_rows_by_their_places_and_merged_ones_are_repeated():
    def text(value: str) -> bytes:
        return h.paragraphs(h.paragraph(value))

    grid = h.table(
        [(0, 0, 100, 50, text("구분")), (100, 0, 60, 50, text("일수")), (0, 50, 40, 80, text("사망")),
         (40, 50, 60, 40, text("배우자")), (100, 50, 60, 40, text("5")), (40, 90, 60, 40, text("조부모")),
         (100, 90, 60, 40, text("3"))],
        caption=text("표 1"),
    )  # fmt: skip
    found = extract_hwp3(h.hwp3(h.paragraphs(h.paragraph("앞"), h.paragraph(grid), h.paragraph("뒤"))), name="a.hwp")
    assert [block.kind for block in found.blocks] == ["paragraph", "paragraph", "table", "paragraph"]
    assert found.blocks[1].text == "표 1"
    assert found.blocks[2].rows == (("구분", "구분", "일수"), ("사망", "배우자", "5"), ("사망", "조부모", "3"))


def test_notes_headers_tabs_and_text_boxes():
    made = h.hwp3(h.paragraphs(
        h.paragraph(h.header(h.paragraphs(h.paragraph("대외비"))), "여비", h.tab(), "규정"),
        h.paragraph("연차", h.note(h.paragraphs(h.paragraph("근로기준법"))), "휴가"),
        h.paragraph(h.drawing(h.paragraphs(h.paragraph("상자"))), own_shapes=True),
    ))  # fmt: skip
    assert outcome(made) == [
        ("note", "대외비"), ("paragraph", "여비\t규정"), ("paragraph", "연차휴가(주1)"), ("note", "주1) 근로기준법"),
        ("paragraph", "상자"),
    ]  # fmt: skip


def test_a_drawing_that_cannot_be_read_makes_the_result_partial():
    broken = h.drawing(h.paragraphs(h.paragraph("상자")))
    broken = broken.replace(b"\x58\x00\x00\x00\x06\x00", b"\xff\xff\x00\x00\x06\x00", 1)
    found = extract_hwp3(h.hwp3(h.paragraphs(h.paragraph("본문"), h.paragraph(broken))), name="a.hwp")
    assert found.status == "partial"
    assert "text boxes" in found.warnings[0]


def test_a_title_that_the_text_confirms_is_kept():
    made = h.hwp3(h.paragraphs(h.paragraph("여비 지급 규정"), h.paragraph("제1조")), title="여비 지급 규정")
    assert extract_hwp3(made, name="a.hwp").title == "여비 지급 규정"


def test_a_file_with_a_password_is_reported():
    with pytest.raises(UnreadableFile, match=r"a\.hwp .*password"):
        extract(h.hwp3(h.paragraphs(h.paragraph("본문")), encrypted=True), name="a.hwp")


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.98])
def test_a_file_that_is_cut_off_is_reported(compressed: bool, share: float):
    made = h.hwp3(h.paragraphs(*[h.paragraph(f"제{n}조 본문 {n * 7919}") for n in range(200)]), compressed=compressed)
    with pytest.raises(UnreadableFile, match="cut off"):
        extract(made[: int(len(made) * share)], name="a.hwp")


def test_nothing_but_empty_paragraphs_is_no_text():
    with pytest.raises(UnreadableFile, match="without text"):
        extract(h.hwp3(h.paragraphs(h.paragraph(" "))), name="a.hwp")


def test_boxes_nested_without_end_are_refused():
    inner = h.paragraphs(h.paragraph("밑"))
    for _ in range(60):
        inner = h.paragraphs(h.paragraph(h.note(inner)))
    with pytest.raises(UnreadableFile, match="nested"):
        extract(h.hwp3(inner), name="a.hwp")
