"""From the articles and appendices that a question names by number to the sections that they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knowledge.ports import ChunkLookup
from knowledge.retrieval.candidates import Candidate
from knowledge.types import Chunk

_MAX_NAMED = 4
_MAX_DOCUMENTS = 8  # revisions of one regulation among them
_NAMED = re.compile(
    r"(?:제\s*|(?<=[정칙관령법])\s)(?P<article>\d{1,4})\s*조(?:\s*의\s*(?P<sub>\d{1,3}))?"  # "3조 원" is money
    r"|별\s*표\s*(?:제|#)?\s*(?P<table>\d{1,3})(?:\s*의\s*(?P<table_sub>\d{1,3}))?"
)


def named_sections(text: str) -> list[re.Pattern[str]]:
    """A pattern for the label of each article or appendix that is named with its number, in order."""
    found: dict[str, None] = {}
    for match in _NAMED.finditer(text):
        if number := match["article"]:
            sub = rf"의\s*{match['sub']}(?!\d)" if match["sub"] else r"(?!\s*의\s*\d)"
            found.setdefault(rf"(?<!\d)제\s*{number}\s*조{sub}")
        else:
            sub = rf"의\s*{match['table_sub']}" if match["table_sub"] else r"(?!\s*의\s*\d)"
            found.setdefault(rf"\[\s*별\s*표\s*(?:제|#)?\s*{match['table']}(?!\d)(?:\s*호)?{sub}")
    return [re.compile(pattern) for pattern in list(found)[:_MAX_NAMED]]


def locate_articles(
    text: str, ranked: Sequence[Candidate], lookup: ChunkLookup, generations: Mapping[str, int]
) -> list[Chunk]:
    """The first part of every section that the question names by number together with the name of its regulation.

    The regulation must be one that was found: its name tells which document is meant. Where one name holds another
    ("국외여비규정", "여비규정") the longer one is meant.
    """
    sections = named_sections(text)
    if not sections:
        return []
    documents: dict[tuple[str, str], str] = {}
    for candidate in ranked:
        name = (candidate.chunk.family or "").rsplit(" / ", 1)[-1]
        if name and _says(text, name):
            documents.setdefault((candidate.chunk.locator.source, candidate.chunk.locator.uri), name)
    meant = max(documents.values(), key=len, default="")
    chosen = [place for place, name in documents.items() if name == meant][:_MAX_DOCUMENTS]
    files = lookup.chunks_in_files({uri for _, uri in chosen}, generations) if chosen else {}
    found: dict[tuple[str, str], Chunk] = {}
    for section in sections:
        for source, uri in chosen:
            for chunk in files.get(uri, ()):
                where = chunk.locator
                if (where.source, where.uri) == (source, uri) and section.search(where.label or ""):
                    found.setdefault((chunk.document_id, chunk.group), chunk)
    return list(found.values())


def _says(text: str, name: str) -> bool:
    """Whether a text names a regulation, with whatever blanks; "국외여비규정" does not name a "여비규정"."""
    spaced = r"\s*".join(map(re.escape, name))
    return re.search(rf"(?<![가-힣A-Za-z]){spaced}", text, re.IGNORECASE) is not None
