"""Different values for one thing are shown side by side, with their dates and whom to ask."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.contradictions import find_conflicts
from knowledge.types import Chunk, Locator, Scope, ScoredChunk
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.company import build_answering, open_company, write_company
from tests.unit.bot.times import Clock

ONE = "| 구분 | 대상 | 휴가일수 |\n| --- | --- | --- |\n| 결혼 | 본인 | 5일 |\n| 결혼 | 자녀 | 1일 |"
OTHER = "| 구분 | 대상 | 휴가일수 |\n| --- | --- | --- |\n| 결혼 | 본인 | 7일 |\n| 결혼 | 자녀 | 1일 |"


def scored(number: int, text: str, *, uri: str = "", label: str = "[별표 1] 경조휴가", title: str = "") -> ScoredChunk:
    uri = uri or f"doc{number}.md"
    chunk = Chunk(
        id=f"c{number}", document_id=uri, kind="appendix", text=text, index_text=text,
        locator=Locator(source="s", uri=uri, revision="r", label=label), ordinal=0, tokens=1, group=f"g{number}",
        evidence_kind="docs", title=title or uri,
    )  # fmt: skip
    return ScoredChunk(chunk=chunk)


def test_two_appendices_that_are_cited_are_compared_row_by_row():
    [conflict] = find_conflicts([scored(1, ONE), scored(2, OTHER)], [1, 2], "본인 결혼 휴가는 며칠인가요?")
    assert (conflict.first_shown, conflict.second_shown) == (
        "결혼 본인 · 휴가일수: 5일",
        "결혼 본인 · 휴가일수: 7일",
    )


def test_rows_that_are_not_asked_for_and_equal_values_are_no_conflict():
    assert find_conflicts([scored(1, ONE), scored(2, OTHER)], [1, 2], "자녀 결혼 휴가는 며칠인가요?") == []
    assert find_conflicts([scored(1, ONE), scored(2, ONE)], [1, 2], "본인 결혼 휴가는 며칠인가요?") == []


def test_sentences_are_compared_too():
    chunks = [
        scored(1, "직원에게 15일의 연차휴가를 준다.", label="제2조(연차휴가)"),
        scored(2, "직원에게 16일의 연차휴가를 준다.", label="제5조(연차휴가)"),
    ]
    assert len(find_conflicts(chunks, [1, 2], "연차휴가는 며칠인가요?")) == 1


@pytest.mark.parametrize(
    "other",
    [
        "직원에게 16시간의 교육을 준다.",  # another thing
        "임원에게 월 3회의 차량 이용을 허용한다.",
        "직원에게 15일의 연차휴가를 준다.",
    ],
)
def test_other_things_are_no_conflict(other):
    chunks = [scored(1, "직원에게 15일의 연차휴가를 준다."), scored(2, other)]
    assert find_conflicts(chunks, [1, 2], "연차휴가는 며칠인가요?") == []


def test_another_wording_of_the_same_section_counts_although_it_is_not_cited():
    chunks = [scored(1, ONE, title="경조규정"), scored(2, OTHER, title="경조규정")]
    assert len(find_conflicts(chunks, [1], "본인 결혼 휴가는 며칠인가요?")) == 1
    elsewhere = [scored(1, ONE, title="경조규정"), scored(2, OTHER, title="노조 협약")]
    assert find_conflicts(elsewhere, [1], "본인 결혼 휴가는 며칠인가요?") == []


# --- through the whole line -----------------------------------------------------------------------

FAMILY = "# 경조규정\n\n## [별표 1] 경조휴가\n\n{one}\n\n## [별표 2] 경조휴가 운영 기준\n\n{other}\n"


@contextmanager
def disputed_company(folder: Path):
    write_company(folder)
    (folder / "rules" / "경조규정.md").write_text(FAMILY.format(one=ONE, other=OTHER), encoding="utf-8")
    clock = Clock()
    with open_company(folder, clock=clock) as knowledge:
        knowledge.sync()
        yield knowledge, clock


async def test_quotes_show_both_values_with_their_places_and_whom_to_ask(tmp_path):
    with disputed_company(tmp_path) as (knowledge, clock):
        answering = build_answering(knowledge, tmp_path, clock=clock)
        answer = (await answering.answer("본인 결혼 휴가는 며칠인가요?", scope=Scope.everything())).answer
    assert "출처마다 값이 다릅니다" in answer.text
    assert "담당 부서에 확인해 주세요" in answer.text
    assert "결혼 본인 · 휴가일수: 5일" in answer.text
    assert "결혼 본인 · 휴가일수: 7일" in answer.text
    assert "2026-03-02" in answer.text


async def test_a_model_that_cites_both_does_not_choose_either(tmp_path):
    with disputed_company(tmp_path) as (knowledge, clock):
        found = await build_answering(knowledge, tmp_path, clock=clock).answer(
            "본인 결혼 휴가는 며칠인가요?", scope=Scope.everything()
        )
        labels = [scored.chunk.locator.label or "" for scored in found.evidence.chunks]
        first, second = (next(n for n, label in enumerate(labels, 1) if part in label) for part in ("별표 1", "별표 2"))
        model = FakeChatModel.saying(f"본인 결혼 휴가는 5일입니다 [{first}]. 운영 기준에는 7일입니다 [{second}].")
        answering = build_answering(knowledge, tmp_path, clock=clock, model=model)
        answer = (await answering.answer("본인 결혼 휴가는 며칠인가요?", scope=Scope.everything())).answer
    assert answer.refusal is None
    assert "출처마다 값이 다릅니다" in answer.text
    assert {citation.index for citation in answer.citations} == {first, second}
