"""The composition root: the only place that builds adapters, starts them in order and stops them in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from typing import Any

import structlog

from bot.compose_admins import build_admin_notices
from bot.compose_operations import build_operator_routes
from bot.compose_platforms import Chat, build_chat, scope_of
from bot.compose_schedule import Freshness
from bot.errors import BotError
from bot.http.request_figures import RequestObserver
from bot.native_memory import bound_arenas
from bot.platform_runner import states_of
from bot.services import Services, new_id, open_services, utc_now
from bot.session import sole_owner
from bot.settings import Settings
from bot.stopping import end_at_once
from knowledge.errors import Busy, KnowledgeError

STOP_LIMIT_S = 20.0  # what is being answered when the bot is told to stop may take this long
BUSY_PAUSE_S = 1.0  # between looks at a catalog that another process holds
PROGRESS_LOG_S = 5.0
EVERY_ADDRESS = ("0.0.0.0", "::")

log = structlog.get_logger(__name__)


# --- haechi run -----------------------------------------------------------------------------------


async def run_bot(settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Runs until SIGINT or SIGTERM. Raises DataFolderBusy, AddressUnavailable and what opening raises."""
    bound_arenas()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _on_signal, stopping, announce)
    try:
        opened = partial(_opened_when_free, stopping=stopping, announce=announce)
        async with sole_owner(settings, opened, clock=utc_now) as services:
            log.info("bot.started", version=version("haechi"), pid=os.getpid(), data_dir=str(settings.data_dir))
            await _run_services(services, stopping, announce)
            log.info("bot.stopped")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def _opened_when_free(
    settings: Settings, *, stopping: asyncio.Event, announce: Callable[[str], None]
) -> AsyncIterator[Services]:
    """The services, as soon as no other process holds the catalog; waits for that as long as nobody says stop."""
    waits = False
    async with AsyncExitStack() as stack:
        while True:
            try:
                services = await stack.enter_async_context(open_services(settings))
                break
            except Busy as error:
                if stopping.is_set():
                    raise
                if not waits:
                    announce(f"{error}. Waiting for it; Ctrl-C stops.")
                waits = True
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), BUSY_PAUSE_S)
        yield services


def _on_signal(stopping: asyncio.Event, announce: Callable[[str], None]) -> None:
    """The first signal stops in order, a second one at once."""
    if stopping.is_set():
        end_at_once()
    stopping.set()
    announce("Stopping: what is being answered is finished first; nothing is lost.")


async def _run_services(services: Services, stopping: asyncio.Event, announce: Callable[[str], None]) -> None:
    settings = services.settings
    chat = build_chat(services, clock=utc_now, new_id=new_id)
    services.readiness.platform_states = lambda: states_of(chat.runners)
    services.maintenance.on_restored += [chat.worker.wake, *([chat.placing.wake] if chat.placing is not None else [])]
    operators = build_operator_routes(services, chat)
    chat.machine_routes = (*chat.machine_routes, *operators.routes)
    try:
        async with operators.running, asyncio.TaskGroup() as tasks:
            answering = tasks.create_task(chat.worker.run())
            others = [tasks.create_task(runner.run(chat.reception.receive)) for runner in chat.runners]
            if chat.keep_alerts is not None:
                others.append(tasks.create_task(chat.keep_alerts()))
            if settings.web.enabled:
                others.append(tasks.create_task(_serve_page(services, chat, operators.observe_request, announce)))
            else:
                announce("The page is switched off (web.enabled = false). Stop with Ctrl-C.")
                if chat.machine_routes:
                    others.append(
                        tasks.create_task(_serve_machines(settings, chat, operators.observe_request, announce))
                    )
            others.append(tasks.create_task(Freshness(services).run()))
            others.append(tasks.create_task(_prepare(services)))
            others.append(tasks.create_task(services.readiness.watch()))
            others.append(tasks.create_task(build_admin_notices(services, chat).run()))
            await stopping.wait()
            chat.worker.stop()
            syncs = tasks.create_task(services.queue.stop())  # between documents; the next start takes them up
            await asyncio.wait([answering, syncs], timeout=STOP_LIMIT_S)
            await asyncio.gather(*(runner.close() for runner in chat.runners))
            for task in [answering, *others]:
                task.cancel()
    except* (BotError, KnowledgeError) as group:
        raise _first(group) from None


async def _serve_page(
    services: Services, chat: Chat, observe_request: RequestObserver, announce: Callable[[str], None]
) -> None:
    from bot.http.server import build_http, serve

    settings = services.settings
    web = settings.web
    app = build_http(
        platform=chat.web,
        knowledge=services.knowledge,
        scope=scope_of(web.sources),
        token=web.token.get_secret_value() if web.token else None,
        allowed_hosts=_allowed_hosts(settings),
        health=services.readiness.health,
        examples=web.examples,
        indexing=lambda: services.queue.current_step,
        public_url=settings.public_url,
        machine_routes=chat.machine_routes,
        granted=chat.grants.allows if chat.grants is not None else None,
        observe_request=observe_request,
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


async def _serve_machines(
    settings: Settings, chat: Chat, observe_request: RequestObserver, announce: Callable[[str], None]
) -> None:
    """Slash commands, buttons and other calls of servers come in although there is no page."""
    from bot.http.machine import build_machines
    from bot.http.server import serve

    web = settings.web

    def ready(port: int) -> None:
        announce(f"Commands and buttons of chat servers are taken at {web.host} port {port}.")

    app = build_machines(chat.machine_routes, observe_request=observe_request)
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
    told: dict[str, tuple[str, str, float]] = {}  # source -> stage, words, when
    loop = asyncio.get_running_loop()

    def report(step: dict[str, Any]) -> None:
        words, now_s = progress_words(step), loop.time()
        stage, before, told_s = told.get(step["source"], ("", "", 0.0))
        is_due = step["stage"] != stage or now_s - told_s >= PROGRESS_LOG_S or step["done"] == step["total"]
        if words and words != before and is_due:
            told[step["source"]] = (step["stage"], words, now_s)
            log.info(words)

    with suppress(KnowledgeError):
        try:
            result = await services.operations.call("ingest", {"by": "start"}, report)
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
