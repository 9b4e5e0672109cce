"""The setup guides as a newcomer follows them: their own configuration, `haechi doctor`, `haechi run`, a first question."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
import yaml

from tests.e2e.haechi import Haechi
from tests.e2e.storm import Bot
from tests.e2e.test_chat import slack_text
from tests.e2e.waiting import eventually
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, SlackEmulator
from tests.emulators.slack_workspace import ALL_SCOPES

DOCS = Path(__file__).resolve().parents[2] / "docs"
ASK = "연차휴가는 며칠인가요?"


def snippets(page: str) -> list[str]:
    """The TOML of a guide, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [re.sub(r"(?m)^ {3}", "", block) for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]


def keys(block: str) -> list[str]:
    return re.findall(r"(?m)^\s*#?\s*(\w+ = )", block)


@pytest.fixture
async def haechi(tmp_path):
    haechi = Haechi.with_company(tmp_path)
    assert (await asyncio.to_thread(haechi.run, "ingest")).returncode == 0
    yield haechi
    haechi.end()


@pytest.mark.parametrize("name", ["slack", "mattermost"])
def test_both_languages_show_the_same_configuration(name):
    english, korean = snippets(f"{name}.md"), snippets(f"{name}.ko.md")
    assert [keys(block) for block in english] == [keys(block) for block in korean]


def test_the_manifest_is_what_the_guide_says_and_names_every_address_of_http_mode():
    text = (DOCS / "slack-manifest.yaml").read_text(encoding="utf-8")
    manifest = yaml.safe_load(text)
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == ALL_SCOPES
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert manifest["features"]["app_home"]["messages_tab_read_only_enabled"] is False
    http = yaml.safe_load(re.sub(r"(?m)^(\s*)# ((?:request_)?url: \S+).*$", r"\1\2", text).replace("    url:", "    #"))
    assert http["settings"]["event_subscriptions"]["request_url"].endswith("/slack/events")
    assert http["settings"]["interactivity"]["request_url"].endswith("/slack/interactivity")
    assert re.search(r"# url: \S+/slack/commands", text)


async def test_slack_step_by_step_until_the_first_answer(haechi, monkeypatch):
    async with SlackEmulator() as slack:
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_channel("C1", "general")
        monkeypatch.setenv("SLACK_BOT_TOKEN", BOT_TOKEN)
        monkeypatch.setenv("SLACK_APP_TOKEN", APP_TOKEN)
        haechi.configure(snippets("slack.md")[0] + f'api_url = "{slack.url}"\n')
        slack.workspace.scopes -= {"files:read"}
        omitted = await asyncio.to_thread(haechi.run, "doctor")
        assert omitted.returncode == 1
        assert "files:read" in omitted.stdout + omitted.stderr
        slack.workspace.scopes |= {"files:read"}
        well = await asyncio.to_thread(haechi.run, "doctor")
        assert well.returncode == 0, well.stdout + well.stderr
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            asked = await slack.say("C1", "U1", f"<@{BOT_USER}> {ASK}")
            assert "15일의" in await eventually(lambda: slack_text(slack, asked))
        finally:
            bot.end()


async def test_mattermost_step_by_step_until_the_first_answer(haechi, monkeypatch):
    async with MattermostEmulator() as server:
        state = server.state
        monkeypatch.setenv("MATTERMOST_TOKEN", "bot-token")
        snippet = snippets("mattermost.md")[0].replace("https://chat.example.com", server.url)
        channel = f'\n[[channels]]\nplatform = "mattermost"\nid = "{state.town}"\n'
        haechi.configure(snippet + channel)
        state.channels[state.town].members.discard(state.bot)
        omitted = await asyncio.to_thread(haechi.run, "doctor")
        assert omitted.returncode == 1
        assert "/invite" in omitted.stdout + omitted.stderr
        state.channels[state.town].members.add(state.bot)
        well = await asyncio.to_thread(haechi.run, "doctor")
        assert well.returncode == 0, well.stdout + well.stderr
        bot = Bot(haechi=haechi)
        try:
            await bot.start()
            asked = state.say(state.alice, state.town, f"@helperbot {ASK}")

            def answers() -> list[str]:
                own = state.own_posts(thread=asked["id"])
                return [post["message"] for post in own if post["props"]["haechi"]["final"]]

            assert "15일의" in (await eventually(answers))[0]
        finally:
            bot.end()
