"""A small company folder with its knowledge, for tests of storage and sync: real files, SQLite and Chroma."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from knowledge.api import Adapters, ExtractionLimits, Knowledge, KnowledgeConfig, utc_now
from knowledge.embed.hashed import HashEmbedder
from knowledge.errors import BadInput, ToolDown
from knowledge.ports import Embedder, Vectors
from knowledge.types import Scope, SourceConfig, SyncReport, VectorSpace

EVERYTHING = Scope.everything()

LEAVE = """# 휴가규정

## 제1조(목적)
이 규정은 직원의 휴가를 정한다.

## 제2조(연차휴가)
1년간 80퍼센트 이상 출근한 직원에게 15일의 연차휴가를 준다.
"""

TRAVEL = """# 여비규정

## 제1조(지급)
국내 출장의 여비는 일비와 숙박비로 한다.

## 제2조(일비)
일비는 하루 3만원으로 한다.
"""


class CountingEmbedder:
    """The hash embedder, counting its passages; it can be down, and it can reject texts."""

    def __init__(self, digest: str = "1") -> None:
        self._inner = HashEmbedder()
        self._digest = digest
        self.passages: list[str] = []
        self.down = False
        self.rejects: str | None = None

    @property
    def space(self) -> VectorSpace:
        if self.down:
            raise ToolDown("The embedding server does not answer: start it")
        return replace(self._inner.space, digest=self._digest)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.down:
            raise ToolDown("The embedding server does not answer: start it")
        return self._inner.embed_queries(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.down:
            raise ToolDown("The embedding server does not answer: start it")
        if self.rejects is not None and any(self.rejects in text for text in texts):
            raise BadInput("The model rejected this text")
        self.passages.extend(texts)
        return self._inner.embed_passages(texts)


class Shelf:
    """A folder of documents, a data folder, and the knowledge over both; reopened as often as a test wants."""

    def __init__(self, place: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.place = place
        self.clock = clock
        self.folder = place / "docs"
        self.folder.mkdir(parents=True)
        self.data_dir = place / "data"
        self.sources: tuple[SourceConfig, ...] = (SourceConfig(name="rules", kind="documents", path=self.folder),)
        self.embedders: tuple[str, ...] = ("counting",)
        self.built: dict[str, CountingEmbedder] = {"counting": CountingEmbedder(), "other": CountingEmbedder("2")}
        self.on_step: Callable[[str], None] = lambda step: None
        self.max_pages: int | None = None
        self.limits = ExtractionLimits()
        self._open: Knowledge | None = None

    @property
    def embedder(self) -> CountingEmbedder:
        return self.built["counting"]

    @property
    def knowledge(self) -> Knowledge:
        if self._open is None:
            config = KnowledgeConfig(
                data_dir=self.data_dir,
                sources=self.sources,
                embedders={"docs": self.embedders, "code": self.embedders},
                workers=1,
                extraction_limits=self.limits,
            )
            adapters = Adapters(
                embedder=self._embedder, on_step=lambda step: self.on_step(step), max_catalog_pages=self.max_pages
            )
            self._open = Knowledge.open(config, clock=self.clock, adapters=adapters)
        return self._open

    def _embedder(self, name: str) -> Embedder:
        return self.built[name]

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def sync(self, *, force: bool = False, should_stop: Callable[[], bool] | None = None) -> SyncReport:
        """The report of the only source."""
        (report,) = self.knowledge.sync(force=force, should_stop=should_stop)
        return report

    def keyword(self, *terms: str, scope: Scope = EVERYTHING) -> list[str]:
        """Texts that the keyword index finds, best first."""
        knowledge = self.knowledge
        generations = knowledge._catalog.active_generations(scope)
        ids = [chunk for chunk, _ in knowledge._keywords.search(terms, generations=generations, limit=20)]
        chunks = knowledge._catalog.visible_chunks(ids, generations)
        return [chunks[chunk].text for chunk in ids if chunk in chunks]

    def dense(self, question: str, *, source: str = "rules", limit: int = 50) -> list[str]:
        """Texts that the dense index finds in every space of the source and the catalog shows, nearest first."""
        knowledge = self.knowledge
        generations = knowledge._catalog.active_generations(EVERYTHING)
        texts: list[str] = []
        for embedder, collection in knowledge._spaces(source):
            hits = knowledge._vectors.search(collection, embedder.embed_queries([question])[0], limit)
            chunks = knowledge._catalog.visible_chunks([chunk for chunk, _ in hits], generations)
            texts.extend(chunks[chunk].text for chunk, _ in hits if chunk in chunks)
        return texts

    def vector_ids(self) -> dict[str, set[str]]:
        """Collection -> ids, as the vector index holds them."""
        vectors = self.knowledge._vectors
        return {name: vectors.ids(name) for name in vectors.collections()}

    def chunk_ids(self, source: str = "rules") -> set[str]:
        """Ids of all chunks that are shown."""
        catalog = self.knowledge._catalog
        return {chunk.id for chunk in catalog.chunks_where("1", (), catalog.active_generations(Scope.of(source)))}


def git(repository: Path, *arguments: str) -> str:
    """Runs git in `repository` as a made-up author."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()
