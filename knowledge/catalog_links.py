"""Which appendix an article of the same document refers to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from knowledge.types import ChunkDraft


def resolve_links(drafts: Sequence[ChunkDraft]) -> list[tuple[int, list[int]]]:
    """(place of the referring draft, places of what it refers to, in order); what cannot be resolved is left out.

    A reference means the regulation it stands in. Only when either side is outside any regulation does a label of the
    whole document count: 별표 1 of one regulation must not answer for 별표 1 of another.
    """
    by_label: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    anywhere: dict[str, list[int]] = defaultdict(list)
    for place, draft in enumerate(drafts):
        for anchor in dict.fromkeys(draft.anchors):
            by_label[draft.regulation, anchor].append(place)
            anywhere[anchor].append(place)
    links = []
    for place, draft in enumerate(drafts):
        targets: dict[int, None] = {}
        for label in draft.refers_to:
            candidates = by_label.get((draft.regulation, label)) or by_label.get((None, label))
            if not candidates and draft.regulation is None:
                candidates = _of_one_regulation(drafts, anywhere.get(label, []))
            targets.update(dict.fromkeys(c for c in candidates or () if drafts[c].group != draft.group))
        if targets:
            links.append((place, list(targets)))
    return links


def _of_one_regulation(drafts: Sequence[ChunkDraft], places: Sequence[int]) -> list[int]:
    return list(places) if len({drafts[place].regulation for place in places}) == 1 else []
