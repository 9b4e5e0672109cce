"""From an alert that came by HTTP to a post in its channel: in order within each channel, once, whatever is killed.

A new fault gets a post of its own, and goes through the inbox from there as an alert that somebody posted. What is told
again is counted into the first analysis without a post; what is beyond the limits is gathered under one post an hour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from bot.alerts.alert import Alert
from bot.alerts.announcing import announcement, digest_text
from bot.alerts.digests import Digest, Digests, digest_delivery
from bot.alerts.intake import MAX_CRASHES, AlertIntake, Incoming, Place
from bot.alerts.store import Fault, FaultStore
from bot.channels import Channels
from bot.errors import AuthError, PlatformError, RateLimited, StoreError, Unreachable
from bot.inbox import Inbox
from bot.persona import language_of
from bot.ports import AlertHandler, ChatPlatform
from bot.store import Store, timestamp
from bot.tracing import following
from bot.types import Author, Language, Message, Reply, ThreadRef

FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 300.0
REVOKED_WAIT_S = 60.0
SHOW_DIGESTS_EVERY_S = 30.0
LOOK_AGAIN_S = 5.0  # after the store failed
RECORDED_AT_ONCE = 100  # each record of its own would be one more wait for the disk
SENDER = Author(id="http:alerts", display_name="alerts", is_bot=True)

log = structlog.get_logger(__name__)


class Desk(AlertHandler, Protocol):
    """What is needed of bot.alerts.desk.AlertDesk."""

    async def take(self, alert: Alert, key: str, thread: ThreadRef, platform: ChatPlatform) -> str: ...


@dataclass(slots=True)
class Trouble:
    """Why nothing can be posted in a place now."""

    reason: str
    again_at: datetime
    tries: int = 1


@dataclass(slots=True, kw_only=True)
class AlertPlacing:
    """`run` places what was taken, until it is cancelled."""

    intake: AlertIntake
    digests: Digests
    faults: FaultStore
    store: Store
    inbox: Inbox
    channels: Channels
    platforms: Mapping[str, ChatPlatform]
    clock: Callable[[], datetime]
    handed_over: Callable[[], None]  # tells the worker that the inbox has something
    first_wait_s: float = FIRST_WAIT_S
    troubles: dict[Place, Trouble] = field(default_factory=dict)
    on_outcome: list[Callable[[str], None]] = field(default_factory=list)  # told of alerts that the inbox never sees
    _counted: list[tuple[Incoming, str]] = field(default_factory=list)  # dealt with, and not recorded as that yet
    _woken: dict[str, asyncio.Event] = field(default_factory=dict)
    _digests_at: datetime | None = None

    def wake(self) -> None:
        """Tells that something was taken."""
        for event in self._woken.values():
            event.set()

    async def run(self) -> None:
        """Works until it is cancelled, first on what an earlier run left: a platform that is slow holds up no other."""
        left = await self.store.in_thread(self.intake.resume)
        if left:
            log.info("alerts.resumed", alerts=left)
        async with asyncio.TaskGroup() as tasks:
            for name in self.platforms:
                self._woken[name] = asyncio.Event()
                tasks.create_task(self._keep_placing(name))
            tasks.create_task(self._keep_tidy())

    async def _keep_placing(self, platform: str) -> None:
        woken = self._woken[platform]
        while True:
            woken.clear()
            wait_s = LONGEST_WAIT_S
            try:
                await self.place_on(platform)
            except StoreError as error:
                log.error("alerts.store_unavailable", reason=str(error))
                wait_s = LOOK_AGAIN_S
            due = min((t.again_at for place, t in self.troubles.items() if place[0] == platform), default=None)
            if due is not None:
                wait_s = min(wait_s, max(0.01, (due - self.clock()).total_seconds()))
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await woken.wait()

    async def _keep_tidy(self) -> None:
        while True:
            try:
                await self.show_digests()
                given_up = await self.store.in_thread(self.intake.forget_old)
                if given_up:
                    log.error("alerts.given_up", alerts=given_up, reason="they waited too long for their channel")
            except StoreError as error:
                log.error("alerts.store_unavailable", reason=str(error))
            await asyncio.sleep(SHOW_DIGESTS_EVERY_S)

    async def place_on(self, platform: str) -> None:
        """Deals with everything that waits for channels of a platform which can be reached, oldest first.

        Raises StoreError.
        """
        number = 0
        while True:
            now = self.clock()
            latest = now + timedelta(seconds=LONGEST_WAIT_S)  # later than that: the clock was set back meanwhile
            blocked = [place for place, trouble in self.troubles.items() if now < trouble.again_at <= latest]
            one = await self.store.in_thread(self.intake.next_waiting, platform, after=number, blocked=blocked)
            if one is None:
                self._forget_troubles(platform, blocked)
                await self._record_counted()
                return
            number = one.number
            with following(one.key):
                await self._deal_with(one)

    def _forget_troubles(self, platform: str, blocked: Sequence[Place]) -> None:
        """Nothing waits for a place that was not blocked, so its trouble is none: what it waited for was given up."""
        for place in [place for place in self.troubles if place[0] == platform and place not in blocked]:
            del self.troubles[place]

    async def show_digests(self) -> None:
        """Brings digests up to date, at a bounded rate. Raises StoreError."""
        now = self.clock()
        if self._digests_at is not None and now - self._digests_at < timedelta(seconds=SHOW_DIGESTS_EVERY_S):
            return
        self._digests_at = now
        await self.store.in_thread(self.digests.forget_old)
        for digest in await self.store.in_thread(self.digests.to_show):
            platform = self.platforms.get(digest.thread.platform)
            if platform is None:
                continue
            titles = " ".join(one.title for one in digest.listed)
            text = digest_text(digest, self._language(digest.thread, titles))
            reply = Reply(
                thread=digest.thread,
                markdown=text,
                citations=(),
                delivery_id=digest.delivery_id,
                final=True,
                kind="notice",
            )
            try:
                await platform.edit(digest.thread.root_id, reply)
            except PlatformError as error:
                log.warning("alerts.digest_not_shown", reason=str(error))
            else:
                await self.store.in_thread(self.digests.shown, digest.thread)

    # --- one alert ------------------------------------------------------------------------------

    async def _deal_with(self, one: Incoming) -> None:
        if one.alert is None or one.crashes > MAX_CRASHES:
            reason = (
                "its record cannot be read" if one.alert is None else f"the process ended {one.crashes} times in it"
            )
            log.error("alert.given_up", reason=reason)
            await self.store.in_thread(self.intake.done, [(one, reason)], failed=True)
            return
        try:
            await self._place(one, one.alert)
        except asyncio.CancelledError:
            self.intake.postponed(one)  # no crash: the next run takes it up
            raise
        except PlatformError as error:
            await self._postpone(one, error)
        except StoreError:
            raise
        except Exception as error:  # one alert must never end the others
            log.error("alert.failed", exc_info=error)
            await self.store.in_thread(self.intake.done, [(one, f"failed: {type(error).__name__}")], failed=True)
        else:
            self.troubles.pop(one.place, None)

    async def _place(self, one: Incoming, alert: Alert) -> None:
        channel = ThreadRef(platform=one.place[0], channel_id=one.place[1], root_id="")
        if alert.status == "resolved":
            closed = await self.store.in_thread(self.faults.resolve, alert, channel)
            if closed is not None:
                await self.store.in_thread(self.digests.changed, closed.thread)
            self._counted.append((one, "resolved" if closed else "resolved: nothing was going on"))
            await self._record_counted()  # at once: done again after a kill, it would close what began meanwhile
            return
        thread = await self._thread_for(one, alert, channel)
        noted, fault = await self.store.in_thread(self.faults.note, alert, one.key, thread)
        log.info("alert.placed", outcome=noted, service=alert.service, fault=fault.number)
        if noted == "analyse":
            await self._hand_over(one, alert, fault)
        else:
            await self.store.in_thread(self.digests.changed, fault.thread)
            self._counted.append((one, noted))
            if len(self._counted) >= RECORDED_AT_ONCE:
                await self._record_counted()

    async def _record_counted(self) -> None:
        """Records the ends that were not recorded yet. A kill before that does no harm: each alert is counted once, by
        its key, so they are found counted."""
        counted, self._counted = self._counted, []
        if not counted:
            return
        try:
            await self.store.in_thread(self.intake.done, counted)
        except StoreError:
            self._counted = [*counted, *self._counted]
            raise
        for _, outcome in counted:
            for told in self.on_outcome:
                told(outcome)

    async def _thread_for(self, one: Incoming, alert: Alert, channel: ThreadRef) -> ThreadRef:
        """Where the alert belongs: its own post, the first analysis of its fault, or the digest of the hour."""
        if one.root_id is not None:
            return ThreadRef(platform=channel.platform, channel_id=channel.channel_id, root_id=one.root_id)
        known: Fault | None = await self.store.in_thread(self.faults.going_on, alert, channel)
        if known is not None:
            return known.thread
        if one.tried_at is None and await self.store.in_thread(self.faults.is_over_limit, channel):
            return await self._digest_thread(channel)
        platform = self._platform(channel)
        await self.store.in_thread(self.intake.trying, one)
        language = self._language(channel, f"{alert.title} {alert.message}")
        text = announcement(alert, language, received_at=one.received_at, now=self.clock())
        thread = await platform.open_thread(
            channel.channel_id, text, delivery_id=root_delivery(one.key), since=one.tried_at
        )
        await self.store.in_thread(self.intake.posted, one, thread)
        return thread

    async def _digest_thread(self, channel: ThreadRef) -> ThreadRef:
        start = self.clock().replace(minute=0, second=0, microsecond=0)
        hour = timestamp(start)
        known = await self.store.in_thread(self.digests.find, channel.platform, channel.channel_id, hour)
        if known is not None:
            return known
        platform = self._platform(channel)
        text = digest_text(
            Digest(thread=channel, hour=hour, listed=(), faults=0, alerts=0), self._language(channel, "")
        )
        thread = await platform.open_thread(channel.channel_id, text, delivery_id=digest_delivery(hour), since=start)
        await self.store.in_thread(self.digests.keep, thread, hour)
        return thread

    async def _hand_over(self, one: Incoming, alert: Alert, fault: Fault) -> None:
        """Lets the inbox have it: from there on it is an alert like one that somebody posted."""
        message = Message(
            id=fault.thread.root_id,
            thread=fault.thread,
            author=SENDER,
            text=alert.raw or alert.title,
            mentions_bot=False,
            is_direct=False,
            attachments=(),
            posted_at=one.received_at,
            delivery_id=one.key,
        )
        await self.store.in_thread(self.inbox.save, message, kind="alert", lane="alert")
        await self.store.in_thread(self.intake.placed, one)
        self.handed_over()

    def _platform(self, channel: ThreadRef) -> ChatPlatform:
        platform = self.platforms.get(channel.platform)
        if platform is None:
            raise PlatformError(
                f"{channel.platform} is not configured; set it up, or correct the channel of the service."
            )
        return platform

    def _language(self, channel: ThreadRef, text: str) -> Language:
        return self.channels.policy_of(channel).language or language_of(text)

    async def _postpone(self, one: Incoming, error: PlatformError) -> None:
        """Lets everything for this place wait, longer each time; what is for other places goes on."""
        await self.store.in_thread(self.intake.postponed, one)
        before = self.troubles.get(one.place)
        tries = before.tries + 1 if before is not None else 1
        wait_s = min(LONGEST_WAIT_S, self.first_wait_s * 2 ** min(tries - 1, 20))
        if isinstance(error, RateLimited):
            wait_s = min(LONGEST_WAIT_S, max(error.retry_after_s, 0.0))
        elif isinstance(error, AuthError):
            wait_s = max(wait_s, REVOKED_WAIT_S)
        again_at = self.clock() + timedelta(seconds=wait_s)
        self.troubles[one.place] = Trouble(str(error), again_at, tries)
        known = isinstance(error, RateLimited | Unreachable | AuthError)
        log.warning("alerts.postponed", place=":".join(one.place), reason=str(error), wait_s=wait_s, refused=not known)


class IncomingAlerts:
    """Implements bot.ports.AlertHandler over the desk: an alert that came by HTTP is taken as it was read then."""

    def __init__(self, intake: AlertIntake, store: Store, desk: Desk) -> None:
        self._intake = intake
        self._store = store
        self._desk = desk

    async def handle(self, message: Message, platform: ChatPlatform) -> str:
        alert = await self._store.in_thread(self._intake.find, message.delivery_id)
        if alert is None:
            return await self._desk.handle(message, platform)
        return await self._desk.take(alert, message.delivery_id, message.thread, platform)


def root_delivery(key: str) -> str:
    """The delivery id of an alert's first post; the analysis below it answers `key` itself."""
    return f"{key}:post"
