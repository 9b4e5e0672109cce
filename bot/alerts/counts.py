"""Brings what analyses show up to date: how often a fault was told, what became of it, and storms of alerts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import structlog

from bot.alerts.rendering import with_count
from bot.alerts.store import Fault, FaultStore
from bot.alerts.texts import say
from bot.errors import PlatformError
from bot.ports import ChatPlatform
from bot.store import Store
from bot.types import Language, Reply

STORM_ALERTS, STORM_MINUTES = 100, 5
STORM_TOLD_EVERY = timedelta(minutes=30)
LIMIT_TOLD_EVERY = timedelta(hours=1)

log = structlog.get_logger(__name__)


class Counts:
    """Edits and one-line posts about many alerts; each line is told once in a while, also over restarts."""

    def __init__(
        self,
        *,
        faults: FaultStore,
        store: Store,
        language_of: Callable[[Fault], Language],
        clock: Callable[[], datetime],
    ) -> None:
        self._faults = faults
        self._store = store
        self._language_of = language_of
        self._clock = clock

    async def show(self, platforms: Mapping[str, ChatPlatform]) -> None:
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

    async def tell_limit(self, fault: Fault, platform: ChatPlatform) -> None:
        """Says once an hour in a channel that faults are only counted."""
        if await self._store.in_thread(self._faults.may_tell, "limited", fault.thread, LIMIT_TOLD_EVERY):
            await self._say_below(fault, say("limited", self._language_of(fault)), "limited", platform)

    async def _tell_storm(self, fault: Fault, platform: ChatPlatform) -> None:
        now = self._clock()
        since = now - timedelta(minutes=STORM_MINUTES)
        alerts, faults = await self._store.in_thread(self._faults.counts_since, since, fault.thread)
        if alerts < STORM_ALERTS:
            return
        if await self._store.in_thread(self._faults.may_tell, "storm", fault.thread, STORM_TOLD_EVERY):
            line = say("storm", self._language_of(fault), n=alerts, m=faults, t=STORM_MINUTES)
            await self._say_below(fault, line, f"storm:{now:%Y%m%d%H%M}", platform)

    async def _say_below(self, fault: Fault, line: str, what: str, platform: ChatPlatform) -> None:
        delivery_id = f"{fault.delivery_key}:{what}"
        await platform.post(
            Reply(thread=fault.thread, markdown=line, citations=(), delivery_id=delivery_id, final=True)
        )
