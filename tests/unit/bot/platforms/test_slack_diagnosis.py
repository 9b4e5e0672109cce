"""What haechi doctor says about Slack, and that guide, manifest and doctor agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.platforms.slack import SlackPlatform
from bot.platforms.slack_diagnosis import EVENTS, SCOPES
from tests.emulators.memory_state import MemoryState
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN, Failure
from tests.emulators.slack_options import slack_options
from tests.unit.bot.platforms.slack_bench import slack_server

DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.fixture
async def server():
    async with slack_server() as server:
        yield server


async def told(server, channels=(), *, clock_ahead=timedelta(), **options):
    platform = SlackPlatform(
        slack_options(server, **options), state=MemoryState(), clock=lambda: datetime.now(UTC) + clock_ahead
    )
    return {line.name: line for line in await platform.diagnose(channels)}


async def test_all_is_well(server):
    lines = await told(server, ["C1"])
    assert all(line.ok and not line.remedy for line in lines.values())
    assert set(lines) == {
        "slack token",
        "slack clock",
        "slack scopes",
        "slack socket mode",
        "slack events",
        "slack command",
        "slack channel C1",
    }


async def test_a_missing_scope_is_named_with_what_does_not_work_without_it(server):
    server.workspace.scopes -= {"groups:history", "commands"}
    lines = await told(server)
    assert not lines["slack scopes"].ok
    assert "groups:history (follow-ups and alerts in private channels are not heard)" in lines["slack scopes"].detail
    assert "reinstall" in lines["slack scopes"].remedy
    assert "groups:history" in lines["slack events"].detail
    assert "/haechi" in lines["slack command"].remedy


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_every_scope_that_is_left_out_is_named_with_its_remedy(server, scope):
    server.workspace.scopes -= {scope}
    wrong = {name: line for name, line in (await told(server, ["C1"])).items() if not line.ok}
    assert scope in wrong["slack scopes"].detail
    assert SCOPES[scope] in wrong["slack scopes"].detail
    assert f"add {scope} under OAuth & Permissions" in wrong["slack scopes"].remedy


@pytest.mark.parametrize(
    ("minutes", "mode", "ok"), [(0, "http", True), (6, "http", False), (-6, "http", False), (6, "socket", True), (45, "socket", False)]
)  # fmt: skip
async def test_a_clock_that_is_wrong_is_told_where_it_does_harm(server, minutes, mode, ok):
    lines = await told(server, mode=mode, clock_ahead=timedelta(minutes=minutes))
    assert lines["slack clock"].ok is ok
    assert ok or "NTP" in lines["slack clock"].remedy


async def test_an_app_token_without_its_scope_is_told(server):
    server.fail("apps.connections.open", Failure(error="missing_scope"))
    line = (await told(server))["slack socket mode"]
    assert not line.ok
    assert "connections:write" in line.remedy


async def test_swapped_tokens_are_told(server):
    lines = await told(server, bot_token=SecretStr(APP_TOKEN), app_token=SecretStr(BOT_TOKEN))
    assert not lines["slack token"].ok
    assert "xoxb-" in lines["slack token"].remedy


async def test_a_wrong_bot_token_is_the_only_line(server):
    server.revoked.add(BOT_TOKEN)
    lines = await told(server)
    assert list(lines) == ["slack token"]
    assert "xoxb-" in lines["slack token"].remedy


async def test_slack_out_of_reach_is_told_apart_from_a_wrong_token(server):
    server.chaos = lambda method: Failure(status=500)
    assert "network" in (await told(server))["slack token"].remedy


@pytest.mark.parametrize(
    ("token", "detail"),
    [(None, "no app-level token"), ("xoxb-1", "does not begin with xapp-"), ("xapp-wrong", "invalid_auth")],
)
async def test_a_wrong_app_token_is_told_with_the_remedy(server, token, detail):
    lines = await told(server, app_token=SecretStr(token) if token else None)
    assert detail in lines["slack socket mode"].detail
    assert "connections:write" in lines["slack socket mode"].remedy


async def test_http_mode_needs_no_app_token(server):
    lines = await told(server, mode="http", app_token=None)
    assert lines["slack over HTTP"].ok
    assert "slack socket mode" not in lines


async def test_channels_are_told_one_by_one(server):
    server.workspace.add_channel("C2", "quiet", bot_in=False)
    server.workspace.add_channel("C3", "old").archived = True
    server.workspace.add_channel("C4", "secret", kind="group", bot_in=False)
    lines = await told(server, ["C1", "C2", "C3", "C4", "C9"])
    assert lines["slack channel C1"].ok
    assert "not in #quiet" in lines["slack channel C2"].detail
    assert "/invite @haechi" in lines["slack channel C2"].remedy
    assert "archived" in lines["slack channel C3"].detail
    assert not lines["slack channel C4"].ok
    assert "not found" in lines["slack channel C9"].detail


async def test_no_token_is_ever_shown(server):
    server.revoked |= {BOT_TOKEN, APP_TOKEN}
    assert "emulated" not in str(await told(server, ["C1"]))


def test_the_manifest_asks_for_exactly_what_is_needed():
    text = (DOCS / "slack-manifest.yaml").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    listed = [line.removeprefix("- ") for line in lines if line.startswith("- ") and "command: " not in line]
    assert set(SCOPES) <= set(listed)
    assert set(EVENTS) <= set(listed)
    assert set(listed) == set(SCOPES) | set(EVENTS) | {"assistant:write"}
    assert "socket_mode_enabled: true" in text
    assert "command: /haechi" in text


@pytest.mark.parametrize("page", ["slack.md", "slack.ko.md"])
def test_the_guides_explain_every_scope(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert [scope for scope in SCOPES if f"`{scope}`" not in text] == []
    assert "slack-manifest.yaml" in text
