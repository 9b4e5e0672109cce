"""`haechi run` on the page, Slack and Mattermost at once: one answer everywhere, and a platform that fails is told."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import httpx
import pytest

from tests.e2e.haechi import Haechi
from tests.e2e.storm import CONFIG, SECRETS, Bot
from tests.e2e.waiting import eventually
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, SlackEmulator

SCOPES = """
[[channels]]
platform = "slack"
id = "C0DEV"
sources = ["shop"]

[commands]
admins = ["slack:U1"]
"""


@pytest.fixture
async def world(tmp_path, monkeypatch):
    """(slack, mattermost, the running bot)."""
    for name, secret in SECRETS.items():  # for `haechi status`, which reads the settings too
        monkeypatch.setenv(name, secret)
    haechi = Haechi.with_company(tmp_path)
    assert (await asyncio.to_thread(haechi.run, "ingest")).returncode == 0
    async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_channel("C1", "general")
        slack.workspace.add_channel("C0DEV", "dev")
        haechi.configure(CONFIG.format(slack=slack.url, mattermost=mattermost.url) + SCOPES)
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            yield slack, mattermost, bot
        finally:
            bot.end()


def address(bot: Bot) -> str:
    line = next(line for line in bot.logs[-1].read_text(encoding="utf-8").splitlines() if "Haechi answers at" in line)
    return line.split()[-1].rstrip("/")


def slack_text(slack: SlackEmulator, thread: str) -> str:
    return "\n".join(
        str(post) for post in slack.workspace.bot_posts()
        if post.get("thread_ts") == thread and ((post.get("metadata") or {}).get("event_payload") or {}).get("final")
    )  # fmt: skip


async def test_one_process_talks_on_three_platforms_each_within_its_sources_and_outlives_a_revoked_token(world):
    slack, mattermost, bot = world
    await answered_within_their_sources(slack, mattermost)
    await status_on_the_page_for_its_asker_alone(bot)
    await reindexed_by_an_admin(slack, bot)
    await a_revoked_token_is_shown_and_the_others_go_on(slack, mattermost, bot)


async def answered_within_their_sources(slack: SlackEmulator, mattermost: MattermostEmulator) -> None:
    asked = f"<@{BOT_USER}> 연차휴가는 며칠인가요?"
    general, dev = await slack.say("C1", "U1", asked), await slack.say("C0DEV", "U1", asked)
    state = mattermost.state
    post = state.say(state.alice, state.town, "@helperbot 연차휴가는 며칠인가요?")
    assert "15일의" in await eventually(lambda: slack_text(slack, general))
    assert "15일의" not in await eventually(lambda: slack_text(slack, dev))
    replies = await eventually(
        lambda: [p["message"] for p in state.own_posts(thread=post["id"]) if p["props"]["haechi"]["final"]]
    )
    assert "15일의" in replies[0]


async def status_on_the_page_for_its_asker_alone(bot: Bot) -> None:
    async with (
        httpx.AsyncClient(base_url=address(bot), headers={"origin": address(bot)}) as page,
        httpx.AsyncClient(base_url=address(bot)) as stranger,
    ):
        for browser in (page, stranger):
            await browser.get("/c/general")
        made = (await page.post("/api/channels/general/posts", json={"text": "/haechi status"})).json()
        thread = f"/api/channels/general/threads/{made['thread']}/posts"

        async def shown() -> str:
            return "\n".join(p["text"] for p in (await page.get(thread)).json()["posts"] if p["author"]["is_bot"])

        text = await eventually(shown)
        assert all(f"- {name}: ok" in text for name in ("web", "slack", "mattermost"))
        assert (await stranger.get(thread)).status_code == 404


async def reindexed_by_an_admin(slack: SlackEmulator, bot: Bot) -> None:
    await slack.command("U1", "C1", "reindex rules")
    assert await eventually(lambda: "unchanged" in str(slack.workspace.ephemeral) or _said(slack))
    rows = await eventually(lambda: [row for row in _audit(bot) if row[1] == "/haechi reindex"])
    assert rows == [("slack:U1", "/haechi reindex", "rules in C1: done")]


def _said(slack: SlackEmulator) -> list[Any]:
    return [post for post in slack.workspace.bot_posts() if "unchanged" in str(post)]


def _audit(bot: Bot) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(bot.haechi.folder / "data" / "bot.sqlite3")
    try:
        return connection.execute("SELECT actor, action, detail FROM audit_log").fetchall()
    finally:
        connection.close()


async def a_revoked_token_is_shown_and_the_others_go_on(
    slack: SlackEmulator, mattermost: MattermostEmulator, bot: Bot
) -> None:
    slack.revoked |= {BOT_TOKEN, APP_TOKEN}
    await slack.sockets.drop()

    async def states() -> dict[str, str]:
        form = await asyncio.to_thread(bot.haechi.json, "status", "--json")
        found = {item["name"]: item["state"] for item in form["platforms"]}
        return found if found["slack"] != "ok" else {}

    assert await eventually(states) == {"web": "ok", "slack": "down", "mattermost": "ok"}
    state = mattermost.state
    post = state.say(state.alice, state.town, "@helperbot 연차휴가는 며칠인가요?")
    await eventually(lambda: [p for p in state.own_posts(thread=post["id"]) if p["props"]["haechi"]["final"]])
