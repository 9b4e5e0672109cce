"""Words that a scan misread are found by the right word; other words that look like it are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.analysis import is_unknown_noun
from knowledge.retrieval.misread import near_forms, with_misread_forms
from knowledge.retrieval.question import understand
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

SCANNED = """# 여행사 모집공고

## 1. 둥록 자격
일반여행업 면허가 있는 업체로서 자본금이 2억원을 넘어야 한다.

## 2. 종괄 점수표
재무 안정성 40점, 실적 60점으로 한다.
"""

TYPED = """# 정원규정

## 제1조(충원)
부서장은 퇴직자가 생긴 날부터 30일 이내에 충원을 요청한다.

## 제2조(교육)
신규 직원은 8시간의 교육을 받는다.
"""


@pytest.mark.parametrize(("word", "misread"), [("등록", "둥록"), ("총괄", "종괄"), ("층수", "증수"), ("증빙", "중빙")])
def test_letters_that_look_alike_take_each_other_s_place(word: str, misread: str) -> None:
    assert misread in near_forms(word)


@pytest.mark.parametrize("word", ["층", "registration", "12년", "정보통신윤리위원회"])
def test_short_long_and_other_words_have_no_near_forms(word: str) -> None:
    assert near_forms(word) == []


def test_only_what_is_no_word_is_taken_for_a_misread_one() -> None:
    assert is_unknown_noun("둥록")
    assert not is_unknown_noun("충원")
    assert not is_unknown_noun("등록자격")
    held = dict.fromkeys(("둥록", "충원", "증원"), 3)
    asked = with_misread_forms(understand("등록 증원 절차", "docs"), lambda terms: held)
    assert "둥록" in asked.expansions["등록"]
    assert "둥록" in asked.added_terms
    assert "충원" not in asked.expansions.get("증원", ())


def test_what_no_text_holds_is_not_looked_for() -> None:
    question = understand("등록 절차", "docs")
    assert with_misread_forms(question, lambda terms: {}) is question


def test_a_scan_is_found_by_the_right_word(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("scan.md", SCANNED)
    shelf.write("typed.md", TYPED)
    shelf.sync()
    registration = shelf.knowledge.search("등록 자격이 뭐예요?", scope=EVERYTHING)
    overall = shelf.knowledge.search("총괄 점수표는?", scope=EVERYTHING)
    increase = shelf.knowledge.search("증원은 며칠 안에 요청해요?", scope=EVERYTHING)
    shelf.close()
    assert (registration.chunks[0].chunk.locator.label or "").endswith("1. 둥록 자격")
    assert registration.verdict.decision == "ok"
    assert (overall.chunks[0].chunk.locator.label or "").endswith("2. 종괄 점수표")
    assert increase.verdict.decision != "ok"  # 증원 is another word than 충원
