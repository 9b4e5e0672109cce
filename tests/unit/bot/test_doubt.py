"""An answer says which of its words were hard to read in a scan, and where to look; amounts first."""

from __future__ import annotations

import pytest

from bot.doubt import doubt_notes, doubtful_words
from bot.types import Citation
from knowledge.types import Locator


def cited(*words: tuple[str, int | None], uri: str = "scan.pdf", quote: str = "") -> Citation:
    locator = Locator(
        source="rules",
        uri=uri,
        revision="r",
        page=2,
        doubtful=tuple(word for word, _ in words),
        doubtful_pages=tuple(page for _, page in words),
    )
    return Citation(index=1, locator=locator, chunk_id="c1", title="경조금", url=None, quote=quote)


def link(chunk_id: str, page: int) -> str:
    return f"https://bot.example/evidence/{chunk_id}/page/{page}"


def notes(text: str, *citations: Citation, language: str = "ko") -> list[str]:
    return doubt_notes(text, citations, language=language, page_image=link)  # type: ignore[arg-type]


def test_a_doubtful_amount_in_the_answer_is_named_with_page_and_picture_in_both_languages() -> None:
    citation = cited(("500,000", 3))
    (korean,) = notes("경조금은 500,000원입니다 [1].", citation)
    assert "스캔" in korean
    assert "scan.pdf의 3쪽" in korean
    assert "“500,000”" in korean
    assert "https://bot.example/evidence/c1/page/3" in korean
    (english,) = notes("It is 500,000 won [1].", citation, language="en")
    assert english.startswith("From a scan, check page 3 of scan.pdf")
    assert "“500,000”" in english


@pytest.mark.parametrize("text", ["경조금은 500000원이다.", "경조금은 \\500,000원이다.", "| 결혼 | 500,000 |"])
def test_the_same_amount_written_in_another_way_counts(text: str) -> None:
    assert len(notes(text, cited(("500,000원", 3)))) == 1


@pytest.mark.parametrize("text", ["휴가는 13일이다.", "경조금은 1,500,000원이다.", "정해진 바가 없다."])
def test_an_answer_without_the_doubtful_word_says_nothing(text: str) -> None:
    assert notes(text, cited(("500,000", 3), ("3", 3), ("경조사", 3))) == []


def test_markdown_escapes_do_not_hide_a_word() -> None:
    assert len(notes("본인\\_결혼 \\[가\\]", cited(("본인_결혼", 1)))) == 1


def test_pages_with_doubtful_amounts_come_first_and_each_page_is_named_once() -> None:
    made = notes("조부모는 5일, 250,000원", cited(("조부모", 1), ("5일", 2), ("250,000", 2)))
    assert len(made) == 2
    assert "2쪽" in made[0]
    assert "“5일”, “250,000”" in made[0]
    assert "“조부모”" in made[1]


def test_many_words_are_cut() -> None:
    words = [f"{n}00" for n in range(1, 9)]
    (note,) = notes(" ".join(words), cited(*((word, 1) for word in words)))
    assert "“500” …" in note
    assert "600" not in note


def test_ink_that_could_not_be_read_counts_when_the_quote_shows_it() -> None:
    assert notes("무엇인가요?", cited(("?", 1))) == []
    assert len(notes("결혼 ?", cited(("?", 1), quote="결혼 ?"))) == 1


def test_without_a_page_of_its_own_the_document_is_named() -> None:
    assert "page" not in doubt_notes("5일", [cited(("5일", None))], language="ko", page_image=None)[0]
    assert doubt_notes("5일", [cited(("5일", 4))], language="en", page_image=None)[0].endswith("“5일”.")


def test_words_with_digits_are_listed_first() -> None:
    assert doubtful_words(cited(("경조사", 1), ("5일", 2))) == [("5일", 2), ("경조사", 1)]
