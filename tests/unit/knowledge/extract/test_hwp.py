from __future__ import annotations

import struct

import numpy as np
import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.extract.hwp import extract_hwp
from knowledge.extract.hwp_cipher import _INVERSE_SBOX, _round_keys, decrypt_aes128_ecb, distribution_key
from knowledge.extract.hwp_numbering import format_number
from knowledge.types import Block
from tests.unit.knowledge.extract import hwp_files as h
from tests.unit.knowledge.extract.ole_files import compound_file


def texts(content: bytes) -> list[str]:
    return [block.text for block in extract_hwp(content, name="a.hwp").blocks]


def blocks(content: bytes) -> tuple[Block, ...]:
    return extract_hwp(content, name="a.hwp").blocks


def test_paragraphs_come_in_order_from_all_sections():
    made = h.hwp(
        [h.paragraph("제1조(목적) 이 규정은"), h.paragraph(""), h.paragraph("제2조(정의)")], [h.paragraph("부칙")]
    )
    assert texts(made) == ["제1조(목적) 이 규정은", "제2조(정의)", "부칙"]


def test_sections_are_read_by_number_and_not_by_name():
    made = h.hwp(*[[h.paragraph(f"{number}편")] for number in range(12)])
    assert texts(made) == [f"{number}편" for number in range(12)]


def test_an_uncompressed_body_is_read_as_it_is():
    assert texts(h.hwp([h.paragraph("압축하지 않은 본문")], flags=0)) == ["압축하지 않은 본문"]


def test_a_merged_cell_is_repeated_in_every_row_and_column_that_it_covers():
    made = h.hwp([
        h.paragraph(11, controls=[h.table(
            h.cell(0, 0, "구분", columns=2), h.cell(0, 2, "일수"),
            h.cell(1, 0, "사망", rows=2), h.cell(1, 1, "배우자"), h.cell(1, 2, "5"),
            h.cell(2, 1, "조부모"), h.cell(2, 2, "3"),
        )]),
    ])  # fmt: skip
    (found,) = blocks(made)
    assert found.kind == "table"
    assert found.rows == (("구분", "구분", "일수"), ("사망", "배우자", "5"), ("사망", "조부모", "3"))


def test_a_table_keeps_its_caption_and_its_place_between_paragraphs():
    grid = h.table(h.cell(0, 0, "가"), h.cell(0, 1, "나"), caption="표 1 여비")
    made = h.hwp([h.paragraph("앞"), h.paragraph(11, controls=[grid]), h.paragraph("뒤")])
    assert [(block.kind, block.text) for block in blocks(made)] == [
        ("paragraph", "앞"), ("paragraph", "표 1 여비"), ("table", "가 | 나"), ("paragraph", "뒤"),
    ]  # fmt: skip


def test_a_floating_table_stands_below_its_label_or_above_it_as_its_offset_says():
    grid = (h.cell(0, 0, "가"), h.cell(0, 1, "나"))
    below = h.hwp([h.paragraph(11, "[별표 1]", controls=[h.table(*grid, inline=False, offset=2000)])])
    above = h.hwp([h.paragraph(11, "비고", controls=[h.table(*grid, inline=False, offset=0)])])
    assert [block.kind for block in blocks(below)] == ["paragraph", "table"]
    assert [block.kind for block in blocks(above)] == ["table", "paragraph"]


def test_a_table_inside_a_cell_keeps_its_rows_in_the_text_of_the_cell():
    inner = h.table(h.cell(0, 0, "서울"), h.cell(0, 1, "100,000"), h.cell(1, 0, "그 외"), h.cell(1, 1, "70,000"))
    outer = h.table(h.cell(0, 0, "숙박비"), h.cell(0, 1, h.paragraph("상한", 11, controls=[inner])))
    (found,) = blocks(h.hwp([h.paragraph(11, controls=[outer])]))
    assert found.rows == (("숙박비", "상한\n서울 | 100,000\n그 외 | 70,000"),)


def test_a_frame_of_a_single_cell_is_what_stands_in_it():
    inner = h.table(h.cell(0, 0, "갑"), h.cell(0, 1, "을"))
    frame = h.table(h.cell(0, 0, "제1조(목적) 본문", h.paragraph(11, controls=[inner])))
    assert [block.kind for block in blocks(h.hwp([h.paragraph(11, controls=[frame])]))] == ["paragraph", "table"]


def test_a_word_written_downwards_in_a_cell_is_one_word():
    grid = h.table(h.cell(0, 0, "사", "업", "개", "요"), h.cell(0, 1, "내용"))
    assert blocks(h.hwp([h.paragraph(11, controls=[grid])]))[0].rows == (("사업개요", "내용"),)


