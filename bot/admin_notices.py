"""What admins are told by direct message: something is wrong with a part, it still is, it is well again.

What is wrong is asked of `Readiness`, which knows every part and since when it has its state. Each admin is told each
thing once, whatever is killed or restarted; who cannot be reached now is told later, if it still matters then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from bot.errors import BotError, PlatformError
from bot.ports import ChatPlatform
from bot.store import Store, moment, timestamp
from bot.two_languages import Texts
from bot.types import Language, Part
from knowledge.errors import KnowledgeError
from knowledge.masking import mask

LOOK_EVERY_S = 15.0
REMIND_EVERY = timedelta(days=1)
QUIET = timedelta(hours=1)  # between two notices about the same thing
KEEP = timedelta(days=90)
FORGET_UNTOLD = timedelta(days=3)  # news that nobody could be told for so long are none
FIRST_WAIT_S, LONGEST_WAIT_S = 30.0, 900.0

# How long a part must have had its state before an admin hears of it, by the beginning of its name.
_GRACE: tuple[tuple[str, timedelta], ...] = (
    ("source:", timedelta(minutes=2)),
    ("slack", timedelta(minutes=5)),
    ("mattermost", timedelta(minutes=5)),
    ("", timedelta(minutes=10)),
)
_DEGRADED_MATTERS = ("source:", "alerts")  # elsewhere "degraded" is a state in which answers are still given

TEXTS = Texts({
    "raised": {
        "ko": "⚠️ **관리자 알림** · `{key}`\n\n{sentence}\n\n_{since} UTC부터. "
        "자세한 것은 `haechi status`와 `haechi doctor`._",
        "en": "⚠️ **For admins** · `{key}`\n\n{sentence}\n\n_Since {since} UTC. "
        "`haechi status` and `haechi doctor` say more._",
    },
    "still": {
        "ko": "⚠️ **아직 해결되지 않음** · `{key}`\n\n{sentence}\n\n_{since} UTC부터._",
        "en": "⚠️ **Still the case** · `{key}`\n\n{sentence}\n\n_Since {since} UTC._",
    },
    "over": {
        "ko": "✅ `{key}`: 다시 정상입니다 ({since} ~ {until} UTC).",
        "en": "✅ `{key}` is well again ({since} to {until} UTC).",
    },
    "event": {"ko": "ℹ️ **관리자 알림** · `{key}`\n\n{sentence}", "en": "ℹ️ **For admins** · `{key}`\n\n{sentence}"},
})  # fmt: skip

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that admins are to know."""

    number: int
    key: str
    sentence: str
    raised_at: datetime
    over_at: datetime | None
    lasts: bool


class NoticeStore:
    """Every method is one transaction or one query, and may be called from any thread."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def raise_notice(self, key: str, sentence: str, *, since: datetime, lasts: bool = True) -> bool:
        """Whether it is news: not what is going on already, nor what was news within the last hour.

        The sentence is kept as it is: whoever raises it masks what others wrote.
        """
        now = self._clock()
        with self._store.transaction() as connection:
            known = connection.execute(
                "SELECT 1 FROM admin_notices WHERE key = ? AND (over_at IS NULL OR max(raised_at, over_at) > ?)",
                (key, timestamp(now - QUIET)),
            ).fetchone()
            if known is None:
                connection.execute(
                    "INSERT INTO admin_notices (key, sentence, raised_at, over_at, lasts) VALUES (?, ?, ?, ?, ?)",
                    (key, sentence, timestamp(since), None if lasts else timestamp(now), int(lasts)),
                )
        return known is None

    def end(self, key: str) -> None:
        """Records that it is over."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE admin_notices SET over_at = ? WHERE key = ? AND over_at IS NULL",
                (timestamp(self._clock()), key),
            )

    def open_keys(self) -> set[str]:
        return {row["key"] for row in self._store.query("SELECT key FROM admin_notices WHERE over_at IS NULL")}

    def recent(self) -> list[Notice]:
        """Notices that somebody may still have to be told of, oldest first."""
        rows = self._store.query(
            "SELECT * FROM admin_notices WHERE over_at IS NULL OR over_at > ? ORDER BY number",
            (timestamp(self._clock() - FORGET_UNTOLD),),
        )
        return [
            Notice(
                number=row["number"],
                key=row["key"],
                sentence=row["sentence"],
                raised_at=moment(row["raised_at"]),
                over_at=moment(row["over_at"]) if row["over_at"] else None,
                lasts=bool(row["lasts"]),
            )
            for row in rows
        ]

    def told(self, notice: Notice, admin: str) -> dict[str, datetime]:
        """What the admin was told of a notice, and when."""
        rows = self._store.query(
            "SELECT what, told_at FROM admin_messages WHERE notice = ? AND admin = ? AND told_at IS NOT NULL",
            (notice.number, admin),
        )
        return {row["what"]: moment(row["told_at"]) for row in rows}

    def begin(self, notice: Notice, admin: str, what: str) -> datetime | None:
        """When telling it was first tried; None when that is now."""
        key = (notice.number, admin, what)
        with self._store.transaction() as connection:
            row = connection.execute(
                "SELECT tried_at FROM admin_messages WHERE notice = ? AND admin = ? AND what = ?", key
            ).fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO admin_messages VALUES (?, ?, ?, ?, NULL)", (*key, timestamp(self._clock()))
                )
        return moment(row["tried_at"]) if row is not None else None

    def done(self, notice: Notice, admin: str, what: str) -> None:
        """Records that the admin was told."""
        with self._store.transaction() as connection:
            connection.execute(
                "UPDATE admin_messages SET told_at = ? WHERE notice = ? AND admin = ? AND what = ?",
                (timestamp(self._clock()), notice.number, admin, what),
            )

    def forget_old(self) -> None:
        with self._store.transaction() as connection:
            connection.execute(
                "DELETE FROM admin_notices WHERE over_at < ? OR (lasts = 0 AND over_at < ?)",
                (timestamp(self._clock() - KEEP), timestamp(self._clock() - FORGET_UNTOLD)),
            )


