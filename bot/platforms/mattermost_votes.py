"""Votes on the bot's answers on Mattermost: clicks, reactions, and reactions that came while nobody listened.

The server tells of reactions by events alone. So the adapter keeps, for its latest answers, which votes it has handed
over; after every connection that is new, and now and then, it asks for the reactions of these posts and hands over the
difference: votes that were given meanwhile, and votes that were taken back.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.errors import BotError, PlatformError
from bot.persona import language_of
from bot.platforms.mattermost_buttons import ButtonRefused, Buttons, vote_of
from bot.platforms.mattermost_directory import Directory
from bot.platforms.mattermost_failures import Refused
from bot.platforms.mattermost_messages import NAME, own_part
from bot.platforms.mattermost_posting import Answered, Conditions, Replies
from bot.platforms.mattermost_rest import MattermostRest
from bot.ports import PlatformState, Receive
from bot.types import FeedbackGiven, Vote
from bot.wording import word

WATCHED_POSTS = 300
WATCHED_FOR = timedelta(days=14)
MAX_WAITING = 1000  # reactions that wait to be looked up; more are found by the next look
STATE_KEY = "mattermost.votes"

Json = dict[str, Any]
Seen = set[tuple[str, str]]  # person, emoji

log = structlog.get_logger(__name__)


class Votes:
    """`receive` is set while somebody listens. Everything is dealt with one after the other by `run`."""

    def __init__(
        self, rest: MattermostRest, replies: Replies, buttons: Buttons, directory: Directory, state: PlatformState, *,
        ready: Callable[[], Awaitable[Conditions]], clock: Callable[[], datetime],
    ) -> None:  # fmt: skip
        self.receive: Receive | None = None
        self._rest = rest
        self._replies = replies
        self._buttons = buttons
        self._directory = directory
        self._state = state
        self._ready = ready
        self._clock = clock
        self._waiting: asyncio.Queue[tuple[Json, bool] | None] = asyncio.Queue(MAX_WAITING)
        self._watched: OrderedDict[str, tuple[float, Seen]] | None = None  # post id -> when it was posted, votes

    def felt(self, reaction: Json, *, taken_back: bool) -> None:
        """Takes a reaction of an event; messages do not wait until it is looked up."""
        if vote_of(str(reaction.get("emoji_name", ""))) and not self._waiting.full():
            self._waiting.put_nowait((reaction, taken_back))

    def look(self) -> None:
        """Reactions may have been missed: asks for those of the latest answers, behind what waits already."""
        if not self._waiting.full():
            self._waiting.put_nowait(None)

    async def run(self) -> None:
        """Hands over what was felt and missed, until cancelled."""
        while True:
            item = await self._waiting.get()
            try:
                if item is None:
                    await self._find_missed()
                else:
                    await self._vote(*item)
            except (BotError, KeyError, TypeError, ValueError, AttributeError) as error:
                log.error("mattermost.vote_lost", reason=str(error))

    async def watch(self, post_ids: Iterable[str]) -> None:
        """Notes that these posts are an answer, whose reactions are asked for later."""
        watched = await self._load()
        for post_id in post_ids:
            watched.setdefault(post_id, (self._clock().timestamp(), set()))
        await self._save(watched)

    async def click(self, payload: Mapping[str, Any]) -> str:
        """What whoever clicked is told. Raises ButtonRefused, and PlatformError when the vote could not be kept."""
        channel_id, post_id = str(payload.get("channel_id", "")), str(payload.get("post_id", ""))
        user_id = str(payload.get("user_id", ""))
        place, vote = self._buttons.verified(payload.get("context"), channel_id=channel_id, now=self._clock())
        if not user_id or not post_id:
            raise ButtonRefused("the click names no person or no post")
        if self.receive is None:
            raise PlatformError("The bot does not listen to Mattermost yet.")
        own = (await self._ready()).own
        post = await self._rest.post(post_id)
        noted = own_part(post, own.id)
        if noted is None or noted.delivery_id != place.delivery_id or post.get("channel_id") != channel_id:
            raise ButtonRefused("the button belongs to another post")
        answered = await self._replies.answered_by(post)
        if answered is None:
            raise ButtonRefused("the post is no finished answer")
        kept = await self.receive(await self._feedback(answered, user_id, vote)) is not False
        return word("vote_thanks" if kept else "vote_unknown", language_of(str(post.get("message", ""))))

    # --- reactions ------------------------------------------------------------------------------

    async def _vote(self, reaction: Json, taken_back: bool) -> None:
        own = (await self._ready()).own
        emoji, user_id = str(reaction.get("emoji_name", "")), str(reaction.get("user_id", ""))
        vote, post_id = vote_of(emoji), str(reaction["post_id"])
        if vote is None or user_id == own.id or self.receive is None:
            return
        answered = await self._directory.remembered(post_id, self._answered_by)
        if answered is None:
            return
        await self.receive(await self._feedback(answered, user_id, vote, taken_back=taken_back))
        watched = await self._load()
        if post_id in watched:
            (watched[post_id][1].discard if taken_back else watched[post_id][1].add)((user_id, emoji))
            await self._save(watched)

    async def _find_missed(self) -> None:
        """Hands over what differs between the reactions that stand there and those that were handed over."""
        own = (await self._ready()).own
        watched = await self._load()
        for post_id, standing in (await self._reactions(list(watched))).items():
            if post_id not in watched:
                continue
            known = watched[post_id][1]
            votes = [one for one in standing if vote_of(str(one.get("emoji_name"))) and one.get("user_id") != own.id]
            there = {(str(one["user_id"]), str(one["emoji_name"])) for one in votes}
            for user_id, emoji in sorted(known - there):
                await self._vote({"post_id": post_id, "user_id": user_id, "emoji_name": emoji}, taken_back=True)
            for one in sorted(votes, key=lambda one: int(one.get("create_at") or 0)):
                if (str(one["user_id"]), str(one["emoji_name"])) not in known:
                    await self._vote(one, taken_back=False)

    async def _reactions(self, post_ids: list[str]) -> Mapping[str, list[Json]]:
        """post id -> its reactions. The server refuses all of them when one may not be read any more: then one by one,
        and what cannot be read is forgotten."""
        if not post_ids:
            return {}
        try:
            found = await self._rest.reactions_of(post_ids)
            return {post_id: found.get(post_id, []) for post_id in post_ids}
        except Refused as error:
            log.info("mattermost.reactions_one_by_one", reason=str(error))
        single: dict[str, list[Json]] = {}
        for post_id in post_ids:
            try:
                single[post_id] = await self._rest.reactions(post_id)
            except Refused:
                (await self._load()).pop(post_id, None)
        return single

    async def _feedback(
        self, answered: Answered, user_id: str, vote: Vote, *, taken_back: bool = False
    ) -> FeedbackGiven:
        return FeedbackGiven(
            reply_id=answered.reply_id,
            author=await self._directory.person(user_id),
            vote=vote,
            comment="",
            platform=NAME,
            delivery_id=answered.delivery_id,
            taken_back=taken_back,
        )

    async def _answered_by(self, post_id: str) -> Answered | None:
        try:
            return await self._replies.answered_by(await self._rest.post(post_id))
        except Refused:
            return None

    # --- what was handed over -------------------------------------------------------------------

    async def _load(self) -> OrderedDict[str, tuple[float, Seen]]:
        if self._watched is None:
            text = await asyncio.to_thread(self._state.get, STATE_KEY)
            try:
                told = json.loads(text) if text else {}
                self._watched = OrderedDict(
                    (post_id, (float(at_s), {(str(user), str(emoji)) for user, emoji in seen}))
                    for post_id, (at_s, seen) in told.items()
                )
            except (ValueError, TypeError, AttributeError):
                log.error("mattermost.votes_unreadable")
                self._watched = OrderedDict()
        return self._watched

    async def _save(self, watched: OrderedDict[str, tuple[float, Seen]]) -> None:
        oldest_s = (self._clock() - WATCHED_FOR).timestamp()
        for post_id in [key for key, (at_s, _) in watched.items() if at_s < oldest_s]:
            del watched[post_id]
        while len(watched) > WATCHED_POSTS:
            watched.popitem(last=False)
        text = json.dumps({post_id: [at_s, sorted(seen)] for post_id, (at_s, seen) in watched.items()})
        try:
            await asyncio.to_thread(self._state.put, STATE_KEY, text)
        except BotError as error:  # then a vote may be handed over twice, which changes nothing
            log.warning("mattermost.votes_not_saved", reason=str(error))
