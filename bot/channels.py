"""What holds in a channel: which sources may be seen there, what is answered and how.

The scope of a question is that of the channel in which its thread lives, at the moment when the question is worked on.
Nothing that stands in the thread can change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.types import AnswerLength, Language, ThreadRef
from knowledge.types import EvidenceKind, Scope

ChannelKey = tuple[str, str]  # platform, channel id


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPolicy:
    """What holds in one channel. `route` and `language` are None when the question decides."""

    scope: Scope
    route: EvidenceKind | None = None
    answers: bool = True
    alerts: bool = False
    alert_authors: frozenset[str] = frozenset()
    language: Language | None = None
    length: AnswerLength = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """The policies of all channels; those that are not configured share one."""

    default: ChannelPolicy
    direct: ChannelPolicy
    configured: Mapping[ChannelKey, ChannelPolicy] = field(default_factory=dict)
    limits: Mapping[str, Scope] = field(default_factory=dict)  # platform -> what no channel of it may exceed

    def policy_of(self, thread: ThreadRef, *, is_direct: bool = False) -> ChannelPolicy:
        """The policy of the channel in which a thread lives."""
        found = self.configured.get((thread.platform, thread.channel_id))
        policy = found or (self.direct if is_direct else self.default)
        limit = self.limits.get(thread.platform)
        return policy if limit is None else replace(policy, scope=common(policy.scope, limit))

    def is_listed(self, thread: ThreadRef) -> bool:
        """Whether the channel has an entry of its own in the settings."""
        return (thread.platform, thread.channel_id) in self.configured

    def configured_on(self, platform: str) -> tuple[str, ...]:
        """Ids of the configured channels of a platform."""
        return tuple(channel_id for name, channel_id in self.configured if name == platform)


def common(one: Scope, other: Scope) -> Scope:
    """What both scopes allow."""
    if one.sources is None:
        return other
    return one if other.sources is None else Scope(sources=one.sources & other.sources)


def is_within(inner: Scope, outer: Scope) -> bool:
    """Whether everything that `inner` allows is allowed by `outer`."""
    if outer.sources is None:
        return True
    return inner.sources is not None and inner.sources <= outer.sources
