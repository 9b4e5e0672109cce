"""Finds a document by what people call it, and a section or definition by its label, loosely written."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from knowledge.catalog import Catalog
from knowledge.errors import NotFound
from knowledge.types import Chunk, DocumentSummary

NEAR_NAMES = 5
_IGNORED = re.compile(r"[\s\[\]()<>「」『』〈〉《》【】·・.,:;'\"`]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    part_of: str
    label: str | None
    symbol: str | None
    anchors: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (*self.anchors, self.label, self.symbol) if name)


def find_documents(summaries: Sequence[DocumentSummary], wanted: str) -> list[DocumentSummary]:
    """Documents of that uri, else of that file name, stem or title, else the only ones whose name contains it.

    Raises NotFound, which names the nearest documents.
    """
    key = _squeezed(wanted)
    for names in (_by_uri, _by_name):
        exact = [summary for summary in summaries if key in {_squeezed(name) for name in names(summary)}]
        if exact:
            return exact
    inside = [s for s in summaries if key and any(key in _squeezed(name) for name in (*_by_uri(s), *_by_name(s)))]
    if inside:
        return inside
    known = {name: None for summary in summaries for name in (*_by_name(summary), summary.uri)}
    raise NotFound(f'There is no document "{wanted}"{_did_you_mean(wanted, list(known))}')


def read_section(
    catalog: Catalog, documents: Sequence[DocumentSummary], label: str, generations: Mapping[str, int]
) -> tuple[Chunk, ...]:
    """All parts of the section or definition called `label`, in order. Raises NotFound, which names near labels."""
    near: dict[str, None] = {}
    for document in documents:
        rows = _rows(catalog, document.uri, generations[document.source])
        groups = _matching_groups(rows, label)
        if groups:
            ids = [row.id for row in rows if row.part_of in groups]
            found = catalog.visible_chunks(ids, {document.source: generations[document.source]})
            return tuple(sorted(found.values(), key=lambda chunk: chunk.ordinal))
        near.update(dict.fromkeys(name for row in rows for name in (row.label, row.symbol) if name))
    named = ", ".join(dict.fromkeys(document.title for document in documents))
    raise NotFound(f'"{named}" has no section "{label}"{_did_you_mean(label, list(near))}')


def _matching_groups(rows: Sequence[_Row], label: str) -> set[str]:
    """Groups whose anchor, label or symbol is `label`; else those whose label holds it as a whole number or name."""
    key = _squeezed(label)
    if not key:
        return set()
    exact = {row.part_of for row in rows if key in {_squeezed(name) for name in row.names}}
    if exact:
        return exact
    # "제1조" must not find "제12조" or "제1조의2"
    inside = re.compile(rf"(?<!\d){re.escape(key)}(?!\d|의\d)")
    held = {row.part_of for row in rows if any(inside.search(_squeezed(name)) for name in row.names)}
    if held:
        return held
    last_part = {row.part_of for row in rows if row.symbol and _squeezed(re.split(r"[.:#]+", row.symbol)[-1]) == key}
    return last_part


def _rows(catalog: Catalog, uri: str, generation: int) -> list[_Row]:
    with catalog.reading() as connection:
        rows = connection.execute(
            """
            SELECT c.id, c.part_of, c.label, c.symbol, c.anchors
            FROM documents d CROSS JOIN chunks c ON c.document = d.number
            WHERE d.generation = ? AND d.uri = ? ORDER BY c.ordinal
            """,
            (generation, uri),
        ).fetchall()
    return [
        _Row(id=row[0], part_of=row[1], label=row[2], symbol=row[3], anchors=tuple(json.loads(row[4]))) for row in rows
    ]


def _by_uri(summary: DocumentSummary) -> tuple[str, ...]:
    return (summary.uri,)


def _by_name(summary: DocumentSummary) -> tuple[str, ...]:
    path = PurePosixPath(summary.uri)
    return (path.name, path.stem, summary.title)


def _squeezed(text: str) -> str:
    return _IGNORED.sub("", unicodedata.normalize("NFC", text)).casefold()


def _did_you_mean(wanted: str, names: Sequence[str]) -> str:
    by_key = {_squeezed(name): name for name in names}
    close = difflib.get_close_matches(_squeezed(wanted), list(by_key), n=NEAR_NAMES, cutoff=0.4)
    nearest = [by_key[key] for key in close]
    return f"; the nearest are: {', '.join(nearest)}" if nearest else ""
