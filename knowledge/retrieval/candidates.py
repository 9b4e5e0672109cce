"""What is known of a chunk while a search looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.retrieval.coverage import Held
from knowledge.types import Caller, Chunk, ScoredChunk


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A chunk on its way through fusion, ranking and expansion; edited in place, and never leaves the package."""

    chunk: Chunk
    rrf: float = 0.0
    dense_ranks: dict[str, int] = field(default_factory=dict)  # vector space name -> rank, from 1
    dense_scores: dict[str, float] = field(default_factory=dict)  # cosine similarity
    keyword_rank: int | None = None
    keyword_score: float | None = None
    added_dense_scores: dict[str, float] = field(default_factory=dict)  # for the question in the words of the texts
    added_keyword_score: float | None = None
    features: dict[str, float] = field(default_factory=dict)
    score: float = 0.0  # what the order is made by, higher is better
    rerank: float | None = None
    via: str | None = None
    callers: tuple[Caller, ...] = ()  # of a definition, once they are looked up
    parts: tuple[Chunk, ...] = ()  # the parts of the section or definition that are shown, once they are joined
    _held: Held | None = None

    @property
    def group(self) -> tuple[str, str]:
        """The section or definition that the chunk is a part of."""
        return self.chunk.document_id, self.chunk.group

    @property
    def held(self) -> Held:
        """Label, symbol, path and text, to be asked for terms."""
        if self._held is None:
            self._held = Held(self.chunk.index_text)
        return self._held

    def show(self, chunk: Chunk, parts: Sequence[Chunk]) -> None:
        """From now on the candidate is `chunk`, which `parts` were joined to."""
        if chunk is not self.chunk:
            self.chunk = chunk
            self._held = None
        self.parts = tuple(parts)

    def to_scored(self) -> ScoredChunk:
        return ScoredChunk(
            chunk=self.chunk,
            dense_ranks=dict(self.dense_ranks),
            dense_scores=dict(self.dense_scores),
            keyword_rank=self.keyword_rank,
            keyword_score=self.keyword_score,
            rrf=self.rrf,
            rerank=self.rerank,
            features=dict(self.features),
            via=self.via,
            callers=self.callers,
        )
