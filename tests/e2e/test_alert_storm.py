"""A bot that is killed while alerts come in: every accepted alert is counted once, every fault is analysed once."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing

import httpx
import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, TIMEOUT_S, Haechi
from tests.e2e.storm import SECRETS, Bot
from tests.emulators.slack import SlackEmulator

CONFIG = """
[slack]
enabled = true
bot_token_env = "STORM_SLACK_BOT"
app_token_env = "STORM_SLACK_APP"
api_url = "{slack}"

[alerts]
token_env = "STORM_ALERTS"
channel = "slack:C2"
calls_per_minute = 100000
analyses_per_channel_per_hour = 10000
analyses_per_hour = 10000

[services.shop]
repositories = ["shop"]
"""
TOKEN = "storm-alerts-token"
TRACE = """Traceback (most recent call last):
  File "payments.py", line 12, in {kind}
    raise PaymentDeclined(payment.id)
PaymentDeclined: order {number}"""


class Senders:
    """An alerting system that sends until it is told that the alert was taken, as they do."""

    def __init__(self, bot: Bot, kinds: int, alerts: int, seed: int) -> None:
        self.bot = bot
        self.chance = random.Random(seed)
        self.kinds = [f"fault_{chr(ord('a') + number // 26)}{chr(ord('a') + number % 26)}" for number in range(kinds)]
        self.sent: Counter[str] = Counter()
        self._alerts = alerts

    async def send_all(self, kill_after: set[int]) -> None:
        restarting: asyncio.Task[None] | None = None
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._alerts):
                kind = self.kinds[number % len(self.kinds)]
                self.sent[kind] += 1
                tasks.create_task(self._send(kind, number))
                await asyncio.sleep(self.chance.random() * 0.15)
                if number in kill_after:
                    if restarting is not None:
                        await restarting
                        # into what the next process does first or later: one that never lives long enough to analyse
                        # anything gives an alert up after six kills, as it should
                        await asyncio.sleep(self.chance.random() * 4.0)
                    await self.bot.kill()
                    restarting = tasks.create_task(self.bot.start())

    async def _send(self, kind: str, number: int) -> None:
        text = TRACE.format(kind=kind, number=number)
        told = {"labels": {"alertname": kind, "service": "shop"}, "annotations": {"description": text}}
        body = {"version": "4", "status": "firing", "alerts": [{"status": "firing", **told}]}
        async with asyncio.timeout(TIMEOUT_S), httpx.AsyncClient(timeout=5.0) as client:
            while True:
                try:
                    answer = await client.post(
                        f"{self.bot.page()}/alerts", json=body, headers={"authorization": f"Bearer {TOKEN}"}
                    )
                    if answer.status_code < 300:
                        return
                except (httpx.HTTPError, IndexError):  # not there now: the next try finds its new address
                    pass
                await asyncio.sleep(0.1)


def stored(haechi: Haechi) -> tuple[dict[str, int], int]:
    """(fault -> how often it was counted, alerts that are not dealt with)."""
    with closing(sqlite3.connect(haechi.folder / "data" / "bot.sqlite3")) as connection:
        faults: dict[str, int] = defaultdict(int)
        for title, count in connection.execute(
            "SELECT title || ' ' || sequence || ' ' || fingerprint, count FROM alert_faults"
        ):
            faults[title] += count
        waiting = "SELECT count(*) FROM incoming_alerts WHERE state = 'waiting'"
        unposted = "SELECT count(*) FROM alert_faults WHERE post_id IS NULL"
        open_ = "SELECT count(*) FROM inbox WHERE state IN ('received', 'working')"
        left = sum(connection.execute(sql).fetchone()[0] for sql in (waiting, unposted, open_))
    return dict(faults), left


@pytest.mark.parametrize(
    ("kinds", "alerts", "kills"),
    [pytest.param(5, 30, 3, id="30"), pytest.param(40, 600, 25, id="600", marks=pytest.mark.long)],
)
async def test_every_alert_is_counted_once_and_every_fault_analysed_once_whatever_is_killed(
    haechi, kinds, alerts, kills
):
    async with SlackEmulator() as slack:
        slack.workspace.add_channel("C2", "alerts")
        haechi.configure(CONFIG.format(slack=slack.url) + FOLLOWS_NOTHING)
        haechi.secrets |= {**SECRETS, "STORM_ALERTS": TOKEN}
        assert haechi.run("ingest").returncode == 0
        bot = Bot(haechi=haechi)
        senders = Senders(bot, kinds, alerts, seed=kills)
        try:
            await bot.start()
            await senders.send_all(set(senders.chance.sample(range(2, alerts - 1), kills)))
            async with asyncio.timeout(TIMEOUT_S):
                while (found := stored(haechi))[1] or sum(found[0].values()) < alerts:  # noqa: ASYNC110 - a file has no event
                    await asyncio.sleep(0.2)
            counted, _ = stored(haechi)
            assert sorted(counted.values()) == sorted(senders.sent.values())
            posts = list(slack.workspace.bot_posts())
            analyses: dict[str, list[tuple[int, int]]] = defaultdict(list)
            for post in posts:
                noted = (post.get("metadata") or {}).get("event_payload") or {}
                if post.get("thread_ts") and post["thread_ts"] != post["ts"]:
                    analyses[post["thread_ts"]].append((noted.get("part", 0), noted.get("parts", 0)))
            roots = [post["ts"] for post in posts if not post.get("thread_ts") or post["thread_ts"] == post["ts"]]
            assert len(roots) == kinds
            assert sorted(analyses) == sorted(roots)
            for parts in analyses.values():
                assert sorted(parts) == [(number, len(parts)) for number in range(1, len(parts) + 1)]
        finally:
            bot.end()
