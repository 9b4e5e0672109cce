"""Where alerts arrive: a new fault is analysed once in its thread, a known one is counted, an ended one closed.

Everything that must survive a kill is in bot.sqlite3: an analysis that was posted and not recorded is found again by
the delivery that it answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.alerts.alert import Alert
from bot.alerts.analysis import Analysed, analyse
from bot.alerts.evidence import Library, gather
from bot.alerts.reading import read_post
from bot.alerts.rendering import render, say, with_count
from bot.alerts.services import Services
from bot.alerts.store import Fault, FaultStore
from bot.channels import Channels
from bot.errors import PlatformError
from bot.persona import language_of
from bot.ports import ChatModel, ChatPlatform
from bot.reply_text import clean_text
from bot.sources import Link
from bot.store import Store
from bot.types import Language, Message, Reply, ThreadRef
from knowledge.errors import KnowledgeError
from knowledge.types_cases import CitedText, NewCase

EDIT_EVERY_S = 30.0
STORM_ALERTS, STORM_MINUTES = 100, 5

log = structlog.get_logger(__name__)


class AlertDesk:
    """Implements bot.ports.AlertHandler."""

    def __init__(
        self,
        *,
        faults: FaultStore,
        store: Store,
        library: Library,
        services: Services,
        channels: Channels,
        model: Callable[[], ChatModel | None],
        link: Link,
        readable: Callable[[Reply, ThreadRef], Reply],
        clock: Callable[[], datetime],
    ) -> None:
        self._faults = faults
        self._store = store
        self._library = library
        self._services = services
        self._channels = channels
        self._model = model
        self._link = link
        self._readable = readable
        self._clock = clock
        self._told_storm: dict[tuple[str, str], datetime] = {}
        self._told_limit: dict[tuple[str, str], datetime] = {}

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
            await self._tell_limit(alert, fault, platform)
        if noted != "analyse":
            return noted
        posted = await platform.find_own(fault.thread, fault.delivery_key)
        if posted is not None:  # an earlier run posted it and was killed before it could record that
            await self._store.in_thread(self._faults.posted, fault, posted, None)
            return "analysed before"
        await self._analyse(alert, fault, platform)
        return "analysed"

    async def _analyse(self, alert: Alert, fault: Fault, platform: ChatPlatform) -> None:
        policy = self._channels.policy_of(fault.thread)
        language = policy.language or language_of(f"{alert.title} {alert.message}")
        service = self._services.find(alert.service, alert.labels)
        name = service.name if service else alert.service or ""
        deploys = await self._store.in_thread(self._faults.deploys_of, name, alert.environment, alert.posted_at)
        gathered = await asyncio.to_thread(
            gather, alert, service=service, channel=policy.scope, library=self._library, deploys=deploys
        )
        analysed = await analyse(alert, gathered, model=self._model(), library=self._library, language=language)
        earlier = await self._link_to(fault.earlier, platform)
        reply = render(alert, analysed, fault, language=language, link=self._link, earlier=earlier)
        reply = self._readable(reply, fault.thread)
        post_id = await platform.post(reply)
        await self._store.in_thread(self._faults.posted, fault, post_id, reply)
        if analysed.is_valid:
            case = case_of(alert, analysed, fault, url=platform.permalink(fault.thread, post_id))
            try:
                await asyncio.to_thread(self._library.memory.remember, case)
            except KnowledgeError as error:
                log.error("alert.not_remembered", reason=str(error))

    async def wrong(self, thread: ThreadRef) -> bool:
        """Whether the analysis in a thread was remembered; it is not any more."""
        fault = await self._store.in_thread(self._faults.in_thread, thread)
        return fault is not None and await asyncio.to_thread(self._library.memory.take_out, origin_of(fault))

    async def correct(self, thread: ThreadRef, cause: str, said_by: str) -> bool:
        """Whether a fault is analysed in the thread: then the cause that a person names takes the place of its case."""
        fault = await self._store.in_thread(self._faults.in_thread, thread)
        if fault is None:
            return False
        cited = [
            CitedText(
                source=c.locator.source,
                uri=c.locator.uri,
                revision=c.locator.revision,
                text=c.quote,
                start_line=None,
                end_line=None,
                symbol=c.locator.symbol,
            )
            for c in (fault.reply.citations if fault.reply else ())
        ]
        case = NewCase(
            service=fault.service,
            error_class=fault.error_class,
            fingerprint=fault.fingerprint,
            message=fault.title,
            summary="",
            cause=clean_text(cause),
            fix="",
            cited=tuple(cited),
            is_correction=True,
            origin=f"{origin_of(fault)}:correction:{said_by}:{self._clock().isoformat()}",
        )
        await asyncio.to_thread(self._library.memory.take_out, origin_of(fault))
        await asyncio.to_thread(self._library.memory.remember, case)
        return True

    # --- counts ---------------------------------------------------------------------------------

    async def keep_counts_shown(self, platforms: Mapping[str, ChatPlatform]) -> None:
        """Brings counts in analyses up to date at a bounded rate, until it is cancelled."""
        while True:
            await asyncio.sleep(EDIT_EVERY_S)
            await self.show_counts(platforms)

    async def show_counts(self, platforms: Mapping[str, ChatPlatform]) -> None:
        """One edit for each analysis whose count or state has changed, and one line for each storm."""
        for fault in await self._store.in_thread(self._faults.changed):
            platform = platforms.get(fault.thread.platform)
            if platform is None or fault.post_id is None:
                continue
            try:
                if fault.reply is not None:
                    language = self._language_of(fault)
                    await platform.edit(fault.post_id, with_count(fault.reply, fault, language))
                await self._tell_storm(fault, platform)
            except PlatformError as error:
                log.warning("alert.count_not_shown", reason=str(error))
                continue
            await self._store.in_thread(self._faults.shown, fault)
        await self._store.in_thread(self._faults.forget_old)

    async def _tell_storm(self, fault: Fault, platform: ChatPlatform) -> None:
        place, now = (fault.thread.platform, fault.thread.channel_id), self._clock()
        told = self._told_storm.get(place)
        if told is not None and now - told < timedelta(minutes=6 * STORM_MINUTES):
            return
        since = now - timedelta(minutes=STORM_MINUTES)
        alerts, faults = await self._store.in_thread(self._faults.counts_since, since, fault.thread)
        if alerts >= STORM_ALERTS:
            self._told_storm[place] = now
            line = say("storm", self._language_of(fault), n=alerts, m=faults, t=STORM_MINUTES)
            await self._say_below(fault, line, f"storm:{now:%Y%m%d%H%M}", platform)

    async def _tell_limit(self, alert: Alert, fault: Fault, platform: ChatPlatform) -> None:
        """Says once an hour in a channel that faults are only counted."""
        place, now = (fault.thread.platform, fault.thread.channel_id), self._clock()
        told = self._told_limit.get(place)
        if told is not None and now - told < timedelta(hours=1):
            return
        self._told_limit[place] = now
        await self._say_below(fault, say("limited", self._language_of(fault)), "limited", platform)

    async def _say_below(self, fault: Fault, line: str, what: str, platform: ChatPlatform) -> None:
        delivery_id = f"{fault.delivery_key}:{what}"
        await platform.post(
            Reply(thread=fault.thread, markdown=line, citations=(), delivery_id=delivery_id, final=True)
        )

    def _language_of(self, fault: Fault) -> Language:
        policy = self._channels.policy_of(fault.thread)
        told = fault.reply.language if fault.reply else None
        return policy.language or told or language_of(fault.title)

    async def _link_to(self, number: int | None, platform: ChatPlatform) -> str | None:
        fault = await self._store.in_thread(partial(self._faults.find, number)) if number is not None else None
        if fault is None or fault.post_id is None:
            return None
        address = platform.permalink(fault.thread, fault.post_id)
        return address if address and address.startswith(("http://", "https://")) else None


def origin_of(fault: Fault) -> str:
    """What a case of this fault was learnt from."""
    return f"{fault.thread.platform}:{fault.delivery_key}"


def case_of(alert: Alert, analysed: Analysed, fault: Fault, *, url: str | None) -> NewCase:
    """What is remembered of a valid analysis."""
    cited = [
        CitedText(
            source=where.source,
            uri=where.uri,
            revision=where.revision,
            start_line=where.start_line,
            end_line=where.end_line,
            symbol=where.symbol,
            text=piece.scored.chunk.text,
        )
        for piece in analysed.gathered.pieces
        if piece.number in analysed.cited
        for where in [piece.scored.chunk.locator]
    ]
    return NewCase(
        service=fault.service,
        error_class=alert.error_class or "",
        fingerprint=alert.fingerprint,
        message=alert.message or alert.title,
        summary=analysed.summary,
        cause=analysed.cause,
        fix=analysed.fix,
        cited=tuple(cited),
        origin=origin_of(fault),
        url=url,
    )
