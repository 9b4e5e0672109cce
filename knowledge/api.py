"""The only door of the package: search, read, list, evidence pages, sync, status. Every read is limited by a Scope."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.catalog import Catalog
from knowledge.config import Adapters as Adapters
from knowledge.config import KnowledgeConfig as KnowledgeConfig
from knowledge.embed.registry import build_embedder
from knowledge.error_memory import ErrorMemory
from knowledge.errors import NotFound, StorageFull, ToolDown
from knowledge.extract.limits import ExtractionLimits as ExtractionLimits
from knowledge.index.changes_fts import FtsChangeIndex
from knowledge.index.collections import collection_name
from knowledge.index.keywords_fts import FtsKeywordIndex
from knowledge.index.lazy import LazyVectorIndex
from knowledge.index.reconcile import reconcile
from knowledge.index.spaces import EmbedderShelf, RecordedEmbedder
from knowledge.index.vector_cache import VectorCache
from knowledge.lookup import find_documents, read_section
from knowledge.lookup_code import CodeLookup
from knowledge.maintenance import Maintenance
from knowledge.page_images import PageImage as PageImage
from knowledge.page_images import PageImages
from knowledge.passages import CodeSource as CodeSource
from knowledge.passages import passage_of
from knowledge.ports import Embedder, Source, VectorIndex
from knowledge.rerank.config import RerankerConfig as RerankerConfig
from knowledge.rerank.registry import build_reranker as build_reranker
from knowledge.retrieval.frames import find_frames as find_frames
from knowledge.retrieval.question import query_terms as query_terms
from knowledge.sources.git_history import LineChange as LineChange
from knowledge.sources.registry import build_source as build_source
from knowledge.sources.registry import check_source as check_source
from knowledge.status import check_tools, source_status
from knowledge.sync import Syncer, interrupted_jobs
from knowledge.types import (
    Caller,
    Chunk,
    DocumentSummary,
    Evidence,
    EvidenceKind,
    Passage,
    Progress,
    Scope,
    SourceConfig,
    SourceStatus,
    SyncReport,
    ToolStatus,
)

if TYPE_CHECKING:
    from knowledge.calibrate_gate import CalibrationOutcome as CalibrationOutcome
    from knowledge.retrieval.calibration import Calibrations
    from knowledge.retrieval.pipeline import SearchPipeline


def utc_now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)


class Knowledge:
    """Synchronous and thread-safe. The caller holds the lock of the data folder."""

    def __init__(
        self,
        config: KnowledgeConfig,
        *,
        catalog: Catalog,
        cache: VectorCache,
        clock: Callable[[], datetime],
        adapters: Adapters,
    ) -> None:
        self._config = config
        self._catalog = catalog
        self._cache = cache
        self._clock = clock
        self._adapters = adapters
        self._shelf = EmbedderShelf(adapters.embedder or partial(build_embedder, ollama_url=config.ollama_url))
        self._after_crash = interrupted_jobs(catalog, now=clock())
        self._vectors = LazyVectorIndex(adapters.vectors or self._open_chroma, reconcile=self._reconcile)
        self._keywords = FtsKeywordIndex(catalog)
        self._reranker = adapters.reranker or build_reranker(config.reranker)
        self.code = CodeLookup(catalog, lambda source: self._code_source(config.source(source)))
        self._pipeline: SearchPipeline | None = None
        self._calibrations: Calibrations | None = adapters.calibrations
        self._page_images = PageImages()
        self._building = threading.Lock()
        self._syncer = Syncer(
            config=config,
            catalog=catalog,
            cache=cache,
            vectors=self._vectors,
            shelf=self._shelf,
            build_source=self._build_source,
            clock=clock,
            embed_in_workers=adapters.embedder is None,
            on_step=adapters.on_step,
        )
        embedder = partial(self._shelf.first, config.embedders.get("docs", ()))
        self.memory = ErrorMemory(catalog, cache, embedder=embedder, clock=clock)
        self.maintenance = Maintenance(
            catalog=catalog,
            cache=cache,
            vectors=self._vectors,
            syncer=self._syncer,
            data_dir=config.data_dir,
            on_replaced=self._forget_what_was_read,
            on_step=adapters.on_step,
        )

    @classmethod
    def open(
        cls, config: KnowledgeConfig, *, clock: Callable[[], datetime] = utc_now, adapters: Adapters | None = None
    ) -> Knowledge:
        """The knowledge in `config.data_dir`, created when missing. Raises NewerData, CatalogCorrupt, StorageFull.

        Models and the vector index are opened when they are needed first.
        """
        adapters = adapters or Adapters()
        names = [source.name for source in config.sources]
        catalog = Catalog.open(
            config.data_dir / "catalog.sqlite3", configured=names, max_pages=adapters.max_catalog_pages
        )
        try:
            cache = VectorCache(config.vector_cache or config.data_dir / "vectors.sqlite3")
        except BaseException:
            catalog.close()
            raise
        return cls(config, catalog=catalog, cache=cache, clock=clock, adapters=adapters)

    # --- reading ----------------------------------------------------------------------------------

    def search(self, query: str, *, scope: Scope, top_k: int = 8, kind: EvidenceKind | None = None) -> Evidence:
        """Ranked evidence with the gate's verdict. A tool that is down is named in it, never hidden."""
        return self._search_pipeline().search(query, scope=scope, top_k=top_k, kind=kind)

    def read(self, document: str, label: str, *, scope: Scope) -> tuple[Chunk, ...]:
        """All parts of one section or definition, in order. Raises NotFound, which names what is near."""
        found = find_documents(self.list_documents(scope=scope), document)
        return read_section(self._catalog, found, label, self._catalog.active_generations(scope))

    def list_documents(self, *, scope: Scope) -> list[DocumentSummary]:
        """What the sources of the scope hold, the failed ones too, by source and uri."""
        return self._catalog.summaries(scope)

    def passage(self, chunk_id: str, *, scope: Scope) -> Passage:
        """The whole masked text around a chunk. Raises NotFound when it has gone or is not in the scope."""
        generations = self._catalog.active_generations(scope)
        chunk = self._catalog.visible_chunks([chunk_id], generations).get(chunk_id)
        if chunk is None:
            raise NotFound("This evidence is not in the index any more, or not among the sources you may see")
        config = self._config.source(chunk.locator.source)
        return passage_of(
            self._catalog, chunk, generations, config=config, code_source=lambda: self._code_source(config)
        )

    def page_image(self, chunk_id: str, page: int, *, scope: Scope) -> PageImage:
        """Page `page` of the document that a chunk comes from, as a picture.

        Raises NotFound as `passage` does, for pages that are not there or hold something masked, and ContentChanged
        when the file is not the indexed one any more; UnreadableFile, UnsupportedFormat, SourceMissing.
        """
        passage = self.passage(chunk_id, scope=scope)
        if passage.evidence_kind != "docs" or passage.locator is None:
            raise NotFound(f"{passage.uri} has no pages.")
        config = self._config.source(passage.source)
        return self._page_images.get(passage.locator, page, passage.blocks, source=lambda: self._build_source(config))

    # --- code -------------------------------------------------------------------------------------

    def callers(self, chunk_id: str, *, scope: Scope, limit: int = 5) -> tuple[Caller, ...]:
        """What calls a definition, best first. Empty for what is no definition. Raises NotFound when it has gone."""
        return self.code.callers(chunk_id, scope=scope, limit=limit)

    def definition(self, symbol: str, *, scope: Scope) -> tuple[Chunk, ...]:
        """Definitions called `symbol` ("OrderService.cancel", "cancel"), best first, at most 20; empty for none."""
        return self.code.definition(symbol, scope=scope)

    def definition_at(
        self, source: str, uri: str, line: int, *, scope: Scope, revision: str | None = None
    ) -> Chunk | None:
        """The innermost definition around a line, else the chunk of other code there; None where nothing is indexed.

        `revision` is the commit that the line number is of, when it is not the indexed one: None also when the line
        was changed since. Raises NotFound for a commit that the repository does not know, ToolDown.
        """
        return self.code.definition_at(source, uri, line, scope=scope, revision=revision)

    def blame(
        self, source: str, uri: str, start_line: int, end_line: int, *, scope: Scope, revision: str | None = None
    ) -> tuple[LineChange, ...]:
        """Which commits these lines stem from, at `revision` or the indexed commit. Raises NotFound, ToolDown."""
        return self.code.blame(source, uri, start_line, end_line, scope=scope, revision=revision)

    def log_of_lines(
        self,
        source: str,
        uri: str,
        start_line: int,
        end_line: int,
        *,
        scope: Scope,
        since: datetime | None = None,
        before: str | None = None,
        limit: int = 10,
        revision: str | None = None,
    ) -> tuple[LineChange, ...]:
        """Commits that changed these lines, newest first, bounded. Raises NotFound, ToolDown."""
        return self.code.log_of_lines(
            source, uri, start_line, end_line, scope=scope, since=since, before=before, limit=limit, revision=revision
        )

    # --- keeping up to date -----------------------------------------------------------------------

    def sync(
        self,
        *,
        sources: Iterable[str] | None = None,
        dry_run: bool = False,
        force: bool = False,
        progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> list[SyncReport]:
        """One report a source. A source that fails as a whole has `problem` set and keeps what it had.

        Raises UnknownSource, Busy while another sync runs, StorageFull; SourceMissing only when every wanted source
        is missing.
        """
        return self._syncer.sync(
            None if sources is None else tuple(sources),
            dry_run=dry_run,
            force=force,
            progress=progress or (lambda step: None),
            should_stop=should_stop or (lambda: False),
        )

    def status(self, *, scope: Scope) -> list[SourceStatus]:
        """One line a configured source of the scope, synced or not."""
        visible = [config for config in self._config.sources if scope.allows(config.name)]
        return [
            source_status(
                self._catalog,
                config,
                embedders=self._embedders_of(config),
                is_calibrated=self._is_calibrated(config),
            )
            for config in visible
        ]

    def check(self) -> list[ToolStatus]:
        """Whether catalog, vector index, embedders and reranker answer; loads no model."""
        names = dict.fromkeys(name for config in self._config.sources for name in self._embedders_of(config))
        return check_tools(
            self._catalog, self._vectors, self._shelf, list(names), reranker=self._reranker, now=self._clock()
        )

    def calibrate(self, file: Path) -> list[CalibrationOutcome]:
        """What measuring the gate on a file of labelled questions gave; it holds from the next search on.

        Raises BadQuestionFile, UnknownSource, Busy while vectors are pending.
        """
        from knowledge.calibrate_gate import calibrate_gate

        folder = self._config.data_dir / "calibrations"
        outcomes = calibrate_gate(file, pipeline=self._search_pipeline(), catalog=self._catalog, folder=folder)
        with self._building:
            self._calibrations = self._pipeline = None
        return outcomes

    def _forget_what_was_read(self) -> None:
        with self._building:
            self._calibrations, self._pipeline = self._adapters.calibrations, None

    def warm_up(self) -> None:
        """Opens what the first search would have to open. Raises what that search would have reported as degraded."""
        from knowledge.analysis import warm_up

        self._search_pipeline()
        self._vectors.opened()
        warm_up()
        if self._reranker is not None:
            self._reranker.warm_up()

    def close(self) -> None:
        self._syncer.close()
        self._vectors.close()
        if self._reranker is not None:
            self._reranker.close()
        self._cache.close()
        self._catalog.close()

    # --- composition ------------------------------------------------------------------------------

    def _search_pipeline(self) -> SearchPipeline:
        with self._building:
            if self._pipeline is None:
                from knowledge.retrieval.pipeline import SearchPipeline

                self._pipeline = SearchPipeline(
                    catalog=self._catalog,
                    keywords=self._keywords,
                    vectors=self._vectors,
                    spaces=self._spaces,
                    reranker=self._reranker,
                    reranking=self._config.reranker,
                    calibrations=self._read_calibrations(),
                    clock=self._clock,
                    timezone=self._config.timezone,
                    changes=FtsChangeIndex(self._catalog),
                )
            return self._pipeline

    def _spaces(self, source: str) -> Sequence[tuple[Embedder, str]]:
        """Embedders and collections of the generation that is shown."""
        shown = next((g for g in self._catalog.generations(source) if g.state == "active"), None)
        if shown is None:
            return []
        return [
            (
                RecordedEmbedder(self._shelf, recorded, recorded.space, source=source),
                collection_name(self._catalog.installation, source, recorded.space.key),
            )
            for recorded in shown.spaces
            if recorded.space is not None
        ]

    def _is_calibrated(self, config: SourceConfig) -> bool:
        if config.name not in self._catalog.active_generations(Scope.of(config.name)):
            return False
        return self._search_pipeline().is_calibrated(config.name, config.evidence_kind)

    def _embedders_of(self, config: SourceConfig) -> tuple[str, ...]:
        return tuple(self._config.embedders.get(config.evidence_kind, ()))

    def _open_chroma(self) -> VectorIndex:
        from knowledge.index.vectors_chroma import ChromaIndex

        if self._config.chroma_url is not None:
            return ChromaIndex.server(self._config.chroma_url)
        return ChromaIndex.embedded(self._config.data_dir / "chroma")

    def _reconcile(self, vectors: VectorIndex) -> None:
        try:
            reconcile(self._catalog, vectors, self._cache, thorough=self._after_crash)
        except StorageFull as error:
            # a question that opens the index is still answered by words
            raise ToolDown(str(error)) from error

    def _read_calibrations(self) -> Calibrations:
        if self._calibrations is None:
            from knowledge.retrieval.calibration import Calibrations

            self._calibrations = Calibrations.load(self._config.data_dir / "calibrations")
        return self._calibrations

    def _build_source(self, config: SourceConfig) -> Source:
        if self._adapters.source is not None:
            return self._adapters.source(config)
        data_dir, settle_s = self._config.data_dir, self._config.settle_s
        return build_source(config, data_dir=data_dir, clock=self._clock, settle_s=settle_s)

    def _code_source(self, config: SourceConfig) -> CodeSource:
        source = self._build_source(config)
        if not hasattr(source, "file_at"):
            raise NotFound(f"Source {config.name} holds no code any more: run `haechi ingest`")
        return source  # type: ignore[return-value]
