"""Alerts that come by HTTP, in the channels of Slack and Mattermost: each fault once, in the right channel, whatever fails
on the way; and what admins are told by direct message."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi
from tests.e2e.storm import CONFIG, SECRETS, Bot
from tests.e2e.waiting import eventually
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import Failure, SlackEmulator

TOKEN = "alerts-token-of-the-test"
ALERTS = """
[commands]
admins = ["slack:U1", "mattermost:{alice}"]

[alerts]
token_file = "alerts.token"
channel = "mattermost:{town}"

[services.payment-api]
repositories = ["shop"]
aliases = ["pay"]
channel = "slack:C0PAY"
"""
FAULTS = 6
ALERTS_IN_STORM = 36
SNS = {
    "Type": "SubscriptionConfirmation",
    "TopicArn": "arn:aws:sns:ap-northeast-2:123456789012:alarms",
    "Message": "You have chosen to subscribe.",
    "SubscribeURL": "https://sns.ap-northeast-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37",
}


@pytest.fixture
async def world(tmp_path, monkeypatch):
    """(slack, mattermost, the running bot)."""
    for name, secret in SECRETS.items():  # for `haechi status`, which reads the settings too
        monkeypatch.setenv(name, secret)
    haechi = Haechi.with_company(tmp_path)
    (tmp_path / "alerts.token").write_text(TOKEN, encoding="utf-8")
    (tmp_path / "alerts.token").chmod(0o600)
    async with SlackEmulator() as slack, MattermostEmulator() as mattermost:
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_channel("C0PAY", "payment-alerts")
        state = mattermost.state
        alerts = ALERTS.format(alice=state.alice, town=state.town)
        haechi.configure(FOLLOWS_NOTHING + CONFIG.format(slack=slack.url, mattermost=mattermost.url) + alerts)
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            yield slack, mattermost, bot
        finally:
            bot.end()


async def post(bot: Bot, body: Any, **headers: str) -> httpx.Response:
    """The answer; a bot that is being killed gets the body again, as any sender would send it."""
    while True:
        try:
            async with httpx.AsyncClient(timeout=60) as client:
                named = {"Authorization": f"Bearer {TOKEN}", **headers}
                return await client.post(f"{bot.page()}/alerts", json=body, headers=named)
        except (httpx.TransportError, IndexError):  # it is being started
            await asyncio.sleep(0.05)


def alert(fault: int, number: int, service: str = "pay") -> dict[str, Any]:
    place = f"step_{fault}"
    trace = f'Traceback (most recent call last):\n  File "app/{place}.py", line 3, in {place}\n    go()\n'
    return {"service": service, "message": f"{trace}Fault{fault}Error: order {number} failed"}


def slack_roots(slack: SlackEmulator) -> list[dict[str, Any]]:
    posts = [one for one in slack.workspace.bot_posts() if one["channel"] == "C0PAY"]
    return [one for one in posts if one.get("thread_ts") in (None, one["ts"])]


def slack_analyses(slack: SlackEmulator) -> list[str]:
    """The thread of every final analysis."""
    found = []
    for one in slack.workspace.bot_posts():
        payload = (one.get("metadata") or {}).get("event_payload") or {}
        if (
            one["channel"] == "C0PAY"
            and one.get("thread_ts") not in (None, one["ts"])
            and payload.get("final")
            and payload["part"] == 1
        ):
            found.append(one["thread_ts"])
    return found


async def test_alerts_reach_the_channel_of_their_service_and_admins_hear_what_they_must(world):
    slack, mattermost, bot = world
    state = mattermost.state
    await a_channel_without_the_bot_is_told_and_its_alerts_come_later(slack, bot)
    assert (await post(bot, alert(1, 1, service="unknown"))).status_code == 202
    (root,) = await eventually(lambda: [one for one in state.own_posts() if not one["root_id"]])
    assert root["channel_id"] == state.town
    assert "Fault1Error" in root["message"]
    assert await eventually(lambda: state.own_posts(thread=root["id"]))
    assert (await post(bot, SNS, **{"X-Amz-Sns-Message-Type": SNS["Type"]})).status_code == 202
    address = f"`{SNS['SubscribeURL']}`"
    to_mina = await eventually(lambda: [p for p in slack.workspace.bot_posts() if p["channel"].startswith("D")])
    assert [address in one["text"].replace("&amp;", "&") for one in to_mina] == [True]
    direct = state.direct(state.bot, state.alice)
    to_alice = await eventually(lambda: [one for one in state.own_posts() if one["channel_id"] == direct])
    assert [address in one["message"] for one in to_alice] == [True]


async def a_channel_without_the_bot_is_told_and_its_alerts_come_later(slack: SlackEmulator, bot: Bot) -> None:
    channel = slack.workspace.channels["C0PAY"]
    members, channel.members = channel.members, set()
    assert (await post(bot, alert(0, 1))).status_code == 202

    async def told() -> bool:
        status = await asyncio.to_thread(bot.haechi.run, "status", "--json")
        return "1 alert waits for slack:C0PAY" in status.stdout and "/invite" in status.stdout

    await eventually(told)
    assert slack_roots(slack) == []
    channel.members = members
    await eventually(lambda: slack_analyses(slack))
    assert [one["ts"] for one in slack_roots(slack)] == slack_analyses(slack)


async def test_kills_and_lost_answers_in_a_storm_lose_no_alert_and_double_no_post(world):
    slack, _, bot = world
    chance = random.Random(7)

    def chaos(method: str) -> Failure | None:
        if method != "chat.postMessage" or chance.random() > 0.3:
            return None
        return chance.choice([Failure(drops=True, after=True), Failure(status=500, after=True), Failure(status=500)])

    slack.chaos = chaos
    taken = 0

    async def send() -> None:
        nonlocal taken
        for number in range(ALERTS_IN_STORM):
            answer = await post(bot, alert(number % FAULTS, number))
            assert answer.status_code == 202
            taken += 1

    sending = asyncio.create_task(send())
    for kill_after in (5, 20):
        await eventually(lambda least=kill_after: taken >= least)
        await bot.kill()
        await bot.start()
    await sending
    slack.chaos = lambda method: None
    await eventually(lambda: len(set(slack_analyses(slack))) == FAULTS)
    roots = slack_roots(slack)
    assert len(roots) == FAULTS
    assert Counter(slack_analyses(slack)) == Counter(one["ts"] for one in roots)
    assert len({one["text"].split("Error")[0] for one in roots}) == FAULTS