def test_text_boxes_are_read_where_they_are_anchored():
    made = h.hwp([h.paragraph("본문", 11, controls=[h.text_box(h.paragraph("상자 안"))]), h.paragraph("다음")])
    assert texts(made) == ["본문", "상자 안", "다음"]


def test_a_note_follows_its_paragraph_and_its_mark_does_not_cut_the_word():
    foot = h.note(b"fn  ", h.paragraph(18, " 근로기준법", controls=[h.automatic_number(1, kind=1)]))
    made = h.hwp([h.paragraph("연차", 17, "휴가는 15일", controls=[foot])])
    assert [(block.kind, block.text) for block in blocks(made)] == [
        ("paragraph", "연차휴가는(주1) 15일"), ("note", "주1) 근로기준법"),
    ]  # fmt: skip


def test_headers_are_kept_once_and_only_where_they_say_something_new():
    def header(text: str) -> h.Tree:
        return h.note(b"head", h.paragraph(text))

    made = h.hwp([
        h.paragraph(16, 16, 16, controls=[header("인사규정 3-1"), header("대외비 사본"), header("대외비 사본")]),
        h.paragraph("인사규정"),
    ])  # fmt: skip
    assert [(block.kind, block.text) for block in blocks(made)] == [("note", "대외비 사본"), ("paragraph", "인사규정")]


def test_automatic_numbers_stand_in_front_of_their_paragraphs():
    info = [
        h.numbering(("제^1조", 0), ("^2.", 8)),
        h.para_shape(),
        h.para_shape(kind=2, level=1, reference=1),
        h.para_shape(kind=2, level=2, reference=1),
    ]
    made = h.hwp(
        [h.paragraph("총칙"), *[h.paragraph(text, shape=shape) for text, shape in
         (("목적", 1), ("하나", 2), ("둘", 2), ("정의", 1), ("셋", 2))]],
        doc_info=info,
    )  # fmt: skip
    assert texts(made) == ["총칙", "제1조 목적", "가. 하나", "나. 둘", "제2조 정의", "가. 셋"]


def test_short_outline_paragraphs_are_headings_and_sentences_are_not():
    info = [h.numbering(("^1.", 2)), h.para_shape(kind=1, level=1)]
    first = h.paragraph(2, "총칙", controls=[h.section_definition(outline=1)])
    made = h.hwp([first, h.paragraph("이 규정은 모두에게 적용한다.")], doc_info=info)
    assert [(block.kind, block.level, block.text) for block in blocks(made)] == [
        ("heading", 1, "I. 총칙"), ("paragraph", None, "II. 이 규정은 모두에게 적용한다."),
    ]  # fmt: skip


def test_line_breaks_tabs_equations_and_symbols_of_private_areas_are_readable():
    made = h.hwp([
        h.paragraph("첫 줄\n둘째 줄\x1e끝"),
        h.paragraph("넓이", 11, controls=[h.equation("a over  b")]),
        h.paragraph("\uf0fe 동의 \U000f0852법\U000f0853 \U000f080f\U000f080f\U000f080f\U000f080f\U000f080f"),
    ])  # fmt: skip
    assert texts(made) == ["첫 줄\n둘째 줄 끝", "넓이 a over b", "☑ 동의 “법” ───"]


def test_an_emoji_in_front_of_a_table_does_not_shift_the_controls():
    grid = h.table(h.cell(0, 0, "가"), h.cell(0, 1, "나"))
    made = h.hwp([h.paragraph("😀😀", 11, "뒤", controls=[grid])])
    assert [block.kind for block in blocks(made)] == ["paragraph", "table", "paragraph"]


def test_the_title_counts_only_when_the_text_says_the_same():
    made = h.hwp([h.paragraph("여비 규정"), h.paragraph("제1조")])
    assert extract_hwp(made, name="a.hwp").title is None


def encrypted(data: bytes, key: bytes) -> bytes:
    """AES-128 the other way round, block by block: an own implementation, so that the reader's is checked."""
    keys = _round_keys(key)
    box = np.argsort(_INVERSE_SBOX)
    shift = [(5 * place) % 16 for place in range(16)]

    def double(value: int) -> int:
        return (value << 1 ^ (0x1B if value & 0x80 else 0)) & 0xFF

    out = b""
    for at in range(0, len(data), 16):
        state = [byte ^ int(other) for byte, other in zip(data[at : at + 16], keys[0], strict=True)]
        for number in range(1, 11):
            state = [int(box[state[place]]) for place in shift]
            if number < 10:
                mixed = []
                for c in range(0, 16, 4):
                    a = state[c : c + 4]
                    whole = a[0] ^ a[1] ^ a[2] ^ a[3]
                    mixed += [a[n] ^ whole ^ double(a[n] ^ a[(n + 1) % 4]) for n in range(4)]
                state = mixed
            state = [byte ^ int(other) for byte, other in zip(state, keys[number], strict=True)]
        out += bytes(state)
    return out


