"""Slack's Web API through slack-sdk: one session, retries that cannot post twice, errors as `bot.errors` has them."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.http_retry.builtin_interval_calculators import FixedValueRetryIntervalCalculator
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.errors import ConfigError, PlatformError
from bot.platforms.slack_failures import translating

Json = dict[str, Any]
Patience = Literal["repeat", "once", "never"]
"""repeat: after connection errors, server errors and 429, for calls that may run twice. once: after 429 alone, which
says that nothing was done. never: whoever calls wants to know at once. A 429 that asks for a long time is raised."""

LONGEST_WAIT_S = 5  # that a call itself waits for; what takes longer is postponed by whoever called
FILE_HOSTS = ("files.slack.com",)
REDIRECTS = 3
PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the bot is, as auth.test says."""

    user_id: str
    bot_id: str
    team_id: str
    team_url: str  # "https://acme.slack.com/"
    team: str
    user: str
    scopes: frozenset[str]
    told_at: datetime | None = None  # by Slack's own clock


class SlackApi:
    """Opens its session on the first call; every call raises PlatformError or one of its subclasses."""

    def __init__(
        self, *, token: SecretStr, api_url: str, timeout_s: float = 30.0, retry_pause_s: float = 0.5, retries: int = 3,
        tls: ssl.SSLContext | None = None,
    ) -> None:  # fmt: skip
        self._token = token
        self.tls = tls  # None: the certificates that this machine trusts
        self.api_url = api_url if api_url.endswith("/") else f"{api_url}/"
        self._timeout_s = timeout_s
        self._retry_pause_s = retry_pause_s
        self._retries = retries
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._clients: dict[Patience, AsyncWebClient] = {}

    async def call(self, method: str, *, patience: Patience = "repeat", **arguments: Any) -> AsyncSlackResponse:
        """The answer of a Web API method, named as slack-sdk does ("chat_postMessage")."""
        with translating(method.replace("_", ".")):
            response: AsyncSlackResponse = await getattr(self._client(patience), method)(**arguments)
            return response

    def use_token(self, token: SecretStr) -> bool:
        """Calls with another token from now on; whether it is another one."""
        is_new = token.get_secret_value() != self._token.get_secret_value()
        if is_new:
            self._token = token
            self._clients.clear()
        return is_new

    async def identify(self, *, patience: Patience = "repeat") -> Identity:
        """Who the token belongs to, and what it may do."""
        answer = await self.call("auth_test", patience=patience)
        granted = next((v for k, v in answer.headers.items() if k.lower() == "x-oauth-scopes"), "")
        return Identity(
            user_id=str(answer["user_id"]),
            bot_id=str(answer.get("bot_id") or ""),
            team_id=str(answer.get("team_id") or ""),
            team_url=str(answer.get("url") or ""),
            team=str(answer.get("team") or ""),
            user=str(answer.get("user") or ""),
            scopes=frozenset(scope.strip() for scope in str(granted).split(",") if scope.strip()),
            told_at=_date_of(answer.headers),
        )

    async def open_socket(self, app_token: SecretStr) -> str:
        """The address of a new Socket Mode connection."""
        answer = await self.call("apps_connections_open", patience="never", app_token=app_token.get_secret_value())
        return str(answer["url"])

    async def respond(self, response_url: str, body: Json) -> None:
        """Posts to the response_url of a command or a button."""
        if not self._is_own_host(response_url, also=("hooks.slack.com",)):
            raise PlatformError("Slack gave a response_url that is not Slack's own; nothing was sent there.")
        with translating("response_url"):
            async with self._open().post(response_url, json=body, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise PlatformError(f"Slack no longer takes answers to that command (status {answer.status}).")

    async def download(self, url: str, take: Callable[[bytes], None]) -> None:
        """Hands a file that somebody attached to `take`, piece by piece. Only Slack's own hosts are given the token."""
        for _ in range(REDIRECTS):
            if not self._is_own_host(url, also=FILE_HOSTS):
                raise PlatformError("The file is kept outside Slack, so it is not fetched.")
            with translating("file"):
                headers = {"Authorization": f"Bearer {self._token.get_secret_value()}"}
                async with self._open().get(url, headers=headers, allow_redirects=False) as answer:
                    if answer.status in (301, 302, 303, 307, 308):
                        url = answer.headers.get("Location", "")
                        continue
                    if answer.status != 200 or answer.content_type == "text/html":  # its sign-in page
                        raise PlatformError(f"Slack does not hand out the file (status {answer.status}).")
                    async for piece in answer.content.iter_chunked(PIECE_BYTES):
                        take(piece)
                    return
        raise PlatformError("Slack sends the file from place to place.")

    def reopen(self) -> None:
        """Takes calls again after `close(for_good=True)`."""
        self._closed = False

    async def close(self, *, for_good: bool = False) -> None:
        """Ends the session. For good: a straggler's call raises instead of opening another one that nobody closes."""
        self._closed = self._closed or for_good
        session, self._session = self._session, None
        self._clients.clear()
        if session is not None:
            await session.close()

    def _is_own_host(self, url: str, *, also: tuple[str, ...]) -> bool:
        try:
            wanted, own = urlsplit(url), urlsplit(self.api_url)
        except ValueError:
            return False
        same = (wanted.scheme, wanted.hostname, wanted.port) == (own.scheme, own.hostname, own.port)
        return same or (wanted.scheme == "https" and wanted.hostname in also)

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise PlatformError("The connection to Slack is closed, because the bot is stopping.")
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=self._timeout_s / 2), trust_env=True,
                connector=aiohttp.TCPConnector(ssl=self.tls if self.tls is not None else True),
            )  # fmt: skip
            self._clients.clear()
        return self._session

    def _client(self, patience: Patience) -> AsyncWebClient:
        session = self._open()
        if patience not in self._clients:
            self._clients[patience] = AsyncWebClient(
                token=self._token.get_secret_value(),
                base_url=self.api_url,
                session=session,
                ssl=self.tls,
                retry_handlers=self._handlers(patience),
                logger=logging.getLogger("slack_sdk.web"),
            )
        return self._clients[patience]

    def _handlers(self, patience: Patience) -> list[AsyncRetryHandler]:
        if patience == "never":
            return []
        waits: list[AsyncRetryHandler] = [_ShortWaits(max_retry_count=self._retries)]
        if patience == "once":
            return waits
        pause = FixedValueRetryIntervalCalculator(self._retry_pause_s)
        return [
            *waits,
            AsyncServerErrorRetryHandler(max_retry_count=self._retries, interval_calculator=pause),
            AsyncConnectionErrorRetryHandler(max_retry_count=self._retries, interval_calculator=pause),
        ]


class _ShortWaits(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack says, when that is short and a number: a place in the worker must not be held for minutes,
    while other platforms' questions wait for it."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if response is None or response.status_code != 429:
            return False
        told = next((value for name, value in response.headers.items() if name.lower() == "retry-after"), ["1"])
        return bool(told) and told[0].isdecimal() and int(told[0]) <= LONGEST_WAIT_S


def _date_of(headers: Mapping[str, Any]) -> datetime | None:
    """The moment at which an answer was made, as its header says."""
    told = next((value for name, value in headers.items() if name.lower() == "date"), None)
    try:
        return parsedate_to_datetime(str(told)).astimezone(UTC)
    except ValueError:
        return None


def tls_of(ca_file: Path | None) -> ssl.SSLContext | None:
    """What also trusts the certificates of a file, as a company's proxy needs that opens TLS; None without a file."""
    if ca_file is None:
        return None
    try:
        context = ssl.create_default_context()
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"slack.ca_file {ca_file} holds no certificate that can be read: {error}.") from error
    return context


def next_cursor(answer: AsyncSlackResponse | Mapping[str, Any]) -> str | None:
    """The cursor of the next page; None on the last one."""
    metadata = answer.get("response_metadata") or {}
    return metadata.get("next_cursor") or None
