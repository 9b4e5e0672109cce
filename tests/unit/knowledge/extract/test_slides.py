from __future__ import annotations

import io

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.types import Block


def presentation() -> pptx.presentation.Presentation:
    return pptx.Presentation()


def saved(deck: pptx.presentation.Presentation) -> bytes:
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def blocks(deck: pptx.presentation.Presentation) -> tuple[Block, ...]:
    return extract(saved(deck), name="a.pptx").blocks


def test_titles_text_and_notes_stand_on_the_page_of_their_slide():
    deck = presentation()
    for number, title in enumerate(("여비 안내", "정산"), 1):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"내용 {number}"
        slide.notes_slide.notes_text_frame.text = f"설명 {number}"
    assert [(block.kind, block.text, block.page) for block in blocks(deck)] == [
        ("heading", "여비 안내", 1), ("paragraph", "내용 1", 1), ("note", "설명 1", 1),
        ("heading", "정산", 2), ("paragraph", "내용 2", 2), ("note", "설명 2", 2),
    ]  # fmt: skip


def test_shapes_are_read_from_top_to_bottom_and_groups_inside():
    deck = presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for text, left, top in (("셋", 1, 10), ("하나", 1, 1), ("둘", 8, 1)):
        slide.shapes.add_textbox(Cm(left), Cm(top), Cm(4), Cm(2)).text_frame.text = text
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Cm(1), Cm(15), Cm(4), Cm(2)).text_frame.text = "무리 안"
    assert [block.text for block in blocks(deck)] == ["하나", "둘", "셋", "무리 안"]


def test_merged_cells_of_a_table_are_repeated():
    deck = presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    grid = slide.shapes.add_table(3, 2, Cm(1), Cm(1), Cm(10), Cm(4)).table
    for (row, column), text in {(0, 0): "여비", (1, 0): "서울", (1, 1): "10", (2, 1): "7"}.items():
        grid.cell(row, column).text = text
    grid.cell(0, 0).merge(grid.cell(0, 1))
    grid.cell(1, 0).merge(grid.cell(2, 0))
    assert blocks(deck)[0].rows == (("여비", "여비"), ("서울", "10"), ("서울", "7"))


def test_the_figures_of_a_chart_are_a_table():
    deck = presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["1분기", "2분기"]
    data.add_series("매출", (10.5, 20))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Cm(1), Cm(1), Cm(10), Cm(8), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "분기 매출"
    found = blocks(deck)
    assert found[0].text == "분기 매출"
    assert found[1].rows == (("", "매출"), ("1분기", "10.5"), ("2분기", "20"))


def test_a_hidden_slide_is_mentioned():
    deck = presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "옛 기준"
    slide.element.set("show", "0")
    assert extract(saved(deck), name="a.pptx").warnings == ("slide 1 is hidden in the show",)


def test_a_deck_without_text_or_cut_off_is_reported():
    deck = presentation()
    deck.slides.add_slide(deck.slide_layouts[6])
    with pytest.raises(UnreadableFile, match="without text"):
        extract(saved(deck), name="a.pptx")
    content = saved(deck)
    with pytest.raises(UnreadableFile):
        extract(content[: len(content) // 2], name="a.pptx")
