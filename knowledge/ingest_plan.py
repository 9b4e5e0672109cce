"""What has to be read, removed and kept: a discovery against what the catalog knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.catalog_generations import Generation
from knowledge.catalog_rows import KnownDocument
from knowledge.types import Discovered, Discovery, SkippedItem

FEW = 3  # so many documents must be missing before their loss is taken for an accident


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlan:
    """`targets` of an item are the generations that need it; counts speak of the shown generation."""

    to_read: tuple[Discovered, ...]
    targets: Mapping[str, tuple[int, ...]]  # uri -> generation ids
    gone: Mapping[int, tuple[KnownDocument, ...]]  # generation id -> documents that are not there any more
    # generation id -> documents whose content is unchanged; those of parts that were not listed are in neither
    kept: Mapping[int, tuple[KnownDocument, ...]]
    added: frozenset[str]
    updated: frozenset[str]
    deleted: frozenset[str]
    unchanged: int
    skipped: tuple[SkippedItem, ...]
    moved: frozenset[str]  # gone uris whose content comes back under another uri: removed last

    @property
    def is_empty(self) -> bool:
        return not self.to_read and not any(self.gone.values())


def make_plan(
    discovery: Discovery,
    known: Mapping[int, Mapping[str, KnownDocument]],
    generations: Sequence[Generation],
    *,
    force: bool,
) -> SyncPlan:
    """The work that makes every one of `generations` hold exactly `discovery`; the first of them is the shown one."""
    items, skipped = _distinct(discovery)
    targets: dict[str, list[int]] = {}
    gone: dict[int, tuple[KnownDocument, ...]] = {}
    kept: dict[int, tuple[KnownDocument, ...]] = {}
    for generation in generations:
        documents = known[generation.id]
        gone[generation.id] = tuple(document for uri, document in documents.items() if _is_gone(uri, items, discovery))
        kept[generation.id] = tuple(
            document
            for uri, document in documents.items()
            if not force and uri in items and items[uri].content_hash == document.content_hash
        )
        unchanged = {document.uri for document in kept[generation.id]}
        for uri in items:
            if uri not in unchanged:
                targets.setdefault(uri, []).append(generation.id)
    shown = known[generations[0].id] if generations else {}
    new_hashes = {items[uri].content_hash for uri in targets}
    first_gone = gone[generations[0].id] if generations else ()
    changed = {uri for uri in items if uri in shown and (force or shown[uri].content_hash != items[uri].content_hash)}
    return SyncPlan(
        to_read=tuple(items[uri] for uri in targets),
        targets={uri: tuple(ids) for uri, ids in targets.items()},
        gone=gone,
        kept=kept,
        added=frozenset(uri for uri in items if uri not in shown),
        updated=frozenset(changed),
        deleted=frozenset(document.uri for document in first_gone),
        unchanged=_unchanged(shown, items, changed, discovery),
        skipped=tuple(skipped),
        moved=frozenset(document.uri for document in first_gone if document.content_hash in new_hashes),
    )


def lost_suddenly(discovery: Discovery, known: Mapping[str, KnownDocument]) -> frozenset[str]:
    """Documents that are not there any more in a way that looks like a mount that fell off: most of the source and more
    than a few, or more than a few below a folder that is still there with nothing in it. What came back under another
    name is not lost."""
    items = {item.uri: item for item in discovery.items}
    hashes = {item.content_hash for item in discovery.items}
    lost = frozenset(
        uri
        for uri, document in known.items()
        if _is_gone(uri, items, discovery) and document.content_hash not in hashes
    )
    if len(lost) >= FEW and len(lost) * 2 > len(known):
        return lost
    below = [frozenset(uri for uri in lost if uri.startswith(prefix)) for prefix in discovery.empty_prefixes]
    return frozenset().union(*(uris for uris in below if len(uris) >= FEW))


def _is_gone(uri: str, items: Mapping[str, Discovered], discovery: Discovery) -> bool:
    return uri not in items and uri not in discovery.held and not uri.startswith(discovery.kept_prefixes)


def _unchanged(
    shown: Mapping[str, KnownDocument], items: Mapping[str, Discovered], changed: set[str], discovery: Discovery
) -> int:
    same = sum(uri in shown and uri not in changed for uri in items)
    return same + sum(uri not in items and not _is_gone(uri, items, discovery) for uri in shown)


def _distinct(discovery: Discovery) -> tuple[dict[str, Discovered], list[SkippedItem]]:
    """Items by uri, and what is left out: of two items with one uri, the second."""
    items: dict[str, Discovered] = {}
    skipped = list(discovery.skipped)
    for item in discovery.items:
        if item.uri in items:
            skipped.append(
                SkippedItem(uri=item.uri, reason="there is another item of the same name: rename one of them")
            )
        else:
            items[item.uri] = item
    return items, skipped
