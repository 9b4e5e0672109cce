"""A storm over both platforms: people who ask, connections that drop, deliveries that repeat, an API that fails, kills."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Container, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.e2e.haechi import Haechi, command, environment
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, Failure, SlackEmulator

READY_LIMIT_S = 120.0
PAUSE_S = 0.06  # between two questions, on the average: some are worked on and some wait whenever the process dies
ASKED_MEANWHILE = 8  # questions while the process is down
CONFIG = """
[slack]
enabled = true
bot_token_env = "STORM_SLACK_BOT"
app_token_env = "STORM_SLACK_APP"
api_url = "{slack}"

[mattermost]
enabled = true
url = "{mattermost}"
token_env = "STORM_MATTERMOST"

[limits]
user_per_minute = 0
user_per_hour = 0
total_per_minute = 0
total_per_hour = 0

[answers]
concurrency = 4
"""
SECRETS = {"STORM_SLACK_BOT": BOT_TOKEN, "STORM_SLACK_APP": APP_TOKEN, "STORM_MATTERMOST": "bot-token"}
QUESTIONS = (
    "연차휴가는 며칠인가요?",
    "서울 출장 팀장의 숙박비 상한은?",
    "code: PaymentRetry는 몇 번 시도하나요?",
    "오늘 날씨는?",
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A mention: where it stands and by which id the bot's reply names it."""

    platform: str
    thread: str
    delivery_id: str


@dataclass(frozen=True, kw_only=True)
class Said:
    """A post of the bot, as the server keeps it."""

    platform: str
    thread: str
    delivery_id: str
    part: int
    parts: int
    final: bool
    at: float  # when it was posted


@dataclass(kw_only=True)
class Bot:
    """`haechi run` that can be killed."""

    haechi: Haechi
    process: subprocess.Popen[bytes] | None = None
    logs: list[Path] = field(default_factory=list)
    _open: list[IO[bytes]] = field(default_factory=list)

    async def start(self) -> None:
        """Returns when the bot says that it is there."""
        log = self.haechi.folder / f"run-{len(self.logs)}.log"
        self.logs.append(log)
        out = log.open("wb")
        self._open.append(out)
        self.process = await asyncio.to_thread(
            subprocess.Popen, command("run"), cwd=self.haechi.folder, stdout=out, stderr=subprocess.STDOUT,
            env={**environment(), **SECRETS, **self.haechi.secrets},
        )  # fmt: skip
        async with asyncio.timeout(READY_LIMIT_S):
            while b"Haechi answers at" not in log.read_bytes():
                assert self.process.poll() is None, log.read_text(encoding="utf-8")[-3000:]
                await asyncio.sleep(0.05)

    def page(self) -> str:
        """The address of the running bot."""
        return re.findall(r"Haechi answers at (\S+?)/?\n", self.logs[-1].read_text(encoding="utf-8"))[-1]

    async def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(self.process.wait)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for log in self._open:
            log.close()


