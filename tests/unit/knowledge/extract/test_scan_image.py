"""Scanned pages: skew, ruling lines, stretches of text, leaders, circled numbers, middle dots."""

import numpy as np
import pytest

from knowledge.extract.scan_image import erase_rules, find_ink, find_rules, measure_skew, straighten
from knowledge.extract.scan_lines import find_leader, find_middle_dots, find_rings, find_small_figure, find_text_boxes
from knowledge.extract.scan_tables import cell_boxes, find_page_tables
from tests.unit.knowledge.extract.scan_pages import ScanPage, condolence_page


@pytest.mark.parametrize("degrees", [-2.5, 0.7, 4.0])
def test_a_page_that_lies_askew_is_straightened(degrees: float) -> None:
    page = ScanPage(1240, 1754)
    for line in range(12):
        page.text(150, 200 + 90 * line, "이 규정은 직원의 여비를 정한다.", size=30)
    askew = page.turned(degrees).grey()
    assert measure_skew(askew) == pytest.approx(-degrees, abs=0.15)
    straight, _ = straighten(askew)
    assert abs(measure_skew(straight)) < 0.15


def test_an_empty_page_is_not_turned() -> None:
    assert straighten(np.full((400, 300), 250, dtype=np.uint8))[1] == 0.0


def test_the_lines_of_a_table_give_its_grid_and_strokes_of_letters_do_not() -> None:
    grey = condolence_page().grey()
    tables, rules = find_page_tables(find_rules(grey, dpi=300), grey.shape[0], 300)
    assert [(len(table.lines) - 1, len(table.columns) - 1) for table in tables] == [(3, 3)]
    assert len(rules) == 8
    assert len(cell_boxes(tables[0], grey.shape[0], 300)) == 9


def test_shaded_cells_and_uneven_light_are_not_ink() -> None:
    page = ScanPage(800, 600).box(100, 100, 700, 300, fill=200).text(150, 150, "구분")
    ink = find_ink(page.grey())
    assert ink[150:210, 150:260].any()
    assert not ink[250:290, 300:600].any()


def test_erased_lines_leave_no_ink_even_when_they_wave() -> None:
    page = ScanPage(1200, 600)
    for x in range(100, 1100):
        y = 300 + round(3 * np.sin(x / 120))
        page.line(x, y, x + 1, y, width=3)
    page.line(100, 200, 100, 400).line(1100, 200, 1100, 400)
    grey = page.grey()
    assert not find_ink(erase_rules(grey, find_rules(grey, dpi=300)))[280:320, 130:1070].any()


def test_stretches_of_text_come_from_top_to_bottom_and_specks_do_not_come() -> None:
    page = ScanPage(1600, 800).text(100, 100, "첫째 줄이다.").text(100, 200, "둘째 줄").text(900, 200, "따로 선 값")
    boxes = find_text_boxes(find_ink(page.specks(40).grey()), dpi=300)
    assert [(box.x0 // 100, box.y0 // 100) for box in boxes] == [(1, 1), (1, 2), (9, 2)]


def test_dots_that_lead_to_a_page_number_are_told_from_the_title() -> None:
    ink = find_ink(ScanPage(1600, 300).text(100, 100, "제1조 목적" + "·" * 40 + "2").grey())
    (box,) = find_text_boxes(ink, dpi=300)
    leader = find_leader(box, ink)
    assert leader is not None
    assert leader.start > 200
    assert leader.end < box.x1 - box.x0 - 10


def test_a_line_of_words_has_no_leader() -> None:
    ink = find_ink(ScanPage(1600, 300).text(100, 100, "직원에게 여비를 지급한다 - 그러하다").grey())
    assert {find_leader(box, ink) for box in find_text_boxes(ink, dpi=300)} == {None}


def test_circled_numbers_are_seen_and_round_syllables_are_not() -> None:
    ink = find_ink(ScanPage(2000, 300).text(100, 100, "① 용증응을 이용 ② 회사 0 O ㅇ").grey())
    rings = [ring for box in find_text_boxes(ink, dpi=300) for ring in find_rings(box, ink)]
    assert len(rings) == 2
    assert rings[0].x0 < 120


def test_middle_dots_are_told_from_points_and_dashes() -> None:
    ink = find_ink(ScanPage(1600, 300).text(100, 100, "본인·부모 1.5 가-나 끝.").grey())
    dots = [dot for box in find_text_boxes(ink, dpi=300) for dot in find_middle_dots(box, ink)]
    assert len(dots) == 1


def test_the_large_letters_of_a_title_stay_whole_among_usual_lines() -> None:
    page = ScanPage(2000, 1200).text(200, 100, "경조금 지급 규정", size=130)
    for line in range(6):
        page.text(200, 400 + 80 * line, "이 규정은 직원의 여비를 정한다.")
    boxes = find_text_boxes(find_ink(page.grey()), dpi=300)
    assert len(boxes) == 7
    assert boxes[0].height > 100


def test_a_tiny_figure_alone_in_a_cell_is_found_and_dirt_is_not() -> None:
    cell = ScanPage(120, 300).text(54, 140, "2", size=24)
    assert len(find_small_figure(find_ink(cell.grey()), dpi=300)) == 1
    assert find_small_figure(find_ink(ScanPage(120, 300).box(50, 150, 53, 153, 90).grey()), dpi=300) == []
