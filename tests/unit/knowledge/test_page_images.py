"""Pages as pictures: of what was indexed alone, within the scope, and never where something is masked."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from knowledge.errors import ContentChanged, NotFound, UnreadableFile
from knowledge.extract.limits import ExtractionLimits
from knowledge.extract.page_picture import PictureTask, picture_of_page
from knowledge.page_images import PageImages
from knowledge.types import Block, Locator, Scope
from tests.fixtures.documents.pdf_writer import PdfPage, write_pdf
from tests.unit.knowledge.extract.scan_pages import ScanPage
from tests.unit.knowledge.shelf import EVERYTHING, Shelf

PAGES = write_pdf([
    PdfPage().text(60, 780, "제1조(목적) 경조금을 정한다."),
    PdfPage().text(60, 780, "제2조(금액) 경조금은 500,000원으로 한다."),
])  # fmt: skip


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    (made.folder / "경조금.pdf").write_bytes(PAGES)
    made.sync()
    yield made
    made.close()


def any_chunk(shelf: Shelf) -> str:
    generations = shelf.knowledge._catalog.active_generations(EVERYTHING)
    found = shelf.knowledge._keywords.search(["경조금"], generations=generations, limit=1)
    return found[0][0]


def size_of(content: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "JPEG"
        return image.size


def test_a_page_of_an_indexed_document_is_a_picture(shelf: Shelf) -> None:
    image = shelf.knowledge.page_image(any_chunk(shelf), 2, scope=EVERYTHING)
    assert image.media_type == "image/jpeg"
    width, height = size_of(image.content)
    assert 1.3 < height / width < 1.5
    assert height > 1_500


def test_a_picture_is_drawn_once(shelf: Shelf) -> None:
    chunk = any_chunk(shelf)
    first = shelf.knowledge.page_image(chunk, 1, scope=EVERYTHING)
    (shelf.folder / "경조금.pdf").unlink()
    assert shelf.knowledge.page_image(chunk, 1, scope=EVERYTHING) == first
    with pytest.raises(NotFound):
        shelf.knowledge.page_image(chunk, 2, scope=EVERYTHING)


def test_a_file_that_has_changed_is_not_shown_as_if_it_were_the_indexed_one(shelf: Shelf) -> None:
    chunk = any_chunk(shelf)
    (shelf.folder / "경조금.pdf").write_bytes(PAGES.replace(b"%PDF-1.4", b"%PDF-1.5") + b"\n")
    with pytest.raises(ContentChanged, match=r"경조금\.pdf has changed since it was indexed"):
        shelf.knowledge.page_image(chunk, 1, scope=EVERYTHING)


def test_who_may_not_see_the_source_sees_no_page(shelf: Shelf) -> None:
    with pytest.raises(NotFound):
        shelf.knowledge.page_image(any_chunk(shelf), 1, scope=Scope.of("other"))


@pytest.mark.parametrize("page", [0, 3, 99_999])
def test_a_page_that_is_not_there(shelf: Shelf, page: int) -> None:
    with pytest.raises(NotFound, match=f"no page {page}"):
        shelf.knowledge.page_image(any_chunk(shelf), page, scope=EVERYTHING)


class OneFile:
    """A source that counts how often it is asked."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.fetched = 0

    def fetch(self, uri: str) -> bytes:
        self.fetched += 1
        return self.content


def located(content: bytes) -> Locator:
    import hashlib

    return Locator(source="rules", uri="a.pdf", revision=hashlib.sha256(content).hexdigest())


def test_a_page_with_something_masked_is_not_shown() -> None:
    source = OneFile(PAGES)
    blocks = [
        Block(kind="paragraph", text="주민번호 [masked:resident-number]", page=1),
        Block(kind="table", text="", rows=(("비밀번호", "[masked:password]"),), page=2),
    ]
    for page in (1, 2):
        with pytest.raises(NotFound, match="masked"):
            PageImages().get(located(PAGES), page, blocks, source=lambda: source)  # type: ignore[arg-type,return-value]
    assert source.fetched == 0


def test_a_page_that_takes_too_long_to_draw_is_given_up() -> None:
    images = PageImages(limits=ExtractionLimits(wall_s=0.01, memory_bytes=1_000_000_000))
    blocks = [Block(kind="paragraph", text="a", page=1)]
    with pytest.raises(UnreadableFile, match=r"a\.pdf took longer"):
        images.get(located(PAGES), 1, blocks, source=lambda: OneFile(PAGES))  # type: ignore[arg-type,return-value]


def test_the_cache_stays_small() -> None:
    images = PageImages(max_cached_bytes=10)
    source = OneFile(PAGES)
    blocks = [Block(kind="paragraph", text="a", page=1)]
    for _ in range(2):
        images.get(located(PAGES), 1, blocks, source=lambda: source)  # type: ignore[arg-type,return-value]
    assert source.fetched == 2


def test_pictures_are_shown_upright_and_not_larger_than_a_screen_needs() -> None:
    page = ScanPage(4000, 3000).text(300, 300, "제1조")
    assert size_of(picture_of_page(PictureTask(name="a.png", content=page.encoded(), page=1))) == (2400, 1800)
    with pytest.raises(NotFound, match="has 1 pages"):
        picture_of_page(PictureTask(name="a.png", content=page.encoded(), page=2))
