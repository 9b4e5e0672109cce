"""What every keyword index must do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.catalog import Catalog
from knowledge.catalog_generations import begin_generation
from knowledge.catalog_rows import PreparedDocument, with_ids
from knowledge.catalog_writes import put_document
from knowledge.index.keywords_fts import FtsKeywordIndex
from knowledge.ports import KeywordIndex
from knowledge.types import ChunkDraft

NOW = datetime(2026, 1, 5, tzinfo=UTC)


class Shelf:
    """A catalog whose chunks are given as lists of tokens."""

    def __init__(self, path: Path) -> None:
        self.catalog = Catalog.open(path / "catalog.sqlite3")
        self.generations: dict[str, int] = {}

    def generation(self, source: str) -> int:
        if source not in self.generations:
            with self.catalog.transaction() as connection:
                self.generations[source] = begin_generation(
                    connection, source=source, kind="documents", fingerprint="1", spaces=(), now=NOW
                )
        return self.generations[source]

    def put(self, source: str, uri: str, chunks: Sequence[Sequence[str]]) -> list[str]:
        """The ids of the document's chunks."""
        drafts = [
            ChunkDraft(
                kind="section", text=" ".join(tokens), index_text=f"{number} {' '.join(tokens)}", group=str(number)
            )
            for number, tokens in enumerate(chunks)
        ]
        indexed = tuple(with_ids(source, uri, drafts, chunks))
        generation = self.generation(source)
        prepared = PreparedDocument(
            source=source,
            uri=uri,
            content_hash="h",
            revision="r",
            title=uri,
            media_type="text/plain",
            status="indexed",
            drafts=indexed,
        )
        with self.catalog.transaction() as connection:
            put_document(connection, generation, prepared, now=NOW)
        return [draft.id for draft in indexed]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.catalog.close()


@pytest.fixture
def index(shelf: Shelf) -> KeywordIndex:
    return FtsKeywordIndex(shelf.catalog)


def test_chunks_that_hold_a_term_are_found_and_others_are_not(shelf: Shelf, index: KeywordIndex) -> None:
    holds, _ = shelf.put("rules", "a.md", [["연차", "휴가"], ["여비", "지급"]])
    found = index.search(["연차"], generations=shelf.generations, limit=10)
    assert [chunk for chunk, _ in found] == [holds]
    assert found[0][1] > 0


def test_rarer_terms_and_denser_chunks_come_first(shelf: Shelf, index: KeywordIndex) -> None:
    common = [["휴가", f"말{number}"] for number in range(20)]
    ids = shelf.put("rules", "a.md", [*common, ["연차", "휴가"], ["연차", *[f"다른{number}" for number in range(200)]]])
    found = [chunk for chunk, _ in index.search(["휴가", "연차"], generations=shelf.generations, limit=5)]
    assert found[:2] == [ids[20], ids[21]]


def test_only_the_given_generations_are_searched(shelf: Shelf, index: KeywordIndex) -> None:
    shelf.put("rules", "a.md", [["연차"]])
    (secret,) = shelf.put("board", "b.md", [["연차"]])
    found = index.search(["연차"], generations={"board": shelf.generations["board"]}, limit=10)
    assert [chunk for chunk, _ in found] == [secret]
    assert index.search(["연차"], generations={}, limit=10) == []


def test_a_generation_between_two_shown_ones_stays_hidden(shelf: Shelf, index: KeywordIndex) -> None:
    (first,) = shelf.put("a", "a.md", [["연차"]])
    shelf.put("b", "b.md", [["연차"]])
    (third,) = shelf.put("c", "c.md", [["연차"]])
    shown = {name: shelf.generations[name] for name in ("a", "c")}
    found = {chunk for chunk, _ in index.search(["연차"], generations=shown, limit=10)}
    assert found == {first, third}


def test_terms_that_look_like_query_syntax_are_only_terms(shelf: Shelf, index: KeywordIndex) -> None:
    (wanted,) = shelf.put("rules", "a.md", [["near", "or", "not", "연차"]])
    for terms in (["or"], ["not"], ["near"], ['"'], ["*"], ["연차*"], ["a:b"], ["연차", "AND"]):
        assert {chunk for chunk, _ in index.search(terms, generations=shelf.generations, limit=5)} <= {wanted}
    assert index.search(["or"], generations=shelf.generations, limit=5)[0][0] == wanted


def test_no_terms_and_unknown_terms_find_nothing(shelf: Shelf, index: KeywordIndex) -> None:
    shelf.put("rules", "a.md", [["연차"]])
    assert index.search([], generations=shelf.generations, limit=5) == []
    assert index.search(["없는말"], generations=shelf.generations, limit=5) == []
    assert index.search(["연차"], generations=shelf.generations, limit=0) == []


def test_document_frequencies_follow_every_change(shelf: Shelf, index: KeywordIndex) -> None:
    shelf.put("rules", "a.md", [["연차", "연차", "휴가"], ["연차"]])
    assert index.document_frequencies(["연차", "휴가", "없는말"]) == ({"연차": 2, "휴가": 1, "없는말": 0}, 2)
    shelf.put("rules", "a.md", [["휴가"]])
    assert index.document_frequencies(["연차", "휴가"]) == ({"연차": 0, "휴가": 1}, 1)


def test_a_question_of_common_terms_alone_still_finds_chunks_that_hold_them_all(
    shelf: Shelf, index: KeywordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.index.keywords_fts.MATCH_BUDGET", 10)
    monkeypatch.setattr("knowledge.index.keywords_fts.RAREST_BUDGET", 20)
    rows = [["회사", f"갑{number}"] for number in range(40)] + [["직원", f"을{number}"] for number in range(40)]
    ids = shelf.put("rules", "a.md", [*rows, ["회사", "직원"]])
    found = index.search(["회사", "직원"], generations=shelf.generations, limit=5)
    assert found[0][0] == ids[-1]


def test_common_terms_reorder_what_the_rarer_ones_have_found(
    shelf: Shelf, index: KeywordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.index.keywords_fts.MATCH_BUDGET", 10)
    monkeypatch.setattr("knowledge.index.keywords_fts.RAREST_BUDGET", 20)
    rows = [["회사", f"갑{number}"] for number in range(40)]
    ids = shelf.put("rules", "a.md", [*rows, ["연차", "기타"], ["연차", "회사"]])
    found = [chunk for chunk, _ in index.search(["연차", "회사"], generations=shelf.generations, limit=2)]
    assert found == [ids[-1], ids[-2]]


WORDS = st.sampled_from(["연차", "휴가", "급여", "여비", "payment", "retry"])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.dictionaries(
        st.sampled_from(["a", "b", "c", "d"]), st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=4)
    ),
    scope=st.sets(st.sampled_from(["a", "b", "c", "d"])),
    terms=st.lists(WORDS, max_size=3),
)
def test_nothing_outside_the_scope_is_ever_found(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, list[list[str]]], scope: set[str], terms: list[str]
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("scope"))
    try:
        ids = {source: shelf.put(source, "x.md", chunks) for source, chunks in texts.items()}
        shown = {source: shelf.generations[source] for source in texts if source in scope}
        found = [chunk for chunk, _ in FtsKeywordIndex(shelf.catalog).search(terms, generations=shown, limit=100)]
        expected = {
            chunk
            for source in shown
            for chunk, tokens in zip(ids[source], texts[source], strict=True)
            if set(terms) & set(tokens)
        }
        assert set(found) == expected
        assert len(found) == len(set(found))
    finally:
        shelf.catalog.close()
