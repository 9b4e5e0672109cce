"""Syncs of sources, each source by one sync at a time, written down; and removing what is not configured any more."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

from knowledge.catalog import Catalog
from knowledge.catalog_rows import PreparedDocument
from knowledge.errors import (
    Busy,
    CatalogCorrupt,
    KnowledgeError,
    NewerData,
    SourceMissing,
    StorageFull,
    ToolDown,
)
from knowledge.extract.limits import LimitedPool
from knowledge.index.reconcile import remove_unused_vectors
from knowledge.index.spaces import EmbedderShelf
from knowledge.index.vector_cache import VectorCache
from knowledge.ingest import SourceSync, SyncTools
from knowledge.ingest_embed import VectorFiller
from knowledge.ingest_generation import remove_source
from knowledge.ingest_prepare import PrepareTask, prepare
from knowledge.ingest_warm import WarmReaders
from knowledge.ports import Source, VectorIndex
from knowledge.sources.registry import mirrors_folder
from knowledge.types import Progress, SourceConfig, SyncReport
from knowledge.workers import InWorker

if TYPE_CHECKING:
    from knowledge.api import KnowledgeConfig

LOOK_EVERY_S = 0.2  # whether a sync that waits is to be given up
_CONCERN_ALL = (StorageFull, CatalogCorrupt, NewerData, Busy)  # the next source would meet the same


def interrupted_jobs(catalog: Catalog, *, now: datetime) -> bool:
    """Whether an earlier process ended in the middle of a sync; such jobs are closed as interrupted."""
    with catalog.reading() as connection:
        open_jobs = connection.execute("SELECT count(*) FROM jobs WHERE finished_at IS NULL").fetchone()[0]
    if not open_jobs:
        return False
    with suppress(StorageFull), catalog.transaction() as connection:
        connection.execute(
            "UPDATE jobs SET finished_at = ?, outcome = 'interrupted' WHERE finished_at IS NULL", (now.isoformat(),)
        )
    return True


class _Running:
    """Which sources are being synced: never one of them twice, and none while something needs a still index."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sources: set[str] = set()
        self._is_still = False

    @contextmanager
    def sources(self, names: Sequence[str], should_stop: Callable[[], bool]) -> Iterator[None]:
        """Begins once nothing needs a still index any more, or `should_stop` says so.

        Raises Busy when one of the sources is being synced.
        """
        with self._changed:
            while self._is_still and not should_stop():
                self._changed.wait(LOOK_EVERY_S)
            if taken := sorted(self._sources.intersection(names)):
                raise Busy(f"Source {taken[0]} is being synced already: wait until that has finished")
            self._sources.update(names)
        try:
            yield
        finally:
            with self._changed:
                self._sources.difference_update(names)

    @contextmanager
    def nothing(self) -> Iterator[None]:
        """Raises Busy while anything is being synced, checked or restored."""
        with self._changed:
            if self._sources or self._is_still:
                what = "Another sync is running" if self._sources else "The index is being checked or restored"
                raise Busy(f"{what}: wait until that has finished")
            self._is_still = True
        try:
            yield
        finally:
            with self._changed:
                self._is_still = False
                self._changed.notify_all()


