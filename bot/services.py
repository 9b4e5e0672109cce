"""Everything that works on the data folder, built in one place and closed in order."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bot.answering import Answering
from bot.audit import AuditLog
from bot.case_operations import CaseOperations, note_forgotten
from bot.compose_models import build_models
from bot.control import Report
from bot.errors import ConfigError
from bot.job_journal import JobJournal
from bot.jobs import JobQueue
from bot.logging_setup import add_log_file, remove_log_file
from bot.maintenance import Maintenance
from bot.model_chain import ModelPool
from bot.operations import KnowledgeOperations
from bot.persona import Persona, find_persona, load_persona
from bot.query_log import QueryLog
from bot.readiness import Readiness
from bot.settings import Settings
from bot.sources import Permalink, SourceLinks
from bot.store import Store
from knowledge.analysis import analyze
from knowledge.api import CodeSource, ExtractionLimits, Knowledge, KnowledgeConfig, build_source, query_terms
from knowledge.embed.registry import DEFAULT_EMBEDDERS, build_embedder
from knowledge.types import EvidenceKind, Progress, SourceConfig, SyncReport


def utc_now() -> datetime:
    """The time now, aware."""
    return datetime.now(UTC)


def new_id() -> str:
    """A random id: 16 hexadecimal digits."""
    return secrets.token_hex(8)


@dataclass(slots=True, kw_only=True)
class Services:
    """Everything that works on the data folder; open as long as this process owns it."""

    settings: Settings
    store: Store
    knowledge: Knowledge
    persona: Persona
    models: ModelPool
    answering: Answering
    links: SourceLinks
    query_log: QueryLog
    operations: KnowledgeOperations
    queue: JobQueue
    journal: JobJournal
    maintenance: Maintenance
    cases: CaseOperations
    readiness: Readiness

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
        if (asked := self.maintenance.methods.get(method) or self.cases.methods.get(method)) is not None:
            return await asked(params, report)
        return await self.operations.call(method, params, report)


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """The services on a data folder that this process has locked. Raises ConfigError, StoreError, KnowledgeError."""
    persona = load_persona(find_persona(settings.answers.persona, settings.config_file))
    config = knowledge_config(settings)
    log_file = add_log_file(settings.data_dir)
    try:
        store = await asyncio.to_thread(Store.open, settings.data_dir / "bot.sqlite3", clock=utc_now)
        try:
            knowledge = await asyncio.to_thread(Knowledge.open, config, clock=utc_now)
            models = build_models(settings, clock=utc_now)
            try:
                services = _compose(settings, store, knowledge, persona, models)
                await asyncio.to_thread(services.maintenance.finish_interrupted)
                await asyncio.to_thread(services.journal.close_open)
                try:
                    yield services
                finally:
                    await services.queue.stop()
            finally:
                await models.close()
                await asyncio.to_thread(knowledge.close)
        finally:
            store.close()
    finally:
        remove_log_file(log_file)


def knowledge_config(settings: Settings) -> KnowledgeConfig:
    """What `knowledge` needs of the settings. Raises ConfigError for an embedder that does not exist."""
    chosen: dict[EvidenceKind, tuple[str, ...] | None] = {
        "docs": settings.embedding.documents,
        "code": settings.embedding.code,
    }
    embedders = {kind: DEFAULT_EMBEDDERS[kind] if names is None else names for kind, names in chosen.items()}
    for kind, names in embedders.items():
        key = "embedding.documents" if kind == "docs" else "embedding.code"
        for name in names:
            try:
                build_embedder(name, ollama_url=settings.embedding.ollama_url)
            except ValueError as error:
                raise ConfigError(f"{settings.config_file}: {key}: {error}.") from None
    return KnowledgeConfig(
        data_dir=settings.data_dir,
        sources=settings.source_configs(),
        embedders=embedders,
        ollama_url=settings.embedding.ollama_url,
        chroma_url=settings.chroma.url,
        vector_cache=settings.embedding.vector_cache,
        workers=settings.ingest.workers,
        settle_s=settings.ingest.settle_s,
        timezone=settings.schedule.timezone,
        reranker=settings.reranker.config(),
        extraction_limits=ExtractionLimits(
            wall_s=settings.ingest.file_time_limit_s,
            memory_bytes=settings.ingest.file_memory_limit_mb * 1_000_000,
            wall_setting="ingest.file_time_limit_s",
            memory_setting="ingest.file_memory_limit_mb",
        ),
    )


def embedder_dimensions(settings: Settings, name: str) -> int:
    """Length of an embedder's vectors; loads its model or asks its server. Raises ModelMissing or ToolDown."""
    return build_embedder(name, ollama_url=settings.embedding.ollama_url).space.dim


