"""Pages as a scanner gives them, drawn by code: Korean text, ruled tables, skew, specks."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="scripts/install-readers was not run")
needs_office = pytest.mark.skipif(shutil.which("soffice") is None, reason="scripts/install-readers was not run")

WIDTH, HEIGHT = 2480, 3508  # A4 at 300 dpi
EM = 46  # 11 points


@cache
def korean_font(size: int = EM) -> ImageFont.FreeTypeFont:
    found = subprocess.run(
        ["fc-match", "-f", "%{file}", "NanumGothic:lang=ko"], capture_output=True, text=True, check=True
    )
    return ImageFont.truetype(found.stdout.strip(), size)


class ScanPage:
    """Draws in pixels from the upper left corner."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.image = Image.new("L", (width, height), 255)
        self._draw = ImageDraw.Draw(self.image)

    def text(self, x: int, y: int, text: str, size: int = EM) -> ScanPage:
        self._draw.text((x, y), text, font=korean_font(size), fill=20)
        return self

    def line(self, x0: int, y0: int, x1: int, y1: int, width: int = 4) -> ScanPage:
        self._draw.line((x0, y0, x1, y1), fill=30, width=width)
        return self

    def box(self, x0: int, y0: int, x1: int, y1: int, fill: int) -> ScanPage:
        self._draw.rectangle((x0, y0, x1, y1), fill=fill)
        return self

    def table(self, columns: list[int], rows: list[int], cells: list[list[str]]) -> ScanPage:
        """All lines of a grid, and the text of each cell in it."""
        for y in rows:
            self.line(columns[0], y, columns[-1], y)
        for x in columns:
            self.line(x, rows[0], x, rows[-1])
        for y, row in zip(rows, cells, strict=False):
            for x, cell in zip(columns, row, strict=False):
                self.text(x + 30, y + 20, cell)
        return self

    def specks(self, count: int = 60, seed: int = 7) -> ScanPage:
        chance = random.Random(seed)
        for _ in range(count):
            x, y = chance.randrange(self.image.width), chance.randrange(self.image.height)
            self._draw.rectangle((x, y, x + 3, y + 3), fill=90)
        return self

    def turned(self, degrees: float) -> ScanPage:
        page = ScanPage.__new__(ScanPage)
        page.image = self.image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255, expand=degrees % 90 == 0)
        page._draw = ImageDraw.Draw(page.image)
        return page

    def grey(self) -> npt.NDArray[np.uint8]:
        return np.array(self.image)

    def encoded(self, kind: str = "PNG", **options: object) -> bytes:
        buffer = io.BytesIO()
        self.image.save(buffer, kind, **options)
        return buffer.getvalue()


def condolence_page() -> ScanPage:
    """A title, an article and a ruled table with amounts."""
    page = ScanPage().text(300, 300, "[별표 1] 경조금 지급기준표 (제4조 관련)")
    page.text(300, 420, "제4조(지급) 회사는 직원에게 별표 1에 따라 경조금을 지급한다.")
    return page.table(
        [300, 1100, 1600, 2000],
        [560, 660, 760, 860],
        [["경조 사유", "경조금", "휴가"], ["본인 결혼", "500,000", "5"], ["조부모·외조부모 사망", "250,000", "3"]],
    )
