"""An article and the appendix that it refers to answer together: whichever was found brings the other one along."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from knowledge.ports import ChunkLookup
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.expand import merge_parts
from knowledge.types import Chunk, ChunkKind

_LINKING_RANKS = 4  # articles below this rank bring no appendix along
_REFERRED_RANKS = 3  # appendices below this rank bring no article along
_TRIED = 8  # linked sections whose text is compared with the question

Group = tuple[str, str]
# How well a second section completes a first one for the question.
Completes = Callable[[Candidate, Candidate], float]
Links = Callable[[Collection[str], Mapping[str, int]], dict[str, list[str]]]


def with_linked_sections(
    ranked: Sequence[Candidate], lookup: ChunkLookup, generations: Mapping[str, int], *, completes: Completes
) -> list[Candidate]:
    """The candidates, each leading article with the appendix that completes it best directly behind it.

    A leading appendix whose article was not found among the leaders brings the best of its articles along instead. What
    was brought along is marked `via`; a section that stands above the one that would bring it stays there.
    """
    leading = list(ranked[:_LINKING_RANKS])
    graph = _Graph(ranked, lookup, generations, completes)
    appendices = graph.neighbours(leading, lookup.linked_chunk_ids, kind="appendix")
    articles = graph.neighbours(
        [c for c in leading[:_REFERRED_RANKS] if c.chunk.kind == "appendix"], lookup.referring_chunk_ids, kind="article"
    )
    leaders = {candidate.group for candidate in leading}
    result: list[Candidate] = []
    placed: set[Group] = set()
    for candidate in ranked:
        if candidate.group in placed:
            continue
        placed.add(candidate.group)
        result.append(candidate)
        partners = appendices.get(candidate.group) or articles.get(candidate.group, [])
        if candidate.chunk.kind == "appendix" and any(other.group in leaders for other in partners):
            continue
        best = max(partners, key=lambda other: completes(candidate, other), default=None)
        if best is not None and best.group not in placed:
            placed.add(best.group)
            best.via = candidate.chunk.id
            result.append(best)
    return result


class _Graph:
    """Sections at the other end of links."""

    def __init__(
        self,
        ranked: Sequence[Candidate],
        lookup: ChunkLookup,
        generations: Mapping[str, int],
        completes: Completes,
    ) -> None:
        self._known = {candidate.group: candidate for candidate in reversed(ranked)}
        self._lookup = lookup
        self._generations = generations
        self._completes = completes

    def neighbours(
        self, leading: Sequence[Candidate], links: Links, *, kind: ChunkKind
    ) -> dict[Group, list[Candidate]]:
        """Group of a leading candidate -> linked sections of this kind, in order; at most as many as are looked at."""
        parts_of = {c.group: [part.id for part in c.parts] or [c.chunk.id] for c in leading}
        linked = links([id for ids in parts_of.values() for id in ids], self._generations) if parts_of else {}
        targets = {target for ids in linked.values() for target in ids}
        chunks = self._lookup.visible_chunks(targets, self._generations) if targets else {}
        found: dict[Group, list[Candidate]] = {}
        for candidate in leading:
            sections: dict[Group, list[Chunk]] = {}
            for target in dict.fromkeys(
                t for id in parts_of[candidate.group] for t in linked.get(id, ()) if t in chunks
            ):
                chunk = chunks[target]
                if chunk.kind == kind and (chunk.document_id, chunk.group) != candidate.group:
                    sections.setdefault((chunk.document_id, chunk.group), []).append(chunk)
            found[candidate.group] = [
                self._section(candidate, group, parts) for group, parts in list(sections.items())[:_TRIED]
            ]
        return found

    def _section(self, candidate: Candidate, group: Group, linked: Sequence[Chunk]) -> Candidate:
        """The section as it is shown: around the part that was found, else around the one that completes best."""
        known = self._known.get(group)
        if known is not None and known.parts:
            return known
        parts = sorted(linked, key=lambda part: part.ordinal)
        if known is None:
            tried = [Candidate(chunk=part) for part in parts]
            known = max(tried, key=lambda one: self._completes(candidate, one)) if len(tried) > 1 else tried[0]
            self._known[group] = known
        shown, joined = merge_parts(known.chunk, parts)
        known.show(shown, joined)
        return known
