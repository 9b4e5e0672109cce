"""What holds in a channel is what is configured for it, and nothing in a thread can widen it."""

from __future__ import annotations

from bot.channels import ChannelPolicy, Channels, common, is_within
from knowledge.types import Scope
from tests.unit.bot.messages import thread

ALL, RULES, SHOP, NONE = Scope.everything(), Scope.of("rules"), Scope.of("shop"), Scope.of()
CHANNELS = Channels(
    default=ChannelPolicy(scope=RULES),
    direct=ChannelPolicy(scope=SHOP),
    configured={("slack", "C1"): ChannelPolicy(scope=ALL, length="short"), ("web", "c"): ChannelPolicy(scope=ALL)},
    limits={"web": RULES},
)


def test_a_configured_channel_has_its_own_policy_and_others_share_one():
    assert CHANNELS.policy_of(thread(channel="C1", platform="slack")).length == "short"
    assert CHANNELS.policy_of(thread(channel="C2", platform="slack")).scope == RULES
    assert CHANNELS.policy_of(thread(channel="C1", platform="mattermost")).scope == RULES


def test_direct_messages_have_their_own():
    assert CHANNELS.policy_of(thread(channel="D1", platform="slack"), is_direct=True).scope == SHOP


def test_no_channel_of_the_page_shows_more_than_the_page_may():
    assert CHANNELS.policy_of(thread(channel="c", platform="web")).scope == RULES


def test_configured_channels_are_known_by_platform():
    assert CHANNELS.configured_on("slack") == ("C1",)
    assert CHANNELS.configured_on("mattermost") == ()


def test_scopes_are_compared_and_joined():
    assert common(ALL, RULES) == common(RULES, ALL) == RULES
    assert common(RULES, SHOP) == NONE
    assert is_within(RULES, ALL)
    assert is_within(NONE, RULES)
    assert not is_within(ALL, RULES)
    assert not is_within(SHOP, RULES)
