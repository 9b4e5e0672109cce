"""An article or appendix that is named with its number and its regulation comes first, whatever its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.retrieval.named_sections import named_sections
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

SUBJECTS = ("휴직", "복직", "승진", "전보", "교육", "포상", "징계", "안전", "보건", "퇴직")


def rule(name: str, *, day: str = "2024년 3월 1일", note: str = "") -> str:
    articles = "".join(
        f"## 제{n}조({subject})\n{subject}에 관한 사항은 {name}에 따라 위원회가 정한다. {note}\n\n"
        for n, subject in enumerate(SUBJECTS, start=1)
    )
    table = "## [별표 2] 수당표\n\n| 직급 | 수당 |\n|---|---|\n| 팀장 | 70,000원 |\n\n"
    sub = "## 제3조의2(직무대리)\n직무대리는 부서장이 지정한다.\n\n"
    articles = f"## 제1장 총칙\n\n{articles}".replace("## 제6조(", "## 제2장 상벌과 안전\n\n## 제6조(")
    return f"# {name}\n\n{articles}{sub}## 부칙\n이 규칙은 {day}부터 시행한다.\n\n{table}"


FEW = "| 품명 | 수량 |\n|---|---|\n| 의자 | 8 |\n\n"
ROWS = FEW.replace("| 의자 | 8 |\n", "".join(f"| 의자 {n} | {n} |\n" for n in range(30)))


def things(name: str, *heads: str, rows: str = ROWS) -> str:
    body = "## 제1조(목적)\n이 규정은 물품을 정한다.\n\n## 부칙\n제1조(시행일) 2024년 1월 1일부터 시행한다.\n"
    body += "제2조(경과조치) 종전의 물품은 이 규정에 따른 것으로 본다.\n\n"
    return f"# {name}\n\n{body}" + "".join(f"## {head}\n\n{rows}" for head in heads)


HANDBOOK = """# Equipment Handbook

## 4. Laptops

### 4.2 Repairs
The helpdesk repairs laptops within three days.

### 4.3 Returns
Laptops go back to the helpdesk.
"""

CHARTER = (
    """# Charter of the Choir

Article 1 (Name)
The choir is called Magpie.

Article 12 (Quorum)
Half of the singers form a quorum.

Appendix A Voices

| voice | seats |
|---|---|
"""
    + "".join(f"| alto {n} | {n} |\n" for n in range(40))
    + """

Appendix B Concerts

| month | concerts |
|---|---|
| May | 2 |
"""
)


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    shelf = Shelf(tmp_path, clock=lambda: datetime(2026, 7, 15, 3, 0, tzinfo=UTC))
    shelf.write("work.md", rule("취업규칙"))
    shelf.write("abroad.md", rule("국외파견 취업규칙"))
    shelf.write("travel_2020.md", rule("여비규정", day="2020년 1월 1일", note="옛 규정이다."))
    shelf.write("travel_2024.md", rule("여비규정", note="새 규정이다."))
    shelf.write("cups.md", things("다기규정", "[별표 1] 잔", "[별표 2] 주전자", rows=FEW))
    shelf.write("things.md", things("물품관리규정", "[별표 가] 내용연수", "[별표 나] 처분", "[별지 제3호 서식] 청구서"))
    shelf.write(
        "waste.md", things("폐기물규정", "[별표 Ⅰ] 분류", "[별표 Ⅱ] 처리", "[별첨 2-1] 점검표", "[별첨 2-2] 보고")
    )
    shelf.write("handbook.md", HANDBOOK)
    shelf.write("choir.md", CHARTER)
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
        ("5조는 취업규칙에 뭐라고 되어 있어?", "work.md 취업규칙 제5조(교육)"),
        ("취업규칙 제2장", "work.md 취업규칙 제6조(포상)"),
        ("물품관리규정 별표 가 보여줘", "things.md 물품관리규정 [별표 가] 내용연수"),
        ("별표 나 물품관리규정", "things.md 물품관리규정 [별표 나] 처분"),
        ("물품관리규정 별지 제3호 서식", "things.md 물품관리규정 [별지 제3호 서식] 청구서"),
        ("물품관리규정 서식 3 어디 있어?", "things.md 물품관리규정 [별지 제3호 서식] 청구서"),
        ("별표 Ⅱ 폐기물규정", "waste.md 폐기물규정 [별표 2] 처리"),
        ("폐기물규정 별표 II는?", "waste.md 폐기물규정 [별표 2] 처리"),
        ("폐기물규정 별첨 2-2", "waste.md 폐기물규정 [별첨 2-2] 보고"),
        ("다기규정 별표 2", "cups.md 다기규정 [별표 1] 잔"),  # short ones stand together
        ("물품관리규정 부칙 제2조", "things.md 물품관리규정 부칙"),
        ("Article 12 of the Charter of the Choir", "choir.md Charter of the Choir Article 12 Quorum"),
        ("charter of the choir, Appendix A", "choir.md Charter of the Choir Appendix A Voices"),
        ("Charter of the Choir appendix B", "choir.md Charter of the Choir Appendix B Concerts"),
        ("Equipment Handbook section 4.2", "handbook.md Equipment Handbook > 4. Laptops > 4.2 Repairs"),
        ("Article 4 of the travel regulations", "travel_2024.md 여비규정 제4조(전보)"),
        ("여비규정 제4조", "travel_2024.md 여비규정 제4조(전보)"),
        ("2021년 기준으로 여비규정 제4조는?", "travel_2020.md 여비규정 제4조(전보)"),
    ],
)
def test_what_is_named_comes_first(first: Callable[[str], str], question: str, label: str) -> None:
    assert first(question) == label


@pytest.mark.parametrize(
    "text",
    [
        "매출이 3조 원이에요?",
        "1조 2천억",
        "별표는 어디 있어요?",
        "제조 공정",
        "조를 나눠요",
        "별표가 뭐예요?",
        "별표 가능한가요?",
        "4조 3교대 근무",
        "예산 5조원",
        "form a committee",
        "an article about us",
        "제3장소로 이동",
    ],
)
def test_money_and_other_words_name_no_article(text: str) -> None:
    assert named_sections(text) == []


def test_without_a_name_the_section_of_every_regulation_may_be_meant(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("work.md", rule("취업규칙"))
    shelf.write("pay.md", rule("급여규정"))
    shelf.sync()
    leading = [one.chunk.locator.label for one in shelf.knowledge.search("제5조가 뭐야?", scope=EVERYTHING).chunks[:2]]
    law = shelf.knowledge.search("고용보험법 제5조에 따른 안전 교육은 누가 해요?", scope=EVERYTHING)
    shelf.close()
    assert sorted(filter(None, leading)) == ["급여규정 제5조(교육)", "취업규칙 제5조(교육)"]
    assert "named" not in law.chunks[0].features


def test_a_section_that_is_asked_for_by_name_alone_is_an_answer(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("work.md", rule("취업규칙"))
    shelf.sync()
    named = shelf.knowledge.search("취업규칙 제5조 보여줘", scope=EVERYTHING).verdict
    more = shelf.knowledge.search("취업규칙 제5조에 따른 화성 탐사는 언제예요?", scope=EVERYTHING).verdict
    absent = shelf.knowledge.search("취업규칙 제77조 보여줘", scope=EVERYTHING).chunks[0]
    shelf.close()
    assert named.decision == "ok"
    assert more.decision != "ok"
    assert "named" not in absent.features