def test_decryption_agrees_with_the_published_vector():
    key = bytes(range(16))
    cipher = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
    assert decrypt_aes128_ecb(cipher * 3, key) == bytes.fromhex("00112233445566778899aabbccddeeff") * 3
    assert encrypted(bytes.fromhex("00112233445566778899aabbccddeeff"), key) == cipher


def distribution_file(real: str, decoy: str) -> bytes:
    data = struct.pack("<I", 0x1234ABCD) + bytes(range(252))
    plain = h.deflated(h.stream([h.paragraph(real)]))
    cipher = encrypted(plain.ljust(-(-len(plain) // 16) * 16, b"\0"), distribution_key(data))
    view = struct.pack("<I", 28 | 256 << 20) + data + cipher
    header = b"HWP Document File".ljust(32, b"\0") + bytes((0, 1, 0, 5)) + struct.pack("<I", 5) + bytes(216)
    properties = h.stream([h.record(h.DOCUMENT_PROPERTIES, struct.pack("<H24x", 1))])
    return compound_file({
        "FileHeader": header,
        "DocInfo": h.deflated(properties),
        "BodyText/Section0": h.deflated(h.stream([h.paragraph(decoy)])),
        "ViewText/Section0": view,
    })  # fmt: skip


def test_a_distribution_document_shows_its_real_text_and_not_the_decoy():
    made = distribution_file("실제 본문입니다", "상위 버전의 배포용 문서입니다")
    found = extract_hwp(made, name="a.hwp")
    assert [block.text for block in found.blocks] == ["실제 본문입니다"]
    assert found.extractor == "hwp5 (distribution)"


@pytest.mark.parametrize(("flags", "word"), [(1 | 2, "password"), (1 | 0x10, "DRM"), (1 | 0x100, "certificate")])
def test_an_encrypted_file_is_reported_with_what_to_do(flags: int, word: str):
    with pytest.raises(UnreadableFile, match=rf"a\.hwp .*{word}.*cop"):
        extract(h.hwp([h.paragraph("x")], flags=flags), name="a.hwp")


def test_a_file_that_is_cut_off_is_reported_and_not_read_halfway():
    made = h.hwp([h.paragraph(f"제{number}조 " + "가나다라 " * 50) for number in range(3000)], flags=0)
    for share in (0.2, 0.5, 0.9):
        with pytest.raises(UnreadableFile, match=r"damaged|cut off"):
            extract(made[: int(len(made) * share)], name="a.hwp")


def test_a_missing_section_is_reported():
    info = [h.record(h.DOCUMENT_PROPERTIES, struct.pack("<H24x", 3))]
    header = b"HWP Document File".ljust(32, b"\0") + bytes((0, 1, 0, 5)) + struct.pack("<I", 0) + bytes(216)
    made = compound_file(
        {"FileHeader": header, "DocInfo": h.stream(info), "BodyText/Section0": h.stream([h.paragraph("하나")])}
    )
    with pytest.raises(UnreadableFile, match="1 of 3 sections"):
        extract_hwp(made, name="a.hwp")


def test_a_document_without_a_word_is_reported():
    with pytest.raises(UnreadableFile, match="without text"):
        extract_hwp(h.hwp([h.paragraph("")]), name="a.hwp")


def test_tracked_changes_are_mentioned():
    found = extract_hwp(h.hwp([h.paragraph("본문")], flags=1 | 0x4000), name="a.hwp")
    assert "tracked changes" in found.warnings[0]


def test_boxes_nested_without_end_are_refused():
    inner = h.paragraph("밑바닥")
    for _ in range(200):
        inner = h.paragraph(11, controls=[h.text_box(inner)])
    with pytest.raises(UnreadableFile, match="nested"):
        extract_hwp(h.hwp([inner]), name="a.hwp")


@pytest.mark.parametrize(
    ("number", "style", "shown"),
    [
        (1, 0, "1"), (3, 1, "③"), (4, 2, "IV"), (9, 3, "ix"), (2, 4, "B"), (27, 5, "aa"), (14, 8, "하"), (2, 9, "㉯"),
        (21, 12, "이십일"), (10, 13, "十"), (25, 1, "25"), (0, 8, "0"), (1, 16, "甲"),
    ],
)  # fmt: skip
def test_numbers_are_shown_in_the_style_of_their_level(number: int, style: int, shown: str):
    assert format_number(number, style) == shown
