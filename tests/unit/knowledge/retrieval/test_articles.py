"""An article or appendix that is named with its number and its regulation comes first, whatever its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.retrieval.articles import named_sections
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

SUBJECTS = ("휴직", "복직", "승진", "전보", "교육", "포상", "징계", "안전", "보건", "퇴직")


def rule(name: str, *, day: str = "2024년 3월 1일", note: str = "") -> str:
    articles = "".join(
        f"## 제{n}조({subject})\n{subject}에 관한 사항은 {name}에 따라 위원회가 정한다. {note}\n\n"
        for n, subject in enumerate(SUBJECTS, start=1)
    )
    table = "## [별표 2] 수당표\n\n| 직급 | 수당 |\n|---|---|\n| 팀장 | 70,000원 |\n\n"
    sub = "## 제3조의2(직무대리)\n직무대리는 부서장이 지정한다.\n\n"
    return f"# {name}\n\n{articles}{sub}## 부칙\n이 규칙은 {day}부터 시행한다.\n\n{table}"


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    shelf = Shelf(tmp_path, clock=lambda: datetime(2026, 7, 15, 3, 0, tzinfo=UTC))
    shelf.write("work.md", rule("취업규칙"))
    shelf.write("abroad.md", rule("국외파견 취업규칙"))
    shelf.write("travel_2020.md", rule("여비규정", day="2020년 1월 1일", note="옛 규정이다."))
    shelf.write("travel_2024.md", rule("여비규정", note="새 규정이다."))
    shelf.sync()

    def first_of(question: str) -> str:
        evidence = shelf.knowledge.search(question, scope=EVERYTHING, kind="docs")
        found = evidence.chunks[0].chunk
        return f"{found.locator.uri} {found.locator.label}"

    yield first_of
    shelf.close()


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("취업규칙 제5조가 뭐예요?", "work.md 취업규칙 제5조(교육)"),
        ("취업 규칙 제 8 조 내용 알려줘", "work.md 취업규칙 제8조(안전)"),
        ("취업규칙 5조는?", "work.md 취업규칙 제5조(교육)"),
        ("취업규칙 제3조의2에는 뭐라고 되어 있어?", "work.md 취업규칙 제3조의2(직무대리)"),
        ("취업규칙 제3조", "work.md 취업규칙 제3조(승진)"),
        ("국외파견 취업규칙 제7조", "abroad.md 국외파견 취업규칙 제7조(징계)"),
        ("취업규칙 별표 2 보여줘", "work.md 취업규칙 [별표 2] 수당표"),
        ("여비규정 제4조", "travel_2024.md 여비규정 제4조(전보)"),
        ("2021년 기준으로 여비규정 제4조는?", "travel_2020.md 여비규정 제4조(전보)"),
    ],
)
def test_what_is_named_comes_first(first: Callable[[str], str], question: str, label: str) -> None:
    assert first(question) == label


@pytest.mark.parametrize(
    "text", ["매출이 3조 원이에요?", "1조 2천억", "별표는 어디 있어요?", "제조 공정", "조를 나눠요"]
)
def test_money_and_other_words_name_no_article(text: str) -> None:
    assert named_sections(text) == []