class Storm:
    """Asks `mentions` questions over both platforms while everything goes wrong, from one seed."""

    def __init__(
        self, slack: SlackEmulator, mattermost: MattermostEmulator, bot: Bot, *, mentions: int, seed: int
    ) -> None:
        self.slack, self.mattermost, self.bot = slack, mattermost, bot
        self.mentions = mentions
        self.random = random.Random(seed)
        self.asked: list[Asked] = []
        self.kills = 0
        self._killed_at = 0
        self._messages: list[tuple[str, dict[str, Any]]] = []  # of Slack, to be delivered again
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_channel("C1", "general")
        slack.chaos = self._slack_chaos

    # --- what people do -----------------------------------------------------------------------

    async def ask_all(self, kill_after: tuple[int, ...]) -> None:
        """Every question, in threads of up to five; after so many of them the process is killed and started again."""
        restarting: asyncio.Task[None] | None = None
        threads: dict[str, list[str]] = defaultdict(list)  # platform -> roots, of which the last ones go on
        for number in range(self.mentions):
            platform = "slack" if number % 2 else "mattermost"
            roots = threads[platform]
            root = self.random.choice(roots[-4:]) if roots and self.random.random() < 0.75 else None
            text = f"{self.random.choice(QUESTIONS)} ({number})"
            made = await (self._ask_slack(text, root) if platform == "slack" else self._ask_mattermost(text, root))
            if root is None:
                roots.append(made)
            await self._trouble()
            if number in kill_after:
                await self.bot.kill()
                self.kills += 1
                self._killed_at = number
                restarting = asyncio.create_task(self.bot.start())
            if restarting is not None and number - self._killed_at > ASKED_MEANWHILE:
                await restarting
                restarting = None
        if restarting is not None:
            await restarting

    async def _ask_slack(self, text: str, root: str | None) -> str:
        ts = await self.slack.say("C1", "U1", f"<@{BOT_USER}> {text}", thread_ts=root)
        thread = root or ts
        self.asked.append(Asked(platform="slack", thread=thread, delivery_id=f"C1:{ts}"))
        self._messages.append(("C1", dict(self.slack.workspace.channels["C1"].messages[ts])))
        return thread

    async def _ask_mattermost(self, text: str, root: str | None) -> str:
        state = self.mattermost.state
        post = state.say(state.alice, state.town, f"@helperbot {text}", root=root or "")
        thread = root or str(post["id"])
        self.asked.append(Asked(platform="mattermost", thread=thread, delivery_id=f"mattermost:{post['id']}"))
        await asyncio.sleep(0)
        return thread

    # --- what goes wrong ----------------------------------------------------------------------

    async def _trouble(self) -> None:
        chance = self.random.random()
        if chance < 0.03:
            await self.slack.sockets.drop()
        elif chance < 0.06:
            await self.mattermost.drop_sockets()
        elif chance < 0.08:
            await self.slack.sockets.warn()
        elif chance < 0.16 and self._messages:
            channel_id, message = self.random.choice(self._messages)
            self.slack._message_event(channel_id, message)
        elif chance < 0.24:
            await self.mattermost.repeat_event()
        elif chance < 0.40:
            self._mattermost_fault()
        await asyncio.sleep(self.random.random() * 2 * PAUSE_S)

    def _mattermost_fault(self) -> None:
        path = self.random.choice((r"/posts", r"/posts/\w+/patch", r"/posts/\w+/thread", r"/reactions"))
        method = {r"/posts": "POST", r"/posts/\w+/patch": "PUT", r"/reactions": "POST"}.get(path, "GET")
        kind = self.random.choice(("limited", "failed", "carried out", "dropped"))
        if kind == "limited":
            self.mattermost.fail(method, path, status=429, headers={"X-Ratelimit-Reset": "1", "Retry-After": "1"})
        else:
            self.mattermost.fail(method, path, status=500, carried_out=kind == "carried out", drops=kind == "dropped")

    def _slack_chaos(self, method: str) -> Failure | None:
        if not method.startswith(("chat.", "conversations.", "reactions.")):
            return None
        chance = self.random.random()
        if chance < 0.02:
            return Failure(status=429, retry_after_s=1)
        if chance < 0.04:
            return Failure(status=500)
        if chance < 0.05:
            return Failure(status=500, after=True)
        return Failure(drops=True) if chance < 0.055 else None

    # --- what came of it ----------------------------------------------------------------------

    def said(self) -> list[Said]:
        """Every post of the bot that stands on a server, with what it notes about itself."""
        return [*self._said_on_slack(), *self._said_on_mattermost()]

    def _said_on_slack(self) -> Iterator[Said]:
        for post in self.slack.workspace.bot_posts():
            noted = (post.get("metadata") or {}).get("event_payload") or {}
            yield Said(
                platform="slack", thread=post.get("thread_ts") or post["ts"], delivery_id=noted.get("delivery_id", ""),
                part=noted.get("part", 0), parts=noted.get("parts", 0), final=noted.get("final") is True,
                at=float(post["ts"]),
            )  # fmt: skip

    def _said_on_mattermost(self) -> Iterator[Said]:
        for post in self.mattermost.state.own_posts():
            noted = post["props"].get("haechi", {})
            yield Said(
                platform="mattermost", thread=post["root_id"] or post["id"],
                delivery_id=noted.get("delivery_id", ""), part=noted.get("part", 0), parts=noted.get("parts", 0),
                final=noted.get("final") is True, at=float(post["create_at"]),
            )  # fmt: skip

    def answered(self) -> set[str]:
        """The deliveries whose reply stands there, complete and final."""
        parts: dict[str, set[int]] = defaultdict(set)
        totals: dict[str, int] = {}
        for said in self.said():
            if said.final:
                parts[said.delivery_id].add(said.part)
                totals[said.delivery_id] = said.parts
        return {name for name, found in parts.items() if found >= set(range(1, totals[name] + 1))}

    async def calm(self, limit_s: float) -> None:
        """Returns when every mention is answered; nothing goes wrong any more."""
        self.slack.chaos = lambda method: None
        self.mattermost.faults.clear()
        wanted = {asked.delivery_id for asked in self.asked}
        async with asyncio.timeout(limit_s):
            while wanted - self.answered():  # noqa: ASYNC110 - the servers have no event for it
                await asyncio.sleep(0.1)


