"""Readings of one line at several sizes: the letters that most of them see, and doubt where figures differ."""

from __future__ import annotations

from knowledge.extract.ocr_tesseract import OcrWord
from knowledge.extract.ocr_vote import DISPUTED, vote


def reading(text: str, confidence: float = 90.0) -> list[OcrWord]:
    words, x = [], 0
    for part in text.split(" "):
        words.append(OcrWord(part, x, 0, x + 10 * len(part), 20, confidence))
        x += 10 * len(part) + 5
    return words


def voted(*readings: list[OcrWord]) -> tuple[str, float]:
    _, words = vote(readings)
    return " ".join(word.text for word in words), min((word.confidence for word in words), default=0.0)


def test_the_letter_that_most_readings_see_wins_even_over_a_surer_one() -> None:
    assert voted(reading("부모 회감", 97), reading("부모 회갑"), reading("부모 회갑")) == ("부모 회갑", 97)


def test_without_a_majority_the_first_reading_stays() -> None:
    assert voted(reading("청소년", 80), reading("점소년", 88), reading("첨소년", 94))[0] == "청소년"


def test_a_figure_on_which_readings_differ_is_doubtful_whoever_wins() -> None:
    assert voted(reading("3대", 84), reading("1대"), reading("1대")) == ("1대", DISPUTED)
    assert voted(reading("13일"), reading("13일"), reading("13일"))[1] == 90


def test_a_figure_that_only_one_reading_sees_is_kept_and_doubted() -> None:
    assert voted(reading("대", 53), reading("대", 42), reading("1대", 85)) == ("1대", DISPUTED)
    assert voted(reading("대"), reading("대"), reading("1대", 40))[0] == "대"


def test_readings_of_other_lengths_have_no_vote_and_boxes_come_from_one_reading() -> None:
    assert vote([reading("가나"), reading("다"), reading("라마바")]) == (0, reading("가나"))
    number, words = vote([reading("가나 다", 50), reading("가 나다", 95), reading("가나다라")])
    assert (number, [word.text for word in words]) == (1, ["가", "나다"])
    assert vote([[], [], []]) == (0, [])
