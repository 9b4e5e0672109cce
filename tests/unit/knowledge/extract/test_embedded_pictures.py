"""Documents that are only pictures go through OCR; a logo beside text does not."""

from __future__ import annotations

import io

import docx
import openpyxl
import openpyxl.drawing.image
import pptx
import pytest
from pptx.util import Cm

from knowledge.errors import NoText
from knowledge.extract import extract
from knowledge.extract.embedded_pictures import pictures_of
from knowledge.extract.page_picture import PictureTask, picture_of_page
from tests.unit.knowledge.extract import hwp_files
from tests.unit.knowledge.extract.hwpx_files import hwpx
from tests.unit.knowledge.extract.scan_pages import ScanPage, needs_tesseract

LINE = "제1조(목적) 이 규정은 여비를 정한다."
SECOND = "제2조(일비) 일비는 하루 30,000원으로 한다."


def page(text: str) -> bytes:
    return ScanPage(1800, 400).text(100, 100, text).encoded()


def logo() -> bytes:
    return ScanPage(120, 80).text(5, 5, "로고").encoded()


def docx_of(*pictures: bytes, text: str = "") -> bytes:
    document = docx.Document()
    if text:
        document.add_paragraph(text)
    for picture in pictures:
        document.add_picture(io.BytesIO(picture))
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def pptx_of(*slides: bytes | str) -> bytes:
    deck = pptx.Presentation()
    for content in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        if isinstance(content, str):
            slide.shapes.add_textbox(Cm(1), Cm(1), Cm(20), Cm(2)).text_frame.text = content
        else:
            slide.shapes.add_picture(io.BytesIO(content), Cm(1), Cm(1))
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def xlsx_of(picture: bytes) -> bytes:
    book = openpyxl.Workbook()
    book.active.add_image(openpyxl.drawing.image.Image(io.BytesIO(picture)), "A1")
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def hwp_of(*pictures: bytes) -> bytes:
    parts = {f"BinData/BIN{number:04X}.png": hwp_files.deflated(data) for number, data in enumerate(pictures, start=1)}
    return hwp_files.hwp([hwp_files.paragraph("")], more=parts)


def hwpx_of(*pictures: bytes) -> bytes:
    return hwpx(["<hp:p/>"], more={f"BinData/image{n}.png": data for n, data in enumerate(pictures, start=1)})


MAKERS = {
    "docx": lambda: docx_of(page(LINE), page(SECOND)),
    "pptx": lambda: pptx_of(page(LINE), page(SECOND)),
    "hwp": lambda: hwp_of(page(LINE), page(SECOND)),
    "hwpx": lambda: hwpx_of(page(LINE), page(SECOND)),
}


@needs_tesseract
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_document_of_pictures_is_read_picture_by_picture(kind: str) -> None:
    content = MAKERS[kind]()
    extraction = extract(content, name=f"a.{kind}")
    assert extraction.format == kind
    assert "tesseract" in extraction.extractor
    texts = {block.page: block.text for block in extraction.blocks}
    assert "여비를 정한다" in texts[1]
    assert "30,000원" in texts[2]
    assert picture_of_page(PictureTask(name="a", content=content, page=2)).startswith(b"\xff\xd8\xff")


@needs_tesseract
def test_a_workbook_with_nothing_but_a_picture_is_read() -> None:
    assert "여비를 정한다" in extract(xlsx_of(page(LINE)), name="a.xlsx").blocks[0].text


@needs_tesseract
def test_a_slide_that_is_a_picture_is_read_among_slides_with_text() -> None:
    text = "출장 여비는 실비로 지급하며 영수증을 반드시 붙여서 일주일 안에 제출해야 합니다. 늦으면 지급하지 않습니다."
    extraction = extract(pptx_of(text, page(SECOND), text), name="a.pptx")
    assert [block.page for block in extraction.blocks] == [1, 2, 3]
    assert "30,000원" in extraction.blocks[1].text


def test_text_beside_a_logo_is_not_sent_through_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.extract.ocr_tesseract.tesseract_version", lambda: pytest.fail("OCR was called"))
    extraction = extract(docx_of(logo(), text="짧은 글"), name="a.docx")
    assert [block.text for block in extraction.blocks] == ["짧은 글"]
    assert extraction.status == "ok"


def test_without_tesseract_a_short_text_with_a_picture_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.extract.ocr_tesseract.tesseract_version", lambda: None)
    extraction = extract(docx_of(page(LINE), text="짧은 글"), name="a.docx")
    assert extraction.status == "partial"
    assert "Tesseract" in extraction.warnings[0]


@needs_tesseract
def test_pictures_without_text_leave_the_document_without_text() -> None:
    with pytest.raises(NoText, match=r"a\.docx"):
        extract(docx_of(ScanPage(600, 400).encoded()), name="a.docx")


def test_pictures_come_in_the_order_of_their_numbers_and_each_once() -> None:
    made = [page(str(number)) for number in range(11)]
    assert pictures_of(hwpx_of(*made, made[0])) == made
