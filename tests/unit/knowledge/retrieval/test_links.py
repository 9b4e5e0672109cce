"""Articles and appendices that answer together."""

from __future__ import annotations

from dataclasses import replace

from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.links import with_linked_sections
from knowledge.types import Chunk
from tests.unit.knowledge.retrieval.corpus import MemoryCatalog, chunk

ARTICLE = chunk("a18", "국외출장의 여비는 별표 2, 별표 3에 따른다.", label="제18조(국외여비)")
FARES = chunk("t2", "항공운임 기준표", label="별표 2", kind="appendix")
AMOUNTS = replace(
    chunk("t3", "국외여비 기준표\n1급 이하 | 식비 59", label="별표 3", kind="appendix", group="t3"), ordinal=1
)
COUNTRIES = replace(chunk("t3b", "나등급: 독일, 프랑스", label="별표 3", kind="appendix", group="t3"), ordinal=2)
OTHER = chunk("a5", "수행출장의 여비", label="제5조(수행출장)")
REFERENCE = chunk("a3", "여비는 제18조에 따른다.", label="제3조(기준)")
CATALOG = MemoryCatalog(
    [ARTICLE, FARES, AMOUNTS, COUNTRIES, OTHER, REFERENCE], links={"a18": ["t2", "t3", "t3b"], "a3": ["a18"]}
)


def _linked(*found: Chunk) -> list[tuple[str, str | None]]:
    def completes(first: Candidate, second: Candidate) -> float:
        return float(sum(word in second.chunk.text for word in ("독일", "식비")))

    candidates = [Candidate(chunk=one) for one in found]
    ranked = with_linked_sections(candidates, CATALOG, {"rules": 1}, completes=completes)
    return [(candidate.chunk.id, candidate.via) for candidate in ranked]


def test_an_article_brings_the_appendix_that_completes_it_best() -> None:
    assert _linked(ARTICLE, OTHER)[:2] == [("a18", None), ("t3", "a18")]


def test_the_parts_of_a_linked_table_come_as_one() -> None:
    candidates = with_linked_sections(
        [Candidate(chunk=ARTICLE)], CATALOG, {"rules": 1}, completes=lambda first, second: len(second.chunk.text)
    )
    shown = candidates[1].chunk.text
    assert "식비 59" in shown
    assert "독일" in shown


def test_an_appendix_brings_the_article_that_refers_to_it() -> None:
    assert _linked(AMOUNTS, OTHER) == [("t3", None), ("a18", "t3"), ("a5", None)]


def test_an_appendix_brings_nothing_when_its_article_is_among_the_first() -> None:
    assert _linked(AMOUNTS, OTHER, ARTICLE)[:2] == [("t3", None), ("a5", None)]


def test_a_section_is_never_given_twice() -> None:
    ids = [id for id, _ in _linked(ARTICLE, FARES, AMOUNTS, COUNTRIES)]
    assert ids == ["a18", "t3", "t2"]


def test_an_article_that_refers_to_an_article_brings_nothing() -> None:
    assert _linked(REFERENCE, OTHER) == [("a3", None), ("a5", None)]
