"""What the history of a file says of a question: a fault like this one was mended there before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knowledge.ports import ChangeIndex
from knowledge.retrieval.candidates import Candidate
from knowledge.retrieval.question import Question

CHANGED = "changed"  # name of the feature, 0..1


def note_changes(
    found: Sequence[Candidate], question: Question, changes: ChangeIndex | None, *, sources: Iterable[str]
) -> None:
    """Writes into each candidate how much the commits that are like the question speak for its file."""
    if changes is None or not found:
        return
    terms = tuple(dict.fromkeys((*question.terms, *question.added_terms)))
    changed = changes.changed_files(terms, sources=sources)
    for candidate in found:
        locator = candidate.chunk.locator
        candidate.features[CHANGED] = changed.get((locator.source, locator.uri), 0.0)