class Syncer:
    """Carries out `Knowledge.sync`."""

    def __init__(
        self,
        *,
        config: KnowledgeConfig,
        catalog: Catalog,
        cache: VectorCache,
        vectors: VectorIndex,
        shelf: EmbedderShelf,
        build_source: Callable[[SourceConfig], Source],
        clock: Callable[[], datetime],
        embed_in_workers: bool,
        on_step: Callable[[str], None],
    ) -> None:
        self._config = config
        self._catalog = catalog
        self._build_source = build_source
        self._clock = clock
        self._running = _Running()
        self._readers = WarmReaders(self._new_readers)
        filler = VectorFiller(
            catalog=catalog,
            cache=cache,
            vectors=vectors,
            workers=config.workers,
            ollama_url=config.ollama_url,
            in_workers=embed_in_workers,
            on_step=on_step,
        )
        self._tools = SyncTools(
            catalog=catalog,
            vectors=vectors,
            filler=filler,
            shelf=shelf,
            clock=clock,
            readers=self._readers,
            ocr_folder=config.data_dir / "ocr",
            on_step=on_step,
        )

    def close(self) -> None:
        """Ends the reader processes that were kept for the next sync."""
        self._readers.close()

    def _new_readers(self) -> LimitedPool[PrepareTask, PreparedDocument]:
        return LimitedPool(
            InWorker(prepare),
            describe=lambda task: task.uri,
            workers=self._config.workers,
            limits=self._config.extraction_limits,
        )

    def alone(self) -> AbstractContextManager[None]:
        """Keeps syncs out meanwhile. Raises Busy while one is running."""
        return self._running.nothing()

    def sync(
        self,
        names: Sequence[str] | None,
        *,
        dry_run: bool,
        force: bool,
        progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
    ) -> list[SyncReport]:
        """See `Knowledge.sync`."""
        configs = self._config.sources if names is None else [self._config.source(name) for name in names]
        with self._running.sources([config.name for config in configs], should_stop):
            if should_stop():
                return []
            if names is None and not dry_run:
                self.remove_unconfigured(should_stop)
            reports: list[SyncReport] = []
            missing: list[SourceMissing] = []
            for config in configs:
                if should_stop():
                    break
                try:
                    reports.append(
                        self._sync_one(config, dry_run=dry_run, force=force, progress=progress, should_stop=should_stop)
                    )
                except SourceMissing as error:
                    missing.append(error)
                    reports.append(_problem_report(config.name, str(error), dry_run=dry_run))
                except _CONCERN_ALL:
                    raise
                except KnowledgeError as error:
                    reports.append(_problem_report(config.name, str(error), dry_run=dry_run))
            if missing and len(missing) == len(reports):
                raise missing[0]
            return reports

    def _sync_one(
        self,
        config: SourceConfig,
        *,
        dry_run: bool,
        force: bool,
        progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
    ) -> SyncReport:
        embedders = self._config.embedders.get(config.evidence_kind, ())
        if dry_run:
            with self._open_source(config) as source:
                run = SourceSync(self._tools, config, source, embedders, progress=progress, should_stop=should_stop)
                return run.preview(force=force)
        job = self._begin_job(config.name)
        try:
            with self._open_source(config) as source:
                run = SourceSync(self._tools, config, source, embedders, progress=progress, should_stop=should_stop)
                report = run.run(force=force)
        except KnowledgeError as error:
            with suppress(StorageFull):
                self._record_problem(config, str(error))
                self._end_job(job, "failed", str(error))
            raise
        self._end_job(job, "stopped" if report.stopped else "done", report.problem)
        return report

    @contextmanager
    def _open_source(self, config: SourceConfig) -> Iterator[Source]:
        source = self._build_source(config)
        try:
            yield source
        finally:
            close = getattr(source, "close", None)  # those that hold a process open, as repositories do
            if close is not None:
                close()

    def remove_unconfigured(self, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Removes what is known of sources that the configuration does not name any more."""
        configured = {config.name for config in self._config.sources}
        for name in sorted(self._catalog.source_names() - configured):
            remove_source(self._catalog, name, should_stop=should_stop)
            shutil.rmtree(mirrors_folder(self._config.data_dir, name), ignore_errors=True)
            with suppress(ToolDown):  # an orphaned collection is never searched, and the next reconcile drops it
                remove_unused_vectors(self._catalog, self._tools.vectors, name)

    def _begin_job(self, source: str) -> int:
        with self._catalog.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO jobs (kind, source, started_at) VALUES ('sync', ?, ?)", (source, self._clock().isoformat())
            )
            return int(cursor.lastrowid or 0)

    def _end_job(self, job: int, outcome: str, detail: str | None) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET finished_at = ?, outcome = ?, detail = ? WHERE number = ?",
                (self._clock().isoformat(), outcome, detail, job),
            )
            connection.execute("DELETE FROM jobs WHERE number < ?", (job - 1_000,))

    def _record_problem(self, config: SourceConfig, problem: str) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO sources (name, kind, problem) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET problem = excluded.problem",
                (config.name, config.kind, problem),
            )


def _problem_report(source: str, problem: str, *, dry_run: bool) -> SyncReport:
    return SyncReport(
        source=source,
        added=0,
        updated=0,
        deleted=0,
        unchanged=0,
        failed=(),
        duration_s=0.0,
        dry_run=dry_run,
        problem=problem,
    )
