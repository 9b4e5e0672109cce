"""Words that OCR read with doubt follow their block into the chunk, and from there to whoever finds it."""

from __future__ import annotations

from pathlib import Path

from PIL import ImageFilter

from knowledge.catalog_rows import DoubtfulWord, IndexedDraft
from knowledge.ingest_doubt import with_doubtful_words
from knowledge.types import Block, ChunkDraft
from tests.unit.knowledge.extract.scan_pages import condolence_page, needs_tesseract
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

BLOCKS = (
    Block(kind="paragraph", text="제1조 본인 결혼은 5일", page=1, doubtful=("5일", "제1조")),
    Block(kind="table", text="결혼 | 500,000", rows=(("결혼", "500,000"),), page=2, doubtful=("500,000", "결혼")),
)


def drafted(text: str, first: int | None, last: int | None) -> IndexedDraft:
    draft = ChunkDraft(kind="article", text=text, index_text=text, group="g", first_block=first, last_block=last)
    return IndexedDraft(id="i", draft=draft, tokens=())


def words(text: str, first: int | None, last: int | None) -> list[tuple[str, int | None]]:
    (made,) = with_doubtful_words([drafted(text, first, last)], BLOCKS)
    return [(word.text, word.page) for word in made.doubtful]


def test_a_chunk_has_the_doubtful_words_of_its_own_blocks_with_their_pages_digits_first() -> None:
    assert words("제1조 본인 결혼은 5일\n결혼 | 500,000", 0, 1) == [
        ("5일", 1), ("제1조", 1), ("500,000", 2), ("결혼", 2),
    ]  # fmt: skip
    assert words("결혼 | 500,000", 1, 1) == [("500,000", 2), ("결혼", 2)]


def test_a_part_of_a_block_has_only_what_stands_in_it() -> None:
    assert words("제1조 본인", 0, 0) == [("제1조", 1)]
    assert words("1,500,000", 1, 1) == []
    assert words("500,000", None, None) == []


def test_documents_without_doubt_are_left_as_they_are() -> None:
    indexed = drafted("a", 0, 0)
    assert with_doubtful_words([indexed], [Block(kind="paragraph", text="a")]) == (indexed,)
    assert DoubtfulWord(text="a", page=1).page == 1


@needs_tesseract
def test_a_blurred_scan_is_found_with_its_doubtful_words(tmp_path: Path) -> None:
    page = condolence_page()
    page.image = page.image.filter(ImageFilter.GaussianBlur(4))
    shelf = Shelf(tmp_path)
    (shelf.folder / "scan.png").write_bytes(page.encoded())
    shelf.sync()
    evidence = shelf.knowledge.search("경조금 본인", scope=EVERYTHING)
    found = [scored.chunk.locator for scored in evidence.chunks if scored.chunk.locator.doubtful]
    shelf.close()
    assert any(any(char.isdigit() for char in word) for locator in found for word in locator.doubtful)
    assert all(len(locator.doubtful) == len(locator.doubtful_pages) for locator in found)
    assert {page for locator in found for page in locator.doubtful_pages} == {1}
