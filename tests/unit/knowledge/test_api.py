"""The door: search, sections by loose labels, evidence pages, status and checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.errors import NotFound
from knowledge.types import Scope, SourceConfig
from tests.unit.knowledge.shelf import EVERYTHING, TRAVEL, Shelf

LEAVE = """# 휴가규정

## 제1조(목적)
이 규정은 직원의 휴가를 정한다.

## 제2조(연차휴가)
1년간 80퍼센트 이상 출근한 직원에게 15일의 연차휴가를 준다. 경조사에 따른 휴가 일수는 별표 1과 같다.

## 제12조(공가)
예비군 훈련에는 공가를 준다.

## 제12조의2(병가)
병가는 60일까지 준다.

## [별표 1] 경조휴가 일수

| 구분 | 일수 |
| --- | --- |
| 결혼 | 5일 |
| 출산 | 20일 |
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    shelf.write("hr/leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    yield shelf
    shelf.close()


def read(shelf: Shelf, document: str, label: str) -> str:
    return "\n".join(chunk.text for chunk in shelf.knowledge.read(document, label, scope=EVERYTHING))


@pytest.mark.parametrize("document", ["hr/leave.md", "leave.md", "leave", "휴가규정", "휴가"])
def test_a_document_is_found_by_path_file_name_title_or_a_part_of_it(shelf: Shelf, document: str) -> None:
    assert "60일까지" in read(shelf, document, "제12조의2")


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("제2조", "15일의 연차휴가"),
        ("제 2 조", "15일의 연차휴가"),
        ("제2조(연차휴가)", "15일의 연차휴가"),
        ("제12조", "예비군"),
        ("제12조의2", "60일까지"),
        ("별표 1", "20일"),
        ("[별표 1]", "20일"),
        ("별표1", "20일"),
    ],
)
def test_a_section_is_found_however_its_label_is_written(shelf: Shelf, label: str, words: str) -> None:
    assert words in read(shelf, "leave.md", label)


def test_a_label_never_means_another_one_that_begins_like_it(shelf: Shelf) -> None:
    assert "60일까지" not in read(shelf, "leave.md", "제12조")
    assert "예비군" not in read(shelf, "leave.md", "제2조")


def test_errors_name_the_nearest_documents_and_labels(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="휴가규정"):
        shelf.knowledge.read("휴가구정", "제1조", scope=EVERYTHING)
    with pytest.raises(NotFound, match="제12조"):
        shelf.knowledge.read("leave.md", "제13조", scope=EVERYTHING)


def test_a_question_brings_the_article_and_the_appendix_it_points_to(shelf: Shelf) -> None:
    evidence = shelf.knowledge.search("결혼하면 휴가가 며칠인가요?", scope=EVERYTHING, top_k=8)
    texts = [scored.chunk.text for scored in evidence.chunks]
    assert any("20일" in text for text in texts)
    assert evidence.degraded == ()
    assert {tool.name for tool in evidence.tools} == {"keyword", "dense:hash"}
    generations = shelf.knowledge._catalog.active_generations(EVERYTHING)
    article = next(chunk for chunk in shelf.knowledge.read("leave", "제2조", scope=EVERYTHING))
    linked = shelf.knowledge._catalog.linked_chunk_ids([article.id], generations)
    appendix = shelf.knowledge._catalog.visible_chunks(linked[article.id], generations)
    assert ["20일" in chunk.text for chunk in appendix.values()] == [True]


def test_search_sees_nothing_outside_its_scope(shelf: Shelf) -> None:
    evidence = shelf.knowledge.search("연차휴가는 며칠인가요?", scope=Scope.of("other"), top_k=8)
    assert evidence.chunks == ()
    assert evidence.verdict.decision == "none"


