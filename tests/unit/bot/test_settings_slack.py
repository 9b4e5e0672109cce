"""The section [slack]."""

from __future__ import annotations

import pytest

from bot import logging_setup
from bot.compose_slack import build_slack, token_now
from bot.errors import ConfigError
from bot.settings import load_settings
from bot.settings_chat import CatchUpSettings
from tests.emulators.memory_state import MemoryState
from tests.unit.bot.times import Clock


def load(tmp_path, text: str):
    (tmp_path / "docs").mkdir(exist_ok=True)
    file = tmp_path / "haechi.toml"
    file.write_text(f'data_dir = "data"\n[[sources]]\nname = "a"\nkind = "documents"\npath = "docs"\n[slack]\n{text}\n')
    return load_settings(file)


def build(settings):
    return build_slack(settings.slack, catch_up=CatchUpSettings(), state=MemoryState(), clock=Clock())


def test_slack_is_off_unless_it_is_switched_on(tmp_path):
    assert build(load(tmp_path, "")) is None


def test_socket_mode_takes_both_tokens_from_environment_or_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SLACK_BOT", "xoxb-1")
    (tmp_path / "app").write_text("xapp-1\n")
    settings = load(tmp_path, 'enabled = true\nbot_token_env = "SLACK_BOT"\napp_token_file = "app"')
    platform = build(settings)
    assert platform is not None
    assert settings.slack.secret("app_token").get_secret_value() == "xapp-1"
    assert "xoxb-1" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("enabled = true", "slack.bot_token_env is missing"),
        ('enabled = true\nbot_token_env = "SLACK_BOT"', "slack.app_token_env is missing"),
        ('enabled = true\nmode = "http"\nbot_token_env = "SLACK_BOT"', "slack.signing_secret_env is missing"),
        ('mode = "rtm"', "slack.mode must be 'socket' or 'http'"),
        ('api_url = "http://slack.example/api/"', "slack.api_url must begin with https://"),
        ('bot_token = "xoxb-1"', "slack.bot_token is not a known key"),
        (
            'enabled = true\nbot_token_env = "SLACK_BOT"\napp_token_env = "UNSET_HERE"',
            "slack.app_token_env names UNSET_HERE",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_key(tmp_path, monkeypatch, text, told):
    monkeypatch.setenv("SLACK_BOT", "xoxb-1")
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert told in str(error.value)
    assert "xoxb-1" not in str(error.value)


def test_a_token_is_read_from_its_file_again_and_stays_when_that_says_nothing_usable(tmp_path, monkeypatch):
    monkeypatch.setenv("SLACK_BOT", "xoxb-1")
    (tmp_path / "app").write_text("xapp-1\n")
    slack = load(tmp_path, 'enabled = true\nbot_token_env = "SLACK_BOT"\napp_token_file = "app"').slack
    (tmp_path / "app").write_text("xapp-2\n")
    assert slack.secret_now("app_token").get_secret_value() == "xapp-2"
    assert slack.secret_now("bot_token").get_secret_value() == "xoxb-1"
    for useless in ("", "두 줄", "a\nb"):
        (tmp_path / "app").write_text(useless, encoding="utf-8")
        assert slack.secret_now("app_token").get_secret_value() == "xapp-1"
    (tmp_path / "app").unlink()
    assert slack.secret_now("app_token").get_secret_value() == "xapp-1"


def test_a_token_that_was_replaced_in_its_file_stands_in_no_line_of_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr(logging_setup, "_hidden", [])
    monkeypatch.setenv("SLACK_BOT", "xoxb-1")
    (tmp_path / "app").write_text("first-of-them\n")
    slack = load(tmp_path, 'enabled = true\nbot_token_env = "SLACK_BOT"\napp_token_file = "app"').slack
    (tmp_path / "app").write_text("second-of-them\n")
    assert token_now(slack, "app_token").get_secret_value() == "second-of-them"
    event = logging_setup._mask_values(None, "info", {"event": "refused", "reason": "with second-of-them"})
    assert event["reason"] == "with [masked:secret]"
