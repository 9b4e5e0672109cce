"""Files of a repository that only changed their name or place: carried over without being read or parsed again."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from knowledge.analysis import analyze
from knowledge.catalog import Catalog
from knowledge.catalog_moves import draft_of, has_document, move_document, moved_index_texts, stored_chunks
from knowledge.catalog_rows import KnownDocument, with_ids
from knowledge.ingest_plan import SyncPlan
from knowledge.types import Discovered


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What was carried over."""

    uris: frozenset[str] = field(default_factory=frozenset)  # new names
    removed_ids: frozenset[str] = field(default_factory=frozenset)  # of chunks under their old names


def carry_moves(
    catalog: Catalog,
    plan: SyncPlan,
    *,
    source: str,
    revision: str,
    clock: Callable[[], datetime],
    on_step: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> tuple[SyncPlan, Moved]:
    """The plan without the files that were moved, each in one transaction over all generations that hold it."""
    waiting = _by_hash(plan)
    done: set[str] = set()
    old_uris: set[str] = set()
    removed: set[str] = set()
    for item in plan.to_read:
        if should_stop():
            break
        documents = _taken(waiting, item, plan.targets[item.uri])
        if documents is None:
            continue
        gone = _move(catalog, item, documents, source=source, revision=item.revision or revision, now=clock())
        if gone is None:
            continue
        on_step("document-moved")
        done.add(item.uri)
        old_uris.update(document.uri for _, document in documents)
        removed |= gone
    rest = replace(
        plan,
        to_read=tuple(item for item in plan.to_read if item.uri not in done),
        gone={
            generation: tuple(document for document in documents if document.uri not in old_uris)
            for generation, documents in plan.gone.items()
        },
    )
    return rest, Moved(uris=frozenset(done), removed_ids=frozenset(removed))


def _by_hash(plan: SyncPlan) -> dict[str, dict[str, dict[int, KnownDocument]]]:
    """Content hash -> old uri -> generation -> document, of what is gone and was sound."""
    waiting: dict[str, dict[str, dict[int, KnownDocument]]] = {}
    for generation, documents in plan.gone.items():
        for document in documents:
            if document.status == "indexed":
                waiting.setdefault(document.content_hash, {}).setdefault(document.uri, {})[generation] = document
    return waiting


def _taken(
    waiting: dict[str, dict[str, dict[int, KnownDocument]]], item: Discovered, generations: Sequence[int]
) -> list[tuple[int, KnownDocument]] | None:
    """The documents that `item` was before, one for each of its generations; taken, so that no copy gets them too."""
    candidates = waiting.get(item.content_hash, {})
    name = PurePosixPath(item.uri).name
    for uri in sorted(candidates, key=lambda uri: (PurePosixPath(uri).name != name, uri)):
        if set(candidates[uri]) == set(generations):
            return sorted(candidates.pop(uri).items())
    return None


def _move(
    catalog: Catalog,
    item: Discovered,
    documents: Sequence[tuple[int, KnownDocument]],
    *,
    source: str,
    revision: str,
    now: datetime,
) -> set[str] | None:
    """Ids of chunks that are gone; None when the file has to be read again."""
    prepared = []
    for generation, document in documents:
        with catalog.reading() as connection:
            if has_document(connection, generation, item.uri):
                return None  # it took the place of another file
            chunks = stored_chunks(connection, document.number)
        texts = moved_index_texts(document.uri, item.uri, chunks)
        if texts is None:
            return None
        drafts = [draft_of(chunk, text) for chunk, text in zip(chunks, texts, strict=True)]
        indexed = with_ids(source, item.uri, drafts, [analyze(text) for text in texts])
        prepared.append((generation, document.number, chunks, indexed))
    removed: set[str] = set()
    with catalog.transaction() as connection:
        for generation, number, chunks, indexed in prepared:
            removed |= move_document(
                connection,
                generation,
                number,
                chunks,
                indexed,
                source=source,
                uri=item.uri,
                revision=revision,
                media_type=mimetypes.guess_type(item.uri)[0] or "text/plain",
                now=now,
            )
    return removed
