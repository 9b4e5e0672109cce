"""Damaged files of the office formats end in blocks or in one of the two documented errors, in little time."""

from __future__ import annotations

import io
import time
import zlib
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from pptx import Presentation
from pptx.util import Inches

from knowledge.errors import UnreadableFile, UnsupportedFormat
from knowledge.extract import extract
from knowledge.types import Extraction
from tests.unit.knowledge.extract import hwp3_files, hwp_files, hwpx_files
from tests.unit.knowledge.extract.ole_files import compound_file
from tests.unit.knowledge.extract.test_rtf import rtf, table_row
from tests.unit.knowledge.extract.test_sheets import book_with, saved
from tests.unit.knowledge.extract.test_sheets_xls import CELLS, FORMATS
from tests.unit.knowledge.extract.xls_files import xls

MAX_SECONDS = 10.0
Edit = tuple[int, int, bytes]  # where (scaled to the length), how many bytes go, what comes instead
edits = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 9), st.binary(max_size=9)), min_size=1, max_size=8)


def hwp_section() -> list[hwp_files.Tree]:
    h = hwp_files
    grid = h.table(h.cell(0, 0, "구분", columns=2), h.cell(1, 0, "사망"), h.cell(1, 1, "5"), caption="표")
    note = h.note(b"fn  ", h.paragraph(18, "근거", controls=[h.automatic_number(1, kind=1)]))
    return [
        h.paragraph(2, "총칙", 17, 11, controls=[h.section_definition(1), note, grid]),
        h.paragraph("넓이", 11, 11, controls=[h.equation("a over b"), h.text_box(h.paragraph("상자"))], shape=1),
    ]


def slides() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "여비 안내"
    grid = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    grid.cell(0, 0).text, grid.cell(1, 1).text = "구분", "50,000"
    slide.notes_slide.notes_text_frame.text = "적요"
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def picture() -> bytes:
    image = Image.new("L", (320, 80), 255)
    ImageDraw.Draw(image).text((10, 30), "Travel 50,000", fill=0)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@lru_cache
def original(kind: str) -> bytes:
    if kind == "hwp":
        return hwp_files.hwp(hwp_section())
    if kind == "hwp3":
        h = hwp3_files
        text = h.paragraphs(h.paragraph("상자"))
        grid = h.table([(0, 0, 9, 9, text), (9, 0, 9, 9, text)])
        body = h.paragraphs(
            h.paragraph("앞", h.note(text), grid, h.drawing(text), "뒤"), h.paragraph("끝", own_shapes=True)
        )
        return h.hwp3(body, compressed=False)
    if kind == "hwpx":
        h5 = hwpx_files
        return h5.hwpx(
            [h5.paragraph("앞", h5.table([h5.cell(0, 0, "가", columns=2)], [h5.cell(1, 0, "나"), h5.cell(1, 1, "다")]))]
        )
    if kind == "hwpml":
        return hwpx_files.hwpml('<P ParaShape="0"><TEXT><CHAR>제1조<TAB/>목적</CHAR></TEXT></P>')
    if kind == "xlsx":
        return saved(book_with(["직급", "숙박비"], ["임원", 100000]))
    if kind == "xls":
        return xls(CELLS, formats=FORMATS, merged=[(1, 2, 0, 0)])
    if kind == "pptx":
        return slides()
    if kind == "csv":
        return '구분,금액\n"가, 나","1,200"\n다,"줄\n바꿈"\n'.encode("cp949")
    if kind == "html":
        return b"<!DOCTYPE html><html><body><h1>a</h1><table><tr><td rowspan=2>b<td>c<tr><td>d</table><ul><li>e</ul>"
    return rtf(r"\pard " + table_row("a", "b", edges=(100, 200)) + r"\pard {\footnote x}\u44032?c\par")


def edited(content: bytes, changes: list[Edit]) -> bytes:
    for place, gone, new in changes:
        at = place * len(content) // 10_001
        content = content[:at] + new + content[at + gone :]
    return content


def attempt(content: bytes) -> None:
    start = time.perf_counter()
    outcome: Extraction | str
    try:
        outcome = extract(content, name="anything")
    except (UnreadableFile, UnsupportedFormat) as error:
        outcome = str(error)
    assert time.perf_counter() - start < MAX_SECONDS
    if isinstance(outcome, str):
        assert "anything" in outcome
        return
    assert any(block.text.strip() for block in outcome.blocks)
    for block in outcome.blocks:
        assert "\x00" not in block.text
        assert not block.rows or len({len(row) for row in block.rows}) == 1


@pytest.mark.parametrize("kind", ["hwp", "hwp3", "hwpx", "hwpml", "xlsx", "xls", "pptx", "csv", "html", "rtf"])
@settings(max_examples=120, deadline=None)
@given(changes=edits)
def test_damaged_files(kind: str, changes: list[Edit]) -> None:
    attempt(edited(original(kind), changes))


@settings(max_examples=15, deadline=None)  # each of those that still open is read by OCR
@given(changes=edits)
def test_damaged_pictures(changes: list[Edit]) -> None:
    attempt(edited(picture(), changes))


def test_a_member_that_does_not_inflate_is_reported() -> None:
    made = bytearray(original("hwpx"))
    start = made.index(b"mimetype") + len("mimetype")
    made[start : start + 4] = b"\xff\xff\xff\xff"
    with pytest.raises(UnreadableFile, match="damaged"):
        extract(bytes(made), name="a.hwpx")


@settings(max_examples=300, deadline=None)
@given(changes=edits)
def test_damaged_records_inside_a_sound_container(changes: list[Edit]) -> None:
    section = edited(hwp_files.stream(hwp_section()), changes)
    container = hwp_files.hwp([], decoy=[])
    packed = hwp_files.deflated(section)
    empty = hwp_files.deflated(b"")
    place = container.rindex(empty)
    attempt(container[:place] + packed + container[place + len(packed) :])


@given(st.binary(max_size=3000))
@settings(max_examples=150, deadline=None)
def test_any_bytes_as_records_of_a_section(data: bytes) -> None:
    container = hwp_files.hwp([], decoy=[], flags=0)
    attempt(container[:-4096] + data.ljust(4096, b"\0"))


def test_a_section_that_inflates_without_end_is_refused() -> None:
    engine = zlib.compressobj(9, wbits=-15)
    bomb = b"".join(engine.compress(bytes(16 * 2**20)) for _ in range(17)) + engine.flush()
    made = compound_file({
        "FileHeader": b"HWP Document File".ljust(32, b"\0") + bytes((0, 1, 0, 5)) + b"\x01\0\0\0" + bytes(216),
        "DocInfo": hwp_files.deflated(b""),
        "BodyText/Section0": bomb,
    })  # fmt: skip
    with pytest.raises(UnreadableFile, match="inflates to more than"):
        extract(made, name="bomb.hwp")
