"""The chat platforms' part of `haechi doctor`: every configured adapter examines its own connection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from bot.compose_mattermost import build_mattermost
from bot.compose_slack import build_slack
from bot.errors import BotError
from bot.ports import ChatPlatform
from bot.readiness import Check
from bot.services import utc_now
from bot.settings import Settings


class _NoState:
    """Examining reads and keeps nothing: the data folder may belong to the running bot."""

    def get(self, key: str) -> str | None:
        return None

    def put(self, key: str, value: str) -> None:
        return


def check_platforms(settings: Settings) -> Iterator[Check]:
    """What each configured platform says about tokens, connection, rights, channels and commands."""
    yield from asyncio.run(_examine(settings))


async def _examine(settings: Settings) -> list[Check]:
    state, catch_up = _NoState(), settings.catch_up
    platforms: list[ChatPlatform | None] = [
        build_slack(settings.slack, catch_up=catch_up, state=state, clock=utc_now),
        build_mattermost(settings.mattermost, catch_up=catch_up, state=state, clock=utc_now),
    ]
    checks: list[Check] = []
    for platform in platforms:
        if platform is not None:
            channel_ids = [channel.id for channel in settings.channels if channel.platform == platform.name]
            checks += await _examined(platform, channel_ids)
    return checks


async def _examined(platform: ChatPlatform, channel_ids: list[str]) -> list[Check]:
    try:
        findings = await platform.diagnose(channel_ids)
    except BotError as error:
        return [Check(name=platform.name, ok=False, detail=str(error), remedy=f"see docs/{platform.name}.md")]
    finally:
        await platform.close()
    return [Check(name=item.name, ok=item.ok, detail=item.detail, remedy=item.remedy) for item in findings]
