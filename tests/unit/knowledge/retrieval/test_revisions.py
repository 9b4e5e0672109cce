"""Revisions of one regulation, from files to search: what holds at the time that is asked about comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from knowledge.types import Evidence
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

RULE = """# 여비규정

## 제1조(목적)
이 규정은 출장 여비를 정함을 목적으로 한다.

## 제2조(숙박비)
숙박비는 1박에 {won}원을 상한으로 하여 실비를 지급한다.

## 제3조(교통비)
교통비는 철도 운임을 기준으로 지급한다.

## 부칙
이 규정은 {day}부터 시행한다.
"""
PARKING = "# 주차규정\n\n## 제1조(목적)\n이 규정은 주차장 이용을 정한다.\n\n## 제2조(주차비)\n주차비는 한 달에 3만원으로 한다.\n"
NOW = datetime(2026, 7, 15, 3, 0, tzinfo=UTC)
QUESTION = "숙박비 상한이 얼마예요?"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Shelf]]:
    shelves: list[Shelf] = []

    def open_with(**files: str) -> Shelf:
        shelf = Shelf(tmp_path, clock=lambda: NOW)
        shelves.append(shelf)
        for name, text in files.items():
            shelf.write(f"{name}.md", text)
        shelf.write("parking.md", PARKING)
        shelf.sync()
        return shelf

    yield open_with
    for shelf in shelves:
        shelf.close()


def rule(won: str, day: str) -> str:
    return RULE.format(won=won, day=day)


def search(shelf: Shelf, question: str) -> Evidence:
    return shelf.knowledge.search(question, scope=EVERYTHING, kind="docs")


def wons(evidence: Evidence) -> list[str]:
    return [won for c in evidence.chunks for won in ("70,000", "80,000", "90,000") if won in c.chunk.text]


THREE = {
    "a": rule("90,000", "2024년 3월 1일"),
    "b": rule("70,000", "2020년 1월 1일"),
    "c": rule("80,000", "2027년 1월 1일"),
}


def test_the_revision_in_force_comes_first_and_others_are_marked(opened: Callable[..., Shelf]) -> None:
    evidence = search(opened(**THREE), QUESTION)
    assert wons(evidence)[0] == "90,000"
    places = {
        won: c.chunk.locator for c in evidence.chunks for won in ("70,000", "80,000", "90,000") if won in c.chunk.text
    }
    assert {won: (at.valid_from, at.valid_until) for won, at in places.items()} == {
        "70,000": (date(2020, 1, 1), date(2024, 3, 1)),
        "90,000": (date(2024, 3, 1), date(2027, 1, 1)),
        "80,000": (date(2027, 1, 1), None),
    }


@pytest.mark.parametrize(
    ("question", "won"),
    [
        ("2022년 기준 숙박비 상한이 얼마예요?", "70,000"),
        ("개정 전에는 숙박비 상한이 얼마였어요?", "70,000"),
        ("What was 숙박비 as of May 2021?", "70,000"),
        ("2024년 5월 기준 숙박비 상한", "90,000"),
        ("내년 기준 숙박비 상한이 얼마예요?", "80,000"),
    ],
)
def test_questions_about_another_time_get_what_held_then(opened: Callable[..., Shelf], question: str, won: str) -> None:
    assert wons(search(opened(**THREE), question))[0] == won


def test_unchanged_articles_are_shown_once_in_the_wording_that_holds(opened: Callable[..., Shelf]) -> None:
    evidence = search(opened(**THREE), "교통비는 무엇을 기준으로 지급해요?")
    fares = [c.chunk.locator for c in evidence.chunks if "철도 운임" in c.chunk.text]
    assert [place.valid_from for place in fares] == [date(2024, 3, 1)]


def test_a_reworded_article_is_brought_along_by_the_wording_that_was_found(opened: Callable[..., Shelf]) -> None:
    newer = rule("90,000", "2024년 3월 1일").replace(
        "숙박비는 1박에 90,000원을 상한으로 하여 실비를 지급한다.", "묵는 데 든 돈은 90,000원까지 갚는다."
    )
    evidence = search(opened(a=newer, b=rule("70,000", "2020년 1월 1일")), "1박 숙박비 상한 실비")
    assert wons(evidence)[:2] == ["90,000", "70,000"]


def test_until_when_a_wording_held_follows_from_what_is_in_the_index_now(opened: Callable[..., Shelf]) -> None:
    shelf = opened(b=rule("70,000", "2020년 1월 1일"))
    assert search(shelf, QUESTION).chunks[0].chunk.locator.valid_until is None
    shelf.write("a.md", rule("90,000", "2024년 3월 1일"))
    shelf.sync()
    assert wons(search(shelf, QUESTION))[0] == "90,000"
    (shelf.folder / "a.md").unlink()
    shelf.sync()
    first = search(shelf, QUESTION).chunks[0].chunk
    assert "70,000" in first.text
    assert first.locator.valid_until is None


def test_without_a_date_nothing_is_preferred_or_marked(opened: Callable[..., Shelf]) -> None:
    undated = RULE.split("## 부칙")[0]
    evidence = search(opened(a=undated.format(won="90,000"), b=undated.format(won="70,000")), QUESTION)
    assert sorted(wons(evidence)) == ["70,000", "90,000"]
    assert {(c.chunk.locator.valid_from, c.chunk.locator.valid_until) for c in evidence.chunks} == {(None, None)}


def test_a_question_about_a_time_before_every_revision_says_so(opened: Callable[..., Shelf]) -> None:
    shelf = opened(a=rule("90,000", "2024년 3월 1일"), b=rule("80,000", "2027년 1월 1일"))
    found = search(shelf, "2022년 기준 숙박비 상한이 얼마예요?")
    assert any("2022년 기준" in line and "2024-03-01" in line for line in found.degraded)
    assert wons(found)[0] == "90,000"
    assert found.verdict.decision != "ok"
    assert search(shelf, QUESTION).degraded == ()


def test_a_rule_that_is_not_in_force_yet_is_said_to_be_so(opened: Callable[..., Shelf]) -> None:
    found = search(opened(a=rule("80,000", "2027년 1월 1일")), QUESTION)
    assert wons(found)[0] == "80,000"
    assert any("not in force before 2027-01-01" in line for line in found.degraded)
    assert found.verdict.decision != "ok"
