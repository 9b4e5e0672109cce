"""Photographs and scans (PNG, JPEG, TIFF with its pages, BMP, GIF, WebP) to blocks by OCR."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.errors import NoText, UnreadableFile
from knowledge.extract.scan import OCR_DPI, doubtful_warnings, mark_doubtful, read_scans
from knowledge.types import Extraction

if TYPE_CHECKING:
    from PIL.Image import Image

    from knowledge.extract.scan_image import Grey

_MAX_PIXELS = 120_000_000  # of one page; more is a bomb or a poster
_MAX_PAGES = 500
_MAX_SIDE_PX = 6_000
_GOOD_ROW_PX = (32, 70)  # rows of text that are read as they are
_BEST_ROW_PX = 46
_MOST_SCALED = 4.0
_PLAUSIBLE_DPI = (150.0, 1_200.0)


def extract_image(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks in reading order, a page for each picture of the file.

    Raises UnreadableFile for damaged and enormous pictures, where Tesseract is missing, and NoText without any text.
    """
    from knowledge.extract.pdf import assemble
    from knowledge.extract.pdf_layout import page_items

    count = count_pages(content, name=name)
    numbers = list(range(1, min(count, _MAX_PAGES) + 1))
    result = read_scans(
        content, numbers, lambda number: _render(content, number - 1, name=name), name=name, folder=ocr_folder
    )
    pages = [
        page_items(result.pages[number].chars, result.pages[number].rules)
        if number in result.pages and result.pages[number].chars
        else []
        for number in numbers
    ]
    lost = [f"page {number} could not be read by OCR: {reason}" for number, reason in result.failed.items()]
    if count > _MAX_PAGES:
        lost.append(f"only the first {_MAX_PAGES} of {count} pages were read; split the file")
    if not any(pages) and result.failed:
        raise UnreadableFile(f"{name} is a picture, and its {lost[0]}.")
    if not any(pages):
        raise NoText(
            f"{name} is a picture in which OCR finds no text; exclude it or put a readable version in its place."
        )
    title, blocks = assemble(pages)
    return Extraction(
        format="image",
        extractor="tesseract",
        status="partial" if lost else "ok",
        title=title,
        blocks=tuple(mark_doubtful(blocks, {number: page.doubtful for number, page in result.pages.items()})),
        warnings=(*lost, *doubtful_warnings(result.pages)),
    )


def count_pages(content: bytes, *, name: str) -> int:
    """How many pages the file has. Raises UnreadableFile."""
    with open_picture(content, name=name) as image:
        if image.format == "GIF":  # an animation is one picture
            return 1
        return int(getattr(image, "n_frames", 1))


def open_picture(content: bytes, *, name: str) -> Image:
    """The picture, of which only the head is read yet. Raises UnreadableFile for damaged and enormous ones."""
    import PIL.Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own warning of bombs; the limit stands below
            image = PIL.Image.open(io.BytesIO(content))
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        raise UnreadableFile(f"{name} is a damaged or unusual picture; save it again as PNG or PDF.") from error
    if image.width * image.height > _MAX_PIXELS:
        raise UnreadableFile(
            f"{name} is {image.width} x {image.height} pixels large, more than can be read; "
            "scan it at 300 dpi or split it."
        )
    return image


def _render(content: bytes, index: int, *, name: str) -> Grey:
    """The picture on white paper, grey, upright as its camera says, at about the resolution that OCR wants."""
    import numpy as np
    import PIL.Image
    import PIL.ImageOps

    try:
        with warnings.catch_warnings(), open_picture(content, name=name) as image:
            warnings.simplefilter("ignore")
            image.seek(index)
            upright = PIL.ImageOps.exif_transpose(image)
            if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
                layer = upright.convert("RGBA")
                paper = PIL.Image.new("RGBA", layer.size, "white")
                upright = PIL.Image.alpha_composite(paper, layer)
            grey = upright.convert("L")
            factor = _factor(grey, upright.info.get("dpi"))
            if factor != 1.0:
                size = max(1, round(grey.width * factor)), max(1, round(grey.height * factor))
                grey = grey.resize(size, PIL.Image.Resampling.LANCZOS)
            return np.array(grey)
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        TypeError,
        IndexError,
        PIL.Image.DecompressionBombError,
    ) as error:
        # decoders of damaged pictures end in any of these
        raise UnreadableFile(f"{name} is a damaged or cut off picture; save it again as PNG or PDF.") from error


def _factor(grey: Image, stated: object) -> float:
    """By how much to enlarge or reduce the picture, so that its text is as large as on a page of 300 dpi."""
    import numpy as np

    from knowledge.extract.scan_image import find_ink
    from knowledge.extract.scan_lines import usual_row_height

    factor = 1.0
    dpi = stated[0] if isinstance(stated, tuple) and stated else None
    if isinstance(dpi, int | float) and _PLAUSIBLE_DPI[0] <= dpi <= _PLAUSIBLE_DPI[1]:
        factor = OCR_DPI / float(dpi)
    else:
        height = usual_row_height(find_ink(np.asarray(grey)))
        if height is not None and not _GOOD_ROW_PX[0] <= height <= _GOOD_ROW_PX[1]:
            factor = min(max(_BEST_ROW_PX / height, 1 / _MOST_SCALED), _MOST_SCALED)
    return min(factor, _MAX_SIDE_PX / max(1, grey.width, grey.height))
