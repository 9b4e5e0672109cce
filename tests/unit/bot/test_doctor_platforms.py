"""`haechi doctor` asks every configured platform, and its findings name what to do."""

from __future__ import annotations

import asyncio

from bot.doctor_platforms import check_platforms
from bot.services import utc_now
from bot.settings import load_settings
from bot.store import Store
from tests.emulators.mattermost import MattermostEmulator


async def checks_of(tmp_path, monkeypatch, server: MattermostEmulator, more: str = ""):
    (tmp_path / "docs").mkdir(exist_ok=True)
    (tmp_path / "haechi.toml").write_text(
        'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "docs"\n'
        f'[mattermost]\nenabled = true\nurl = "{server.url}"\ntoken_env = "MM_TOKEN"\n{more}',
        encoding="utf-8",
    )
    monkeypatch.setenv("MM_TOKEN", "bot-token")
    settings = load_settings(tmp_path / "haechi.toml")
    return await asyncio.to_thread(lambda: list(check_platforms(settings)))


async def test_a_platform_that_is_well_is_shown_with_its_channels(tmp_path, monkeypatch):
    async with MattermostEmulator() as server:
        more = f'[[channels]]\nplatform = "mattermost"\nid = "{server.state.town}"\n'
        checks = await checks_of(tmp_path, monkeypatch, server, more)
        assert all(check.ok for check in checks)
        assert any("Town Square" in check.detail for check in checks)


async def test_a_token_that_is_refused_is_told_with_the_remedy(tmp_path, monkeypatch):
    async with MattermostEmulator() as server:
        server.state.tokens.clear()
        wrong = [check for check in await checks_of(tmp_path, monkeypatch, server) if not check.ok]
        assert [check.name for check in wrong] == ["mattermost token"]
        assert "mattermost.token_env" in wrong[0].remedy


def test_without_platforms_nothing_is_asked(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "haechi.toml").write_text(
        'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "docs"\n', encoding="utf-8"
    )
    assert list(check_platforms(load_settings(tmp_path / "haechi.toml"))) == []


def configured(tmp_path, more: str):
    (tmp_path / "docs").mkdir()
    text = f'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "docs"\n{more}'
    (tmp_path / "haechi.toml").write_text(text, encoding="utf-8")
    return load_settings(tmp_path / "haechi.toml")


def test_channels_of_the_page_are_looked_up_where_the_page_keeps_them(tmp_path):
    settings = configured(
        tmp_path, "".join(f'[[channels]]\nplatform = "web"\nid = "{name}"\n' for name in ("general", "legal", "typo"))
    )
    (tmp_path / "data").mkdir()
    store = Store.open(tmp_path / "data" / "bot.sqlite3", clock=utc_now)
    with store.transaction() as connection:
        connection.execute("INSERT INTO web_channels VALUES ('legal', 'Legal', '2026-03-02T00:00:00Z')")
    checks = list(check_platforms(settings))  # beside the bot, which has the file open
    store.close()
    assert [(check.name, check.ok) for check in checks] == [
        ("web channel general", True),
        ("web channel legal", True),
        ("web channel typo", False),
    ]
    assert "[[channels]]" in checks[2].remedy
    assert "/c/ID" in checks[2].remedy


def test_a_channel_for_alerts_that_the_page_lacks_is_told_with_the_key_that_names_it(tmp_path):
    alerts = '[alerts]\ntoken_file = "token"\nchannel = "web:ops"\n[services.wms]\nchannel = "web:wms"\n'
    (tmp_path / "token").write_text("a" * 32, encoding="utf-8")
    settings = configured(tmp_path, alerts)
    (tmp_path / "data").mkdir()
    Store.open(tmp_path / "data" / "bot.sqlite3", clock=utc_now).close()
    remedies = {check.name: check.remedy for check in check_platforms(settings) if not check.ok}
    assert remedies["web channel ops"].startswith("correct its id in alerts.channel,")
    assert remedies["web channel wms"].startswith("correct its id in services.wms.channel,")


def test_a_channel_of_a_platform_that_is_not_configured_is_a_problem(tmp_path):
    (check,) = check_platforms(configured(tmp_path, '[[channels]]\nplatform = "slack"\nid = "C1"\n'))
    assert not check.ok
    assert "docs/slack.md" in check.remedy


def test_a_section_that_is_filled_in_and_not_switched_on_is_told(tmp_path):
    (check,) = check_platforms(configured(tmp_path, '[slack]\nbot_token_env = "SLACK_BOT_TOKEN"\n'))
    assert (check.name, check.ok) == ("slack", False)
    assert check.remedy == "add enabled = true to [slack]"


def test_a_section_that_is_switched_off_on_purpose_is_no_problem(tmp_path):
    (check,) = check_platforms(configured(tmp_path, '[mattermost]\nenabled = false\nurl = "https://chat.example"\n'))
    assert check.ok


async def test_channels_in_which_alerts_by_http_are_posted_are_looked_at_too(tmp_path, monkeypatch):
    async with MattermostEmulator() as server:
        state = server.state
        away = state.add_channel("payments", "Payments", {state.alice})
        (tmp_path / "token").write_text("t", encoding="utf-8")
        more = (
            f'[alerts]\ntoken_file = "{tmp_path}/token"\nchannel = "mattermost:{state.town}"\n'
            f'[services.pay]\nchannel = "mattermost:{away}"\n[services.web]\nchannel = "web:typo"\n'
            '[services.shop]\nchannel = "slack:C1"\n'
        )
        checks = {check.name: check for check in await checks_of(tmp_path, monkeypatch, server, more)}
        wrong = {name: check for name, check in checks.items() if not check.ok}
        assert {name.split()[-1] for name in wrong} == {away, "typo", "C1"}
        assert "services.shop.channel" in wrong["slack channel C1"].remedy
        assert any("Town Square" in check.detail for check in checks.values())


def test_without_a_token_channels_of_services_are_not_looked_at(tmp_path):
    settings = configured(tmp_path, '[services.shop]\nchannel = "slack:C1"\n')
    assert list(check_platforms(settings)) == []
