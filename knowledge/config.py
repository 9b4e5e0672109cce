"""What `Knowledge` is opened with: the settings of this package, and what may take the place of its adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.errors import UnknownSource
from knowledge.extract.limits import ExtractionLimits
from knowledge.ports import Embedder, Reranker, Source, VectorIndex
from knowledge.rerank.config import RerankerConfig
from knowledge.types import EvidenceKind, SourceConfig

if TYPE_CHECKING:
    from knowledge.retrieval.calibration import Calibrations


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeConfig:
    """Where the data lies, what is read, and which embedders each kind of evidence uses."""

    data_dir: Path
    sources: tuple[SourceConfig, ...]
    embedders: Mapping[EvidenceKind, tuple[str, ...]]
    ollama_url: str = "http://127.0.0.1:11434"
    chroma_url: str | None = None
    vector_cache: Path | None = None
    workers: int = 2
    settle_s: float = 0.0  # files that were written to less than so long ago are looked at twice
    extraction_limits: ExtractionLimits = field(default_factory=ExtractionLimits)
    timezone: str = "Asia/Seoul"  # in which a day begins, for what is in force today
    reranker: RerankerConfig | None = None

    def source(self, name: str) -> SourceConfig:
        """The entry of that name. Raises UnknownSource, which names the known ones."""
        for config in self.sources:
            if config.name == name:
                return config
        known = ", ".join(config.name for config in self.sources) or "none"
        raise UnknownSource(f'There is no source "{name}": the configuration has {known}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapters:
    """What may be put in place of the real adapters: by tests, benchmarks and later versions.

    An embedder given here computes in this process; the built-in ones compute in worker processes.
    """

    embedder: Callable[[str], Embedder] | None = None
    source: Callable[[SourceConfig], Source] | None = None
    vectors: Callable[[], VectorIndex] | None = None
    reranker: Reranker | None = None
    calibrations: Calibrations | None = None
    on_step: Callable[[str], None] = field(default=lambda step: None)
    max_catalog_pages: int | None = None  # as if the disk were that small
