"""What is known of a chunk while a search looks at it."""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge.retrieval.coverage import squeeze
from knowledge.types import Chunk, ScoredChunk


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
    _squeezed: str | None = None

    @property
    def squeezed(self) -> str:
        """Label, symbol, path and text in the form in which terms are looked for."""
        if self._squeezed is None:
            self._squeezed = squeeze(self.chunk.index_text)
        return self._squeezed

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
        )