def complaints(storm: Storm, *, among: Container[str] | None = None) -> list[str]:
    """What is wrong with the replies: none, or two, or in the wrong thread, or left open, or out of order. With `among`,
    only these deliveries are looked at: the bot says other things too."""
    asked = {one.delivery_id: one for one in storm.asked}
    found: list[str] = []
    replies: dict[str, list[Said]] = defaultdict(list)
    for said in storm.said():
        if among is not None and said.delivery_id not in among:
            continue
        if said.delivery_id not in asked:
            found.append(f"a post that answers nothing: {said}")
            continue
        replies[said.delivery_id].append(said)
        if (said.platform, said.thread) != (asked[said.delivery_id].platform, asked[said.delivery_id].thread):
            found.append(f"in the wrong thread: {said}")
        if not said.final:
            found.append(f"left open: {said}")
    for delivery_id, one in asked.items():
        numbers = sorted(said.part for said in replies[delivery_id])
        if numbers != list(range(1, len(numbers) + 1)) or not numbers:
            found.append(f"{one} has the parts {numbers}")
    received = received_at(storm.bot.haechi)
    for thread in {(one.platform, one.thread) for one in storm.asked}:
        order = [one.delivery_id for one in storm.asked if (one.platform, one.thread) == thread]
        firsts = {name: min((said.at for said in replies[name] if said.part == 1), default=0.0) for name in order}
        for place, name in enumerate(order):
            # what an interrupted connection delivered after a later question cannot be answered before it
            overtaken = [later for later in order[place + 1 :] if received.get(name, "") <= received.get(later, "")]
            if any(firsts[name] > firsts[later] for later in overtaken):
                found.append(f"out of order in {thread}: {name} of {firsts}")
    return found


def received_at(haechi: Haechi) -> dict[str, str]:
    """delivery id -> when the bot first had it."""
    with closing(sqlite3.connect(os.fspath(haechi.folder / "data" / "bot.sqlite3"))) as connection:
        return dict(connection.execute("SELECT delivery_id, received_at FROM inbox").fetchall())


def inbox_of(haechi: Haechi) -> dict[str, int]:
    """state -> deliveries, as the bot itself recorded them."""
    with closing(sqlite3.connect(os.fspath(haechi.folder / "data" / "bot.sqlite3"))) as connection:
        return dict(connection.execute("SELECT state, count(*) FROM inbox GROUP BY state").fetchall())
