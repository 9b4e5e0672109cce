"""Pictures of a PDF page: how much of it they cover, and the page itself as a grey image for OCR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowledge.extract.scan_image import Grey

_DPI = 300
_MAX_SIDE_PX = 6_000  # larger sheets are read at a lower resolution


def read_pictures(page: Any) -> tuple[float, bool]:
    """(share of the page that pictures cover, from 0 to 1; whether anything is drawn on it)."""
    import pypdfium2.raw as raw

    area = max(1.0, page.get_width() * page.get_height())
    covered = 0.0
    is_drawn = False
    for item in page.get_objects(max_depth=4):
        is_drawn = True
        if item.type == raw.FPDF_PAGEOBJ_IMAGE:
            x0, y0, x1, y1 = item.get_bounds()
            covered += max(0.0, x1 - x0) * max(0.0, y1 - y0)
    return min(1.0, covered / area), is_drawn


def render_page(document: Any, index: int) -> Grey:
    """(height, width) grey, at 300 dpi unless the sheet is larger than A3."""
    import numpy as np

    page = document[index]
    try:
        longest = max(page.get_width(), page.get_height(), 1.0)
        scale = min(_DPI / 72, _MAX_SIDE_PX / longest)
        bitmap = page.render(scale=scale, grayscale=True)
        pixels = bitmap.to_numpy()
        return np.array(pixels[..., 0] if pixels.ndim == 3 else pixels)
    finally:
        page.close()