def _compose(settings: Settings, store: Store, knowledge: Knowledge, persona: Persona, models: ModelPool) -> Services:
    sources = settings.source_configs()
    query_log = QueryLog(store, clock=utc_now)
    links = SourceLinks.of(
        sources,
        permalinks=_permalinks(settings),
        page_url=settings.page_url if settings.web.enabled or settings.public_url else None,
    )
    answering = Answering(
        knowledge=knowledge,
        persona=persona,
        models=models,
        link=links,
        page_image=links.page_image,
        analyze=analyze,
        analyze_query=query_terms,
        clock=utc_now,
        top_k=settings.search.top_k,
        contact=settings.answers.contact,
    )
    journal = JobJournal(store, clock=utc_now)
    queue = JobQueue(partial(_sync, knowledge), journal, clock=utc_now, at_once=settings.schedule.at_once)
    readiness = Readiness(knowledge=knowledge, models=models, clock=utc_now)
    maintenance = Maintenance(
        store=store, knowledge=knowledge, data_dir=settings.data_dir, retention=settings.retention, clock=utc_now
    )
    operations = KnowledgeOperations(
        knowledge=knowledge,
        answering=answering,
        query_log=query_log,
        queue=queue,
        source_names=tuple(source.name for source in sources),
        default_top_k=settings.search.top_k,
        readiness=readiness,
        last_backup_at=maintenance.last_backup_at,
        new_id=new_id,
    )
    return Services(
        settings=settings, store=store, knowledge=knowledge, persona=persona, models=models, answering=answering,
        links=links, query_log=query_log, operations=operations, queue=queue, journal=journal,
        maintenance=maintenance,
        cases=CaseOperations(knowledge.memory, AuditLog(store, clock=utc_now), partial(note_forgotten, store, utc_now)),
        readiness=readiness,
    )  # fmt: skip


def _sync(
    knowledge: Knowledge,
    source: str,
    force: bool,
    progress: Callable[[Progress], None],
    should_stop: Callable[[], bool],
) -> SyncReport:
    """One job of the queue."""
    reports = knowledge.sync(sources=[source], force=force, progress=progress, should_stop=should_stop)
    if not reports:  # told to stop before it began
        return SyncReport(
            source=source, added=0, updated=0, deleted=0, unchanged=0, failed=(), duration_s=0.0, stopped=True
        )
    return reports[0]


def _permalinks(settings: Settings) -> dict[str, Permalink]:
    return {
        source.name: partial(_permalink, source, settings.data_dir)
        for source in settings.source_configs()
        if source.kind == "repository"
    }


def _permalink(
    config: SourceConfig, data_dir: Path, uri: str, revision: str, start_line: int | None, end_line: int | None
) -> str | None:
    """The address of lines on their repository's web host; a source is small, and opens nothing before it is asked."""
    source = build_source(config, data_dir=data_dir)
    try:
        return source.permalink(uri, revision, start_line, end_line) if isinstance(source, CodeSource) else None
    finally:
        if isinstance(source, CodeSource):
            source.close()
