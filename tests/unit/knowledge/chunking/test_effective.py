"""Since when a regulation holds, read from headers, supplementary provisions, notes and names; never guessed."""

from __future__ import annotations

from datetime import date

import pytest

from knowledge.chunking import chunk_document
from knowledge.chunking.effective import Told, date_of_name, effective_date, family_of, find_dates, supplement_date
from knowledge.extract import extract
from knowledge.types import ChunkDraft, Document


def drafts(text: str, *, title: str = "여비규정", uri: str = "a.txt") -> list[ChunkDraft]:
    return chunk_document(
        Document(
            id="d",
            source="rules",
            uri=uri,
            revision="r",
            content_hash="h",
            title=title,
            media_type="text/plain",
            blocks=extract(text.encode(), name=uri).blocks,
        )
    )


def told(found: list[ChunkDraft]) -> set[tuple[str | None, date | None]]:
    return {(draft.family, draft.valid_from) for draft in found}


ARTICLES = "여비규정\n제1조(목적) 이 규정은 여비를 정한다.\n제2조(숙박비) 숙박비는 1박에 8만원으로 한다.\n"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024년 3월 1일", date(2024, 3, 1)),
        ("2024. 3. 1.", date(2024, 3, 1)),
        ("2024.03.01", date(2024, 3, 1)),
        ("2024-03-01", date(2024, 3, 1)),
        ("'98. 3. 1", date(1998, 3, 1)),
        ("March 1, 2024", date(2024, 3, 1)),
        ("1 March 2024", date(2024, 3, 1)),
    ],
)
def test_dates_are_read_however_they_are_written(text: str, day: date) -> None:
    assert list(find_dates(text)) == [day]


@pytest.mark.parametrize("text", ["2024년 13월 1일", "2023. 2. 30.", "제2024조 3항 1호", "2024년 3월", "10.3.1"])
def test_what_is_no_whole_day_is_no_date(text: str) -> None:
    assert list(find_dates(text)) == []


@pytest.mark.parametrize(
    ("heading", "text", "day"),
    [
        ("부칙", "이 규정은 2024년 3월 1일부터 시행한다.", date(2024, 3, 1)),
        ("부 칙", "(시행일) 이 규칙은 2005.09.01. 부터 시행한다", date(2005, 9, 1)),
        ("부칙 <2010. 3. 1.>", "이 규칙은 공포한 날부터 시행한다.", date(2010, 3, 1)),
        ("부칙 <제12호, 2021. 2. 3.>", "이 규정은 발령한 날부터 시행한다.", date(2021, 2, 3)),
        ("부칙(2020.1.5)", "① (시행일) 이 규정은 공포 후 6개월이 경과한 날부터 시행한다.", date(2020, 7, 5)),
        ("부칙", "이 규정은 2024년 3월 1일부터 시행하되, 2024년 1월 1일부터 소급하여 적용한다.", date(2024, 3, 1)),
        ("부칙", "1. 이 규정은 2001년 3월 1일부터 시행한다.\n2. 이 개정규정은 2005년 3월 1일부터 시행한다.", date(2005, 3, 1)),
        (
            "부칙",
            "제1조(시행일) 이 규정은 2024. 3. 1.부터 시행한다. 다만, 제5조의 개정규정은 2026년 1월 1일부터 시행한다.",
            date(2024, 3, 1),
        ),
        ("부칙", "제2조(경과조치) 종전의 규정에 따라 2023년 1월 1일부터 시행한 사항은 그대로 둔다.", None),
        ("부칙", "이 정관은 장관의 인가를 받은 날부터 시행한다.", None),
    ],
)  # fmt: skip
def test_supplementary_provisions_say_when_a_regulation_comes_into_force(
    heading: str, text: str, day: date | None
) -> None:
    assert supplement_date(heading, text) == day


