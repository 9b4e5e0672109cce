"""Who and what stands behind the ids of a Mattermost server: people, channels, teams, files. Remembered for a while."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import structlog

from bot.errors import PlatformError
from bot.platforms.attached_text import FILES_READ
from bot.platforms.mattermost_failures import Refused
from bot.platforms.mattermost_messages import (
    Own,
    author_of,
    files_of,
    is_readable_file,
    is_system,
    props_of,
)
from bot.platforms.mattermost_posting import POST_LIMIT_CHARS, Answered
from bot.platforms.mattermost_rest import MattermostRest
from bot.types import Attachment, Author

PERSON_KNOWN_S = 3600.0
NEW_PERSON_WITHIN_S = 2.0
MAX_KNOWN = 5000
FILES_WITHIN_S = 15.0
ANY_TEAM = "_redirect"  # the web app turns it into a team of whoever opens the address

Json = dict[str, Any]

log = structlog.get_logger(__name__)


class Directory:
    """Looks up once, then remembers. `teams` are names; empty: all teams are heard."""

    def __init__(self, rest: MattermostRest, url: str, teams: Sequence[str], *, monotonic: Callable[[], float]) -> None:
        self._rest = rest
        self._site_url = url
        self._teams = frozenset(teams)
        self._monotonic = monotonic
        self._people: OrderedDict[str, tuple[float, Author]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Author | None]] = {}
        self._wanted: set[str] = set()
        self._asked_for = asyncio.Event()
        self._channels: dict[str, Json] = {}
        self._team_names: dict[str, str] = {}
        self._answered: OrderedDict[str, Answered | None] = OrderedDict()

    async def read_server(self) -> int:
        """The longest post in characters; learns the public address and the teams. Raises PlatformError."""
        config = await self._rest.client_config()
        self._site_url = str(config.get("SiteURL") or self._site_url).rstrip("/")
        self._team_names = {str(team["id"]): str(team["name"]) for team in await self._rest.my_teams()}
        try:
            return max(int(config.get("MaxPostSize") or POST_LIMIT_CHARS), 1000)
        except ValueError:
            return POST_LIMIT_CHARS

    # --- channels -------------------------------------------------------------------------------

    def learn(self, event_data: Mapping[str, Any], post: Mapping[str, Any]) -> None:
        """What an event tells about the channel of its post."""
        if event_data.get("channel_type"):
            channel_id = str(post.get("channel_id"))
            known = self._channels.get(channel_id, {"id": channel_id})
            told = {"type": event_data["channel_type"], "display_name": event_data.get("channel_display_name")}
            self._channels[channel_id] = {**known, **told, "team_id": event_data.get("team_id") or ""}

    def know(self, channel: Json) -> None:
        self._channels[str(channel["id"])] = channel

    async def is_direct(self, channel_id: str) -> bool:
        """Whether it is a conversation with the bot alone; in a group message people talk with each other too."""
        return (await self._channel(channel_id)).get("type") == "D"

    async def is_shared(self, channel_id: str) -> bool:
        """Whether other organisations' servers take part in the channel. Events do not tell."""
        if "shared" not in await self._channel(channel_id):
            try:
                told = await self._rest.channel(channel_id)
            except Refused:  # what may not be looked at is not shared through this server
                told = {}
            self._channels[channel_id] = {**self._channels[channel_id], "shared": False, **told}
        return self._channels[channel_id]["shared"] is True

    async def is_heard(self, channel_id: str) -> bool:
        """Whether the channel's team is one of those that the settings name; direct messages always are heard."""
        if not self._teams:
            return True
        team_id = str((await self._channel(channel_id)).get("team_id") or "")
        return not team_id or self._team_names.get(team_id) in self._teams

    def permalink(self, channel_id: str, post_id: str) -> str:
        team_id = str(self._channels.get(channel_id, {}).get("team_id") or "")
        return f"{self._site_url}/{self._team_names.get(team_id, ANY_TEAM)}/pl/{post_id}"

    async def _channel(self, channel_id: str) -> Json:
        if channel_id not in self._channels:
            self._channels[channel_id] = await self._rest.channel(channel_id)
        return self._channels[channel_id]

    # --- people ---------------------------------------------------------------------------------

    async def author(self, post: Mapping[str, Any], own: Own, *, sender: str) -> Author:
        """Whoever wrote a post; a name that cannot be looked up is no reason to lose the post."""
        user_id = str(post.get("user_id", ""))
        if user_id == own.id:
            return author_of(post, own.username, is_bot_account=True)
        if props_of(post).get("from_webhook") in ("true", True) or is_system(post):
            return author_of(post, sender.removeprefix("@") or user_id, is_bot_account=False)
        person = await self.person(user_id, otherwise=sender.removeprefix("@"))
        return author_of(post, person.display_name, is_bot_account=person.is_bot)

    async def person(self, user_id: str, *, otherwise: str = "") -> Author:
        """Whoever has this id. Somebody new is looked up first, within a moment: whether it is a bot decides whether it
        is answered. What was known long ago is given at once and looked up behind."""
        known = self._people.get(user_id)
        if known is not None:
            if self._monotonic() - known[0] >= PERSON_KNOWN_S:
                self._want(user_id)
            return known[1]
        try:
            async with asyncio.timeout(NEW_PERSON_WITHIN_S):
                found = await asyncio.shield(self._asked(user_id))
        except TimeoutError:
            found = None
        if found is None:
            self._want(user_id)
        return found or Author(id=user_id, display_name=otherwise or user_id, is_bot=False)

    def expect(self, user_id: str) -> None:
        """Begins to look somebody up whose message waits its turn: many newcomers at once wait for one answer each,
        and not for one another."""
        if user_id and user_id not in self._people:
            self._asked(user_id)

    def _asked(self, user_id: str) -> asyncio.Task[Author | None]:
        task = self._asking.get(user_id)
        if task is None:
            task = self._asking[user_id] = asyncio.create_task(self._look_up(user_id))
            task.add_done_callback(lambda done: self._asking.pop(user_id, None))
        return task

    def renamed(self, user: Mapping[str, Any]) -> None:
        """Takes what the server tells about somebody who is known here."""
        user_id = str(user.get("id", ""))
        if user_id in self._people:
            self._people[user_id] = (self._monotonic(), _author_of(user))

    def _want(self, user_id: str) -> None:
        self._wanted.add(user_id)
        self._asked_for.set()

    async def run(self) -> None:
        """Looks up, one after the other, the people that were met, until cancelled."""
        while True:
            await self._asked_for.wait()
            self._asked_for.clear()
            while self._wanted:
                await self._asked(self._wanted.pop())

    async def _look_up(self, user_id: str) -> Author | None:
        try:
            user = await self._rest.user(user_id)
        except PlatformError as error:
            log.warning("mattermost.person_unknown", user=user_id, reason=str(error))
            return None
        author = _author_of({**user, "id": user_id})
        self._people[user_id] = (self._monotonic(), author)
        _keep_latest(self._people)
        return author

    # --- posts ----------------------------------------------------------------------------------

    async def remembered(self, post_id: str, look_up: Callable[[str], Awaitable[Answered | None]]) -> Answered | None:
        """What `look_up` gave for a post the first time. A post that is no answer yet may become one: asked again."""
        known = self._answered.get(post_id)
        if known is None:
            known = self._answered[post_id] = await look_up(post_id)
            _keep_latest(self._answered)
        return known

    async def attachments(self, post: Mapping[str, Any]) -> list[Attachment]:
        """The files of a post: text and logs are read, others and those that cannot be read are named only."""
        infos = files_of(post)
        if not infos and post.get("file_ids"):
            try:
                infos = await self._rest.file_infos(str(post["id"]))
            except PlatformError as error:
                log.warning("mattermost.files_unknown", post=post.get("id"), reason=str(error))
                infos = [{"name": f"file {number}"} for number, _ in enumerate(post["file_ids"], 1)]
        readable = [info for info in infos if is_readable_file(info)][:FILES_READ]
        texts: dict[int, str | None] = {}
        try:
            async with asyncio.timeout(FILES_WITHIN_S):  # other questions wait meanwhile
                for info in readable:
                    texts[id(info)] = await self._text(info)
        except TimeoutError:
            log.warning("mattermost.files_too_slow", post=post.get("id"))
        return [
            Attachment(
                name=str(info.get("name") or "file"),
                media_type=str(info.get("mime_type") or ""),
                text=texts.get(id(info)),
            )
            for info in infos
        ]

    async def _text(self, info: Mapping[str, Any]) -> str | None:
        if not info.get("id"):
            return None
        try:
            content = await self._rest.file(str(info["id"]))
            return await asyncio.to_thread(content.text)
        except PlatformError as error:
            log.warning("mattermost.file_unread", file=info.get("name"), reason=str(error))
            return None


def _author_of(user: Mapping[str, Any]) -> Author:
    return Author(id=str(user["id"]), display_name=_display_name(user), is_bot=user.get("is_bot") is True)


def _display_name(user: Mapping[str, Any]) -> str:
    full = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
    return str(user.get("nickname") or full or user.get("username") or user.get("id"))


def _keep_latest(known: OrderedDict[str, Any]) -> None:
    while len(known) > MAX_KNOWN:
        known.popitem(last=False)
