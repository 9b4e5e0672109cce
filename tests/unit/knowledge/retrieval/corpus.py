"""A small catalog in memory that passes for the real one: ChunkLookup, keyword index and vector index over a few chunks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date

import numpy as np

from knowledge.analysis import analyze
from knowledge.embed.hashed import HashEmbedder
from knowledge.ports import Vectors
from knowledge.types import Caller, Chunk, EvidenceKind, Locator, Scope


def chunk(
    id: str,
    text: str,
    *,
    source: str = "rules",
    uri: str = "rules.md",
    label: str | None = None,
    symbol: str | None = None,
    lines: tuple[int, int] | None = None,
    group: str | None = None,
    kind: str = "article",
    symbol_kind: str | None = None,
    title: str = "",
    family: str | None = None,
    valid_from: date | None = None,
) -> Chunk:
    evidence_kind: EvidenceKind = "code" if symbol else "docs"
    index_text = "\n".join(filter(None, (title, label, uri if symbol else None, symbol, text)))
    return Chunk(
        id=id,
        document_id=f"{source}/{uri}",
        kind=kind,  # type: ignore[arg-type]
        text=text,
        index_text=index_text,
        locator=Locator(
            source=source,
            uri=uri,
            revision="r1",
            label=label,
            symbol=symbol,
            start_line=lines[0] if lines else None,
            end_line=lines[1] if lines else None,
            valid_from=valid_from,
        ),
        ordinal=0,
        tokens=len(analyze(index_text)),
        group=group or id,
        evidence_kind=evidence_kind,
        title=title,
        symbol_kind=symbol_kind,
        family=family,
    )


class MemoryCatalog:
    """ChunkLookup and KeywordIndex over a list of chunks; every source is shown in generation 1."""

    def __init__(self, chunks: Sequence[Chunk], *, links: Mapping[str, list[str]] | None = None) -> None:
        self.chunks = list(chunks)
        self.links = dict(links or {})
        self.pending: dict[tuple[str, str], tuple[int, int]] = {}
        self.callers: dict[str, tuple[Caller, ...]] = {}
        self.modifiers: dict[str, tuple[str, ...]] = {}
        self._tokens = {chunk.id: Counter(analyze(chunk.index_text)) for chunk in chunks}

    def active_generations(self, scope: Scope) -> dict[str, int]:
        return {c.locator.source: 1 for c in self.chunks if scope.allows(c.locator.source)}

    def evidence_kinds(self) -> dict[str, EvidenceKind]:
        return {c.locator.source: c.evidence_kind for c in self.chunks}

    def visible_chunks(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, Chunk]:
        return {c.id: c for c in self.chunks if c.id in ids and c.locator.source in generations}

    def callers_of(self, chunk: Chunk, generations: Mapping[str, int]) -> tuple[Caller, ...]:
        return self.callers.get(chunk.id, ()) if chunk.locator.source in generations else ()

    def used_modifiers(self, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
        ids = self.modifiers.get(chunk.id, ())
        return [c for c in self.chunks if c.id in ids and c.locator.source in generations]

    def linked_chunk_ids(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, list[str]]:
        return {id: targets for id, targets in self.links.items() if id in ids}

    def referring_chunk_ids(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, list[str]]:
        referring: dict[str, list[str]] = {}
        for article, targets in self.links.items():
            for target in targets:
                if target in ids:
                    referring.setdefault(target, []).append(article)
        return referring

    def group_parts(self, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
        return [c for c in self.chunks if (c.document_id, c.group) == (chunk.document_id, chunk.group)]

    def chunks_in_files(self, names: Collection[str], generations: Mapping[str, int]) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for name in names:
            hits = [
                c
                for c in self.chunks
                if c.locator.source in generations and (c.locator.uri == name or c.locator.uri.endswith("/" + name))
            ]
            if hits:
                found[name] = hits
        return found

    def revision_dates(
        self, families: Collection[tuple[str, str]], generations: Mapping[str, int]
    ) -> dict[tuple[str, str], list[date]]:
        found: dict[tuple[str, str], set[date]] = {}
        for c in self.chunks:
            family = (c.locator.source, c.family or "")
            if family in families and c.locator.valid_from and c.locator.source in generations:
                found.setdefault(family, set()).add(c.locator.valid_from)
        return {family: sorted(days) for family, days in found.items()}

    def revision_chunks(self, source: str, family: str, day: date, generations: Mapping[str, int]) -> list[Chunk]:
        return [
            c
            for c in self.chunks
            if (c.locator.source, c.family, c.locator.valid_from) == (source, family, day) and source in generations
        ]

    def pending_counts(self, generations: Mapping[str, int]) -> dict[tuple[str, str], tuple[int, int]]:
        return {key: counts for key, counts in self.pending.items() if key[0] in generations}

    def search(
        self, terms: Sequence[str], *, generations: Mapping[str, int], limit: int
    ) -> Sequence[tuple[str, float]]:
        frequencies, total = self.document_frequencies(terms)
        scores = []
        for c in self.chunks:
            tokens = self._tokens[c.id]
            score = sum(
                math.log(1 + (total - frequencies[t] + 0.5) / (frequencies[t] + 0.5)) for t in set(terms) if t in tokens
            )
            if score > 0 and c.locator.source in generations:
                scores.append((c.id, score))
        return sorted(scores, key=lambda pair: -pair[1])[:limit]

    def document_frequencies(
        self, terms: Iterable[str], *, generations: Mapping[str, int] | None = None
    ) -> tuple[Mapping[str, int], int]:
        shown = [self._tokens[c.id] for c in self.chunks if generations is None or c.locator.source in generations]
        return {t: sum(t in tokens for tokens in shown) for t in terms}, len(shown)


class MemoryVectors:
    """Exact nearest neighbours over the hash embedder's vectors, one collection a source."""

    def __init__(self, chunks: Sequence[Chunk], embedder: HashEmbedder) -> None:
        self._rows: dict[str, list[tuple[str, Vectors]]] = {}
        for c, vector in zip(chunks, embedder.embed_passages([c.index_text for c in chunks]), strict=True):
            self._rows.setdefault(c.locator.source, []).append((c.id, vector))

    def add(self, collection: str, id: str, vector: Vectors) -> None:
        self._rows.setdefault(collection, []).append((id, vector))

    def search(self, collection: str, vector: Vectors, limit: int) -> Sequence[tuple[str, float]]:
        hits = [(id, float(np.dot(row, vector))) for id, row in self._rows.get(collection, [])]
        return sorted(hits, key=lambda hit: -hit[1])[:limit]
