"""Blocks survive storage, and chunk ids depend on what a chunk says, not on where it stands."""

from __future__ import annotations

from dataclasses import replace

from knowledge.catalog_rows import pack_blocks, unpack_blocks, with_ids
from knowledge.ingest_prepare import PrepareTask, prepare
from knowledge.types import Block, ChunkDraft


def test_blocks_come_back_exactly_as_they_were() -> None:
    blocks = (
        Block(kind="heading", text="제1장 총칙", level=1, page=1),
        Block(kind="table", text="구분 일수", rows=(("구분", "일수"), ("결혼", "")), page=2, doubtful=("5일", "결혼")),
        Block(kind="paragraph", text="", start_line=3, end_line=4),
    )
    assert unpack_blocks(pack_blocks(blocks)) == blocks
    assert unpack_blocks(None) == ()


def test_ids_stay_when_only_the_place_changes_and_differ_when_the_words_do() -> None:
    draft = ChunkDraft(kind="definition", text="x", index_text="f: x", group="f", symbol="f", start_line=1, end_line=2)
    moved = replace(draft, start_line=9, end_line=10, page=3)
    (first,), (second,) = (with_ids("shop", "a.py", [one], [["x"]]) for one in (draft, moved))
    assert first.id == second.id
    others = [
        with_ids("shop", "a.py", [replace(draft, index_text="f: y")], [["y"]]),
        with_ids("shop", "b.py", [draft], [["x"]]),
        with_ids("other", "a.py", [draft], [["x"]]),
        with_ids("shop", "a.py", [replace(draft, symbol="g")], [["x"]]),
    ]
    assert len({first.id, *(indexed[0].id for indexed in others)}) == 5


def test_equal_sections_of_one_document_have_ids_of_their_own() -> None:
    draft = ChunkDraft(kind="section", text="x", index_text="x", group="1", label="제1조")
    ids = [indexed.id for indexed in with_ids("rules", "a.md", [draft, draft, draft], [["x"]] * 3)]
    assert len(set(ids)) == 3


def test_a_file_that_cannot_be_read_is_a_document_with_a_reason() -> None:
    task = PrepareTask(
        source="rules", kind="documents", uri="a.docx", content_hash="h", revision="h", content=b"PK\x03\x04"
    )
    prepared = prepare(task)
    assert prepared.status == "failed"
    assert prepared.reason
    assert prepared.drafts == ()
