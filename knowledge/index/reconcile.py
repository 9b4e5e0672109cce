"""Makes the vector index agree with the catalog again after a crash, a lost folder or a restored backup."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation, RecordedSpace
from knowledge.errors import ToolDown
from knowledge.index.collections import collection_name, prefix_of
from knowledge.index.vector_cache import VectorCache, text_key
from knowledge.ports import VectorIndex

RESTORED_AT_ONCE = 5_000  # about three seconds; the next sync restores the rest without embedding anything
PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What was found and done."""

    dropped: int = 0  # collections that belong to nothing
    orphans: int = 0  # vectors that belong to no chunk
    missing: int = 0  # chunks whose confirmed vector was gone: pending again
    restored: int = 0  # of these, filled from the cache at once


def reconcile(catalog: Catalog, vectors: VectorIndex, cache: VectorCache, *, thorough: bool) -> Reconciled:
    """Removes orphans, marks missing vectors as pending, and restores those that the cache holds.

    A collection whose count agrees with the catalog is believed unless `thorough`.
    """
    users: dict[str, list[tuple[Generation, RecordedSpace]]] = defaultdict(list)
    for generation in catalog.generations():
        for recorded in generation.spaces:
            if generation.state != "retired" and recorded.space is not None:
                name = collection_name(catalog.installation, generation.source, recorded.space.key)
                users[name].append((generation, recorded))
    dropped = _drop_unused(vectors, prefix_of(catalog.installation), set(users))
    orphans = missing = restored = 0
    for name, sharing in users.items():
        dim = sharing[0][1].space.dim if sharing[0][1].space else 0
        expected = _expected_count(catalog, sharing)
        present = _present(vectors, name, dim=dim, expected=expected, thorough=thorough)
        if present is None:
            continue
        orphans += _remove_orphans(catalog, vectors, name, present)
        for generation, recorded in sharing:
            confirmed = catalog.confirmed_ids(generation.id, recorded.embedder)
            lost = [number for chunk, number in confirmed.items() if chunk not in present]
            _mark_pending(catalog, generation, recorded, lost)
            missing += len(lost)
            if lost:
                restored += restore_from_cache(
                    catalog, vectors, cache, generation, recorded, limit=RESTORED_AT_ONCE - restored
                )
    return Reconciled(dropped=dropped, orphans=orphans, missing=missing, restored=restored)


def restore_from_cache(
    catalog: Catalog,
    vectors: VectorIndex,
    cache: VectorCache,
    generation: Generation,
    recorded: RecordedSpace,
    *,
    limit: int,
) -> int:
    """Confirms up to `limit` pending chunks whose vectors are in the cache; returns how many."""
    restored, after = 0, -1
    if recorded.space is None:
        return 0
    name = collection_name(catalog.installation, generation.source, recorded.space.key)
    while restored < limit:
        page = catalog.pending_chunks(generation.id, recorded.embedder, after=after, limit=min(PAGE, limit - restored))
        if not page:
            break
        after = page[-1][0]
        keys = [text_key(text) for _, _, text in page]
        held = cache.get(recorded.space.key, keys)
        known = [(number, chunk, held[key]) for (number, chunk, _), key in zip(page, keys, strict=True) if key in held]
        if known:
            vectors.upsert(name, [chunk for _, chunk, _ in known], np.stack([vector for _, _, vector in known]))
            confirm(catalog, generation.id, recorded.embedder, [number for number, _, _ in known])
            restored += len(known)
    return restored


def confirm(catalog: Catalog, generation: int, embedder: str, numbers: list[int]) -> None:
    """Lets chunks take part in dense search: the vector index has returned from storing their vectors."""
    with catalog.transaction() as connection:
        connection.executemany(
            "DELETE FROM pending WHERE generation = ? AND embedder = ? AND chunk = ?",
            [(generation, embedder, number) for number in numbers],
        )


def remove_unused_vectors(catalog: Catalog, vectors: VectorIndex, source: str) -> None:
    """Removes what no generation of `source` needs any more: whole collections and single vectors."""
    used: set[str] = set()
    for generation in catalog.generations():
        used.update(
            collection_name(catalog.installation, generation.source, recorded.space.key)
            for recorded in generation.spaces
            if recorded.space is not None
        )
    _drop_unused(vectors, prefix_of(catalog.installation), used)
    mine = {
        collection_name(catalog.installation, source, recorded.space.key)
        for generation in catalog.generations(source)
        for recorded in generation.spaces
        if recorded.space is not None
    }
    for name in mine:
        _remove_orphans(catalog, vectors, name, vectors.ids(name))


def _present(vectors: VectorIndex, name: str, *, dim: int, expected: int, thorough: bool) -> set[str] | None:
    """The ids that a collection holds; None when its count says that nothing has to be done."""
    try:
        if not thorough and vectors.count(name) == expected:
            return None
        present = vectors.ids(name)
        if present:
            vectors.search(name, np.ones(dim, dtype=np.float32), 1)
        return present
    except ToolDown:
        # What cannot be read is built anew; an index that is down altogether fails again right here.
        vectors.drop(name)
        return set()


def _expected_count(catalog: Catalog, sharing: list[tuple[Generation, RecordedSpace]]) -> int:
    if len(sharing) == 1:
        generation, recorded = sharing[0]
        _, chunks, _ = catalog.counts(generation.id)
        return chunks - catalog.pending_count(generation.id, recorded.embedder)
    ids: set[str] = set()
    for generation, recorded in sharing:
        ids.update(catalog.confirmed_ids(generation.id, recorded.embedder))
    return len(ids)


def _drop_unused(vectors: VectorIndex, prefix: str, used: set[str]) -> int:
    unused = [name for name in vectors.collections() if name.startswith(prefix) and name not in used]
    for name in unused:
        vectors.drop(name)
    return len(unused)


def _remove_orphans(catalog: Catalog, vectors: VectorIndex, name: str, present: set[str]) -> int:
    orphans = sorted(present - catalog.ids_in_use(present))
    if orphans:
        vectors.delete(name, orphans)
    return len(orphans)


def _mark_pending(catalog: Catalog, generation: Generation, recorded: RecordedSpace, numbers: list[int]) -> None:
    if not numbers:
        return
    with catalog.transaction() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO pending (generation, embedder, chunk) VALUES (?, ?, ?)",
            [(generation.id, recorded.embedder, number) for number in numbers],
        )
