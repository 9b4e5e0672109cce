"""PowerPoint 97-2003 presentations: converted by LibreOffice Impress where it is installed, read as PPTX."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from knowledge.errors import ReaderMissing
from knowledge.types import Extraction

PACKAGE = "libreoffice-impress-nogui"
_IMPRESS = "libsdlo.so"  # beside soffice when the component is there


def extract_ppt(content: bytes, *, name: str, ocr_folder: Path | None = None) -> Extraction:
    """Blocks of the presentation. Raises ReaderMissing without Impress, else as the reader of PPTX does."""
    from knowledge.extract.office import convert
    from knowledge.extract.slides import extract_pptx

    if not has_impress():
        raise ReaderMissing(
            f"{name} is a PowerPoint 97-2003 presentation (PPT); save it in PowerPoint as PPTX or PDF, or install the "
            f"Debian package {PACKAGE}, with which it is read."
        )
    converted = convert(content, name=name, suffix=".ppt", to="pptx")
    extraction = extract_pptx(converted, name=name, ocr_folder=ocr_folder)
    return replace(extraction, format="ppt", extractor=f"libreoffice + {extraction.extractor}")


def has_impress() -> bool:
    """Whether LibreOffice is installed with its part for presentations."""
    soffice = shutil.which("soffice") or shutil.which("libreoffice")
    return soffice is not None and (Path(soffice).resolve().parent / _IMPRESS).exists()
