"""The section [mattermost]: what it needs, and what it refuses."""

from __future__ import annotations

import pytest

from bot import logging_setup
from bot.compose_mattermost import build_mattermost
from bot.errors import ConfigError
from bot.platforms.mattermost_commands import CommandRefused
from bot.settings import load_settings
from bot.settings_chat import CatchUpSettings
from tests.emulators.memory_state import MemoryState
from tests.unit.bot.times import Clock

BASE = 'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "docs"\n[mattermost]\n'
ENABLED = 'enabled = true\nurl = "https://chat.example.com/team/"\ntoken_env = "MM_TOKEN"\n'


def settings_of(folder, text):
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "haechi.toml").write_text(BASE + text, encoding="utf-8")
    return load_settings(folder / "haechi.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("enabled = true\n", r"mattermost\.url is missing"),
        ('enabled = true\nurl = "https://a"\n', r"mattermost\.token_env is missing"),
        ('url = "chat.example.com"\n', r"mattermost\.url"),
        ('command = "/haechi"\n', r"mattermost\.command .* without the slash"),
        (ENABLED + 'command_token_env = "MM_TOKEN"\n', r"mattermost\.callback_url is missing"),
        (ENABLED + 'token_file = "x"\n', r"mattermost\.token_file and token_env"),
        (ENABLED + "timeout = 3\n", r"mattermost\.timeout"),
    ],
)
def test_what_is_wrong_is_told_with_the_key_and_the_remedy(tmp_path, monkeypatch, text, says):
    monkeypatch.setenv("MM_TOKEN", "secret-token")
    with pytest.raises(ConfigError, match=says) as caught:
        settings_of(tmp_path, text)
    assert "secret-token" not in str(caught.value)


def test_a_token_that_is_not_set_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv("MM_TOKEN", raising=False)
    with pytest.raises(ConfigError, match="MM_TOKEN"):
        settings_of(tmp_path, ENABLED)


async def test_the_adapter_is_built_from_the_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("MM_TOKEN", "secret-token")
    monkeypatch.setenv("MM_COMMAND", "one, two ,".replace(" ", ""))
    more = 'callback_url = "http://10.0.0.7:8765/"\ncommand_token_env = "MM_COMMAND"\nca_file = "ca.pem"\n'
    settings = settings_of(tmp_path, ENABLED + more)
    assert settings.mattermost.command_tokens == ("one", "two")
    assert settings.mattermost.ca_file == tmp_path / "ca.pem"
    platform = build_mattermost(settings.mattermost, catch_up=CatchUpSettings(), state=MemoryState(), clock=Clock())
    assert platform is not None
    assert platform._options.url == "https://chat.example.com/team"
    assert platform._options.callback_url == "http://10.0.0.7:8765"
    assert "secret-token" not in repr(platform._options)
    await platform.close()


async def test_command_tokens_are_read_from_their_file_again_and_none_stands_in_a_line_of_the_log(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(logging_setup, "_hidden", [])
    monkeypatch.setenv("MM_TOKEN", "secret-token")
    (tmp_path / "commands").write_text("first-of-them,second-of-them\n")
    more = 'callback_url = "http://10.0.0.7:8765/"\ncommand_token_file = "commands"\n'
    settings = settings_of(tmp_path, ENABLED + more)
    platform = build_mattermost(settings.mattermost, catch_up=CatchUpSettings(), state=MemoryState(), clock=Clock())
    (tmp_path / "commands").write_text("third-of-them, fourth-of-them".replace(" ", ""))
    await platform._tokens.require({"token": "fourth-of-them"})
    with pytest.raises(CommandRefused):
        await platform._tokens.require({"token": "first-of-them"})
    for name in ("first", "second", "third", "fourth"):
        event = logging_setup._mask_values(None, "info", {"event": "refused", "reason": f"with {name}-of-them"})
        assert event["reason"] == "with [masked:secret]"
    await platform.close()


def test_switched_off_it_is_not_built_and_needs_no_token(tmp_path):
    settings = settings_of(tmp_path, 'token_env = "MM_MISSING"\n')
    assert build_mattermost(settings.mattermost, catch_up=CatchUpSettings(), state=MemoryState(), clock=Clock()) is None