class AdminNotices:
    """`run` watches and tells, until it is cancelled. `admins` are "platform:user"."""

    def __init__(
        self,
        notices: NoticeStore,
        store: Store,
        *,
        parts: Callable[[], Awaitable[Sequence[Part]]],
        platforms: Mapping[str, ChatPlatform],
        admins: Sequence[str],
        language: Language,
        clock: Callable[[], datetime],
    ) -> None:
        self._notices = notices
        self._store = store
        self._parts = parts
        self._platforms = platforms
        self._admins = tuple(admins)
        self._language = language
        self._clock = clock
        self._again_at: dict[
            str, tuple[datetime, int]
        ] = {}  # admin -> when telling is tried again, and failures so far

    async def run(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        while True:
            await pause(LOOK_EVERY_S)
            try:
                await self.look()
                await self.tell()
                await self._store.in_thread(self._notices.forget_old)
            except (BotError, KnowledgeError) as error:
                log.error("admins.not_looked_at", reason=str(error))

    async def look(self) -> None:
        """Notes what has gone wrong for long enough, and what is over. Raises StoreError."""
        now = self._clock()
        parts = await self._parts()
        going_on = await self._store.in_thread(self._notices.open_keys)
        for part in parts:
            if not is_wrong(part):
                if part.name in going_on:
                    await self._store.in_thread(self._notices.end, part.name)
            elif part.name not in going_on and now - part.since >= grace_of(part.name):
                raised = await self._store.in_thread(
                    self._notices.raise_notice, part.name, mask(part.detail), since=part.since
                )
                if raised:
                    log.warning("admins.notice", about=part.name, reason=part.detail, admins=len(self._admins))
        for key in going_on - {part.name for part in parts}:  # a source that is configured no more
            await self._store.in_thread(self._notices.end, key)

    async def tell(self) -> None:
        """Tells every admin what they do not know yet. Raises StoreError."""
        notices = await self._store.in_thread(self._notices.recent)
        for admin in self._admins:
            again_at, failures = self._again_at.get(admin, (self._clock(), 0))
            if again_at > self._clock():
                continue
            try:
                for notice in notices:
                    await self._tell_one(notice, admin)
            except PlatformError as error:
                wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(failures, 20))
                self._again_at[admin] = (self._clock() + timedelta(seconds=wait_s), failures + 1)
                log.warning("admin.not_told", admin=admin, reason=str(error), wait_s=wait_s)
            else:
                self._again_at.pop(admin, None)

    async def _tell_one(self, notice: Notice, admin: str) -> None:
        told = await self._store.in_thread(self._notices.told, notice, admin)
        what = due(notice, told, self._clock())
        if what is None:
            return
        name, _, user_id = admin.partition(":")
        platform = self._platforms.get(name)
        if platform is None:
            raise PlatformError(f"{name} is not configured; correct commands.admins.")
        since = await self._store.in_thread(self._notices.begin, notice, admin, what)
        text = text_of(notice, what, self._language)
        await platform.message_person(user_id, text, delivery_id=f"notice:{notice.number}:{what}", since=since)
        await self._store.in_thread(self._notices.done, notice, admin, what)


def is_wrong(part: Part) -> bool:
    """Whether admins have to look at a part in this state."""
    return part.state == "down" or (part.state == "degraded" and part.name.startswith(_DEGRADED_MATTERS))


def grace_of(name: str) -> timedelta:
    """How long a part may be unwell before admins hear of it: most troubles pass by themselves."""
    return next(grace for beginning, grace in _GRACE if name.startswith(beginning))


def due(notice: Notice, told: Mapping[str, datetime], now: datetime) -> str | None:
    """What an admin who was told `told` is to be told now: "raised", "over", the day of a reminder, or nothing."""
    if not told:
        return "raised" if notice.over_at is None or not notice.lasts else None
    if notice.over_at is not None:
        return "over" if notice.lasts and "over" not in told else None
    if now - max(told.values()) < REMIND_EVERY:
        return None
    return f"{now:%Y-%m-%d}" if f"{now:%Y-%m-%d}" not in told else None


def text_of(notice: Notice, what: str, language: Language) -> str:
    """The message as Markdown."""
    kind = what if what in ("raised", "over") else "still"
    if not notice.lasts:
        kind = "event"
    return TEXTS.say(
        kind,
        language,
        key=notice.key,
        sentence=notice.sentence,
        since=f"{notice.raised_at:%Y-%m-%d %H:%M}",
        until=f"{notice.over_at:%Y-%m-%d %H:%M}" if notice.over_at else "",
    )
