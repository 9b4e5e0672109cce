"""The `mattermost` chat platform: events by websocket, everything else by REST, what was missed by catching up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from pydantic import SecretStr

from bot.errors import AuthError, BotError, PlatformError
from bot.platforms.mattermost_buttons import Buttons, derived_key
from bot.platforms.mattermost_catchup import CatchUp
from bot.platforms.mattermost_commands import PING, CommandReplies, CommandTokens, command_of
from bot.platforms.mattermost_directory import Directory
from bot.platforms.mattermost_doctor import MattermostDoctor, Wiring
from bot.platforms.mattermost_messages import (
    NAME,
    Own,
    is_from_machine,
    is_gone,
    is_system,
    message_of,
    own_part,
    post_of,
)
from bot.platforms.mattermost_posting import POST_LIMIT_CHARS, Conditions, Replies
from bot.platforms.mattermost_rest import MattermostRest, reach
from bot.platforms.mattermost_roots import Roots
from bot.platforms.mattermost_socket import Event, MattermostSocket, Missed, Timing, probe
from bot.platforms.mattermost_votes import Votes
from bot.ports import PlatformState, Receive, ReplyStream
from bot.types import Author, Command, Diagnosis, Message, MessageEvent, Reply, ThreadRef
from knowledge.types import ToolStatus

SWEEP_EVERY_S = 300.0  # what the socket did not deliver although it looks well
SWEEP_BEHIND_S = 5.0
SETTINGS_WITHIN_S = 5.0
EVENTS: Mapping[str, MessageEvent] = {"posted": "posted", "post_edited": "edited", "post_deleted": "deleted"}

Json = dict[str, Any]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MattermostOptions:
    """How to reach the server. `url` has no final slash; `button_key` None: derived from the token."""

    url: str
    token: str
    token_now: Callable[[], SecretStr | None] | None = None  # the token as it is configured by now
    ca_file: Path | None = None
    request_timeout_s: float = 20.0
    retry_wait_s: float = 0.5
    command_tokens: tuple[str, ...] = ()
    command_tokens_now: Callable[[], Sequence[str]] | None = None
    command: str = "haechi"
    callback_url: str | None = None
    button_key: str | None = None
    teams: tuple[str, ...] = ()
    catch_up_age: timedelta = timedelta(hours=24)
    catch_up_messages: int = 500

    def __repr__(self) -> str:
        return f"MattermostOptions(url={self.url!r})"


class MattermostPlatform:
    """Implements bot.ports.ChatPlatform."""

    name = NAME

    def __init__(
        self, options: MattermostOptions, state: PlatformState, *, clock: Callable[[], datetime], timing: Timing
    ) -> None:
        self._options = options
        self._clock = clock
        self._timing = timing
        self._conditions: Conditions | None = None
        self._receive: Receive | None = None
        self._closed = asyncio.Event()
        self.rest = MattermostRest(
            options.url, options.token, timeout_s=options.request_timeout_s, ca_file=options.ca_file,
            now_s=lambda: clock().timestamp(), retry_wait_s=options.retry_wait_s,
        )  # fmt: skip
        key = options.button_key.encode() if options.button_key else derived_key(options.token)
        buttons = Buttons(key, f"{options.callback_url or ''}/mattermost/button")
        self._replies = Replies(
            self.rest, self._known, buttons=buttons if options.callback_url else None, clock=clock,
            monotonic=timing.monotonic,
        )  # fmt: skip
        self._roots = Roots(self.rest, self._known, clock=clock)
        self._tokens = CommandTokens(options.command_tokens, options.command_tokens_now)
        self._commands = CommandReplies(self.rest, self._replies, state, self._known, clock=clock)
        self._directory = Directory(self.rest, options.url, options.teams, monotonic=timing.monotonic)
        self.is_shared = self._directory.is_shared
        self._votes = Votes(self.rest, self._replies, buttons, self._directory, state, ready=self._ready, clock=clock)
        self._replies.on_answer = self._votes.watch
        self._socket = MattermostSocket(
            options.url, options.token, ca_file=options.ca_file, timing=timing, before_connecting=self._introduce
        )
        self._socket.foresee = self._foresee
        self._catch_up = CatchUp(
            self.rest, state, clock=clock, monotonic=timing.monotonic, deliver=self._deliver_old,
            max_age=options.catch_up_age, max_posts=options.catch_up_messages,
        )  # fmt: skip

    @property
    def bot(self) -> Author:
        """The bot itself; without an id until the server was asked."""
        own = self._conditions.own if self._conditions else Own(id="", username="")
        return Author(id=own.id, display_name=own.username, is_bot=True)

    @property
    def bot_id(self) -> str | None:
        return self.bot.id or None

    # --- bot.ports.ChatPlatform: hearing --------------------------------------------------------

    async def listen(self, receive: Receive) -> None:
        self._receive = self._votes.receive = receive
        self._socket.forget()  # what an earlier listener left half-done is read again
        try:
            async with asyncio.TaskGroup() as tasks:
                running = (
                    self._socket.run(),
                    self._dispatch(),
                    self._sweep(),
                    self._votes.run(),
                    self._directory.run(),
                )
                parts = [tasks.create_task(part) for part in running]
                await self._closed.wait()
                await self._socket.close()
                for part in parts:
                    part.cancel()
        finally:
            self._receive = self._votes.receive = None
            await self._catch_up.save()
            if self._closed.is_set():
                self.rest.close()

    async def close(self) -> None:
        self._closed.set()
        if self._receive is None:
            self.rest.close()

    async def _dispatch(self) -> None:
        """One event after the other, so that what was said first is delivered first."""
        while True:
            item = await self._socket.arrivals.get()
            try:
                if isinstance(item, Missed):
                    self._votes.look()
                    await self._catch_up.run(item.why)
                else:
                    await self._take(item)
            except AuthError as error:  # the socket notices too, and reports it
                log.warning("mattermost.refused", reason=str(error))
            except BotError as error:
                log.error("mattermost.event_not_delivered", reason=str(error))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                log.error("mattermost.event_unreadable", exc_info=error)

    async def _sweep(self) -> None:
        """Asks now and then for what no event told of, and sooner for what could not be read."""
        waited_s = 0.0
        while True:
            await self._timing.sleep(SWEEP_BEHIND_S)  # a post that could not be kept does not wait for the regular look
            waited_s += SWEEP_BEHIND_S
            if not self._catch_up.is_behind and waited_s < SWEEP_EVERY_S:
                continue
            waited_s = 0.0
            if self._socket.state == "open" and self._socket.arrivals.empty():
                try:
                    self._rename(await self.rest.me())
                except PlatformError as error:
                    log.warning("mattermost.own_name_unread", reason=str(error))
                self._socket.arrivals.put_nowait(Missed(why="the regular look"))

    def _foresee(self, event: Event) -> None:
        """Whoever wrote a post is looked up while it waits its turn."""
        post = post_of(event.data) if event.name == "posted" else None
        if post is not None and not is_system(post) and not is_from_machine(post):
            self._directory.expect(str(post.get("user_id", "")))

    async def _take(self, event: Event) -> None:
        if event.name in EVENTS:
            post = post_of(event.data)
            if post is not None:
                self._directory.learn(event.data, post)
                await self._hear(post, EVENTS[event.name], sender=str(event.data.get("sender_name") or ""))
        elif event.name in ("reaction_added", "reaction_removed"):
            reaction = post_of(event.data, "reaction")
            if reaction is not None:
                self._votes.felt(reaction, taken_back=event.name == "reaction_removed")

        elif event.name == "user_updated":
            user = post_of(event.data, "user")
            if user is not None:
                self._rename(user)

    def _rename(self, user: Json) -> None:
        """Somebody has another name; mentions of the bot bear its new one at once."""
        self._directory.renamed(user)
        conditions = self._conditions
        if conditions is not None and user.get("id") == conditions.own.id and user.get("username"):
            conditions.own = Own(id=conditions.own.id, username=str(user["username"]))

    async def _hear(self, post: Json, event: MessageEvent, *, sender: str) -> None:
        if event != "posted":
            if not post.get("original_id"):
                await self._deliver(post, event, sender=sender)
            return
        if await self._catch_up.was_handed_over(post) or self._catch_up.holds_back(str(post.get("channel_id"))):
            return
        try:
            await self._deliver(post, event, sender=sender)
        except BotError:
            await self._catch_up.not_kept(post)
            raise
        await self._catch_up.handed_over(post)

    async def _deliver_old(self, post: Json, channel: Json) -> None:
        self._directory.know(channel)
        await self._deliver(post, "posted", sender="")

    async def _deliver(self, post: Json, event: MessageEvent, *, sender: str) -> None:
        own = (await self._ready()).own
        if self._receive is None or (post.get("user_id") == own.id and not _is_webhooks(post)):
            return
        if not await self._directory.is_heard(str(post.get("channel_id"))):
            return
        await self._receive(await self._message(post, own, event=event, sender=sender, read_files=event == "posted"))

    async def _message(
        self, post: Json, own: Own, *, event: MessageEvent = "posted", sender: str = "", read_files: bool = False
    ) -> Message:
        return message_of(
            post,
            own=own,
            author=await self._directory.author(post, own, sender=sender),
            is_direct=await self._directory.is_direct(str(post.get("channel_id"))),
            is_shared=await self._directory.is_shared(str(post.get("channel_id"))),
            attachments=await self._directory.attachments(post) if read_files else (),
            event=event,
        )

    # --- bot.ports.ChatPlatform: saying ---------------------------------------------------------

    async def fetch_thread(self, thread: ThreadRef, limit: int) -> Sequence[Message]:
        own = (await self._ready()).own
        listing = await self.rest.thread(thread.root_id)
        posts = [post for post in (listing.get("posts") or {}).values() if not is_gone(post)]
        shown = [post for post in posts if (noted := own_part(post, own.id)) is None or noted.final]
        shown.sort(key=lambda post: (int(post.get("create_at") or 0), str(post.get("id"))))
        return [await self._message(post, own) for post in shown[-limit:]]

    async def post(self, reply: Reply) -> str:
        await self._ready()
        return await self._replies.post(reply)

    async def open_thread(
        self, channel_id: str, markdown: str, *, delivery_id: str, since: datetime | None
    ) -> ThreadRef:
        await self._ready()
        post_id = await self._roots.open(channel_id, markdown, delivery_id, since)
        return ThreadRef(platform=NAME, channel_id=channel_id, root_id=post_id)

    async def message_person(self, user_id: str, markdown: str, *, delivery_id: str, since: datetime | None) -> str:
        await self._ready()
        return await self._roots.message(user_id, markdown, delivery_id, since)

    async def edit(self, post_id: str, reply: Reply) -> None:
        await self._ready()
        await self._replies.edit(post_id, reply)

    def stream(self, thread: ThreadRef, delivery_id: str) -> ReplyStream:
        return self._replies.stream(thread, delivery_id, ready=self._ready)

    async def respond_private(self, thread: ThreadRef, user_id: str, markdown: str) -> None:
        """By direct message: the server refuses ephemeral posts of a bot."""
        await self._ready()
        await self._commands.tell_all(user_id, f"{NAME}:private:{thread.root_id}:{user_id}", markdown)

    async def answer_command(self, command: Command, markdown: str) -> None:
        await self._ready()
        await self._commands.answer(command, markdown)

    async def show_progress(self, command: Command, markdown: str, *, post_id: str | None) -> str:
        await self._ready()
        return await self._commands.show_progress(command, markdown, post_id=post_id)

    async def react(self, message: Message, emoji: str) -> None:
        own = (await self._ready()).own
        await self.rest.react(own.id, message.id, emoji)

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        await self._ready()
        return await self._replies.find_own(thread, delivery_id)

    def permalink(self, thread: ThreadRef, post_id: str) -> str | None:
        return self._directory.permalink(thread.channel_id, post_id)

    # --- bot.ports.ChatPlatform: health ---------------------------------------------------------

    async def check(self) -> ToolStatus:
        socket, behind = self._socket, self._catch_up
        detail = socket.detail
        if behind.skipped:
            detail += f"; left out when catching up: {'; '.join(behind.skipped[:3])}"
        if behind.is_behind:
            detail += f"; still behind: {behind.failed or 'some channels could not be read'}"
        listening = self._receive is not None and socket.state == "open"
        degraded = behind.is_behind
        return ToolStatus(
            name=NAME, state="down" if not listening else "degraded" if degraded else "ok", detail=detail,
            checked_at=self._clock(),
        )  # fmt: skip

    async def diagnose(self, channel_ids: Sequence[str]) -> Sequence[Diagnosis]:
        options = self._options
        wiring = Wiring(
            url=options.url, callback_url=options.callback_url, command=options.command,
            has_command_token=bool(options.command_tokens), teams=options.teams,
        )  # fmt: skip
        doctor = MattermostDoctor(
            self.rest, wiring, probe=lambda: probe(options.url, options.token, ca_file=options.ca_file),
            reach=lambda address: reach(address, timeout_s=options.request_timeout_s),
        )  # fmt: skip
        return await doctor.examine(channel_ids)

    # --- towards bot.http.mattermost ------------------------------------------------------------

    async def take_command(self, form: Mapping[str, str]) -> Command:
        """The command of a form, once it is saved. Raises CommandRefused, and PlatformError when nobody listens."""
        await self._tokens.require(form)
        command, hook_id = command_of(form, own_id=self.bot.id)
        if command.args == PING:
            return command
        if self._receive is None:
            raise PlatformError("The bot does not listen to Mattermost yet.")
        if not self.bot.id:  # heard before the first connection: only now it is known what is direct
            command, hook_id = command_of(form, own_id=(await self._ready()).own.id)
        await self._commands.remember(command, hook_id)
        await self._receive(command)
        return command

    async def take_click(self, payload: Mapping[str, Any]) -> str:
        """What whoever clicked is told. Raises ButtonRefused, and PlatformError when the vote could not be kept."""
        return await self._votes.click(payload)

    # --- inside ---------------------------------------------------------------------------------

    async def _introduce(self) -> None:
        """Asks the server who the bot is and what it allows. Raises PlatformError; AuthError for a wrong token."""
        me = await self._me()
        own = Own(id=str(me["id"]), username=str(me["username"]))
        limit_chars = self._conditions.limit_chars if self._conditions else POST_LIMIT_CHARS
        try:
            async with asyncio.timeout(SETTINGS_WITHIN_S):
                limit_chars = min(POST_LIMIT_CHARS, await self._directory.read_server())
        except AuthError:
            raise
        except (PlatformError, TimeoutError) as error:
            # only addresses of posts and the limit of old databases hang on it
            log.warning("mattermost.settings_unread", reason=str(error))
        self._conditions = Conditions(own=own, limit_chars=limit_chars)

    async def _me(self) -> Json:
        """A token that is refused may have been replaced in its file meanwhile."""
        try:
            return await self.rest.me()
        except AuthError:
            found = await asyncio.to_thread(self._options.token_now) if self._options.token_now else None
            if found is None or not self.rest.use_token(found.get_secret_value()):
                raise
            log.info("mattermost.token_read_again")
            self._socket.use_token(found.get_secret_value())
            return await self.rest.me()

    async def _ready(self) -> Conditions:
        if self._conditions is None:
            await self._introduce()
        return self._known()

    def _known(self) -> Conditions:
        if self._conditions is None:
            raise PlatformError("Mattermost was not asked yet who the bot is.")
        return self._conditions


def _is_webhooks(post: Mapping[str, Any]) -> bool:
    props = post.get("props")
    return isinstance(props, dict) and props.get("from_webhook") in ("true", True)
