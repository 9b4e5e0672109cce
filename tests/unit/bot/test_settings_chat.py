"""Channels, limits and admins as they are configured, and what is wrong with them in one sentence."""

from __future__ import annotations

import pytest

from bot.compose_platforms import build_channels, build_limits, lanes_of
from bot.limits import Allowance
from knowledge.types import Scope
from tests.unit.bot.messages import thread
from tests.unit.bot.test_settings import BASE, complaint, load

SHOP = '\n[[sources]]\nname = "shop"\nkind = "documents"\npath = "./shop"\n'


def channels(folder, text: str):
    return build_channels(load(folder, BASE + SHOP + text))


def scope(made, channel="C9", platform="slack", *, direct=False) -> Scope:
    return made.policy_of(thread(channel=channel, platform=platform), is_direct=direct).scope


def test_without_configuration_every_channel_sees_everything(tmp_path):
    made = channels(tmp_path, "")
    assert scope(made) == scope(made, direct=True) == Scope.everything()


def test_sources_of_channels_direct_messages_and_the_rest(tmp_path):
    made = channels(
        tmp_path,
        '[chat]\ndefault_sources = ["rules"]\ndirect_sources = []\n'
        '[[channels]]\nplatform = "slack"\nid = "C1"\nsources = ["shop"]\n'
        '[[channels]]\nplatform = "slack"\nid = "C2"\n',
    )
    assert scope(made, "C1") == Scope.of("shop")
    assert scope(made, "C1", "mattermost") == Scope.of("rules")
    assert scope(made, "C2") == Scope.of("rules")
    assert scope(made) == Scope.of("rules")
    assert scope(made, "D1", direct=True) == Scope.of()


def test_direct_messages_see_what_channels_see_unless_told_otherwise(tmp_path):
    assert scope(channels(tmp_path, '[chat]\ndefault_sources = ["rules"]\n'), direct=True) == Scope.of("rules")


def test_channels_of_the_page_never_see_more_than_the_page(tmp_path):
    made = channels(
        tmp_path,
        '[web]\nsources = ["rules"]\n[[channels]]\nplatform = "web"\nid = "general"\nsources = ["rules", "shop"]\n',
    )
    assert scope(made, "general", "web") == scope(made, "other", "web") == Scope.of("rules")


def test_everything_else_of_a_channel(tmp_path):
    made = channels(
        tmp_path,
        '[chat]\nlanguage = "en"\n'
        '[[channels]]\nplatform = "mattermost"\nid = "abc"\nroute = "code"\nanswers = false\nalerts = true\n'
        'alert_authors = ["u1"]\nlanguage = "ko"\nanswer_length = "long"\n',
    )
    policy = made.policy_of(thread(channel="abc", platform="mattermost"))
    assert (policy.route, policy.answers, policy.alerts, policy.language, policy.length) == (
        "code",
        False,
        True,
        "ko",
        "long",
    )
    assert policy.alert_authors == {"u1"}
    assert made.policy_of(thread(channel="other", platform="mattermost")).language == "en"


def test_limits_and_lanes(tmp_path):
    settings = load(tmp_path, BASE + "[limits]\nuser_per_minute = 3\ntotal_per_hour = 0\n[answers]\nconcurrency = 5\n")
    limits = build_limits(settings)
    assert limits.user == Allowance(per_minute=3, per_hour=100)
    assert limits.total == Allowance(per_minute=120, per_hour=0)
    assert lanes_of(settings, has_model=False)["slow"] == 5
    assert lanes_of(settings, has_model=True)["slow"] > 50


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[chat]\ndefault_sources = ["ruls"]\n', "chat.default_sources names 'ruls'"),
        ('[[channels]]\nplatform = "slack"\nid = "C1"\nsources = ["nope"]\n', "channels.0.sources names 'nope'"),
        ('[[channels]]\nplatform = "slack"\nid = "#general"\n', "must be the channel's id, not its name"),
        (
            '[[channels]]\nplatform = "slack"\nid = "C1"\nalert_authors = ["U1"]\n',
            "has no effect without alerts = true",
        ),
        ('[[channels]]\nplatform = "irc"\nid = "C1"\n', "platform"),
        ('[[channels]]\nplatform = "slack"\nid = "C1"\n[[channels]]\nplatform = "slack"\nid = "C1"\n', "stands twice"),
        ('[commands]\nadmins = ["U012"]\n', 'for example "slack:U012ABCDEF"'),
        ("[limits]\nuser_per_minute = -1\n", "limits.user_per_minute must be at least 0"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(tmp_path, text, says):
    assert says in complaint(tmp_path, BASE + text)
