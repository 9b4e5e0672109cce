"""Rows as text, and which of them name the columns."""

from knowledge.chunking.table import header_row_count, render_row


def test_a_row_merged_over_the_whole_width_is_shown_once() -> None:
    assert render_row(("여비 기준", "여비 기준", "여비 기준")) == "여비 기준"


def test_merged_cells_are_repeated_and_empty_ones_keep_their_place() -> None:
    assert render_row(("임원", "숙박비", "숙박비", "", "9")) == "임원 | 숙박비 | 숙박비 |  | 9"


def test_long_texts_merged_across_columns_are_not_repeated() -> None:
    text = "출장지의 물가와 거리와 기간을 모두 고려하여 정한 금액"
    assert render_row(("1", text, text, "9")) == f"1 | {text} | 9"


def test_an_empty_row_is_empty() -> None:
    assert render_row(("", " ")) == ""


def test_the_first_row_names_the_columns() -> None:
    assert header_row_count([("직급", "금액"), ("임원", "100,000"), ("직원", "70,000")]) == 1


def test_a_header_divided_below_has_two_rows() -> None:
    assert header_row_count([("구분", "교통비", "교통비"), ("구분", "철도", "항공"), ("임원", "특실", "비즈니스")]) == 2


def test_a_first_row_with_amounts_names_nothing() -> None:
    assert header_row_count([("임원", "100,000"), ("직원", "70,000")]) == 0


def test_a_title_row_belongs_to_the_header() -> None:
    assert header_row_count([("기준표", "기준표"), ("직급", "금액"), ("임원", "9,000")]) == 2
