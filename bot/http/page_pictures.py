"""Pictures of pages beside what was read from them: links, figures, and the words that were hard to read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.http.html import Child, Html, el, flat
from bot.http.posts_html import Reader
from bot.sources import page_image_path
from knowledge.types import Passage

MAX_PICTURES = 3
MAX_WORDS = 12
_PAGED = ("application/pdf", "image/")


def picture_link(passage: Passage, reader: Reader, chunk_id: str | None) -> Html | None:
    """A link to the picture of the first cited page; None for documents without pages."""
    locator = passage.locator
    if chunk_id is None or locator is None or locator.page is None:
        return None
    if not passage.media_type.startswith(_PAGED) and not locator.doubtful:
        return None  # page numbers of slides and sheets: there is nothing to draw
    return el(
        "a",
        reader.say("page_image", n=locator.page),
        href=page_image_path(chunk_id, locator.page),
        target="_blank",
        rel="noopener",
    )


def page_pictures(passage: Passage, reader: Reader, chunk_id: str | None) -> list[Html]:
    """A figure for each page of the cited part on which words were hard to read."""
    locator = passage.locator
    if chunk_id is None or locator is None:
        return []
    words: dict[int, list[str]] = {}
    for word, page in zip(locator.doubtful, locator.doubtful_pages, strict=False):
        if page is not None:
            words.setdefault(page, []).append(word)
    return [
        _figure(passage, reader, page_image_path(chunk_id, page), page, words[page])
        for page in sorted(words)[:MAX_PICTURES]
    ]


def _figure(passage: Passage, reader: Reader, address: str, page: int, words: Sequence[str]) -> Html:
    shown = ", ".join(words[:MAX_WORDS]) + (" …" if len(words) > MAX_WORDS else "")
    picture = el("img", src=address, alt=reader.say("page_image_alt", uri=passage.uri, n=page), loading="lazy")
    return el(
        "figure",
        el("figcaption", reader.say("page_n", n=page), ". ", reader.say("doubtful_words", words=shown)),
        el("a", picture, href=address, target="_blank", rel="noopener"),
        class_="page-picture",
    )


def marked_doubtful(text: str, doubtful: Sequence[str]) -> Html:
    """`text` with its doubtful words marked."""
    if not doubtful:
        return flat(text)
    words = sorted(doubtful, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![A-Za-z\d.,]){re.escape(word)}(?![A-Za-z\d]|[.,]\d)" for word in words))
    pieces: list[Child] = []
    end = 0
    for found in pattern.finditer(text):
        pieces += [text[end : found.start()], el("mark", found[0], class_="doubtful")]
        end = found.end()
    return flat([*pieces, text[end:]])
