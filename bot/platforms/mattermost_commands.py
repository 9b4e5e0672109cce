"""Slash commands: what the server posts, and how they are answered without anybody else seeing it.

The first answer is the HTTP response. After it the server takes five more within thirty minutes at an address that
comes with the command; what comes later, or is more, goes into a direct message.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.errors import PlatformError
from bot.platforms.mattermost_messages import NAME
from bot.platforms.mattermost_posting import EMPTY, Conditions, Replies, own_props
from bot.platforms.mattermost_rest import MattermostRest
from bot.platforms.splitting import split_markdown
from bot.ports import PlatformState
from bot.reply_text import safe_markdown
from bot.types import Author, Command, ThreadRef

COMMAND = "haechi"
PING = "ping"  # of `haechi doctor`: answered at once, and by nobody else
RESPONSES = 5
RESPONSES_WITHIN = timedelta(minutes=30)

_HOOK = re.compile(r"/hooks/commands/([A-Za-z0-9]{1,64})/?$")

log = structlog.get_logger(__name__)


class CommandRefused(Exception):
    """A request that is no command of ours; `status` is that of the HTTP response."""

    def __init__(self, reason: str, *, status: int) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(slots=True)
class Ticket:
    """How a command can still be answered."""

    hook_id: str
    given_at: datetime
    used: int = 0

    def text(self) -> str:
        return json.dumps({"hook_id": self.hook_id, "given_at": self.given_at.isoformat(), "used": self.used})

    @classmethod
    def read(cls, text: str | None) -> Ticket | None:
        if not text:
            return None
        told = json.loads(text)
        return cls(told["hook_id"], datetime.fromisoformat(told["given_at"]), told["used"])


def is_token(given: str, tokens: Sequence[str]) -> bool:
    """Whether `given` is one of `tokens` (one for every team); takes the same time for all that are wrong."""
    matches = [hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode()) for token in tokens]
    return any(matches)


class CommandTokens:
    """The tokens that commands come with. A command with another one has them read again: they may have been replaced
    in their file meanwhile, and those from before count no more then."""

    def __init__(self, tokens: Sequence[str], now: Callable[[], Sequence[str]] | None) -> None:
        self._tokens = tuple(tokens)
        self._now = now

    async def require(self, form: Mapping[str, str]) -> None:
        """Raises CommandRefused unless the form bears one of them."""
        if not self._tokens:
            raise CommandRefused("mattermost.command_token_env or mattermost.command_token_file is not set", status=404)
        given = form.get("token", "")
        if is_token(given, self._tokens):
            return
        found = tuple(await asyncio.to_thread(self._now)) if self._now is not None else ()
        if not is_token(given, found):
            raise CommandRefused("the token is wrong", status=401)
        log.info("mattermost.command_token_read_again")
        self._tokens = found


def command_of(form: Mapping[str, str], *, own_id: str) -> tuple[Command, str]:
    """(the command, the id of the address for later answers) of a form whose token is right. Raises CommandRefused.

    `root_id` comes with newer servers only; without it the thread is the channel itself.
    """
    user_id, channel_id = form.get("user_id", ""), form.get("channel_id", "")
    if not user_id or not channel_id:
        raise CommandRefused("the form names no user or no channel", status=400)
    hook = _HOOK.search(form.get("response_url", ""))
    unique = form.get("trigger_id") or form.get("response_url") or ""
    if not unique:
        raise CommandRefused("the form has neither trigger_id nor response_url", status=400)
    command = Command(
        name=COMMAND,
        args=form.get("text", "").strip(),
        author=Author(id=user_id, display_name=form.get("user_name", "") or user_id, is_bot=False),
        thread=ThreadRef(platform=NAME, channel_id=channel_id, root_id=form.get("root_id", "")),
        is_direct=_is_direct(form.get("channel_name", ""), own_id),
        delivery_id=f"{NAME}:command:{hashlib.sha256(unique.encode()).hexdigest()[:24]}",
    )
    return command, hook[1] if hook else ""


def _is_direct(channel_name: str, own_id: str) -> bool:
    """A direct channel bears the ids of both; one between two people is no conversation with the bot."""
    return bool(own_id) and own_id in channel_name.split("__")


class CommandReplies:
    """Answers to commands; what is needed for them outlives a restart."""

    def __init__(
        self,
        rest: MattermostRest,
        replies: Replies,
        state: PlatformState,
        conditions: Callable[[], Conditions],
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._rest = rest
        self._replies = replies
        self._state = state
        self._conditions = conditions
        self._clock = clock

    async def remember(self, command: Command, hook_id: str) -> None:
        """Before the command is handed over, so that it can be answered whatever happens next."""
        if hook_id:
            await self._put(command, Ticket(hook_id, self._clock()))

    async def answer(self, command: Command, markdown: str) -> None:
        """Raises PlatformError when nothing of it could be shown."""
        texts = split_markdown(safe_markdown(markdown), self._conditions().limit_chars) or [EMPTY]
        rest = await self._respond(command, texts)
        await self._tell_parts(command.author.id, command.delivery_id, rest)

    async def show_progress(self, command: Command, markdown: str, *, post_id: str | None) -> str:
        """The id of the direct message that shows it."""
        text = split_markdown(safe_markdown(markdown), self._conditions().limit_chars)[:1] or [EMPTY]
        if post_id is not None:
            await self._rest.patch_post(post_id, {"message": text[0]})
            return post_id
        return await self.tell(command.author.id, f"{command.delivery_id}:progress", 1, 1, text[0])

    async def tell_all(self, user_id: str, delivery_id: str, markdown: str) -> None:
        """Direct messages with all of a text."""
        limit_chars = self._conditions().limit_chars
        await self._tell_parts(user_id, delivery_id, split_markdown(safe_markdown(markdown), limit_chars) or [EMPTY])

    async def _tell_parts(self, user_id: str, delivery_id: str, texts: Sequence[str]) -> None:
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]  # another text is another message
        for number, text in enumerate(texts, 1):
            await self.tell(user_id, f"{delivery_id}:{digest}", number, len(texts), text)

    async def tell(self, user_id: str, delivery_id: str, number: int, parts: int, text: str) -> str:
        """The id of a direct message to one person."""
        channel = await self._rest.direct_channel(self._conditions().own.id, user_id)
        thread = ThreadRef(platform=NAME, channel_id=str(channel["id"]), root_id="")
        props = own_props(delivery_id, number, parts, final=True)
        return await self._replies.create(thread, delivery_id, number, text, props)

    async def _respond(self, command: Command, texts: Sequence[str]) -> Sequence[str]:
        """Says what it can by the command's own address; returns what is left to say."""
        ticket = Ticket.read(await asyncio.to_thread(self._state.get, _key(command)))
        if ticket is None or self._clock() - ticket.given_at >= RESPONSES_WITHIN:
            return texts
        if ticket.used + len(texts) > RESPONSES:
            return texts
        for said, text in enumerate(texts):
            fields: dict[str, Any] = {"response_type": "ephemeral", "text": text, "skip_slack_parsing": True}
            ticket.used += 1
            await self._put(command, ticket)
            try:
                await self._rest.respond_to_command(ticket.hook_id, fields)
            except PlatformError as error:
                log.warning("mattermost.command_response_failed", delivery=command.delivery_id, reason=str(error))
                return texts[said:]
        return ()

    async def _put(self, command: Command, ticket: Ticket) -> None:
        await asyncio.to_thread(self._state.put, _key(command), ticket.text())


def _key(command: Command) -> str:
    return f"mattermost.command:{command.delivery_id}"
