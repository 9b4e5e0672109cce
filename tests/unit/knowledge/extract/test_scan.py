"""Which pages need OCR, and what comes of a scan."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest
from PIL import ImageFilter

from knowledge.errors import NoText, UnreadableFile
from knowledge.extract import extract, ocr_page, scan
from knowledge.extract.ocr_tesseract import TesseractFailed
from knowledge.extract.scan import PageFacts, pages_needing_ocr
from tests.unit.knowledge.extract.scan_pages import ScanPage, condolence_page, needs_tesseract


def facts(text: str, *, share: float = 0.0, drawn: bool = True) -> PageFacts:
    return PageFacts(text, share, drawn)


def test_a_page_without_text_needs_ocr_unless_it_is_blank() -> None:
    assert pages_needing_ocr([facts("본문" * 200), facts("", share=1.0), facts("", drawn=False)]) == {
        2: "no text layer"
    }


def test_few_letters_on_a_picture_need_ocr_and_an_ocr_layer_does_not() -> None:
    pages = [facts("- 3 -", share=0.9), facts("본문 " * 200, share=1.0), facts("표지", share=0.1)]
    assert list(pages_needing_ocr(pages)) == [1]


def test_a_text_layer_that_lost_its_digits_needs_ocr() -> None:
    assert list(pages_needing_ocr([facts("제 조(목적) 제 조(정의) 제 조(적용) " + "본문" * 200)])) == [1]


def test_a_text_layer_in_no_known_encoding_needs_ocr_and_french_does_not() -> None:
    pages = [facts("\ue012\ue013\ue0ff\ue001" * 80), facts("Règlement intérieur de l'établissement " * 10)]
    assert list(pages_needing_ocr(pages)) == [1]


def pdf_of(page: ScanPage) -> bytes:
    buffer = io.BytesIO()
    page.image.save(buffer, "PDF", resolution=300)
    return buffer.getvalue()


@needs_tesseract
def test_amounts_of_a_scanned_table_stand_in_their_row(tmp_path: Path) -> None:
    extraction = extract(pdf_of(condolence_page().specks().turned(0.8)), name="a.pdf", ocr_folder=tmp_path)
    assert extraction.extractor == "pypdfium2 + tesseract"
    (table,) = [block for block in extraction.blocks if block.kind == "table"]
    assert table.rows[1] == ("본인 결혼", "500,000", "5")
    assert table.rows[2] == ("조부모·외조부모 사망", "250,000", "3")
    assert table.page == 1
    text = [block.text for block in extraction.blocks if block.kind != "table"]
    assert text[0].startswith("[별표 1] 경조금 지급기준표")
    assert text[1].startswith("제4조(지급) 회사는 직원에게 별표 1에 따라")


@needs_tesseract
@pytest.mark.parametrize("degrees", [90, 180])
def test_a_page_on_its_side_or_its_head_is_turned(degrees: int) -> None:
    page = ScanPage(1600, 1200)
    for line in range(6):
        page.text(100, 150 + 110 * line, "직원의 여비는 이 규정에 따라 지급한다.")
    extraction = extract(page.turned(degrees).encoded(dpi=(300, 300)), name="a.png")
    assert "직원의 여비는 이 규정에 따라" in extraction.blocks[0].text


@needs_tesseract
def test_raw_results_are_kept_for_this_user_alone_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ocr"
    content = ScanPage(1200, 500).text(100, 100, "제1조(목적) 목적을 정한다.").encoded(dpi=(300, 300))
    first = extract(content, name="a.png", ocr_folder=folder)
    (kept,) = folder.rglob("*.json")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("read by OCR again")

    monkeypatch.setattr(ocr_page, "read_images", fail)
    assert extract(content, name="renamed.png", ocr_folder=folder) == first


@needs_tesseract
def test_a_damaged_record_is_read_again(tmp_path: Path) -> None:
    content = ScanPage(1200, 500).text(100, 100, "제1조(목적) 목적을 정한다.").encoded(dpi=(300, 300))
    first = extract(content, name="a.png", ocr_folder=tmp_path)
    (kept,) = tmp_path.rglob("*.json")
    kept.write_text('{"engine": "5')
    assert extract(content, name="a.png", ocr_folder=tmp_path) == first


def test_a_missing_tesseract_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.extract.ocr_tesseract.tesseract_version", lambda: None)
    with pytest.raises(UnreadableFile, match=r"a\.png needs .*OCR.*tesseract-ocr tesseract-ocr-kor"):
        extract(ScanPage(300, 300).encoded(), name="a.png")


@needs_tesseract
def test_a_page_on_which_tesseract_fails_is_named_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ocr_page.recognise

    def failing(grey, *, dpi, engine):  # type: ignore[no-untyped-def]
        if grey.mean() > 254:
            raise TesseractFailed("Tesseract took longer than 180 s")
        return real(grey, dpi=dpi, engine=engine)

    monkeypatch.setattr(ocr_page, "recognise", failing)
    buffer = io.BytesIO()
    first = ScanPage(1200, 900).text(100, 100, "제1조(목적) 목적을 정한다.").text(100, 300, "여비 규정")
    first.image.save(buffer, "TIFF", save_all=True, append_images=[ScanPage(1200, 900).image])
    extraction = extract(buffer.getvalue(), name="a.tif")
    assert extraction.status == "partial"
    assert extraction.warnings[0] == "page 2 could not be read by OCR: Tesseract took longer than 180 s"
    assert extraction.blocks[0].page == 1


@needs_tesseract
def test_a_short_text_whose_lines_are_set_close_is_read_line_by_line() -> None:
    page = ScanPage()
    lines = ("보안 카드의 재발급 수수료는", "오천 원으로 하고 분실한 카드는", "그날 안에 총무팀에 신고한다.")
    for number, line in enumerate(lines):
        page.text(240, 240 + 50 * number, line)
    extraction = extract(page.encoded(dpi=(300, 300)), name="a.png")
    assert "재발급 수수료는 오천 원으로 하고 분실한 카드는 그날 안에" in " ".join(
        block.text for block in extraction.blocks
    )


@needs_tesseract
def test_a_scan_without_any_text_is_reported() -> None:
    with pytest.raises(NoText, match=r"a\.png is a picture in which OCR finds no text"):
        extract(ScanPage(600, 600).specks(20).encoded(), name="a.png")


def test_at_most_a_limited_number_of_pages_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "MAX_OCR_PAGES", 0)
    result = scan.read_scans(b"", [1], lambda number: pytest.fail("rendered"), name="a.pdf", folder=None)
    assert result.failed == {1: "only 0 pages of a file are read by OCR; split it"}


@needs_tesseract
def test_the_grey_rim_of_a_blurred_table_line_is_no_figure() -> None:
    page = condolence_page()
    page.image = page.image.filter(ImageFilter.GaussianBlur(3))
    (rows,) = [block.rows for block in extract(page.encoded(), name="a.png").blocks if block.rows]
    assert [row[1:] for row in rows] == [("경조금", "휴가"), ("500,000", "5"), ("250,000", "3")]


@needs_tesseract
def test_what_cannot_be_read_gives_an_error_and_no_garbage() -> None:
    page = condolence_page()
    page.image = page.image.filter(ImageFilter.GaussianBlur(6))
    with pytest.raises(UnreadableFile, match=r"a\.png.*too blurred.*300 dpi"):
        extract(page.encoded(), name="a.png")
