"""The order in which candidates of code are looked at, and what belongs to them: modifiers used, callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knowledge.ports import ChunkLookup
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.code_priors import TEST_PRIOR, is_test_path, path_prior

WITH_MODIFIERS = 2  # leading functions that bring their modifiers
WITH_CALLERS = 8  # leading definitions whose callers are told
MAX_MODIFIERS = 3
MODIFIER_PLACE = 5  # modifiers stand behind so many results, or at the end of fewer


def likely_first(found: Sequence[Candidate], *, about_tests: bool) -> list[Candidate]:
    """The candidates with those behind that nobody looks for: change logs and tests must not take all the places."""

    def order(candidate: Candidate) -> float:
        uri = candidate.chunk.locator.uri
        return -candidate.rrf * path_prior(uri) * (TEST_PRIOR if not about_tests and is_test_path(uri) else 1.0)

    return sorted(found, key=order)


def with_modifiers(
    ranked: Sequence[Candidate], lookup: ChunkLookup, generations: Mapping[str, int], *, top_k: int
) -> list[Candidate]:
    """The candidates with the modifiers of the leading functions among the first `top_k`, marked `via`.

    A modifier that stands among the leading ones keeps its place and is marked too; what it pushes out is the last.
    """
    leading = list(ranked[:top_k])
    brought: list[Candidate] = []
    for candidate in ranked[:WITH_MODIFIERS]:
        for chunk in lookup.used_modifiers(candidate.chunk, generations)[:MAX_MODIFIERS]:
            known = next((c for c in (*leading, *brought) if c.group == (chunk.document_id, chunk.group)), None)
            if known is None:
                brought.append(Candidate(chunk=chunk, via=candidate.chunk.id))
            elif known is not candidate and known.via is None:
                known.via = candidate.chunk.id
    if not brought:
        return list(ranked)
    brought = brought[:MAX_MODIFIERS]
    place = max(1, min(MODIFIER_PLACE, len(ranked), top_k - len(brought)))
    there = {candidate.group for candidate in brought}
    rest = [candidate for candidate in ranked[place:] if candidate.group not in there]
    return [*ranked[:place], *brought, *rest]


def note_callers(ranked: Sequence[Candidate], lookup: ChunkLookup, generations: Mapping[str, int]) -> None:
    """Writes into the leading definitions what calls them."""
    for candidate in ranked[:WITH_CALLERS]:
        candidate.callers = lookup.callers_of(candidate.chunk, generations)
