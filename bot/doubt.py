"""Answers that rest on words which OCR read with doubt say so, name the page, and lead to its picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.evidence_text import WORD_JOINER
from bot.types import Citation, Language
from bot.wording import word
from knowledge.extract.doubt import stands_in

PageImageLink = Callable[[str, int], str | None]  # chunk id, page -> address of the picture

MAX_WORDS = 5  # of one page; more tell a reader no more than that the page has to be looked at
UNREAD = "?"  # stands where ink could not be read at all
_ESCAPE = re.compile(r"\\([\\`*_\[\]<>~|#+=.)-])")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def doubt_notes(
    text: str, citations: Sequence[Citation], *, language: Language, page_image: PageImageLink | None
) -> list[str]:
    """One sentence for each page of which words in `text`, a finished answer, were read with doubt; amounts first.

    A word counts when it stands in the answer, and a number also when the answer writes it in another way ("500000").
    """
    plain = _ESCAPE.sub(r"\1", text).replace(WORD_JOINER, "")
    numbers = {_bare(number) for number in _NUMBER.findall(plain)}
    pages: dict[tuple[str, int | None], tuple[Citation, list[str]]] = {}
    for citation in citations:
        for doubtful, page in doubtful_words(citation):
            if _rests_on(doubtful, plain, numbers, citation.quote):
                words = pages.setdefault((citation.locator.uri, page), (citation, []))[1]
                if doubtful not in words:
                    words.append(doubtful)
    return [
        _note(citation, page, words, language, page_image)
        for (_uri, page), (citation, words) in sorted(pages.items(), key=lambda item: not _has_digit(item[1][1]))
    ]


def doubtful_words(citation: Citation) -> list[tuple[str, int | None]]:
    """(word, page) of the cited chunk, words with digits first."""
    locator = citation.locator
    pages = locator.doubtful_pages or (locator.page,) * len(locator.doubtful)
    found = list(zip(locator.doubtful, pages, strict=False))
    return sorted(found, key=lambda item: not _has_digit([item[0]]))


def _rests_on(doubtful: str, plain: str, numbers: set[str], quote: str) -> bool:
    if doubtful == UNREAD:  # a question mark of the answer's own is no reading
        return UNREAD in quote
    if stands_in(doubtful, plain):
        return True
    return any(_bare(number) in numbers for number in _NUMBER.findall(doubtful))


def _bare(number: str) -> str:
    return number.replace(",", "")


def _has_digit(words: Sequence[str]) -> bool:
    return any(char.isdigit() for text in words for char in text)


def _note(
    citation: Citation, page: int | None, words: Sequence[str], language: Language, page_image: PageImageLink | None
) -> str:
    shown = ", ".join(f"“{text}”" for text in words[:MAX_WORDS]) + (" …" if len(words) > MAX_WORDS else "")
    if page is None:
        return word("doubtful_scan", language, uri=citation.locator.uri, words=shown)
    link = page_image(citation.chunk_id, page) if page_image is not None else None
    address = f": {link}" if link else "."
    return word("doubtful_page", language, uri=citation.locator.uri, n=page, words=shown, address=address)
