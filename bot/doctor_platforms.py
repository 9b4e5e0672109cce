"""The chat platforms' part of `haechi doctor`: every configured adapter examines its own connection."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence, Set
from contextlib import closing

from bot.compose_mattermost import build_mattermost
from bot.compose_platforms import build_channels
from bot.compose_slack import build_slack
from bot.errors import BotError
from bot.ports import ChatPlatform
from bot.readiness import Check
from bot.services import utc_now
from bot.settings import Settings
from bot.settings_alerts import alert_places
from bot.web_posts import GENERAL


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
        build_slack(settings.slack, catch_up=catch_up, state=state, clock=utc_now, public_url=settings.public_url),
        build_mattermost(settings.mattermost, catch_up=catch_up, state=state, clock=utc_now),
    ]
    checks: list[Check] = []
    for platform in platforms:
        if platform is not None:
            checks += await _examined(platform, _channels_on(settings, platform.name))
    asked = {platform.name for platform in platforms if platform is not None}
    checks += _switched_off(settings)
    return [*checks, *_web_channels(settings, _channels_on(settings, "web")), *_without_platform(settings, asked)]


def _channels_on(settings: Settings, platform: str) -> list[str]:
    """Channels that the settings name, to hear what is said there or to post alerts that came by HTTP."""
    posted_in = [place[1] for place in alert_places(settings.alerts, settings.services) if place[0] == platform]
    return list(dict.fromkeys([*build_channels(settings).configured_on(platform), *posted_in]))


def _switched_off(settings: Settings) -> Iterator[Check]:
    """A section that is filled in and lacks `enabled = true` looks connected, and is not."""
    for name, section in (("slack", settings.slack), ("mattermost", settings.mattermost)):
        if not section.enabled and section.model_fields_set - {"enabled"}:
            meant = "enabled" in section.model_fields_set
            yield Check(
                name=name,
                ok=meant,
                detail="filled in and switched off",
                remedy=f"set {name}.enabled = true to connect" if meant else f"add enabled = true to [{name}]",
            )


def _web_channels(settings: Settings, channel_ids: Sequence[str]) -> Iterator[Check]:
    """The page's channels are made on the page; read beside the running bot, whose file it is."""
    known = {GENERAL}
    file = settings.data_dir / "bot.sqlite3"
    if channel_ids and file.exists():
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            known |= {str(row[0]) for row in connection.execute("SELECT id FROM web_channels")}
    for channel_id in channel_ids:
        ok = channel_id in known
        yield Check(
            name=f"web channel {channel_id}",
            ok=ok,
            detail="a channel of the page" if ok else "the page has no such channel",
            remedy=""
            if ok
            else f"correct its id in {_named_by(settings, channel_id)}, or make it on the page; its address shows the"
            " id: /c/ID",
        )


def _named_by(settings: Settings, channel_id: str) -> str:
    """The section or key that names a channel of the page."""
    key = alert_places(settings.alerts, settings.services).get(("web", channel_id))
    is_listed = channel_id in build_channels(settings).configured_on("web")
    return "[[channels]]" if is_listed or key is None else key


def _without_platform(settings: Settings, asked: Set[str]) -> Iterator[Check]:
    """Channels of a platform that is not configured: nobody would ever hear there."""
    for channel in settings.channels:
        if channel.platform != "web" and channel.platform not in asked:
            yield Check(
                name=f"{channel.platform} channel {channel.id}",
                ok=False,
                detail=f"{channel.platform} is not configured, so nothing is heard there",
                remedy=f"set [{channel.platform}], see docs/{channel.platform}.md, or remove the channel",
            )
    for (platform, channel_id), key in alert_places(settings.alerts, settings.services).items():
        if platform != "web" and platform not in asked:
            yield Check(
                name=f"{platform} channel {channel_id}",
                ok=False,
                detail=f"{platform} is not configured, so that alerts by HTTP wait",
                remedy=f"set [{platform}], see docs/{platform}.md, or correct {key}",
            )


async def _examined(platform: ChatPlatform, channel_ids: Sequence[str]) -> list[Check]:
    try:
        findings = await platform.diagnose(channel_ids)
    except BotError as error:
        return [Check(name=platform.name, ok=False, detail=str(error), remedy=f"see docs/{platform.name}.md")]
    finally:
        await platform.close()
    return [Check(name=item.name, ok=item.ok, detail=item.detail, remedy=item.remedy) for item in findings]
