"""References from articles to appendices, resolved within one document."""

from __future__ import annotations

from knowledge.catalog_links import resolve_links
from knowledge.types import ChunkDraft


def article(label: str, *refers_to: str, regulation: str | None = None) -> ChunkDraft:
    return ChunkDraft(
        kind="article", text=label, index_text=label, group=f"{regulation} {label}", label=label, regulation=regulation,
        anchors=(label,), refers_to=refers_to,
    )  # fmt: skip


def appendix(label: str, *, part: str = "", regulation: str | None = None) -> ChunkDraft:
    return ChunkDraft(
        kind="appendix", text=label + part, index_text=label + part, group=f"{regulation} {label}", label=label,
        regulation=regulation, anchors=(label,),
    )  # fmt: skip


def test_an_article_points_to_every_part_of_its_appendix_in_order() -> None:
    drafts = [
        article("제1조", "별표 1"),
        appendix("별표 1", part="a"),
        appendix("별표 1", part="b"),
        appendix("별표 2"),
    ]
    assert resolve_links(drafts) == [(0, [1, 2])]


def test_several_references_keep_the_order_of_the_text() -> None:
    drafts = [appendix("별표 1"), appendix("별표 2"), article("제1조", "별표 2", "별표 1")]
    assert resolve_links(drafts) == [(2, [1, 0])]


def test_the_appendix_of_another_regulation_in_the_same_file_never_answers() -> None:
    drafts = [
        article("제1조", "별표 1", regulation="여비규정"),
        appendix("별표 1", regulation="급여규정"),
        article("제1조", "별표 1", regulation="급여규정"),
    ]
    assert resolve_links(drafts) == [(2, [1])]


def test_an_appendix_outside_any_regulation_answers_for_all() -> None:
    drafts = [article("제1조", "별표 1", regulation="여비규정"), appendix("별표 1")]
    assert resolve_links(drafts) == [(0, [1])]


def test_what_nobody_holds_stays_unresolved_and_nothing_points_to_itself() -> None:
    assert resolve_links([article("제1조", "별표 9"), article("제2조", "제2조")]) == []


def test_text_outside_any_regulation_does_not_choose_between_two() -> None:
    drafts = [article("안내", "별표 1"), appendix("별표 1", regulation="가"), appendix("별표 1", regulation="나")]
    assert resolve_links(drafts) == []
    assert resolve_links(drafts[:2]) == [(0, [1])]
