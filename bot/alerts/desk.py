"""Where alerts arrive: a new fault is analysed once in its thread, a known one is counted, an ended one closed.

Everything that must survive a kill is in bot.sqlite3: an analysis that is ready is posted as it stands, and one that
was posted and not recorded is found again by the delivery that it answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

import structlog

from bot.alerts.alert import Alert
from bot.alerts.analysis import Analysed, analyse
from bot.alerts.cases import CaseKeeper, case_of, without_cause
from bot.alerts.counts import Counts
from bot.alerts.deploy_store import DeployStore
from bot.alerts.deploys import Deployments
from bot.alerts.evidence import Library, gather
from bot.alerts.learnt import Background, Ready
from bot.alerts.reading import read_post
from bot.alerts.rendering import render
from bot.alerts.services import Services
from bot.alerts.store import Fault, FaultStore
from bot.alerts.threads import AlertThreads
from bot.channels import Channels
from bot.persona import language_of
from bot.ports import ChatModel, ChatPlatform
from bot.sources import Link
from bot.store import Store
from bot.types import Message, Reply, ThreadRef
from knowledge.errors import KnowledgeError
from knowledge.masking import mask
from knowledge.types_cases import NewCase

EDIT_EVERY_S = 30.0
TOPIC_CHARS = 300

log = structlog.get_logger(__name__)


class AlertDesk:
    """Implements bot.ports.AlertHandler."""

    def __init__(
        self,
        *,
        faults: FaultStore,
        deploys: DeployStore,
        store: Store,
        keeper: CaseKeeper,
        counts: Counts,
        threads: AlertThreads,
        library: Library,
        services: Services,
        channels: Channels,
        model: Callable[[], ChatModel | None],
        link: Link,
        readable: Callable[[Reply, ThreadRef], Reply],
    ) -> None:
        self._faults = faults
        self._deploys = deploys
        self._store = store
        self._keeper = keeper
        self._counts = counts
        self.threads = threads
        threads.wake = self.wake
        self._library = library
        self._services = services
        self._channels = channels
        self._model = model
        self._link = link
        self._readable = readable
        self._woken = asyncio.Event()

    async def handle(self, message: Message, platform: ChatPlatform) -> str:
        """See AlertHandler. Raises PlatformError, after which the same alert may be handed over again."""
        reading = read_post(message, services=self._services)
        if not reading.alerts:
            return f"skipped: {reading.skipped or 'no alert in it'}"
        outcomes = []
        for number, alert in enumerate(reading.alerts):
            key = message.delivery_id if number == 0 else f"{message.delivery_id}#{number + 1}"
            outcomes.append(await self.take(alert, key, message.thread, platform))
        return ", ".join(dict.fromkeys(outcomes))

    async def take(self, alert: Alert, key: str, thread: ThreadRef, platform: ChatPlatform) -> str:
        """Deals with one alert that stands in `thread`. Raises PlatformError."""
        if alert.status == "resolved":
            closed = await self._store.in_thread(self._faults.resolve, alert, thread)
            return "resolved" if closed is not None else "resolved: nothing was going on"
        noted, fault = await self._store.in_thread(self._faults.note, alert, key, thread)
        if noted == "limited":
            await self._counts.tell_limit(fault, platform)
        if noted != "analyse":
            return noted
        outcome = "analysed"
        posted = await platform.find_own(fault.thread, fault.delivery_key)
        if posted is not None:  # an earlier run posted it and was killed before it could record that
            outcome = "analysed before"
        else:
            reply = fault.reply or await self._analysed(alert, fault, platform)
            posted = await platform.post(reply)
        await self._store.in_thread(
            self._faults.posted,
            fault,
            posted,
            scope=self._channels.policy_of(fault.thread).scope,
            url=platform.permalink(fault.thread, posted),
        )
        await self._keeper.learn({platform.name: platform})
        return outcome

    async def _analysed(self, alert: Alert, fault: Fault, platform: ChatPlatform) -> Reply:
        """The analysis as it is to be posted, kept durably with what is to be remembered of it."""
        policy = self._channels.policy_of(fault.thread)
        language = policy.language or language_of(f"{alert.title} {alert.message}")
        service = self._services.find(alert.service, alert.labels)
        name = service.name if service else alert.service or ""
        told = await self._store.in_thread(self._deploys.of_service, name, alert.posted_at)
        deploys = Deployments.fitting(told, alert.environment, service)
        gathered = await asyncio.to_thread(
            gather, alert, service=service, channel=policy.scope, library=self._library, deploys=deploys
        )
        analysed = await analyse(alert, gathered, model=self._model(), library=self._library, language=language)
        case = case_of(alert, analysed, fault) if analysed.is_valid else None
        if case is not None and await asyncio.to_thread(self._is_denied, case):
            analysed, case = without_cause(analysed), None
        earlier = await self._link_to(fault.earlier, platform)
        reply = render(alert, analysed, fault, language=language, link=self._link, earlier=earlier)
        reply = self._readable(replace(reply, markdown=mask(reply.markdown)), fault.thread)
        ready = Ready(reply=reply, background=background_of(alert, analysed), case=case)
        await self._store.in_thread(self._faults.prepared, fault, ready)
        return reply

    def _is_denied(self, case: NewCase) -> bool:
        try:
            return self._library.memory.is_denied(case)
        except KnowledgeError as error:
            log.error("alert.memory_unread", reason=str(error))
            return False

    async def keep_counts_shown(self, platforms: Mapping[str, ChatPlatform]) -> None:
        """Brings counts in analyses up to date at a bounded rate, and the memory at once, until it is cancelled."""
        while True:
            self._woken.clear()
            await self._keeper.learn(platforms)
            with suppress(TimeoutError):
                async with asyncio.timeout(EDIT_EVERY_S):
                    await self._woken.wait()
                    continue
            await self.show_counts(platforms)

    async def learn(self, platforms: Mapping[str, ChatPlatform]) -> None:
        """See CaseKeeper.learn."""
        await self._keeper.learn(platforms)

    def wake(self) -> None:
        """Tells that somebody said something about an analysis."""
        self._woken.set()

    async def show_counts(self, platforms: Mapping[str, ChatPlatform]) -> None:
        """See Counts.show."""
        await self._counts.show(platforms)

    async def _link_to(self, number: int | None, platform: ChatPlatform) -> str | None:
        fault = await self._store.in_thread(partial(self._faults.find, number)) if number is not None else None
        if fault is None or fault.post_id is None:
            return None
        address = platform.permalink(fault.thread, fault.post_id)
        return address if address and address.startswith(("http://", "https://")) else None


def background_of(alert: Alert, analysed: Analysed) -> Background:
    """What follow-ups in the thread of an analysis rest on."""
    pieces = analysed.gathered.pieces
    first = [piece.scored.chunk.id for piece in pieces if piece.frame or piece.number in analysed.cited]
    topic = f"{alert.error_class or ''} {alert.message or alert.title} {alert.service or ''}"
    return Background(
        topic=" ".join(mask(topic).split())[:TOPIC_CHARS],
        chunk_ids=tuple(dict.fromkeys([*first, *(piece.scored.chunk.id for piece in pieces)])),
        framed_ids=tuple(piece.scored.chunk.id for piece in pieces if piece.frame),
        since=analysed.gathered.since,
        error_class=alert.error_class or "",
        message=alert.message or alert.title,
    )
