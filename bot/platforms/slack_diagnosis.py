"""What `haechi doctor` says about Slack: tokens, scopes, Socket Mode, events, channels, the slash command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import aiohttp
from pydantic import SecretStr

from bot.errors import AuthError, PlatformError
from bot.platforms.slack_api import Identity, SlackApi
from bot.platforms.slack_failures import SlackRefusal
from bot.types import Diagnosis

# scope -> what does not work without it; docs/slack.md explains the same list, and a test compares the manifest.
SCOPES: Mapping[str, str] = {
    "app_mentions:read": "mentions are not heard",
    "chat:write": "nothing can be posted",
    "reactions:write": "no sign of life is shown",
    "reactions:read": "votes by reaction are not heard",
    "channels:history": "follow-ups and alerts in public channels are not heard",
    "groups:history": "follow-ups and alerts in private channels are not heard",
    "im:history": "direct messages are not heard",
    "mpim:history": "group direct messages are not heard",
    "channels:read": "public channels cannot be listed for catching up",
    "groups:read": "private channels cannot be listed for catching up",
    "im:read": "direct messages cannot be listed for catching up",
    "mpim:read": "group direct messages cannot be listed for catching up",
    "im:write": "private answers cannot be sent as direct messages",
    "users:read": "people are known by their ids alone",
    "files:read": "attached log files are not read",
    "commands": "/haechi does not exist",
}
EVENTS = (
    "app_mention", "message.channels", "message.groups", "message.im", "message.mpim", "reaction_added",
    "reaction_removed",
)  # fmt: skip
_EVENT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "groups:history",
    "im:history",
    "mpim:history",
    "reactions:read",
)


EVENTS_PATH = "/slack/events"
UNSIGNED = "not signed by Slack"  # what bot.http.slack answers to whom Slack did not sign for
HTTP_LIMIT_S = 10.0
HTTP_SKEW = timedelta(minutes=4)  # Slack's requests may be five minutes old
SOCKET_SKEW = timedelta(minutes=30)


async def diagnose_slack(
    api: SlackApi, app_token: SecretStr | None, channel_ids: Sequence[str], *, mode: Literal["socket", "http"],
    now: datetime, public_url: str | None = None,
) -> list[Diagnosis]:  # fmt: skip
    """One line for each thing that can be asked; nothing is raised."""
    try:
        identity = await api.identify(patience="never")
    except PlatformError as error:
        remedy = "set slack.bot_token to the Bot User OAuth Token (xoxb-...) under OAuth & Permissions of the app"
        if not isinstance(error, AuthError):
            remedy = "check the network, the proxy and slack.api_url"
        return [Diagnosis(name="slack token", ok=False, detail=str(error), remedy=remedy)]
    lines = [_bot_token(identity), *_clock(identity, now, mode), _scopes(identity)]
    lines.append(await _socket(api, app_token) if mode == "socket" else await _http(public_url))
    lines += [_events(identity), _command(identity)]
    for channel_id in channel_ids:
        lines.append(await _channel(api, channel_id, identity))
    return lines


def _bot_token(identity: Identity) -> Diagnosis:
    who = f"@{identity.user} ({identity.user_id}) in {identity.team}"
    if identity.bot_id:
        return Diagnosis(name="slack token", ok=True, detail=who)
    return Diagnosis(
        name="slack token",
        ok=False,
        detail=f"belongs to a person, {who}",
        remedy="set slack.bot_token to the Bot User OAuth Token (xoxb-...), not a user token (xoxp-...)",
    )


def _clock(identity: Identity, now: datetime, mode: Literal["socket", "http"]) -> list[Diagnosis]:
    """Nothing where Slack does not tell its time."""
    if identity.told_at is None:
        return []
    off = abs((now - identity.told_at).total_seconds())
    most = HTTP_SKEW if mode == "http" else SOCKET_SKEW
    if off <= most.total_seconds():
        return [Diagnosis(name="slack clock", ok=True, detail="agrees with Slack's")]
    harm = "Slack's requests count as too old" if mode == "http" else "what is missed while away cannot be found again"
    return [
        Diagnosis(
            name="slack clock", ok=False, detail=f"{off / 60:.0f} minutes from Slack's: {harm}",
            remedy="set this machine's clock, best by NTP",
        )
    ]  # fmt: skip


def _scopes(identity: Identity) -> Diagnosis:
    if not identity.scopes:
        return Diagnosis(name="slack scopes", ok=True, detail="Slack does not say which scopes the token has")
    missing = [scope for scope in SCOPES if scope not in identity.scopes]
    if not missing:
        return Diagnosis(name="slack scopes", ok=True, detail=f"all {len(SCOPES)} granted")
    told = ", ".join(f"{scope} ({SCOPES[scope]})" for scope in missing)
    return Diagnosis(
        name="slack scopes",
        ok=False,
        detail=f"missing: {told}",
        remedy=f"add {', '.join(missing)} under OAuth & Permissions > Bot Token Scopes, then reinstall the app",
    )


async def _socket(api: SlackApi, app_token: SecretStr | None) -> Diagnosis:
    name = "slack socket mode"
    remedy = (
        "create an app-level token with the scope connections:write under Basic Information, set it as slack.app_token,"
        " and switch Socket Mode on"
    )
    if app_token is None:
        return Diagnosis(name=name, ok=False, detail="no app-level token is set", remedy=remedy)
    if not app_token.get_secret_value().startswith("xapp-"):
        return Diagnosis(name=name, ok=False, detail="slack.app_token does not begin with xapp-", remedy=remedy)
    try:
        await api.open_socket(app_token)
    except PlatformError as error:
        return Diagnosis(name=name, ok=False, detail=str(error), remedy=remedy)
    return Diagnosis(name=name, ok=True, detail="a connection can be opened")


async def _http(public_url: str | None) -> Diagnosis:
    """Whether Slack reaches the bot can be seen from here only as far as the bot's own address leads to it."""
    name = "slack over HTTP"
    told = "Slack must reach PUBLIC_URL/slack/events; Slack shows Verified beside it under Event Subscriptions"
    if public_url is None:
        return Diagnosis(name=name, ok=True, detail=f"{told} (not tried: public_url is not set)")
    address = f"{public_url.rstrip('/')}{EVENTS_PATH}"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=HTTP_LIMIT_S), trust_env=True) as session,
            session.post(address, data=b"{}", allow_redirects=False) as answer,
        ):
            found = answer.status == 401 and UNSIGNED in await answer.text()
            why = f"something else than the bot answers at {address} (status {answer.status})"
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        found, why = False, f"nothing answers at {address} ({type(error).__name__})"
    if found:
        return Diagnosis(name=name, ok=True, detail=f"{address} leads to the bot; {told}")
    return Diagnosis(
        name=name, ok=False, detail=why,
        remedy="start `haechi run`, and let the proxy at public_url pass /slack/ on to it",
    )  # fmt: skip


