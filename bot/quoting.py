"""The answer without a model: the evidence itself, cut to the part that answers, with its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import PurePosixPath

from bot.claims import numbers_of
from bot.evidence_text import escape_text
from bot.excerpt import Analyze, Excerpt, excerpt_of
from bot.labels import take_labels
from bot.quantities import plain
from bot.sources import Link, cite, dated, place_of
from bot.types import Citation, Language
from bot.wording import word
from knowledge.types import ScoredChunk

MAX_DOCS_QUOTES = 3
MAX_CODE_QUOTES = 2
MIN_DOCS_QUOTES = 2  # the second piece is often the appendix with the number, in words that the question does not use
NEAREST = 3
MAX_CALLERS = 3
_FORM = re.compile(r"별지|서식|양식|\bform\b", re.IGNORECASE)
_PLACE = re.compile(r"제\d+조|별[표지]")
_ASKS_FOR_FORM = re.compile(r"별지|서식|양식|신청서|서류|\bforms?\b|\btemplate\b", re.IGNORECASE)
_SHINGLE_CHARS, _ALIKE = 4, 0.85
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
        place = _heading_of(citation, language) + dated(citation.locator, language)
        called = _called_by(scored, language)
        blocks.append(f"**{escape_text(place)}** [{number}]\n\n{excerpt.markdown}{called}")
        citations.append(citation)
    return "\n\n".join(blocks), tuple(citations)


def _heading_of(citation: Citation, language: Language) -> str:
    """The place of a quote; a file that is named like its regulation is not named twice, since the sources name it."""
    place, locator = place_of(citation.locator, citation.title, language), citation.locator
    if "/" in locator.uri or not (locator.label or "").startswith(f"{PurePosixPath(locator.uri).stem} "):
        return place
    return place.removeprefix(f"{locator.uri}, ")


def worth_quoting(chunks: Sequence[ScoredChunk], question: str) -> list[ScoredChunk]:
    """The chunks in their order, without what a reader would skip: a text that another document repeats, other articles
    than the one that is asked for by number; empty forms, which have the words of a question and no answer, go behind
    the rules unless a form is asked for."""
    found = _asked_for_by_number(_each_text_once(chunks), question)
    if _ASKS_FOR_FORM.search(question):
        return found
    return sorted(found, key=lambda scored: _FORM.search(scored.chunk.locator.label or "") is not None)


def _each_text_once(chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Of chunks of documents with nearly one text the first, or one that is no scan; another revision stays."""
    kept: list[ScoredChunk] = []
    shingles: list[frozenset[str]] = []
    for scored in chunks:
        own = _shingles(scored.chunk.text) if scored.chunk.evidence_kind == "docs" else frozenset()
        alike = (n for n, other in enumerate(shingles) if _are_alike(own, other))
        twin = next((n for n in alike if _says_the_same(scored, kept[n])), None)
        if twin is None:
            kept.append(scored)
            shingles.append(own)
        elif kept[twin].chunk.locator.doubtful and not scored.chunk.locator.doubtful:
            kept[twin] = scored
    return kept


def _shingles(text: str) -> frozenset[str]:
    bare = _bare(text)
    return frozenset(bare[n : n + _SHINGLE_CHARS] for n in range(max(0, len(bare) - _SHINGLE_CHARS + 1)))


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts differ in a few letters at most, as a scan and its original do."""
    return bool(one) and len(one & other) >= _ALIKE * max(len(one), len(other))


def _says_the_same(one: ScoredChunk, other: ScoredChunk) -> bool:
    """Whether two texts that are alike are of one time and have the same amounts: a single digit may be all that a
    revision, or the rules of another body, changed. Word for word the same is the same at any time in which both hold.
    """
    mine, theirs = one.chunk.locator, other.chunk.locator
    if mine.valid_until == theirs.valid_until and _bare(one.chunk.text) == _bare(other.chunk.text):
        return True
    one_time = (mine.valid_from, mine.valid_until) == (theirs.valid_from, theirs.valid_until)
    return one_time and _amounts_agree(one, other)


def _amounts_agree(one: ScoredChunk, other: ScoredChunk) -> bool:
    """Whether two texts have the same amounts, but for those of which OCR was not sure in one of them: there the other
    one may have others."""
    mine, theirs = numbers_of(one.chunk.text), numbers_of(other.chunk.text)
    only_mine, only_theirs = mine - theirs, theirs - mine
    return (
        mine == theirs
        or (only_mine <= _unsure(one) and len(only_theirs) <= len(only_mine))
        or (only_theirs <= _unsure(other) and len(only_mine) <= len(only_theirs))
    )


def _unsure(scored: ScoredChunk) -> frozenset[Decimal]:
    """The amounts of which OCR was not sure."""
    return frozenset(value for doubt in scored.chunk.locator.doubtful for value in numbers_of(doubt))


def _bare(text: str) -> str:
    return re.sub(r"\W", "", text)


def _asked_for_by_number(chunks: Sequence[ScoredChunk], question: str) -> list[ScoredChunk]:
    """Those of an article or appendix that the question names, with what is linked to them; all when none is named or
    found."""
    wanted = _names_in(question)
    named = [scored for scored in chunks if wanted & _names_in(scored.chunk.locator.label or "")]
    ids = {scored.chunk.id for scored in named}
    linked = {scored.via for scored in named}
    return [s for s in chunks if s.chunk.id in ids or s.via in ids or s.chunk.id in linked] if named else list(chunks)


def articles_not_found(chunks: Sequence[ScoredChunk], question: str) -> list[str]:
    """The articles and appendices that a question names and no chunk is or speaks of."""
    found: set[str] = set()
    for scored in chunks:
        found |= _names_in(scored.chunk.locator.label or "") | _names_in(scored.chunk.text)
    return sorted(name for name in _names_in(question) - found if _PLACE.match(name))


def _names_in(text: str) -> frozenset[str]:
    """The numbered places that a text names: "제4조"."""
    return frozenset(name for label in take_labels(plain(text))[0] for name in label)


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
