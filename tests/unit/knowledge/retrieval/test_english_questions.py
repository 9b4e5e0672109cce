"""English questions find the Korean rule that answers them, Korean questions the English one; unknown things stay so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from knowledge.analysis import analyze
from knowledge.retrieval.coverage import Held, term_weights
from knowledge.retrieval.foreign_words import ENGLISH_PROBE, temper_unknown, with_wordings_counted
from knowledge.retrieval.lexicon import phrases_in
from knowledge.retrieval.question import understand
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

RULES = """# 복무규정

## 제1조(출장 여비)
국내출장의 일비는 하루 27,000원으로 하고 숙박비는 실비로 한다.

## 제2조(병가)
직원은 질병으로 일할 수 없으면 연간 45일까지 병가를 쓸 수 있다.

## 제3조(연차휴가)
1년 동안 근무한 직원에게 16일의 연차휴가를 준다.

## 제4조(퇴직금)
근속 1년마다 35일분의 평균임금을 퇴직금으로 지급한다.

## 제5조(휴직)
자녀를 양육하는 직원은 2년 이내의 육아휴직을 할 수 있다.

## 제6조(기기의 분실)
기기를 잃어버린 직원은 3시간 이내에 보안팀에 알린다.

## 제7조(연장근로)
연장근로는 부서장이 미리 승인한 때에만 할 수 있다.

## 제8조(경조금)
부모가 사망한 직원에게 경조금 700,000원을 지급한다.

## 제9조(입찰)
추정가격이 9천만원을 넘는 구매는 일반경쟁입찰에 부친다.

## 제10조(징계)
무단결근이 4일을 넘으면 감봉에 처한다.
"""

DESKS = """# Desk sharing

## 1. Lockers
Every employee gets a locker and returns the key within five days after moving to another floor.

## 2. Quiet rooms
A quiet room may be taken for at most two hours. Whoever is away for longer than 15 minutes loses it.
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path_factory.mktemp("english"))
    shelf.write("rules.md", RULES)
    shelf.write("desks.md", DESKS)
    shelf.sync()
    yield shelf
    shelf.close()


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What is the per diem for a domestic business trip?", "제1조(출장 여비)"),
        ("How much sick leave is allowed?", "제2조(병가)"),
        ("annual leave days", "제3조(연차휴가)"),
        ("How is severance pay calculated?", "제4조(퇴직금)"),
        ("How long can childcare leave last?", "제5조(휴직)"),
        ("I lost my laptop. Whom do I have to inform?", "제6조(기기의 분실)"),
        ("Who approves overtime?", "제7조(연장근로)"),
        ("condolence money when a parent dies", "제8조(경조금)"),
        ("From which amount is a public bid required?", "제9조(입찰)"),
        ("What happens after unauthorized absence?", "제10조(징계)"),
        ("사물함 열쇠는 며칠 안에 반납하나요?", "1. Lockers"),
    ],
)
def test_the_rule_that_answers_comes_first(shelf: Shelf, question: str, label: str) -> None:
    evidence = shelf.knowledge.search(question, scope=EVERYTHING, kind="docs")
    assert (evidence.chunks[0].chunk.locator.label or "").endswith(label)
    assert evidence.verdict.decision != "none"


@pytest.mark.parametrize(
    "question",
    ["How do I cook kimchi stew?", "How far is the moon from the earth?", "Write me a poem about autumn"],
)
def test_what_no_rule_speaks_of_is_refused(shelf: Shelf, question: str) -> None:
    assert shelf.knowledge.search(question, scope=EVERYTHING, kind="docs").verdict.decision == "none"


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("How much does the company pay for roaming on a business trip?", "roaming"),
        ("How many days of leave for twins?", "twins"),
    ],
)
def test_a_telling_word_that_neither_texts_nor_word_lists_know_bars_a_sure_answer(
    shelf: Shelf, question: str, word: str
) -> None:
    verdict = shelf.knowledge.search(question, scope=EVERYTHING, kind="docs").verdict
    assert verdict.decision != "ok"
    assert word in verdict.missing


def test_an_expression_has_its_own_meaning_and_not_that_of_its_words() -> None:
    absence = understand("How long can a leave of absence last?", "docs")
    assert "휴직" in absence.expansions["leav"]
    assert "휴가" not in absence.expansions["leav"]
    assert "휴가" in understand("How many days of leave?", "docs").expansions["leav"]


def test_the_longest_expression_counts() -> None:
    assert "국외출장" in phrases_in(analyze("an overseas business trip"))["trip"]


def test_words_that_only_ask_are_no_words_of_a_question() -> None:
    assert set(understand("How often does the board actually get together?", "docs").words) <= {"board", "often"}


def test_the_each_of_each_week_is_no_word_of_its_own() -> None:
    question = understand("How long can I work from home each week?", "docs")
    assert "each" not in question.words
    assert {"home", "week"} <= set(question.words)
    assert "everi" not in understand("What is paid every month?", "docs").words


@pytest.mark.parametrize("question", ["leave when my father-in-law dies", "leave for a death of a parent in law"])
def test_kin_by_marriage_are_the_parents_of_the_spouse(question: str) -> None:
    assert {"배우자", "부모"} <= set(understand(question, "docs").added_terms)


@pytest.mark.parametrize("word", ["장인어른", "시아버님", "시어머님", "장모님"])
def test_polite_names_of_kin_by_marriage_are_known(word: str) -> None:
    assert "배우자부모" in understand(f"{word}이 돌아가셨는데 경조금은?", "docs").added_terms


def test_participles_and_adverbs_that_no_word_list_knows_are_not_what_a_question_is_about() -> None:
    words = understand("Is the zylophone automatically bewildered?", "docs").words
    assert "bewild" not in " ".join(words)
    assert any(word.startswith("zyloph") for word in words)
    assert "suspend" in understand("How long is borrowing suspended?", "docs").words


def test_an_english_word_is_as_rare_as_its_korean_one() -> None:
    question = understand("severance", "docs")
    counted = with_wordings_counted(question, {"퇴직금": 40})
    assert counted["sever"] == 40
    assert term_weights(question.words, counted, 100)["sever"] < term_weights(question.words, {}, 100)["sever"]


def test_a_word_that_nobody_knows_weighs_less_the_fewer_texts_are_english() -> None:
    question = understand("roaming", "docs")
    korean = temper_unknown(question, {"roam": 8.0}, {}, 100)
    english = temper_unknown(question, {"roam": 8.0}, {ENGLISH_PROBE: 90}, 100)
    assert korean["roam"] < english["roam"] == 8.0
    assert temper_unknown(question, {"roam": 8.0}, {"roam": 1}, 100)["roam"] == 8.0


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("화환을 보낸다", "보내다"),
        ("잃어버린 사람", "잃어버리다"),
        ("즉시 알려야", "알리다"),
        ("나눌 수 있다", "나누다"),
    ],
)
def test_a_verb_is_held_in_whatever_form_its_ending_gives_it(text: str, verb: str) -> None:
    assert verb in Held(text)


@pytest.mark.parametrize(("text", "verb"), [("보너스", "보내다"), ("알곡", "알리다"), ("나비", "나누다")])
def test_another_word_is_no_form_of_a_verb(text: str, verb: str) -> None:
    assert verb not in Held(text)
