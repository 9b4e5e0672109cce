"""Which reading is believed: figures are never guessed, doubts are kept, garbage goes."""

from knowledge.extract.doubt import stands_in
from knowledge.extract.ocr_choice import choose_words
from knowledge.extract.ocr_layout import lay_out
from knowledge.extract.ocr_record import OcrLine, OcrRecord
from knowledge.extract.ocr_tesseract import OcrWord


def word(text: str, confidence: float = 95.0, x0: int = 100, x1: int | None = None, gap: int = -1) -> OcrWord:
    return OcrWord(text, x0, 100, x1 if x1 is not None else x0 + 40 * len(text), 144, confidence, gap)


def chosen(*words: OcrWord, latin: tuple[OcrWord, ...] = (), **more: object) -> list[tuple[str, bool]]:
    line = OcrLine(words, latin, **more)  # type: ignore[arg-type]
    return [(read.text, read.doubtful) for read in choose_words(line, dpi=300)]


def test_points_that_the_korean_model_makes_of_commas_are_put_right_by_the_english_reading() -> None:
    assert chosen(word("500.000", 55), latin=(word("500,000", 96),)) == [("500,000", False)]


def test_two_sure_readings_with_different_digits_are_doubtful() -> None:
    assert chosen(word("1.70%", 88), latin=(word("1.75%", 91),)) == [("1.75%", True)]


def test_a_figure_alone_is_not_taken_for_a_syllable() -> None:
    assert chosen(word("그", 86), latin=(word("1", 94),)) == [("1", False)]
    assert chosen(word("칙", 96), latin=(word("al", 60),)) == [("칙", False)]


def test_a_figure_of_low_confidence_is_doubtful_where_a_word_would_not_be() -> None:
    assert chosen(word("15년", 70)) == [("15년", True)]
    assert chosen(word("이상", 70)) == [("이상", False)]


def test_latin_words_replace_what_the_korean_model_made_of_them_and_nothing_else() -> None:
    line = (word("직원은", 93, 100), word("8204610086", 40, 300, 700), word("이하", 92, 760))
    latin = (word("SSE", 40, 100, 220), word("Business", 96, 300, 700), word("Olop", 30, 760, 840))
    assert chosen(*line, latin=latin) == [("직원은", False), ("Business", False), ("이하", False)]


def test_a_flat_stroke_is_a_dash_whatever_was_read() -> None:
    flat = OcrWord("러", 100, 100, 140, 106, 0.0)
    assert chosen(flat) == [("-", False)]


def test_ink_in_a_cell_that_nobody_could_read_is_shown_as_such() -> None:
    assert chosen(word("ㅠ", 5), cell=True) == [("?", True)]
    assert chosen(word("ㅠ", 5)) == []


def test_signs_where_the_ink_shows_a_middle_dot_are_middle_dots() -> None:
    assert chosen(word("회갑-칠순", x0=100), dots=(200,)) == [("회갑·칠순", False)]
    assert chosen(word("회갑-칠순", x0=100)) == [("회갑-칠순", False)]


def test_a_middle_dot_that_was_passed_over_is_put_between_the_letters() -> None:
    parted = (word("부모", x0=100, x1=180), word("외조부모", x0=200, gap=12))
    assert [text for text, _ in chosen(*parted, dots=(190,))] == ["부모·", "외조부모"]


def test_circled_numbers_take_the_place_of_what_was_read_there() -> None:
    words = (word("@", 50, 100, 140), word("회사는", 93, 170, gap=30))
    assert chosen(*words, rings=((100, 140, 2),)) == [("②", False), ("회사는", False)]


def test_an_unread_circled_number_opens_an_article_or_stays_as_it_was() -> None:
    head = (word("제4조", 95, 100), word("(지급)", 95, 230), word("6", 30, 500, 540), word("회사는", 95, 560))
    assert [text for text, _ in chosen(*head, rings=((500, 540, 0),))] == ["제4조", "(지급)", "①", "회사는"]
    inside = (word("준다.", 95, 100), word("(2)", 70, 300, 340), word("회사는", 95, 360))
    assert [text for text, _ in chosen(*inside, rings=((300, 340, 0),))] == ["준다.", "(2)", "회사는"]


def test_garbage_of_repeated_letters_and_long_latin_goes() -> None:
    assert chosen(word("지급", 90), word("아아아아아아", 40), word("abcdefghijklmno", 30)) == [("지급", False)]


def record(*lines: OcrLine) -> OcrRecord:
    return OcrRecord("5.3.0", 2480, 3508, 300, 0, 0.0, (), lines)


def test_syllables_that_the_engine_parted_are_joined_by_the_ink_between_them() -> None:
    line = OcrLine(
        (word("경", x0=100), word("조", x0=144, gap=4), word("휴가", x0=188, gap=5), word("일수", x0=300, gap=20))
    )
    page = lay_out(record(line))
    assert "".join((" " if char.space_before else "") + char.text for char in page.chars) == "경조휴가 일수"


def test_bars_in_the_number_of_an_article_are_ones() -> None:
    page = lay_out(record(OcrLine((word("제l|조(목적)"),))))
    assert "".join(char.text for char in page.chars) == "제11조(목적)"


def test_doubtful_words_with_digits_come_first() -> None:
    page = lay_out(record(OcrLine((word("부서", 50),)), OcrLine((word("250,000", 40),))))
    assert page.doubtful == ("250,000", "부서")


def test_a_doubtful_figure_is_not_found_inside_a_longer_one() -> None:
    assert stands_in("3", "휴가 3 일")
    assert not stands_in("3", "휴가 13 일, 3,000원")
    assert not stands_in("may", "maybe")


def test_an_amount_with_points_for_commas_is_doubtful() -> None:
    line = OcrLine((word("500.000", x0=100), word("1.5", x0=600)))
    assert lay_out(OcrRecord("t", 2000, 1000, 300, 0, 0.0, (), (line,))).doubtful == ("500.000",)
