"""Documents that are not regulations are cut at their headings."""

from knowledge.chunking import chunk_document
from knowledge.chunking.splitting import LIMIT_CHARS
from knowledge.types import Block
from tests.unit.knowledge.chunking.documents import chunk_text, document, labels, table

GUIDE = """# 배포 안내

이 문서는 서비스를 배포하는 방법을 처음부터 끝까지 설명한다.

## 준비

배포 권한을 신청하고 승인을 받은 다음 도구를 설치한다.

## 절차

### 확인

변경 내용을 확인하고 담당자에게 알린 다음 시작한다.
"""


def test_each_heading_has_its_chunk_with_the_path_in_the_index_text() -> None:
    drafts = chunk_text(GUIDE, title="배포", name="a.md")
    assert labels(drafts) == ["배포 안내", "배포 안내 > 준비", "배포 안내 > 절차 > 확인"]
    assert drafts[2].index_text.startswith("배포\n배포 안내 > 절차 > 확인\n")
    assert {draft.kind for draft in drafts} == {"section"}
    assert all(draft.regulation is None and draft.anchors == () for draft in drafts)


def test_a_heading_alone_stands_in_front_of_the_section_that_follows() -> None:
    drafts = chunk_text(GUIDE, name="a.md")
    assert drafts[2].text.startswith("절차\n확인\n")


def test_a_text_about_articles_of_a_law_is_prose() -> None:
    drafts = chunk_text("회의록이다.\n제3조에 따라 위원회가 열렸고 별표 1의 금액을 정하였다.\n다음 회의는 3월이다.")
    assert [draft.kind for draft in drafts] == ["section"]


def test_long_text_without_headings_is_split_at_sentences() -> None:
    text = "이 문장은 긴 글의 한 부분이며 적당한 곳에서 나뉘어야 한다. " * 120
    drafts = chunk_text(text)
    assert len(drafts) > 3
    assert all(len(draft.text) <= LIMIT_CHARS for draft in drafts)
    assert all(draft.text.endswith("한다.") for draft in drafts)
    assert len({draft.group for draft in drafts}) == 1


def test_parts_of_a_long_table_repeat_heading_and_header_rows() -> None:
    rows = [(f"항목 {n}", f"{n},000", "설명이 조금 길게 이어지는 칸이다") for n in range(1, 80)]
    drafts = chunk_document(
        document([Block(kind="heading", text="예산", level=1), table(("항목", "금액", "설명"), *rows)])
    )
    assert len(drafts) > 2
    assert all(draft.text.split("\n")[:2] == ["예산", "항목 | 금액 | 설명"] for draft in drafts)


def test_an_empty_document_has_no_chunks() -> None:
    assert chunk_document(document([])) == []


def test_numbered_lines_open_sections_where_there_are_no_headings() -> None:
    drafts = chunk_text(
        "입찰 공고\n1. 입찰 범위\n본관 5층 옥상의 방수 공사 한 건을 입찰에 부친다.\n2. 입찰 일정\n"
        "가. 신청서를 내는 곳은 총무과이다.\n나. 신청서를 내는 날은 3월 2일이다.\n다. 결과는 따로 알린다.\n"
    )
    assert labels(drafts) == ["1. 입찰 범위", "2. 입찰 일정"]
    assert drafts[0].text.startswith("입찰 공고\n1. 입찰 범위\n")
    assert drafts[1].text.startswith("2. 입찰 일정\n가. 신청서를")


def test_items_of_a_list_open_nothing() -> None:
    drafts = chunk_text(
        "준비물은 다음과 같으며 모두 가져와야 한다.\n1. 신분증\n2. 사진 한 장\n3. 신청서\n그 밖의 것은 필요 없다."
    )
    assert labels(drafts) == [None]


def test_a_short_section_keeps_its_own_heading() -> None:
    found = chunk_text(
        "# 안내\n\n## VPN\n비밀번호는 90일마다 바꿉니다. 신청은 포털에서 합니다.\n\n## 메일\n메일함 용량은 50GB입니다.\n",
        name="a.md",
    )
    assert [draft.label for draft in found if "50GB" in draft.text] == ["안내 > 메일"]
