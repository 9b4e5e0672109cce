"""The whole line from a delivery to a reply, on platforms in memory, over a store that outlives it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.audit import AuditLog
from bot.channels import ChannelPolicy, Channels
from bot.commands import Commands
from bot.compose_platforms import LONG_AT_ONCE
from bot.evidence_grants import EvidenceLinks
from bot.feedback import Feedback
from bot.inbox import Inbox
from bot.limits import Allowance, Limits
from bot.persona import load_persona
from bot.platform_runner import PlatformRunner, states_of
from bot.query_log import QueryLog
from bot.questions import Questions
from bot.reception import Reception
from bot.signs import Signs
from bot.sources import SourceLinks
from bot.store import Store
from bot.worker import Worker
from knowledge.types import Scope
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.company import PERSONA, build_answering, company_sources

EVERYTHING = Channels(default=ChannelPolicy(scope=Scope.everything()), direct=ChannelPolicy(scope=Scope.everything()))
NO_LIMITS = Limits(user=Allowance(per_minute=0, per_hour=0), total=Allowance(per_minute=0, per_hour=0))
SETTLE_LIMIT_S = 60.0


class ChatLine:
    """`platform` is the first of the platforms; a second ChatLine on the same store is a restart."""

    def __init__(
        self,
        company: Any,
        store: Store,
        *platforms: FakePlatform,
        model: Any = None,
        answering: Any = None,
        at_once: int = 2,
        channels: Channels = EVERYTHING,
        limits: Limits = NO_LIMITS,
        links: EvidenceLinks | None = None,
        alerts: Any = None,
        admins: tuple[str, ...] = (),
        ingest: Any = None,
        patience_s: float = 2.0,
        first_wait_s: float = 0.01,
        max_question_chars: int = 200,
        clock: Any = None,
    ) -> None:
        clock = clock or company.clock
        self.platform = platforms[0]
        self.platforms: Mapping[str, FakePlatform] = {platform.name: platform for platform in platforms}
        self.store = store
        self.inbox = Inbox(store, clock=clock)
        self.feedback = Feedback(store, clock=clock)
        signs, talk = Signs(), getattr(alerts, "threads", None)
        if talk is not None:
            talk.platforms = self.platforms
        persona = load_persona(PERSONA)
        links = links or EvidenceLinks(page_url="http://127.0.0.1:8765", public=False, grants=None)
        folder: Path = company.folder
        questions = Questions(
            answering=answering or build_answering(company.knowledge, folder, clock=company.clock, model=model),
            channels=channels, inbox=self.inbox, store=store, query_log=QueryLog(store, clock=clock), links=links,
            patience_s=patience_s, alerts=talk,
        )  # fmt: skip
        self.runners = [PlatformRunner(p, clock=clock, first_wait_s=first_wait_s) for p in platforms]
        commands = Commands(
            store=store, inbox=self.inbox, feedback=self.feedback, audit=AuditLog(store, clock=clock),
            channels=channels, questions=questions, library=company.knowledge, ingest=ingest,
            link=SourceLinks.of(company_sources(folder), permalinks={}, page_url="http://127.0.0.1:8765"), links=links,
            platform_states=lambda: states_of(self.runners), admins=admins, clock=clock,
            max_question_chars=max_question_chars, alerts=talk,
        )  # fmt: skip
        self.worker = Worker(
            store=store, inbox=self.inbox, questions=questions, commands=commands, alerts=alerts, persona=persona,
            platforms=self.platforms, signs=signs, clock=clock,
            at_once={"quick": 4, "slow": at_once, "long": LONG_AT_ONCE, "alert": 1}, first_wait_s=first_wait_s,
        )  # fmt: skip
        self.reception = Reception(
            store=store, inbox=self.inbox, feedback=self.feedback, channels=channels, limits=limits, persona=persona,
            platforms=self.platforms, signs=signs, clock=clock, max_question_chars=max_question_chars,
            wake=self.worker.wake, alerts=talk,
        )  # fmt: skip
        self.worker.receive = self.reception.receive

    @asynccontextmanager
    async def running(self):
        listening = [asyncio.create_task(runner.run(self.reception.receive)) for runner in self.runners]
        working = asyncio.create_task(self.worker.run())
        await asyncio.sleep(0)  # lets the platforms begin to listen
        try:
            yield self
        finally:
            self.worker.stop()
            async with asyncio.timeout(SETTLE_LIMIT_S):
                await working
                for runner in self.runners:
                    await runner.close()
                await asyncio.gather(*listening)

    @asynccontextmanager
    async def killed_at_the_end(self):
        """Runs, and at the end dies without having tidied up anything."""
        listening = [asyncio.create_task(runner.run(self.reception.receive)) for runner in self.runners]
        working = asyncio.create_task(self.worker.run())
        await asyncio.sleep(0)
        try:
            yield self
        finally:
            for task in [working, *listening]:
                task.cancel()
            await asyncio.gather(working, *listening, return_exceptions=True)

    async def settled(self) -> None:
        """Returns when every saved delivery is done."""
        async with asyncio.timeout(SETTLE_LIMIT_S):
            while set(self.inbox.counts()) - {"done", "failed"}:  # noqa: ASYNC110 - the store has no event
                await asyncio.sleep(0.005)

    def outcomes(self) -> list[str]:
        """The outcome of every delivery in the order in which they came."""
        return [row["outcome"] for row in self.store.query("SELECT outcome FROM inbox ORDER BY seq")]


async def until(condition, limit_s: float = SETTLE_LIMIT_S) -> None:
    """Returns when `condition()` holds."""
    async with asyncio.timeout(limit_s):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)
