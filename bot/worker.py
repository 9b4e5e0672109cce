"""From the inbox to a reply in the thread: bounded, in order within each thread, every task awaited.

A platform that cannot be reached postpones what waits for it and nothing else. Every other failure is told in the
thread, with an id that the log knows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

import structlog

from bot.commands import Commands
from bot.errors import AuthError, PlatformError, RateLimited, StoreError, Unreachable
from bot.inbox import LONGEST_POSTPONED, WITHDRAWN, Answered, Inbox, InboxItem, Lane
from bot.persona import Persona, language_of
from bot.ports import AlertHandler, ChatPlatform, Receive
from bot.questions import Overtaken, Questions
from bot.signs import Signs
from bot.store import Store
from bot.tracing import following, trace_of
from bot.types import Command, Message, Reply
from bot.wording import word

MAX_CRASHES = 5  # deliveries in whose middle the process ends so often are given up (bot.inbox.SUSPECT_AFTER)
RETRY_FOR = timedelta(hours=6)
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, LONGEST_POSTPONED.total_seconds()
REVOKED_WAIT_S = 60.0
RECORD_AGAIN_S = (1.0, 5.0, 30.0)
LOOK_AGAIN_S = 5.0  # after the store failed
LOOK_AT_LEAST_S = 30.0  # while something waits for its platform: the clock may be set meanwhile
QUOTED_CHARS = 80  # of a question that could not be answered where it was asked

Stage = Literal["queue", "post"]

log = structlog.get_logger(__name__)


class GivenUp(Exception):
    """A delivery in whose middle the process ended again and again."""


class Worker:
    """`run` deals with what was received until `stop`."""

    def __init__(
        self,
        *,
        store: Store,
        inbox: Inbox,
        questions: Questions,
        commands: Commands,
        alerts: AlertHandler | None,
        persona: Persona,
        platforms: Mapping[str, ChatPlatform],
        signs: Signs,
        clock: Callable[[], datetime],
        at_once: Mapping[Lane, int],
        first_wait_s: float = FIRST_WAIT_S,
    ) -> None:
        self._store = store
        self._inbox = inbox
        self._questions = questions
        self._commands = commands
        self._alerts = alerts
        self._persona = persona
        self._platforms = platforms
        self._signs = signs
        self._clock = clock
        self._at_once = at_once
        self._first_wait_s = first_wait_s
        self.on_stage: list[Callable[[Stage, float], None]] = []  # told how many seconds each took
        self.on_alert: list[Callable[[str], None]] = []  # told what became of an alert
        self.receive: Receive | None = None  # where deliveries arrive; put here when that is built
        self._running: dict[Lane, int] = dict.fromkeys(at_once, 0)
        self._wake = asyncio.Event()
        self._look_again = False  # the store failed: nobody will wake us when it works again
        self._stopping = False

    # --- the loop -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Works until `stop`, first on what an earlier run left. Cancelling leaves open items for the next run."""
        resumed = await self._store.in_thread(self._inbox.resume)
        if resumed:
            log.info("inbox.resumed", deliveries=resumed)
        signs = asyncio.create_task(self._signs.run())
        try:
            async with asyncio.TaskGroup() as tasks:
                while not self._stopping:
                    self._wake.clear()
                    for lane, most in self._at_once.items():
                        while self._running[lane] < most and not self._stopping:
                            item = await self._take(lane)
                            if item is None:
                                break
                            self._running[lane] += 1
                            tasks.create_task(self._work(item))
                    await self._wait()
        finally:
            signs.cancel()
            with suppress(asyncio.CancelledError):
                await signs

    def wake(self) -> None:
        """Tells that something was received."""
        self._wake.set()

    def stop(self) -> None:
        """Takes nothing new; `run` returns when what is being worked on is done."""
        self._stopping = True
        self._wake.set()

    async def _take(self, lane: Lane) -> InboxItem | None:
        try:
            return await self._store.in_thread(self._inbox.take_next, lane)
        except StoreError as error:
            log.error("inbox.unavailable", reason=str(error))
            self._look_again = True
            return None

    async def _wait(self) -> None:
        """Returns when something was received or done, or when something is due that waits for its platform."""
        wait_s: float | None = None
        try:
            due = await self._store.in_thread(self._inbox.next_due)
            if due is not None:
                wait_s = min(LOOK_AT_LEAST_S, max(0.01, (due - self._clock()).total_seconds()))
        except StoreError:
            self._look_again = True
        if self._look_again:
            wait_s, self._look_again = LOOK_AGAIN_S, False
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._wake.wait()

    async def _work(self, item: InboxItem) -> None:
        with following(item.delivery_id):
            waited_s = (self._clock() - item.received_at).total_seconds()
            log.info("delivery.taken", kind=item.kind, lane=item.lane, waited_s=round(waited_s, 2))
            if item.postponed == 0 and item.lane == "slow":
                self._tell_stage("queue", waited_s)
            try:
                await self._carry_out(item)
            except asyncio.CancelledError:
                self._inbox.postpone(item.delivery_id, until=self._clock())  # no crash: the next run takes it up
                raise
            except (Unreachable, RateLimited, AuthError) as error:
                await self._postpone(item, error)
            except Overtaken as overtaken:
                await self._let_pass(item, overtaken)
            except Exception as error:  # one delivery must never end the others
                log.error("delivery.failed_untold", exc_info=error)
                await self._finish(item, outcome=f"failed: {type(error).__name__}", failed=True)
            finally:
                self._running[item.lane] -= 1
                self._wake.set()

    async def _carry_out(self, item: InboxItem) -> None:
        platform = self._platforms.get(item.thread.platform)
        if platform is None:
            log.error("delivery.no_platform", platform=item.thread.platform)
            await self._finish(item, outcome="platform not configured", failed=True)
        elif isinstance(item.delivery, Command):
            await self._carry_out_command(item, item.delivery, platform)
        elif item.kind == "alert":
            await self._handle_alert(item, item.delivery, platform)
        else:
            await self._answer(item, item.delivery, platform)

    # --- messages -------------------------------------------------------------------------------

    async def _answer(self, item: InboxItem, message: Message, platform: ChatPlatform) -> None:
        """Answers in the thread; what the platform does not take there is told to the person who asked alone."""
        try:
            await self._answer_in_thread(item, message, platform)
        except (Unreachable, RateLimited, AuthError):
            raise
        except PlatformError as refused:
            await self._without_a_place(item, message, platform, refused)

    async def _answer_in_thread(self, item: InboxItem, message: Message, platform: ChatPlatform) -> None:
        if item.crashes or item.postponed:
            if await self._store.in_thread(self._inbox.is_withdrawn, item.delivery_id):
                await self._finish(item, outcome=WITHDRAWN)
                return
            posted = await platform.find_own(message.thread, message.delivery_id)
            if posted is not None:  # an earlier run posted and was killed before it could record that
                await self._record_posted(item, message, platform, posted)
                return
            self._signs.give(message.delivery_id, partial(platform.react, message, "eyes"))
        if item.reply is not None and (item.scope is None or item.scope == self._questions.scope_of(message)):
            stream = platform.stream(message.thread, message.delivery_id)
            post_id = await (platform.post(item.reply) if item.told else stream.finish(item.reply))
            await self._record_posted(item, message, platform, post_id)
        else:
            await self._answer_anew(item, message, platform)

    async def _answer_anew(self, item: InboxItem, message: Message, platform: ChatPlatform) -> None:
        stream = platform.stream(message.thread, message.delivery_id)
        try:
            if item.crashes > MAX_CRASHES:
                raise GivenUp(f"the process ended {item.crashes} times in the middle of it")
            in_turn = item.postponed > 0 or self.receive is None
            prepared = await self._questions.prepare(message, platform, stream, in_turn=in_turn)
            reply, scope = prepared.reply, prepared.scope
            await self._store.in_thread(self._inbox.keep_reply, item.delivery_id, reply, scope)
            began = time.perf_counter()
            post_id = await stream.finish(reply)
            self._tell_stage("post", time.perf_counter() - began)
        except (Unreachable, RateLimited, AuthError, Overtaken):
            raise
        except Exception as error:  # noqa: BLE001 - told in the thread
            reply = self._error_reply(message, error)
            with suppress(StoreError):
                await self._store.in_thread(self._inbox.keep_reply, item.delivery_id, reply, None)
            post_id = await stream.finish(reply)
            await self._record_reply(item, message, platform, reply, Answered(post_id=post_id))
        else:
            await self._record_reply(item, message, platform, reply, prepared.answered(post_id), prepared.name)
            await self._questions.record(prepared, message.author, platform.name, item.delivery_id)

    async def _without_a_place(
        self, item: InboxItem, message: Message, platform: ChatPlatform, refused: PlatformError
    ) -> None:
        """The question or its thread was deleted, the channel archived, the bot taken out of it, while it answered."""
        if await self._store.in_thread(self._inbox.is_withdrawn, item.delivery_id):
            log.info("delivery.withdrawn", reason=str(refused))
            await self._finish(item, outcome=WITHDRAWN)
            return
        error_id = trace_of(message.delivery_id)
        log.error("delivery.without_a_place", error_id=error_id, reason=str(refused))
        language = language_of(message.text)
        asked = " ".join(message.text.split())[:QUOTED_CHARS]
        await platform.respond_private(
            replace(message.thread, root_id=""), message.author.id, word("no_place", language, asked=asked, id=error_id)
        )
        await self._finish(item, outcome=f"error {error_id}", failed=True)

    def _tell_stage(self, stage: Stage, took_s: float) -> None:
        for told in self.on_stage:
            told(stage, max(0.0, took_s))

    def _error_reply(self, message: Message, error: Exception) -> Reply:
        error_id = trace_of(message.delivery_id)  # what the reader sees stands in every line of this delivery
        refused = isinstance(error, PlatformError)  # no mistake of the program, so no traceback
        log.error("delivery.failed", error_id=error_id, reason=str(error), exc_info=None if refused else error)
        return Reply(
            thread=message.thread,
            markdown=self._persona.say("error", language_of(message.text), id=error_id),
            citations=(),
            delivery_id=message.delivery_id,
            final=True,
            kind="error",
            error_id=error_id,
        )

    async def _record_posted(self, item: InboxItem, message: Message, platform: ChatPlatform, post_id: str) -> None:
        """Records a post that an earlier attempt had prepared, or even posted."""
        reply = item.reply
        if reply is None:
            await self._finish(item, outcome="answered before", answered=Answered(post_id=post_id))
            self._signs.give(message.delivery_id, partial(platform.react, message, "white_check_mark"))
            return
        cited = tuple(citation.chunk_id for citation in (*reply.citations, *reply.nearest))
        answered = Answered(
            post_id=post_id, question=message.text, answer=reply.markdown, evidence_ids=cited, scope=item.scope
        )
        await self._record_reply(item, message, platform, reply, answered, item.told or "answered")

    async def _record_reply(
        self,
        item: InboxItem,
        message: Message,
        platform: ChatPlatform,
        reply: Reply,
        answered: Answered,
        outcome: str = "",
    ) -> None:
        failed = reply.error_id is not None
        log.info("delivery.posted", post=answered.post_id, kind=reply.kind)
        await self._finish(
            item,
            outcome=f"error {reply.error_id}" if failed else outcome,
            answered=answered,
            failed=failed,
        )
        self._signs.give(message.delivery_id, partial(platform.react, message, "x" if failed else "white_check_mark"))

    # --- alerts and commands --------------------------------------------------------------------

    async def _handle_alert(self, item: InboxItem, message: Message, platform: ChatPlatform) -> None:
        if self._alerts is None:
            await self._finish(item, outcome="not handled")
            return
        if item.crashes > MAX_CRASHES:
            raise GivenUp(f"the process ended {item.crashes} times in the middle of this alert")
        outcome = await self._alerts.handle(message, platform)
        log.info("alert.dealt_with", outcome=outcome)
        for told in self.on_alert:
            told(outcome)
        await self._finish(item, outcome=outcome)  # what was posted is recorded by the handler

    async def _carry_out_command(self, item: InboxItem, command: Command, platform: ChatPlatform) -> None:
        try:
            if item.crashes > MAX_CRASHES:
                raise GivenUp(f"the process ended {item.crashes} times in the middle of this command")
            if item.lane == "slow":
                await self._signs.given(item.delivery_id)
            outcome, answered = await self._commands.carry_out(command, platform)
        except (Unreachable, RateLimited, AuthError):
            raise
        except Exception as error:  # told to whoever gave the command
            error_id = trace_of(command.delivery_id)
            log.error("command.failed", error_id=error_id, exc_info=error)
            text = self._persona.say("error", language_of(command.args), id=error_id)
            with suppress(PlatformError):
                await platform.answer_command(command, text)
            await self._finish(item, outcome=f"error {error_id}", failed=True)
        else:
            await self._finish(item, outcome=outcome, answered=answered)

    # --- what could not be done now -------------------------------------------------------------

    async def _postpone(self, item: InboxItem, error: PlatformError) -> None:
        """Lets it wait for its platform, longer each time; after RETRY_FOR it is recorded as failed."""
        now = self._clock()
        if now - item.received_at > RETRY_FOR:
            log.error("delivery.given_up", reason=str(error), tries=item.postponed + 1)
            await self._finish(item, outcome=f"unreachable: {type(error).__name__}", failed=True)
            return
        wait_s = min(LONGEST_WAIT_S, self._first_wait_s * 2 ** min(item.postponed, 20))
        if isinstance(error, RateLimited):
            wait_s = max(error.retry_after_s, 0.0)
        elif isinstance(error, AuthError):
            wait_s = max(wait_s, REVOKED_WAIT_S)
        log.warning("delivery.postponed", reason=str(error), wait_s=round(wait_s, 1))
        until = now + timedelta(seconds=min(wait_s, LONGEST_WAIT_S))
        with suppress(StoreError):  # then it stays marked as being worked on, and the next run takes it up
            await self._store.in_thread(self._inbox.postpone, item.delivery_id, until=until)

    async def _let_pass(self, item: InboxItem, overtaken: Overtaken) -> None:
        """Takes in what was said earlier, and lets it go first."""
        log.info("delivery.overtaken", earlier=[message.delivery_id for message in overtaken.earlier])
        try:
            for message in overtaken.earlier:
                if self.receive is not None:
                    await self.receive(message)
            await self._store.in_thread(self._inbox.postpone, item.delivery_id, until=self._clock())
        except StoreError as error:  # then it stays marked as being worked on, and the next run takes it up
            log.error("delivery.not_recorded", reason=str(error))

    async def _finish(
        self, item: InboxItem, *, outcome: str, answered: Answered | None = None, failed: bool = False
    ) -> None:
        """Records the end. What cannot be recorded is tried again, then left to the next run, which finds the post."""
        for pause_s in (*RECORD_AGAIN_S, None):
            try:
                await self._store.in_thread(self._inbox.finish, item, outcome=outcome, answered=answered, failed=failed)
                return
            except StoreError as error:
                log.error("delivery.not_recorded", reason=str(error))
                if pause_s is None or self._stopping:
                    return
                await asyncio.sleep(pause_s)