@pytest.mark.parametrize(
    ("header", "day"),
    [
        (["[시행 2024. 3. 1.] [고시 제2024-5호, 2024. 2. 20., 일부개정]"], date(2024, 3, 1)),
        (["제정 1999. 3. 1.", "개정 2010. 2. 1.", "전부개정 2012. 3. 4."], date(2012, 3, 4)),
        (["시행일: 2024-03-01"], date(2024, 3, 1)),
        (["Effective date: March 1, 2024"], date(2024, 3, 1)),
        (["2020. 3. 1. 제정", "2023. 4. 5. 시행"], date(2023, 4, 5)),
        (["여비규정 시행세칙", "문서번호 2020-1-1"], None),
    ],
)
def test_the_lines_above_the_first_article_tell_dates(header: list[str], day: date | None) -> None:
    assert effective_date(Told(header=header)) == day


@pytest.mark.parametrize(
    ("name", "family", "day"),
    [
        ("여비규정_20240301", "여비규정", date(2024, 3, 1)),
        ("여비 규정 (2023 개정)", "여비규정", date(2023, 1, 1)),
        ("여비규정(2023.5.1. 개정)", "여비규정", date(2023, 5, 1)),
        ("여비규정_240301", "여비규정", date(2024, 3, 1)),
        ("2024년 여비규정", "여비규정", date(2024, 1, 1)),
        ("여비규정_201105", "여비규정", None),
        ("구 여비규정", "여비규정", None),
        ("취업규칙 v2.1 최종본", "취업규칙", None),
        ("여비규정 시행세칙", "여비규정시행세칙", None),
        ("Travel Policy (2023)", "travelpolicy", date(2023, 1, 1)),
        ("travel-policy-2024-03-01", "travelpolicy", date(2024, 3, 1)),
        ("회의록_20240301", None, date(2024, 3, 1)),
    ],
)
def test_names_of_files_tell_the_regulation_and_the_date(name: str, family: str | None, day: date | None) -> None:
    assert (family_of(name), date_of_name(name)) == (family, day)


def test_every_part_of_a_regulation_carries_its_name_and_its_date() -> None:
    text = (
        ARTICLES
        + "부칙 <2020. 1. 1.>\n이 규정은 2020년 1월 1일부터 시행한다.\n부칙\n제1조(시행일) 이 규정은 2024년 3월 1일부터 시행한다.\n제2조(경과조치) 2024년 2월까지의 출장은 종전의 규정에 따른다.\n"
    )
    assert told(drafts(text)) == {("여비규정", date(2024, 3, 1))}


def test_amendments_noted_in_articles_count_where_the_supplement_gives_no_day() -> None:
    text = ARTICLES.replace("8만원으로 한다.", "8만원으로 한다. <개정 2019. 5. 1., 2022. 7. 15.>")
    assert told(drafts(text + "부칙\n이 규정은 공포한 날부터 시행한다.\n")) == {("여비규정", date(2022, 7, 15))}


def test_what_the_text_says_goes_before_the_name_of_the_file() -> None:
    text = ARTICLES + "부칙\n이 규정은 2024년 3월 1일부터 시행한다.\n"
    assert told(drafts(text, uri="여비규정_20240415.txt")) == {("여비규정", date(2024, 3, 1))}
    assert told(drafts(ARTICLES, uri="여비규정_20240415.txt")) == {("여비규정", date(2024, 4, 15))}


def test_a_name_that_says_it_was_amended_goes_before_an_older_supplement() -> None:
    text = ARTICLES + "부칙\n이 규정은 2020년 3월 1일부터 시행한다.\n"
    assert told(drafts(text, uri="여비규정(2023.5.1. 개정).txt")) == {("여비규정", date(2023, 5, 1))}


def test_without_a_date_there_is_none() -> None:
    assert told(drafts(ARTICLES)) == {("여비규정", None)}


