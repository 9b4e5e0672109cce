"""Slack as a chat platform: Socket Mode or HTTP in, the Web API out. The port's methods, each handed to its part.

slack_intake   what comes in: messages, reactions, buttons, commands, saved before they are acknowledged
slack_messages, slack_text    a Slack message as bot.types.Message
slack_posts, slack_stream     the bot's own posts, found again and never doubled; replies that grow
slack_roots    posts that open threads, and direct messages
slack_format, slack_mrkdwn    Markdown within Slack's limits
slack_commands                answers to slash commands
slack_socket, slack_watch     the connection, and what keeps it alive
slack_reading                 how far has been read; catching up
slack_api, slack_failures     slack-sdk, and its errors in the words of bot.errors
slack_diagnosis               haechi doctor
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import structlog
from pydantic import SecretStr
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.errors import AuthError, PlatformError
from bot.persona import language_of
from bot.platforms.slack_api import Identity, SlackApi, tls_of
from bot.platforms.slack_commands import CommandAnswers
from bot.platforms.slack_diagnosis import diagnose_slack
from bot.platforms.slack_failures import SlackRefusal
from bot.platforms.slack_format import private_part
from bot.platforms.slack_intake import SlackIntake
from bot.platforms.slack_messages import NAME, SlackMessages, is_own, moment_of
from bot.platforms.slack_posts import OwnPost, SlackPosts, complete, reply_payload
from bot.platforms.slack_reading import SlackReading
from bot.platforms.slack_roots import SlackRoots
from bot.platforms.slack_socket import SlackSocket, build_app
from bot.platforms.slack_stream import EditPace, NativeStreams, SlackStream
from bot.platforms.slack_text import own_text
from bot.platforms.slack_watch import Health, SlackTiming, SlackWatch
from bot.ports import PlatformState, Receive, ReplyStream
from bot.types import Author, Command, Diagnosis, Message, Reply, ThreadRef
from bot.wording import word
from knowledge.types import ToolStatus

LOOKED_UP_KEPT = 1_000
PARTS_LOOKED_AT = 5  # posts a message, of which a long answer takes several
CLOSE_TIMEOUT_S = 5.0

MENTIONS_ALONE = (
    "Mentions arrive, but not the messages themselves, so follow-ups and alerts are not heard: subscribe to"
    " message.channels and message.groups under Event Subscriptions of the app, then reinstall it."
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackOptions:
    """What the adapter is built from. `app_token` belongs to Socket Mode, `signing_secret` to HTTP mode."""

    bot_token: SecretStr
    mode: Literal["socket", "http"] = "socket"
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    api_url: str = "https://slack.com/api/"
    live_answers: bool = True
    ca_file: Path | None = None
    public_url: str | None = None  # where Slack reaches the bot in HTTP mode, for doctor
    token_now: Callable[[str], SecretStr | None] | None = None  # each as it is configured by now
    catch_up_age: timedelta = timedelta(hours=24)
    catch_up_messages: int = 500
    timing: SlackTiming = field(default_factory=SlackTiming)


class SlackPlatform:
    """Implements bot.ports.ChatPlatform."""

    name = NAME

    def __init__(
        self,
        options: SlackOptions,
        *,
        state: PlatformState,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        timing = options.timing
        self._options = options
        self._monotonic = monotonic
        self._clock = clock
        self._ahead = timedelta()  # of this machine's clock
        self._identity: Identity | None = None
        self._app_token, self._signing_secret = options.app_token, options.signing_secret
        self._api = SlackApi(
            token=options.bot_token, api_url=options.api_url, retry_pause_s=timing.retry_pause_s,
            tls=tls_of(options.ca_file),
        )  # fmt: skip
        self._messages = SlackMessages(self._api, monotonic=monotonic)
        self._posts = SlackPosts(self._api, identity=lambda: self._identity, retry_pause_s=timing.retry_pause_s)
        self._roots = SlackRoots(
            self._api, self._posts, identity=self._known_identity, clock=clock, retry_pause_s=timing.retry_pause_s
        )
        self._answers = CommandAnswers(self._api, state, clock=clock)
        self._reading = SlackReading(
            self._api, state, clock=self._slack_now, max_age_s=options.catch_up_age.total_seconds(),
            max_messages=options.catch_up_messages,
        )  # fmt: skip
        self._intake = SlackIntake(
            self._api,
            self._messages,
            self._answers,
            identity=lambda: self._identity,
            heard=self._reading.heard,
            monotonic=monotonic,
        )
        self._native = NativeStreams(self._api, enabled=options.live_answers)
        self._pace = EditPace(monotonic, interval_s=timing.edit_interval_s)
        self._health = Health(clock)
        self._watch = SlackWatch(
            timing=timing, health=self._health, monotonic=monotonic, identify=self._identify, build=self._build,
            catch_up=lambda: self._reading.catch_up(self._intake), alive=self._reading.flush,
        )  # fmt: skip
        self._app: AsyncApp | None = None
        self._looked_up: OrderedDict[str, list[OwnPost]] = OrderedDict()
        self._courtesies: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Task[Any] | None = None
        self._ended = asyncio.Event()

    # --- coming in ----------------------------------------------------------------------------

    @property
    def bot_id(self) -> str | None:
        return self._identity.user_id if self._identity else None

    async def listen(self, receive: Receive) -> None:
        """Goes on until `close`; connections and tokens that fail are tried again inside and shown by `check`."""
        self._intake.receive = receive
        self._listener = asyncio.current_task()
        self._api.reopen()
        self._ended.clear()
        try:
            await self._watch.run()
        finally:
            self._intake.receive = None
            self._app = None
            try:
                await self._reading.flush(now=True)
            finally:
                await asyncio.gather(*self._courtesies, return_exceptions=True)
                await self._api.close(for_good=True)
                self._ended.set()

    async def take_request(self, body: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and body for a request of Slack in HTTP mode; Bolt checks its signature."""
        if self._app is None:
            return 503, {}, "Slack is not being listened to yet."
        response = await self._app.async_dispatch(AsyncBoltRequest(body=body, headers=dict(headers), mode="http"))
        if response.status == 401 and await self._has_new_signing_secret():
            response = await self._app.async_dispatch(AsyncBoltRequest(body=body, headers=dict(headers), mode="http"))
        return response.status, response.first_headers_without_set_cookie(), response.body

    async def fetch_thread(self, thread: ThreadRef, limit: int) -> Sequence[Message]:
        identity = await self._known_identity()
        found: list[Message] = []
        answers: dict[str, int] = {}  # delivery id -> place in `found`
        messages = await self._posts.thread(thread)
        for message in messages[-PARTS_LOOKED_AT * limit :] if limit > 0 else ():
            if not is_own(message, identity):
                said = await self._messages.message(
                    message, channel=thread.channel_id, identity=identity, read_files=False
                )
                if said is not None and said.event == "posted":
                    found.append(said)
                continue
            payload = reply_payload(message)
            if payload is None or payload.get("final") is not True:
                continue
            own = self._own_message(message, thread, str(payload.get("delivery_id") or ""))
            if own.delivery_id in answers and int(payload.get("part") or 1) > 1:
                place = answers[own.delivery_id]
                found[place] = _joined(found[place], own)
            else:
                answers[own.delivery_id] = len(found)
                found.append(own)
        return found[-limit:]

    # --- going out ----------------------------------------------------------------------------

    async def post(self, reply: Reply) -> str:
        self._reading.took_part(reply.thread)
        return await self._posts.deliver(reply, own=self._looked_up.pop(_key(reply.thread, reply.delivery_id), None))

    async def open_thread(
        self, channel_id: str, markdown: str, *, delivery_id: str, since: datetime | None
    ) -> ThreadRef:
        ts = await self._roots.open(channel_id, markdown, delivery_id, since)
        return ThreadRef(platform=NAME, channel_id=channel_id, root_id=ts)

    async def message_person(self, user_id: str, markdown: str, *, delivery_id: str, since: datetime | None) -> str:
        return await self._roots.message(user_id, markdown, delivery_id, since)

    async def edit(self, post_id: str, reply: Reply) -> None:
        await self._posts.edit(post_id, reply)

    def stream(self, thread: ThreadRef, delivery_id: str) -> ReplyStream:
        self._reading.took_part(thread)
        earlier = self._looked_up.pop(_key(thread, delivery_id), None)
        return SlackStream(
            thread, delivery_id, posts=self._posts, pace=self._pace, native=self._native, earlier=earlier
        )

    async def respond_private(self, thread: ThreadRef, user_id: str, markdown: str) -> None:
        for part in private_part(markdown):
            await self._answers.private(thread, user_id, part)

    async def answer_command(self, command: Command, markdown: str) -> None:
        await self._answers.answer(command, markdown)

    async def show_progress(self, command: Command, markdown: str, *, post_id: str | None) -> str:
        return await self._answers.progress(command, markdown, post_id)

    async def react(self, message: Message, emoji: str) -> None:
        try:
            await self._api.call("reactions_add", channel=message.thread.channel_id, timestamp=message.id, name=emoji)
        except SlackRefusal as error:
            if error.code != "already_reacted":
                raise

    async def find_own(self, thread: ThreadRef, delivery_id: str) -> str | None:
        await self._known_identity()
        own = await self._posts.own(thread, delivery_id)
        done = complete(own)
        if done is None:  # what is unfinished is written over by the post or stream that comes next
            self._looked_up[_key(thread, delivery_id)] = own
            while len(self._looked_up) > LOOKED_UP_KEPT:
                self._looked_up.popitem(last=False)
        return done

    def permalink(self, thread: ThreadRef, post_id: str) -> str | None:
        if self._identity is None or not self._identity.team_url:
            return None
        address = f"{self._identity.team_url.rstrip('/')}/archives/{thread.channel_id}/p{post_id.replace('.', '')}"
        if thread.root_id in ("", post_id):
            return address
        return f"{address}?thread_ts={thread.root_id}&cid={thread.channel_id}"

    async def is_shared(self, channel_id: str) -> bool:
        told = await self._api.call("conversations_info", patience="never", channel=channel_id)
        return (told.get("channel") or {}).get("is_ext_shared") is True

    # --- health -------------------------------------------------------------------------------

    async def check(self) -> ToolStatus:
        who = f"@{self._identity.user} in {self._identity.team}" if self._identity else "connected"
        how = "by Socket Mode" if self._options.mode == "socket" else "over HTTP"
        notice = f" {self._reading.notice}" if self._reading.notice else ""
        status = self._health.status(NAME, detail=f"Listens as {who} {how}.{notice}")
        if status.state == "ok" and self._intake.mentions_come_alone:
            return replace(status, state="degraded", detail=f"{status.detail} {MENTIONS_ALONE}")
        return status

    async def diagnose(self, channel_ids: Sequence[str]) -> Sequence[Diagnosis]:
        try:
            return await diagnose_slack(
                self._api,
                self._options.app_token,
                channel_ids,
                mode=self._options.mode,
                now=self._clock(),
                public_url=self._options.public_url,
            )
        finally:
            if self._intake.receive is None:
                await self._api.close()

    async def close(self) -> None:
        """Ends `listen`, and waits a moment until it has ended: it writes down how far it has read."""
        self._watch.stop()
        if self._intake.receive is None:
            await self._api.close()
        elif asyncio.current_task() is not self._listener:  # a delivery may be what closes it
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await self._ended.wait()

    # --- inside -------------------------------------------------------------------------------

    async def _identify(self) -> Identity:
        try:
            self._identity = await self._api.identify(patience="never")
        except AuthError:  # it may have been replaced in its file meanwhile
            token = await self._token_now("bot_token")
            if token is None or not self._api.use_token(token):
                raise
            log.info("slack.token_read_again", token="bot_token")
            self._identity = await self._api.identify(patience="never")
        told_at = self._identity.told_at
        self._ahead = self._clock() - told_at if told_at is not None else timedelta()
        return self._identity

    def _slack_now(self) -> datetime:
        """The time by Slack's clock, in which its messages are dated: this machine's may be wrong."""
        return self._clock() - self._ahead

    async def _token_now(self, name: str) -> SecretStr | None:
        return await asyncio.to_thread(self._options.token_now, name) if self._options.token_now else None

    async def _open_socket(self) -> str:
        """The address of a new Socket Mode connection. Raises PlatformError."""
        if self._app_token is None:
            raise PlatformError("Socket Mode needs slack.app_token_env or slack.app_token_file.")
        try:
            return await self._api.open_socket(self._app_token)
        except AuthError:
            token = await self._token_now("app_token")
            if token is None or token == self._app_token:
                raise
            log.info("slack.token_read_again", token="app_token")
            self._app_token = token
            return await self._api.open_socket(token)

    async def _has_new_signing_secret(self) -> bool:
        """Whether it was replaced in its file meanwhile; requests must be signed with that from now on."""
        secret = await self._token_now("signing_secret")
        if secret is None or secret == self._signing_secret or self._identity is None or self._app is None:
            return False
        log.info("slack.token_read_again", token="signing_secret")
        self._signing_secret = secret
        self._build(self._identity)
        return True

    async def _known_identity(self) -> Identity:
        return self._identity or await self._identify()

    def _build(self, identity: Identity) -> SlackSocket | None:
        options = self._options
        secret = self._signing_secret.get_secret_value() if self._signing_secret else None
        self._app = build_app(
            self._intake, identity, signing_secret=secret, api_url=self._api.api_url, thank=self._thank,
            tls=self._api.tls,
        )  # fmt: skip
        if options.mode == "http":
            return None
        return SlackSocket(
            self._app, open_url=self._open_socket,
            ping_interval_s=options.timing.ping_interval_s, monotonic=self._monotonic,
        )  # fmt: skip

    def _own_message(self, message: Mapping[str, Any], thread: ThreadRef, delivery_id: str) -> Message:
        ts = str(message["ts"])
        identity = self._identity
        return Message(
            id=ts,
            thread=thread,
            author=Author(
                id=identity.user_id if identity else "", display_name=identity.user if identity else "", is_bot=True
            ),
            text=own_text(message),
            mentions_bot=False,
            is_direct=thread.channel_id.startswith("D"),
            attachments=(),
            posted_at=moment_of(ts),
            delivery_id=delivery_id or f"{thread.channel_id}:{ts}",
        )

    def _thank(self, body: dict[str, Any], kept: bool) -> None:
        """Tells the voter whether the vote was kept; plain buttons show nothing by themselves."""
        words = str((body.get("message") or {}).get("text") or "")
        url = str(body.get("response_url") or "")
        if url:
            task = asyncio.create_task(
                self._say_thanks(url, word("vote_thanks" if kept else "vote_unknown", language_of(words)))
            )
            self._courtesies.add(task)
            task.add_done_callback(self._courtesies.discard)

    async def _say_thanks(self, url: str, words: str) -> None:
        body = {"response_type": "ephemeral", "replace_original": False, "text": words}
        try:
            await self._api.respond(url, body)
        except PlatformError as error:
            log.info("slack.thanks_not_shown", reason=str(error))


def _key(thread: ThreadRef, delivery_id: str) -> str:
    return f"{thread.channel_id} {thread.root_id} {delivery_id}"


def _joined(first: Message, more: Message) -> Message:
    """One message of two parts of a reply."""
    return replace(first, text=f"{first.text}\n\n{more.text}")