def test_pending_vectors_are_said_with_the_result(shelf: Shelf) -> None:
    shelf.embedder.down = True
    shelf.write("more.md", "# 상여규정\n\n상여금은 연 2회 지급한다.\n")
    shelf.sync()
    evidence = shelf.knowledge.search("상여금은 몇 번 주나요?", scope=EVERYTHING, top_k=3)
    assert "상여금" in evidence.chunks[0].chunk.text
    assert any("vectors pending" in sentence for sentence in evidence.degraded)


def test_the_evidence_page_of_a_document_has_its_blocks_and_the_place_of_the_chunk(shelf: Shelf) -> None:
    shelf.sources = (replace(shelf.sources[0], link_template="https://wiki.example.com/{uri}?page={page}"),)
    shelf.close()
    (chunk,) = shelf.knowledge.read("leave", "별표 1", scope=EVERYTHING)
    passage = shelf.knowledge.passage(chunk.id, scope=EVERYTHING)
    assert passage.title == "휴가규정"
    assert passage.url == "https://wiki.example.com/hr/leave.md?page=1"
    assert passage.locator is not None
    assert passage.locator.first_block is not None
    assert passage.locator.last_block is not None
    marked = passage.blocks[passage.locator.first_block : passage.locator.last_block + 1]
    assert ("결혼", "5일") in [row for block in marked for row in block.rows]


def test_secrets_are_masked_in_text_index_and_evidence_page(shelf: Shelf) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    shelf.write("ops.md", f"# 운영 안내\n\n배포 열쇠는 {key} 이다.\n")
    shelf.sync()
    (chunk,) = list(
        shelf.knowledge._catalog.chunks_where(
            "d.uri = 'ops.md'", (), shelf.knowledge._catalog.active_generations(EVERYTHING)
        )
    )
    page = shelf.knowledge.passage(chunk.id, scope=EVERYTHING)
    assert "[masked:" in chunk.text
    for text in (chunk.text, chunk.index_text, *(block.text for block in page.blocks)):
        assert key not in text
    assert shelf.keyword(key.lower()) == []
    assert all(key not in text for text in shelf.embedder.passages)
    shelf.close()
    for path in shelf.data_dir.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_files_are_found_by_the_end_of_their_path(shelf: Shelf) -> None:
    catalog = shelf.knowledge._catalog
    generations = catalog.active_generations(EVERYTHING)
    found = catalog.chunks_in_files(["leave.md", "hr/leave.md", "r/leave.md", "nothing.md"], generations)
    assert set(found) == {"leave.md", "hr/leave.md"}
    assert [chunk.ordinal for chunk in found["leave.md"]] == sorted(chunk.ordinal for chunk in found["leave.md"])
    assert catalog.chunks_in_files(["leave.md"], {}) == {}


def test_checks_name_every_tool_and_what_is_wrong(shelf: Shelf) -> None:
    assert {(tool.name, tool.state) for tool in shelf.knowledge.check()} == {
        ("catalog", "ok"),
        ("chroma", "ok"),
        ("dense:counting", "ok"),
    }
    shelf.embedder.down = True
    (down,) = [tool for tool in shelf.knowledge.check() if tool.state == "down"]
    assert (down.name, "start it" in down.detail) == ("dense:counting", True)


def test_status_of_a_source_before_its_first_sync_is_empty(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "new")
    shelf.sources = (SourceConfig(name="rules", kind="documents", path=shelf.folder, title="규정집"),)
    (status,) = shelf.knowledge.status(scope=EVERYTHING)
    assert (status.title, status.documents, status.chunks, status.last_sync) == ("규정집", 0, 0, None)
    assert shelf.knowledge.search("연차", scope=EVERYTHING).verdict.decision == "none"
    shelf.close()


def test_skipped_files_are_counted_by_reason(shelf: Shelf) -> None:
    shelf.write(".hidden.md", "x")
    shelf.write("a.tmp", "x")
    shelf.sync()
    (status,) = shelf.knowledge.status(scope=EVERYTHING)
    assert sum(status.skipped.values()) == 2
    assert "temporary file" in status.skipped