def test_several_regulations_in_one_file_have_their_own_dates() -> None:
    text = (
        "여비규정\n제1조(목적) 이 규정은 여비를 정함을 목적으로 한다.\n제2조(숙박비) 숙박비는 8만원으로 한다.\n"
        "부칙\n이 규정은 2024년 3월 1일부터 시행한다.\n"
        "당직규정\n제1조(목적) 이 규정은 당직을 정함을 목적으로 한다.\n제2조(숙직비) 숙직비는 5만원으로 한다.\n"
        "부칙\n이 규정은 2018년 7월 1일부터 시행한다.\n"
    )
    assert told(drafts(text, title="규정집", uri="규정집_20250101.txt")) == {
        ("여비규정", date(2024, 3, 1)),
        ("당직규정", date(2018, 7, 1)),
    }


def test_two_revisions_in_one_file_keep_their_dates_and_their_appendices_apart() -> None:
    one = (
        "여비규정\n제1조(목적) 이 규정은 여비를 정함을 목적으로 한다.\n제2조(숙박비) 숙박비는 별표 1과 같다.\n"
        "부칙\n이 규정은 {day}부터 시행한다.\n[별표 1] 숙박비\n1박에 {won}원을 상한으로 실비를 지급하며 영수증을 붙인다.\n"
    )
    text = one.format(day="2020년 1월 1일", won="70,000") + one.format(day="2024년 3월 1일", won="90,000")
    found = drafts(text, title="여비규정 신구")
    by_won = {
        won: {draft.valid_from for draft in found if won in draft.text and draft.kind == "appendix"}
        for won in ("70,000", "90,000")
    }
    assert by_won == {"70,000": {date(2020, 1, 1)}, "90,000": {date(2024, 3, 1)}}


def test_documents_that_are_no_regulations_have_dates_only_under_a_name_of_rules() -> None:
    guide = "# Travel policy\n\nEffective date: March 1, 2024\n\n## Hotels\n\nA night may cost up to 120 dollars.\n"
    assert told(drafts(guide, title="Travel policy", uri="policy.md")) == {("travelpolicy", date(2024, 3, 1))}
    minutes = "# 주간회의\n\n2024. 3. 1. 개정안을 논의했다. 다음 회의에서 다시 본다.\n"
    assert told(drafts(minutes, title="주간회의", uri="회의록_20240301.md")) == {(None, None)}


@pytest.mark.parametrize(
    ("uri", "family"),
    [
        ("산악회/회칙.txt", "산악회 / 회칙"),
        ("독서회/회칙.txt", "독서회 / 회칙"),
        ("독서회/2019/회칙_개정.txt", "독서회 / 회칙"),  # a folder that tells a year tells no body
        ("2023/회칙.txt", "회칙"),
        ("회칙_20200101.txt", "회칙"),
        ("산악회 회칙.txt", "산악회회칙"),
    ],
)
def test_rules_whose_name_every_body_has_are_those_of_their_body(uri: str, family: str) -> None:
    text = ARTICLES.replace("여비규정", "회칙") + "부칙\n이 회칙은 2024년 3월 1일부터 시행한다.\n"
    title = uri.rpartition("/")[2].removesuffix(".txt")
    assert told(drafts(text, title=title, uri=uri)) == {(family, date(2024, 3, 1))}


def test_what_stands_under_a_later_chapter_tells_nothing_of_the_whole() -> None:
    text = (
        "취업규칙\n제1장 총칙\n제1조(목적) 이 규칙은 근로조건을 정한다.\n제2조(정의) 사원이란 고용된 사람을 말한다.\n"
        "제2장 괴롭힘의 예방\n안내: '19. 1. 15. 개정 근로기준법('19. 7. 16. 시행)에 예방 조치가 더해졌음\n"
        "제3조(금지) 누구든지 괴롭힘을 하여서는 아니 된다.\n부칙\n이 규칙은 20 년 월 일부터 시행한다.\n"
    )
    assert told(drafts(text, title="취업규칙")) == {("취업규칙", None)}
    front = text.replace("제1장 총칙", "[시행 2024. 3. 1.]\n제1장 총칙")
    assert told(drafts(front, title="취업규칙")) == {("취업규칙", date(2024, 3, 1))}
