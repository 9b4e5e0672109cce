"""Picture files: every page of a TIFF, transparency, damage, bombs."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from tests.unit.knowledge.extract.scan_pages import ScanPage, needs_tesseract


@needs_tesseract
def test_every_page_of_a_tiff_is_read_and_numbered() -> None:
    first = ScanPage(1400, 500).text(100, 100, "제1조(목적) 목적을 정한다.")
    second = ScanPage(1400, 500).text(100, 100, "제2조(정의) 뜻을 정한다.")
    buffer = io.BytesIO()
    first.image.save(buffer, "TIFF", save_all=True, append_images=[second.image], dpi=(300, 300))
    extraction = extract(buffer.getvalue(), name="rules.tif")
    assert [(block.page, block.text) for block in extraction.blocks] == [
        (1, "제1조(목적) 목적을 정한다."),
        (2, "제2조(정의) 뜻을 정한다."),
    ]
    assert extraction.format == "image"


@needs_tesseract
@pytest.mark.parametrize("kind", ["JPEG", "BMP", "WEBP", "GIF"])
def test_other_kinds_of_pictures_are_read(kind: str) -> None:
    content = ScanPage(1400, 400).text(100, 100, "제1조(목적) 목적을 정한다.").encoded(kind)
    assert extract(content, name="x").blocks[0].text == "제1조(목적) 목적을 정한다."


@needs_tesseract
def test_transparent_paper_is_white_and_small_screenshots_are_enlarged() -> None:
    grey = ScanPage(700, 160).text(40, 50, "연차휴가는 15일이다.", size=22).image
    layer = Image.new("RGBA", grey.size, (0, 0, 0, 0))
    layer.paste((10, 10, 10, 255), mask=grey.point(lambda value: 255 - value))
    buffer = io.BytesIO()
    layer.save(buffer, "PNG")
    assert "15일" in extract(buffer.getvalue(), name="shot.png").blocks[0].text


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_a_cut_off_picture_is_reported(kind: str) -> None:
    content = ScanPage(900, 900).text(100, 100, "여비").specks().encoded(kind)
    with pytest.raises(UnreadableFile, match=r"a\.img is a damaged"):
        extract(content[: len(content) // 3], name="a.img")


def test_a_picture_of_enormous_size_is_refused_before_it_is_unpacked() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    with pytest.raises(UnreadableFile, match=r"bomb\.png is (60000 x 60000 pixels|a damaged)"):
        extract(bomb, name="bomb.png")
