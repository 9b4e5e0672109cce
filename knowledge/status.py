"""What `haechi status` and `haechi doctor` say of sources and tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation
from knowledge.errors import KnowledgeError
from knowledge.index.spaces import EmbedderShelf
from knowledge.ingest_parts import read_parts
from knowledge.ports import Reranker, VectorIndex
from knowledge.types import Building, FailedItem, Scope, SourceConfig, SourceStatus, ToolStatus


def source_status(
    catalog: Catalog, config: SourceConfig, *, embedders: Sequence[str], is_calibrated: bool
) -> SourceStatus:
    """The state of one configured source; before its first sync everything is zero."""
    generations = catalog.active_generations(Scope.of(config.name))
    living = catalog.generations(config.name)
    shown = next((g for g in living if g.state == "active"), None)
    built = next((g for g in living if g.state == "building"), None)
    revision, last_sync, problem = catalog.source_state(config.name)
    documents, chunks, failed = catalog.counts(shown.id) if shown is not None else (0, 0, ())
    parts = read_parts(catalog, shown.id) if shown is not None else []
    failed += tuple(FailedItem(uri=part.prefix, reason=part.problem) for part in parts if part.problem is not None)
    names = {recorded.key: recorded.embedder for recorded in shown.spaces} if shown is not None else {}
    pending = {names[key]: counts[0] for (_, key), counts in catalog.pending_counts(generations).items()}
    return SourceStatus(
        source=config.name,
        title=config.title or config.name,
        kind=config.kind,
        documents=documents,
        chunks=chunks,
        pending=pending,
        failed=failed,
        skipped=dict(sorted(Counter(item.reason for item in catalog.skipped(config.name)).items())),
        last_sync=last_sync,
        revision=revision,
        embedders=tuple(recorded.embedder for recorded in shown.spaces) if shown is not None else tuple(embedders),
        calibrated=is_calibrated,
        problem=problem,
        parts=len(parts) if parts and config.kind == "repository" else None,
        building=_building(catalog, built, of_documents=documents) if built is not None else None,
        warned=catalog.warned(shown.id) if shown is not None and config.kind == "repository" else {},
    )


def _building(catalog: Catalog, generation: Generation, *, of_documents: int) -> Building:
    documents, chunks, _ = catalog.counts(generation.id)
    with catalog.reading() as connection:
        row = connection.execute("SELECT created_at FROM generations WHERE id = ?", (generation.id,)).fetchone()
    return Building(
        documents=documents,
        of_documents=of_documents,
        chunks=chunks,
        pending={space.embedder: catalog.pending_count(generation.id, space.embedder) for space in generation.spaces},
        complete=generation.complete,
        embedders=tuple(space.embedder for space in generation.spaces),
        since=datetime.fromisoformat(row[0]),
    )


def check_tools(
    catalog: Catalog,
    vectors: VectorIndex,
    shelf: EmbedderShelf,
    embedders: Sequence[str],
    *,
    reranker: Reranker | None,
    now: datetime,
) -> list[ToolStatus]:
    """One line for the catalog, the vector index, each embedder, and the reranker if there is one."""

    def probe(name: str, ask: Callable[[], str]) -> ToolStatus:
        try:
            return ToolStatus(name=name, state="ok", detail=ask(), checked_at=now)
        except KnowledgeError as error:
            return ToolStatus(name=name, state="down", detail=str(error), checked_at=now)

    def ask_catalog() -> str:
        catalog.check()
        return f"{len(catalog.source_names())} sources"

    checks = [
        probe("catalog", ask_catalog),
        probe("chroma", lambda: f"{len(vectors.collections())} collections"),
    ]
    checks.extend(probe(f"dense:{name}", lambda name=name: shelf.check(name)) for name in embedders)  # type: ignore[misc]
    if reranker is not None:
        checks.append(probe("reranker", reranker.check))
    return checks
