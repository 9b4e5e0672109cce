"""The answer without a model: the evidence itself, cut to the part that answers, with its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.evidence_text import escape_text
from bot.excerpt import Analyze, Excerpt, excerpt_of
from bot.sources import Link, cite, place_of
from bot.types import Citation, Language
from bot.wording import word
from knowledge.types import ScoredChunk

MAX_DOCS_QUOTES = 3
MAX_CODE_QUOTES = 2
MIN_DOCS_QUOTES = 2  # the second piece is often the appendix with the number, in words that the question does not use
NEAREST = 3
MAX_CALLERS = 3
_FORM = re.compile(r"별지|서식|양식|\bform\b", re.IGNORECASE)
_ASKS_FOR_FORM = re.compile(r"별지|서식|양식|신청서|서류|\bforms?\b|\btemplate\b", re.IGNORECASE)
CLOSE_BEHIND = (
    0.7  # a further chunk is quoted when it holds at least this share of the question's words that the first does
)


def quote_evidence(
    chunks: Sequence[ScoredChunk], terms: Sequence[str], analyze: Analyze, *, language: Language, link: Link
) -> tuple[str, tuple[Citation, ...]]:
    """Markdown of the quotes and their citations, in rank order. `chunks` holds at least one."""
    blocks: list[str] = []
    citations: list[Citation] = []
    for number, scored in enumerate(choose_chunks(chunks, terms, analyze), start=1):
        excerpt = _excerpt(scored, terms, analyze, language)
        citation = cite(number, scored, quote_text=excerpt.quote, link=link)
        place = place_of(citation.locator, citation.title, language)
        called = _called_by(scored, language)
        blocks.append(f"**{escape_text(place)}** [{number}]\n\n{excerpt.markdown}{called}")
        citations.append(citation)
    return "\n\n".join(blocks), tuple(citations)


def answers_first(chunks: Sequence[ScoredChunk], question: str) -> list[ScoredChunk]:
    """The chunks in their order, but empty forms behind the rules: a form has the words of a question and no answer,
    unless it is the form that is asked for."""
    if _ASKS_FOR_FORM.search(question):
        return list(chunks)
    return sorted(chunks, key=lambda scored: _FORM.search(scored.chunk.locator.label or "") is not None)


def nearest_sources(
    chunks: Sequence[ScoredChunk], terms: Sequence[str], analyze: Analyze, *, language: Language, link: Link
) -> tuple[Citation, ...]:
    """The first sources, to be shown under a refusal: each document or definition once."""
    found: list[Citation] = []
    seen: set[tuple[str, str, str | None]] = set()
    for scored in chunks:
        locator = scored.chunk.locator
        key = (locator.source, locator.uri, locator.label or locator.symbol)
        if key in seen or len(found) == NEAREST:
            continue
        seen.add(key)
        quote = _excerpt(scored, terms, analyze, language).quote
        found.append(cite(len(found) + 1, scored, quote_text=quote, link=link))
    return tuple(found)


def choose_chunks(chunks: Sequence[ScoredChunk], terms: Sequence[str], analyze: Analyze) -> list[ScoredChunk]:
    """The first chunk, what it links to, and others of the same kind that hold about as many of the words asked for."""
    first = chunks[0]
    is_docs = first.chunk.evidence_kind == "docs"
    wanted = set(terms)

    def held(scored: ScoredChunk) -> set[str]:
        return wanted & set(analyze(scored.chunk.index_text))

    covered = held(first)
    enough = CLOSE_BEHIND * len(covered)
    limit = MAX_DOCS_QUOTES if is_docs else MAX_CODE_QUOTES
    chosen = [first]
    rest = chunks[1:]
    if not is_docs:  # a modifier stands behind the results and belongs to the function that uses it
        rest = sorted(rest, key=lambda scored: scored.via != first.chunk.id)
    for scored in rest:
        if len(chosen) == limit:
            break
        own = held(scored)
        linked = scored.via == first.chunk.id or first.via == scored.chunk.id
        next_best = is_docs and len(chosen) < MIN_DOCS_QUOTES and scored.chunk.evidence_kind == "docs"
        if linked or next_best or own - covered or (own and len(own) >= enough):
            chosen.append(scored)
            covered |= own
    return chosen


def _called_by(scored: ScoredChunk, language: Language) -> str:
    """One line for each of the first callers of a definition; empty when none is known."""
    lines = [
        f"- {escape_text(caller.signature)} ({escape_text(caller.locator.uri)}:{caller.locator.start_line})"
        for caller in scored.callers[:MAX_CALLERS]
    ]
    return "\n".join(["", "", f"{word('called_by', language)}:", "", *lines]) if lines else ""


def _excerpt(scored: ScoredChunk, terms: Sequence[str], analyze: Analyze, language: Language) -> Excerpt:
    return excerpt_of(scored.chunk, terms, analyze, more_rows=word("more_rows", language, n="{n}"))
