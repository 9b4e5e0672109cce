"""Tesseract through its command: images in, words with their boxes and confidences out."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.errors import ReaderMissing

if TYPE_CHECKING:
    from knowledge.extract.scan_image import Grey

PACKAGES = "tesseract-ocr tesseract-ocr-kor"
_TIMEOUT_S = 180.0
_ROTATE = re.compile(r"^Rotate: (\d+)$", re.M)
_ROTATE_CONFIDENCE = re.compile(r"^Orientation confidence: ([\d.]+)$", re.M)
_TSV_COLUMNS = 12
_WORD_LEVEL = "5"


@dataclass(frozen=True, slots=True)
class OcrWord:
    """One word of a line, pixels from the upper left corner; `confidence` from 0 to 100, higher is surer.

    `gap` is the white space in front of the word in pixels, as the ink shows it (-1: first of its line).
    """

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    confidence: float
    gap: int = -1


class TesseractFailed(Exception):
    """Tesseract ended with an error or took too long on these images."""


@functools.cache
def tesseract_version() -> str | None:
    """E.g. "5.3.0"; None where Tesseract is not installed."""
    command = shutil.which("tesseract")
    if command is None:
        return None
    try:
        run = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"tesseract v?(\d[\w.]*)", run.stdout + run.stderr)
    return found.group(1) if found else "unknown"


@functools.cache
def _languages() -> frozenset[str]:
    run = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, timeout=30, check=False)
    return frozenset(run.stdout.split("\n"))


def require_tesseract(*, name: str) -> str:
    """The version. Raises UnreadableFile, which names the Debian packages, where Tesseract or its Korean is missing."""
    version = tesseract_version()
    if version is None or "kor" not in _languages():
        raise ReaderMissing(
            f"{name} needs text recognition (OCR), but Tesseract with Korean is not installed; "
            f"install the Debian packages {PACKAGES} and ingest again."
        )
    return version


def read_images(
    images: Sequence[Grey], *, language: str, layout: int, letters: str | None = None
) -> list[list[OcrWord]]:
    """Words of each image, in the order of the images. `layout` is Tesseract's page segmentation mode; `letters` are
    the only ones to be read, when given.

    Raises TesseractFailed.
    """
    if not images:
        return []
    with tempfile.TemporaryDirectory(prefix="haechi-ocr-") as folder:
        paths = []
        for index, image in enumerate(images):
            path = Path(folder, f"{index}.pgm")
            path.write_bytes(b"P5\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes())
            paths.append(str(path))
        listing = Path(folder, "list.txt")
        listing.write_text("\n".join(paths) + "\n")
        source = paths[0] if len(paths) == 1 else str(listing)
        only = ["-c", f"tessedit_char_whitelist={letters}"] if letters else []
        tsv = _run([source, "-", "-l", language, "--psm", str(layout), "--dpi", "300", *only, "tsv"])
    return _parse(tsv, len(images))


def find_rotation(image: Grey) -> tuple[int, float]:
    """(degrees by which to turn the page clockwise, confidence from 0 up); (0, 0.0) when Tesseract cannot tell."""
    if "osd" not in _languages():
        return 0, 0.0
    with tempfile.TemporaryDirectory(prefix="haechi-ocr-") as folder:
        path = Path(folder, "page.pgm")
        path.write_bytes(b"P5\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes())
        try:
            report = _run([str(path), "-", "-l", "osd", "--psm", "0", "--dpi", "300"])
        except TesseractFailed:  # too few letters to tell
            return 0, 0.0
    rotate, confidence = _ROTATE.search(report), _ROTATE_CONFIDENCE.search(report)
    if not rotate or not confidence:
        return 0, 0.0
    return int(rotate.group(1)) % 360, float(confidence.group(1))


def _run(arguments: Sequence[str]) -> str:
    try:
        run = subprocess.run(
            ["env", "OMP_THREAD_LIMIT=1", "tesseract", *arguments],  # its threads only burn time on small machines
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise TesseractFailed(f"Tesseract took longer than {_TIMEOUT_S:.0f} s") from error
    except OSError as error:
        raise TesseractFailed(f"Tesseract could not be started: {error.strerror}") from error
    if run.returncode != 0:
        lines = run.stderr.decode("utf-8", "replace").strip().split("\n")
        raise TesseractFailed(f"Tesseract failed: {lines[-1][:200]}")
    return run.stdout.decode("utf-8", "replace")


def _parse(tsv: str, count: int) -> list[list[OcrWord]]:
    images: list[list[OcrWord]] = [[] for _ in range(count)]
    for row in tsv.split("\n")[1:]:
        cells = row.split("\t")
        if len(cells) != _TSV_COLUMNS or cells[0] != _WORD_LEVEL or not cells[11].strip():
            continue
        image = int(cells[1]) - 1
        if not 0 <= image < count:
            continue
        left, top, width, height = (int(cell) for cell in cells[6:10])
        images[image].append(OcrWord(cells[11].strip(), left, top, left + width, top + height, float(cells[10])))
    return images