def _events(identity: Identity) -> Diagnosis:
    """Slack has no call that tells a bot its subscriptions; a scope is there as soon as its event is subscribed."""
    missing = [scope for scope in _EVENT_SCOPES if identity.scopes and scope not in identity.scopes]
    listed = ", ".join(EVENTS)
    return Diagnosis(
        name="slack events",
        ok=not missing,
        detail=f"to be subscribed: {listed}"
        if not missing
        else f"not subscribed, as {', '.join(missing)} is not granted",
        remedy="" if not missing else f"subscribe to {listed} under Event Subscriptions > Subscribe to bot events",
    )


def _command(identity: Identity) -> Diagnosis:
    granted = not identity.scopes or "commands" in identity.scopes
    return Diagnosis(
        name="slack command",
        ok=granted,
        detail="the app may have slash commands" if granted else "the app has no slash command",
        remedy="" if granted else "create /haechi under Slash Commands of the app, then reinstall it",
    )


async def _channel(api: SlackApi, channel_id: str, identity: Identity) -> Diagnosis:
    name = f"slack channel {channel_id}"
    invite = f"invite the bot there with /invite @{identity.user}"
    try:
        channel = (await api.call("conversations_info", channel=channel_id))["channel"]
    except SlackRefusal as error:
        if error.code == "channel_not_found":
            remedy = f"use the channel's id (C...), and if it is private, {invite}"
            return Diagnosis(
                name=name, ok=False, detail="not found, or private and the bot is not in it", remedy=remedy
            )
        return Diagnosis(name=name, ok=False, detail=str(error), remedy=invite)
    except PlatformError as error:
        return Diagnosis(name=name, ok=False, detail=str(error), remedy="try again later")
    label = f"#{channel.get('name') or channel_id}"
    if channel.get("is_archived"):
        return Diagnosis(name=name, ok=False, detail=f"{label} is archived", remedy="remove it from the settings")
    if not (channel.get("is_member") or channel.get("is_im")):
        return Diagnosis(name=name, ok=False, detail=f"the bot is not in {label}", remedy=invite)
    return Diagnosis(name=name, ok=True, detail=f"the bot is in {label}")
