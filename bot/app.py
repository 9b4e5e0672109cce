"""The composition root: the only place that builds adapters, starts them in order and stops them in order."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from bot.answering import Answering, ModelSetup
from bot.control import Report
from bot.errors import BotError, ConfigError
from bot.feedback import Feedback
from bot.inbox import Inbox
from bot.logging_setup import add_log_file, remove_log_file
from bot.operations import KnowledgeOperations
from bot.persona import Persona, find_persona, load_persona
from bot.query_log import QueryLog
from bot.readiness import Readiness
from bot.session import sole_owner
from bot.settings import Settings
from bot.sources import Permalink, SourceLinks
from bot.stopping import end_at_once
from bot.store import Store
from bot.worker import Worker
from knowledge.analysis import analyze, analyze_query
from knowledge.api import ExtractionLimits, Knowledge, KnowledgeConfig
from knowledge.embed.registry import DEFAULT_EMBEDDERS, build_embedder
from knowledge.errors import KnowledgeError
from knowledge.sources.git import GitSource
from knowledge.types import EvidenceKind, Scope

STOP_LIMIT_S = 20.0  # what is being answered when the bot is told to stop may take this long
PROGRESS_LOG_S = 5.0
EVERY_ADDRESS = ("0.0.0.0", "::")

log = structlog.get_logger(__name__)


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
    answering: Answering
    query_log: QueryLog
    operations: KnowledgeOperations
    readiness: Readiness

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
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
            model = build_model(settings)
            try:
                yield _compose(settings, store, knowledge, persona, model)
            finally:
                if model is not None:
                    await model.model.close()
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


def build_model(settings: Settings) -> ModelSetup | None:
    """The chat model of the settings, or None; building it asks no server."""
    if settings.model.provider == "none":
        return None
    from bot.llm.ollama import OllamaChat, OllamaOptions
    from bot.prompting import REPLY_TOKENS

    model = settings.model
    options = OllamaOptions(
        num_ctx=model.num_ctx,
        max_reply_tokens=REPLY_TOKENS,
        temperature=model.temperature,
        first_token_timeout_s=model.first_token_timeout_s,
        total_timeout_s=model.total_timeout_s,
        max_concurrent=settings.answers.concurrency,
    )
    return ModelSetup(
        model=OllamaChat(model.name, url=model.url, clock=utc_now, options=options), num_ctx=model.num_ctx
    )


def _compose(
    settings: Settings, store: Store, knowledge: Knowledge, persona: Persona, model: ModelSetup | None
) -> Services:
    sources = settings.source_configs()
    query_log = QueryLog(store, clock=utc_now)
    answering = Answering(
        knowledge=knowledge,
        persona=persona,
        model=model,
        link=SourceLinks.of(
            sources,
            permalinks=_permalinks(settings),
            page_url=settings.page_url if settings.web.enabled or settings.public_url else None,
        ),
        analyze=analyze,
        analyze_query=analyze_query,
        clock=utc_now,
        top_k=settings.search.top_k,
    )
    operations = KnowledgeOperations(
        knowledge=knowledge,
        answering=answering,
        query_log=query_log,
        source_names=tuple(source.name for source in sources),
        default_top_k=settings.search.top_k,
    )
    return Services(
        settings=settings,
        store=store,
        knowledge=knowledge,
        persona=persona,
        answering=answering,
        query_log=query_log,
        operations=operations,
        readiness=Readiness(knowledge=knowledge, model=model.model if model else None, clock=utc_now),
    )


def _permalinks(settings: Settings) -> dict[str, Permalink]:
    return {
        source.name: GitSource(source.name, source.path, source.branch, source.include, source.exclude).permalink
        for source in settings.source_configs()
        if source.kind == "repository" and source.path is not None
    }


# --- haechi run -----------------------------------------------------------------------------------


async def run_bot(settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Runs until SIGINT or SIGTERM. Raises DataFolderBusy, AddressUnavailable and what opening raises."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _on_signal, stopping, announce)
    try:
        async with sole_owner(settings, open_services, clock=utc_now) as services:
            await _run_services(services, stopping, announce)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _on_signal(stopping: asyncio.Event, announce: Callable[[str], None]) -> None:
    """The first signal stops in order, a second one at once."""
    if stopping.is_set():
        end_at_once()
    stopping.set()
    announce("Stopping: what is being answered is finished first; nothing is lost.")


async def _run_services(services: Services, stopping: asyncio.Event, announce: Callable[[str], None]) -> None:
    from bot.platforms.web import WebPlatform

    settings = services.settings
    scope = _web_scope(settings)
    platform = WebPlatform(services.store, clock=utc_now, new_id=new_id, public_url=settings.page_url)
    worker = Worker(
        inbox=Inbox(services.store, clock=utc_now),
        feedback=Feedback(services.store, clock=utc_now),
        query_log=services.query_log,
        answering=services.answering,
        persona=services.persona,
        platforms={platform.name: platform},
        bot_ids={platform.name: platform.bot.id},
        scope_of=lambda message: scope,
        new_id=new_id,
        concurrency=settings.answers.concurrency,
        max_question_chars=settings.answers.max_question_chars,
    )
    try:
        async with asyncio.TaskGroup() as tasks:
            answering = tasks.create_task(worker.run())
            others = [tasks.create_task(platform.listen(worker.receive))]
            if settings.web.enabled:
                others.append(tasks.create_task(_serve_page(services, platform, scope, announce)))
            else:
                announce("The page is switched off (web.enabled = false). Stop with Ctrl-C.")
            others.append(tasks.create_task(_prepare(services)))
            await stopping.wait()
            worker.stop()
            await asyncio.wait([answering], timeout=STOP_LIMIT_S)
            await platform.close()
            for task in [answering, *others]:
                task.cancel()
    except* (BotError, KnowledgeError) as group:
        raise _first(group) from None


def _web_scope(settings: Settings) -> Scope:
    names = settings.web.sources
    return Scope.everything() if names is None else Scope.of(*names)


async def _serve_page(services: Services, platform: Any, scope: Scope, announce: Callable[[str], None]) -> None:
    from bot.http.server import build_http, serve

    settings = services.settings
    web = settings.web
    app = build_http(
        platform=platform,
        knowledge=services.knowledge,
        scope=scope,
        token=web.token.get_secret_value() if web.token else None,
        allowed_hosts=_allowed_hosts(settings),
        health=services.readiness.health,
        examples=web.examples,
        indexing=lambda: services.operations.last_progress,
        public_url=settings.public_url,
    )

    def ready(port: int) -> None:
        address = settings.public_url or settings.page_url.removesuffix(f":{web.port}") + f":{port}"
        announce(f"Haechi answers at {address}/")
        if web.host in EVERY_ADDRESS and settings.public_url is None:
            known = ", ".join(web.allowed_hosts) or "none yet"
            announce(
                "It listens on every address of this machine. Other machines reach it by the names in"
                f" web.allowed_hosts ({known}); set public_url too, so that links in answers lead there."
            )
        names = ", ".join(source.name for source in settings.sources)
        if settings.ingest.at_start:
            announce(f"Indexing {names} in the background; questions can be asked at once.")
        if settings.model.provider == "none":
            announce("No language model is configured: answers quote the evidence (set [model] to change that).")
        announce("Stop with Ctrl-C.")

    await serve(app, host=web.host, port=web.port, ready=ready)


def _allowed_hosts(settings: Settings) -> tuple[str, ...]:
    """Names in the address bar that the page answers to; the address that it is bound to is one of them."""
    bound = () if settings.web.host in EVERY_ADDRESS else (settings.web.host,)
    return (*settings.web.allowed_hosts, *bound)


async def _prepare(services: Services) -> None:
    """What goes on beside the first questions: opening what they need, and bringing the index up to date."""
    await _warm_up(services)
    if services.settings.ingest.at_start:
        await _sync_at_start(services)


async def _sync_at_start(services: Services) -> None:
    """Brings the index up to date; a source that fails is logged and shown by `status`, and stops nothing."""
    last_stage, last_s = "", 0.0
    loop = asyncio.get_running_loop()

    def report(step: dict[str, Any]) -> None:
        nonlocal last_stage, last_s
        stage, now_s = f"{step['source']} {step['stage']}", loop.time()
        if stage != last_stage or now_s - last_s >= PROGRESS_LOG_S or step["done"] == step["total"]:
            last_stage, last_s = stage, now_s
            if words := progress_words(step):
                log.info(words)

    with suppress(KnowledgeError):
        try:
            result = await services.operations.call("ingest", {}, report)
        except KnowledgeError as error:
            log.error("sync.failed", reason=str(error))
            raise
        for source in result["sources"]:
            log.info(
                "sync.done",
                source=source["source"],
                added=source["added"],
                updated=source["updated"],
                deleted=source["deleted"],
                failed=len(source["failed"]),
                problem=source["problem"],
                took_s=source["duration_s"],
            )


async def _warm_up(services: Services) -> None:
    """Opens what the first question would have to wait for. What cannot be opened is told by that question's answer."""
    try:
        await asyncio.to_thread(services.knowledge.warm_up)
    except KnowledgeError as error:
        log.warning("warm_up.failed", reason=str(error))


def progress_words(step: Mapping[str, Any]) -> str:
    """ "reading rules 12/40"; empty for steps that need no line in the log."""
    verb = {"read": "reading", "embed": "embedding"}.get(step["stage"])
    return f"{verb} {step['source']} {step['done']}/{step['total']}" if verb and step["total"] else ""


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error itself: a person wants one sentence, not a group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
