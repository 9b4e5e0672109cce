"""Checks of a Mattermost connection for `haechi doctor`, each with how to mend what is wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import AuthError, PlatformError
from bot.platforms.mattermost_failures import Refused
from bot.platforms.mattermost_posting import POST_LIMIT_CHARS
from bot.platforms.mattermost_rest import MattermostRest
from bot.types import Diagnosis

PONG = "haechi pong"
SHORTEST_EDIT_LIMIT_S = 300

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What of the configuration is checked."""

    url: str
    callback_url: str | None
    command: str
    has_command_token: bool
    teams: tuple[str, ...] = ()


class MattermostDoctor:
    """`probe` opens a websocket and waits for the server's greeting, `reach` asks whether the bot answers at an
    address; both raise PlatformError."""

    def __init__(
        self, rest: MattermostRest, wiring: Wiring, *, probe: Callable[[], Awaitable[None]],
        reach: Callable[[str], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._rest = rest
        self._wiring = wiring
        self._probe = probe
        self._reach = reach

    async def examine(self, channel_ids: Sequence[str]) -> list[Diagnosis]:
        """All findings; what needs the token is left out when it does not hold."""
        try:
            me = await self._rest.me()
        except AuthError as error:
            return [
                _good("mattermost server", f"{self._wiring.url} answers"),
                _bad("mattermost token", str(error), _TOKEN),
            ]
        except PlatformError as error:
            return [_bad("mattermost server", str(error), "Check mattermost.url, the network and mattermost.ca_file.")]
        findings = [self._server(), self._account(me)]
        findings.append(await self._websocket())
        teams, finding = await self._teams()
        findings.append(finding)
        findings += await self._server_settings()
        for channel_id in channel_ids:
            findings.append(await self._channel(channel_id, str(me.get("id"))))
        findings.append(await self._commands(teams))
        return findings

    def _server(self) -> Diagnosis:
        if self._wiring.url.startswith("http://") and not _is_local(self._wiring.url):
            return _good(
                "mattermost server", f"{self._wiring.url} answers (without TLS: the token travels in the clear)"
            )
        return _good("mattermost server", f"{self._wiring.url} answers")

    def _account(self, me: Json) -> Diagnosis:
        shown = f"the token belongs to @{me.get('username')}"
        if me.get("is_bot"):
            return _good("mattermost account", f"{shown}, a bot account")
        return _bad(
            "mattermost account", f"{shown}, which is a person's account",
            "Make a bot account (System Console > Integrations > Bot Accounts) and use its token.",
        )  # fmt: skip

    async def _websocket(self) -> Diagnosis:
        try:
            await self._probe()
        except PlatformError as error:
            return _bad(
                "mattermost websocket", str(error),
                "A proxy in front of Mattermost must pass websocket upgrades on /api/v4/websocket.",
            )  # fmt: skip
        return _good("mattermost websocket", "opens and greets")

    async def _teams(self) -> tuple[list[Json], Diagnosis]:
        try:
            teams = await self._rest.my_teams()
        except PlatformError as error:
            return [], _bad("mattermost teams", str(error), "Try again; the server answered before.")
        names = [str(team.get("name")) for team in teams]
        missing = [name for name in self._wiring.teams if name not in names]
        if missing or not names:
            who = f"the bot is not in {', '.join(missing)}" if missing else "the bot is in no team"
            return teams, _bad(
                "mattermost teams", who, "Invite the bot account to the team (Invite People > its name)."
            )
        return teams, _good("mattermost teams", f"member of {', '.join(names)}")

    async def _server_settings(self) -> list[Diagnosis]:
        try:
            config = await self._rest.client_config()
        except PlatformError as error:
            return [_bad("mattermost settings", str(error), "Try again; the server answered before.")]
        findings = []
        limit = _number(config.get("PostEditTimeLimit"), -1)
        if 0 <= limit < SHORTEST_EDIT_LIMIT_S:
            findings.append(
                _bad(
                    "mattermost edits",
                    f"posts can be edited for {limit} s only, so growing answers are posted twice",
                    "Raise ServiceSettings.PostEditTimeLimit to 300 or more, or set it to -1.",
                )
            )
        longest = _number(config.get("MaxPostSize"), POST_LIMIT_CHARS)
        if longest < POST_LIMIT_CHARS:
            findings.append(_good("mattermost posts", f"up to {longest} characters; longer answers come in more posts"))
        return findings

    async def _channel(self, channel_id: str, own_id: str) -> Diagnosis:
        name = f"mattermost channel {channel_id}"
        try:
            channel = await self._rest.channel(channel_id)
            shown = channel.get("display_name") or channel.get("name")
            await self._rest.channel_member(channel_id, own_id)
        except Refused as error:
            if error.status in (403, 404):
                return _bad(
                    name, "the bot is not in this channel, or there is no channel with this id",
                    "Type /invite @BOT in the channel; its id stands under the channel's menu > View Info.",
                )  # fmt: skip
            return _bad(name, str(error), "Check the id in haechi.toml.")
        except PlatformError as error:
            return _bad(name, str(error), "Try again; the server answered before.")
        if channel.get("delete_at"):
            return _bad(name, f"{shown} is archived", "Take it out of haechi.toml, or unarchive it.")
        return _good(name, f"the bot is in {shown}")

    async def _commands(self, teams: Sequence[Json]) -> Diagnosis:
        """Has the server carry out `/haechi ping`: it has to reach the bot, and the token has to be right."""
        name = "mattermost slash command"
        if self._wiring.callback_url is None:
            return _good(
                name, "not set up: set mattermost.callback_url and mattermost.command_token_env for slash commands;"
                " buttons under answers need callback_url",
            )  # fmt: skip
        if not self._wiring.has_command_token:
            return await self._buttons(self._wiring.callback_url)
        for team in teams:
            channels = await self._rest.my_channels(str(team["id"]))
            inside = [c for c in channels if c.get("team_id") == team["id"] and not c.get("delete_at")]
            if not inside:
                continue
            try:
                said = await self._rest.execute_command(str(inside[0]["id"]), f"/{self._wiring.command} ping")
            except Refused as error:
                return self._unheard(name, str(team.get("name")), error)
            except PlatformError as error:
                return _bad(name, str(error), _UNREACHABLE)
            if PONG not in str(said.get("text", "")):
                return _bad(name, f"/{self._wiring.command} is answered by something else", _REGISTER)
        return _good(name, f"/{self._wiring.command} reaches the bot")

    async def _buttons(self, callback_url: str) -> Diagnosis:
        """Without a command nothing can have the server call; whether the bot is there at all can be seen from here."""
        name = "mattermost buttons"
        try:
            await self._reach(f"{callback_url}/mattermost/button")
        except PlatformError as error:
            return _bad(name, str(error), _UNREACHABLE)
        return _good(
            name, f"{callback_url} is the bot, seen from here; set mattermost.command_token_env for slash commands,"
            " which also shows whether the Mattermost server reaches it",
        )  # fmt: skip

    def _unheard(self, name: str, team: str, error: Refused) -> Diagnosis:
        if error.status == 404:
            return _bad(name, f"team {team} has no command /{self._wiring.command}", _REGISTER)
        return _bad(name, f"the server could not run /{self._wiring.command}: {error}", _UNREACHABLE)


_TOKEN = (
    "Make a new token for the bot account (Integrations > Bot Accounts > Create New Token) and put it where"
    " mattermost.token_env or mattermost.token_file says."
)
_REGISTER = (
    "Add it under Integrations > Slash Commands with the request URL CALLBACK_URL/mattermost/command and method POST,"
    " and put its token where mattermost.command_token_env or mattermost.command_token_file says (several with commas)."
)
_UNREACHABLE = (
    "The Mattermost server must reach mattermost.callback_url while `haechi run` runs: check the address from that"
    " machine, the command's request URL (CALLBACK_URL/mattermost/command), its method (POST) and its token, and add"
    " the host to ServiceSettings.AllowedUntrustedInternalConnections (System Console > Developer) when it lies in the"
    " own network."
)


def _good(name: str, detail: str) -> Diagnosis:
    return Diagnosis(name=name, ok=True, detail=detail)


def _bad(name: str, detail: str, remedy: str) -> Diagnosis:
    return Diagnosis(name=name, ok=False, detail=detail, remedy=remedy)


def _number(value: object, otherwise: int) -> int:
    try:
        return int(str(value))
    except ValueError:
        return otherwise


def _is_local(url: str) -> bool:
    return url.removeprefix("http://").startswith(("127.", "localhost", "[::1]"))
