"""`haechi doctor` asks every configured platform, and its findings name what to do."""

from __future__ import annotations

import asyncio

from bot.doctor_platforms import check_platforms
from bot.settings import load_settings
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
