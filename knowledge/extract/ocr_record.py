"""What OCR saw on one page, as it is cached: nothing cleaned, nothing chosen, so that cleaning can change freely.

The text in these files is unmasked: the folder is for this user alone and stays out of backups.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from knowledge.extract.ocr_tesseract import OcrWord
from knowledge.extract.scan_image import PixelRule

RECORD_VERSION = 9  # raise it when pages must be read again


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A stretch of a line, read as Korean (`words`) and, where that left doubts, as English too (`latin`).

    `dots` are the places (x) of blots at half its height; `rings` (x0, x1, number inside, 0 when it could not be read)
    those of circled numbers; `leader`: it is a row of dots or a line, and was not read; `cell`: it stands in a table.
    """

    words: tuple[OcrWord, ...]
    latin: tuple[OcrWord, ...] = ()
    dots: tuple[int, ...] = ()
    rings: tuple[tuple[int, int, int], ...] = ()
    leader: bool = False
    cell: bool = False


@dataclass(frozen=True, slots=True)
class OcrRecord:
    """`width` and `height` of the upright page in pixels; `rotation` and `skew` in degrees, as it was turned."""

    engine: str
    width: int
    height: int
    dpi: int
    rotation: int
    skew: float
    rules: tuple[PixelRule, ...]
    lines: tuple[OcrLine, ...]


class OcrCache:
    """Records by file and page in one folder; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, digest: str, page: int, *, dpi: int) -> OcrRecord | None:
        """The record of that page, None when there is none that fits (a damaged one counts as none)."""
        if self._folder is None:
            return None
        try:
            stored = json.loads(self._path(digest, page, dpi).read_text(encoding="utf-8"))
            return _from_json(stored)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def save(self, digest: str, page: int, record: OcrRecord) -> None:
        """Written whole or not at all; a cache that cannot be written is only slower."""
        if self._folder is None:
            return
        path = self._path(digest, page, record.dpi)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.chmod(0o700)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # created 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(asdict(record), file, ensure_ascii=False, separators=(",", ":"))
                os.replace(temporary, path)
            except OSError:
                os.unlink(temporary)

    def _path(self, digest: str, page: int, dpi: int) -> Path:
        if self._folder is None:
            raise ValueError("a cache without a folder has no paths")
        return self._folder / digest[:2] / f"{digest}-p{page}-{dpi}dpi-v{RECORD_VERSION}.json"


def _from_json(stored: dict[str, Any]) -> OcrRecord:
    return OcrRecord(
        engine=str(stored["engine"]),
        width=int(stored["width"]),
        height=int(stored["height"]),
        dpi=int(stored["dpi"]),
        rotation=int(stored["rotation"]),
        skew=float(stored["skew"]),
        rules=tuple(PixelRule(**rule) for rule in stored["rules"]),
        lines=tuple(
            OcrLine(
                _words(line["words"]),
                _words(line["latin"]),
                tuple(line["dots"]),
                tuple((int(x0), int(x1), int(number)) for x0, x1, number in line["rings"]),
                bool(line["leader"]),
                bool(line["cell"]),
            )
            for line in stored["lines"]
        ),
    )


def _words(stored: list[dict[str, Any]]) -> tuple[OcrWord, ...]:
    return tuple(OcrWord(**word) for word in stored)
