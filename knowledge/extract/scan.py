"""Which pages need OCR, and their OCR: two pages at a time, raw results cached, a page that fails named."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.extract.doubt import stands_in
from knowledge.extract.ocr_record import OcrCache, OcrRecord
from knowledge.extract.ocr_tesseract import TesseractFailed, require_tesseract
from knowledge.types import Block

if TYPE_CHECKING:
    from knowledge.extract.ocr_layout import OcrPage
    from knowledge.extract.scan_image import Grey

OCR_DPI = 300
MAX_OCR_PAGES = 1_000
_PAGES_AT_ONCE = 2
_FEW_CHARS = 200  # on a page that is a picture; a text layer behind a scan has more
_PICTURE_SHARE = 0.5
_LOST_DIGITS = re.compile(r"제\s*(?:조|장|항|호)(?=[\s(의에를은])")
_KEPT_DIGITS = re.compile(r"제\s*\d+\s*(?:조|장|항|호)")
# private use, replacement and Latin-1 letters that stand where a font names no characters
_MOJIBAKE = re.compile(
    r"[\ue000-\uf8ff\ufffd\u00a1-\u00ac\u00ae-\u00b1\u00b4-\u00b6\u00b8-\u00d6\u00d8-\u00f6\u00f8-\u00ff]"
)
_HANGUL = re.compile(r"[가-힣]")
_MOJIBAKE_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a PDF page holds: the text of its layer in reading order, the share of it that pictures cover (0 to 1), and
    whether anything is drawn on it."""

    text: str
    picture_share: float
    is_drawn: bool


def pages_needing_ocr(pages: Sequence[PageFacts]) -> dict[int, str]:
    """Reason by page number (from 1) for the pages whose text layer does not say what stands on them."""
    needed = {}
    for number, page in enumerate(pages, start=1):
        reason = _reason(page)
        if reason is not None:
            needed[number] = reason
    return needed


def has_lost_digits(text: str) -> bool:
    """Whether a text layer says "제 조" where articles have numbers, as some print drivers write it."""
    lost, kept = len(_LOST_DIGITS.findall(text)), len(_KEPT_DIGITS.findall(text))
    return lost >= 3 and lost > 0.3 * (lost + kept)


def _reason(page: PageFacts) -> str | None:
    length = len("".join(page.text.split()))
    if not length:
        return "no text layer" if page.is_drawn else None
    if length < _FEW_CHARS and page.picture_share >= _PICTURE_SHARE:
        return "little text on a picture"
    if has_lost_digits(page.text):
        return "a text layer that lost its digits"
    odd = len(_MOJIBAKE.findall(page.text))
    if odd > _MOJIBAKE_SHARE * length and odd > 2 * len(_HANGUL.findall(page.text)):
        return "a text layer in no known encoding"
    return None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Pages by number; `failed` says for the others what went wrong."""

    pages: Mapping[int, OcrPage]
    failed: Mapping[int, str]


def read_scans(
    content: bytes,
    numbers: Sequence[int],
    render: Callable[[int], Grey],
    *,
    name: str,
    folder: Path | None,
    dpi: int = OCR_DPI,
) -> ScanResult:
    """OCR of these pages. `render` gives the grey image of a page and is called in this thread, one page at a time.

    Raw results are kept in `folder`. Raises UnreadableFile where Tesseract is missing.
    """
    from knowledge.extract.ocr_layout import lay_out

    cache = OcrCache(folder)
    digest = hashlib.sha256(content).hexdigest()
    records: dict[int, OcrRecord] = {}
    failed: dict[int, str] = {}
    for number in numbers[MAX_OCR_PAGES:]:
        failed[number] = f"only {MAX_OCR_PAGES} pages of a file are read by OCR; split it"
    missing = []
    for number in numbers[:MAX_OCR_PAGES]:
        record = cache.load(digest, number, dpi=dpi)
        if record is None:
            missing.append(number)
        else:
            records[number] = record
    if missing:
        for number, outcome in _recognise_all(missing, render, dpi, require_tesseract(name=name)):
            if isinstance(outcome, OcrRecord):
                records[number] = outcome
                cache.save(digest, number, outcome)
            else:
                failed[number] = outcome
    pages = {number: lay_out(record) for number, record in sorted(records.items())}
    for number, page in pages.items():
        if page.is_noise:
            failed[number] = "it is a photograph, or too blurred, too small or too faint; scan it again at 300 dpi"
    return ScanResult({number: page for number, page in pages.items() if not page.is_noise}, failed)


def _recognise_all(
    numbers: Sequence[int], render: Callable[[int], Grey], dpi: int, engine: str
) -> list[tuple[int, OcrRecord | str]]:
    from knowledge.extract.ocr_page import recognise

    outcomes: list[tuple[int, OcrRecord | str]] = []
    flying: list[tuple[int, Future[OcrRecord]]] = []

    def land() -> None:
        number, future = flying.pop(0)
        try:
            outcomes.append((number, future.result()))
        except TesseractFailed as error:
            outcomes.append((number, str(error)))

    with ThreadPoolExecutor(max_workers=_PAGES_AT_ONCE, thread_name_prefix="ocr") as pool:
        for number in numbers:
            while len(flying) >= _PAGES_AT_ONCE:
                land()
            flying.append((number, pool.submit(recognise, render(number), dpi=dpi, engine=engine)))
        while flying:
            land()
    return outcomes


def mark_doubtful(blocks: Sequence[Block], doubtful: Mapping[int, Sequence[str]]) -> list[Block]:
    """The blocks with the doubtful words of their page that stand in them."""
    marked = []
    for block in blocks:
        words = doubtful.get(block.page or 0, ())
        here = tuple(word for word in words if stands_in(word, block.text))
        marked.append(replace(block, doubtful=here) if here else block)
    return marked


def doubtful_warnings(pages: Mapping[int, OcrPage]) -> list[str]:
    """One sentence for each page on which numbers were read doubtfully."""
    warnings = []
    for number, page in sorted(pages.items()):
        numbers = [word for word in page.doubtful if any(char.isdigit() for char in word)]
        if numbers:
            shown = ", ".join(numbers[:5]) + (" ..." if len(numbers) > 5 else "")
            warnings.append(f"page {number} is a scan; {len(numbers)} words with digits were read doubtfully: {shown}")
    return warnings
