"""Where a word that OCR read with doubt stands again in a text."""

from __future__ import annotations

import re

_LATIN = re.compile(r"[A-Za-z\d]")


def stands_in(word: str, text: str) -> bool:
    """Whether `word` stands in `text`; figures and Latin letters only as a whole: "5" does not stand in "250,000"."""
    if not _LATIN.search(word):
        return word in text
    return re.search(rf"(?<![A-Za-z\d.,]){re.escape(word)}(?![A-Za-z\d]|[.,]\d)", text) is not None
