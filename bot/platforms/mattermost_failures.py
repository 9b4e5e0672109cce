"""What can go wrong between here and a Mattermost server, as errors of the bot: one table, and nothing beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mattermostdriver.exceptions as driver
import requests
from requests import exceptions as http

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable

RETRY_AFTER_S = 1.0  # when a server asks to wait and does not say how long
LONGEST_RETRY_AFTER_S = 300.0


class Refused(PlatformError):
    """The server understood and said no: a permission, an id that is not there, a text that is too long."""

    def __init__(self, message: str, *, status: int, error_id: str) -> None:
        super().__init__(message)
        self.status = status
        self.error_id = error_id


def translated(error: http.RequestException, *, what: str, now_s: float) -> PlatformError:
    """The bot's error for one of the libraries'. `now_s` is seconds since 1970, which X-Ratelimit-Reset counts in.

    What a server says in `detailed_error` is never repeated: it holds the token when that is wrong.
    """
    for kind in type(error).__mro__:
        if kind in TABLE:
            return TABLE[kind](error, what, now_s)
    return Unreachable(f"Mattermost: {what} failed ({type(error).__name__}).")


def refusal_of(status: int, body: object, headers: Mapping[str, str], *, what: str, now_s: float) -> PlatformError:
    """The error for an answer of 400 and above; `body` is its JSON, or anything else."""
    told = body if isinstance(body, dict) else {}
    reason = str(told.get("message") or "no reason given")[:200]
    error_id = str(told.get("id") or "")
    if status == 401:
        return AuthError(
            f"Mattermost does not accept the bot's token ({what}: {reason}); make a new token for the bot account and"
            " put it where mattermost.token_env or mattermost.token_file says."
        )
    if status == 429:
        seconds = _wait_s(headers, now_s)
        return RateLimited(f"Mattermost asks to wait {seconds:.0f} s ({what}).", retry_after_s=seconds)
    if status >= 500 or status in (408, 425):
        return Unreachable(f"Mattermost failed with status {status} ({what}: {reason}).")
    return Refused(f"Mattermost refused ({what}: {reason}, status {status}).", status=status, error_id=error_id)


def _wait_s(headers: Mapping[str, str], now_s: float) -> float:
    """Retry-After in seconds, else X-Ratelimit-Reset: seconds to wait, or the time in seconds since 1970."""
    for name in ("Retry-After", "X-Ratelimit-Reset"):
        try:
            value = float(headers.get(name, ""))
        except ValueError:
            continue
        if name == "X-Ratelimit-Reset" and value > 1_000_000_000:
            value -= now_s
        return min(max(value, 0.0), LONGEST_RETRY_AFTER_S)
    return RETRY_AFTER_S


def _answered(error: Any, what: str, now_s: float) -> PlatformError:
    """For an answer with a status: the body of the answer says why."""
    response: requests.Response | None = error.response
    if response is None:  # the driver's own classes drop the answer and keep its status as their name
        status = _STATUS_OF_DRIVER.get(type(error), 500)
        return refusal_of(status, {"message": str(error)}, {}, what=what, now_s=now_s)
    try:
        body = response.json()
    except ValueError:
        body = None
    return refusal_of(response.status_code, body, response.headers, what=what, now_s=now_s)


def _told(sentence: str) -> Callable[[Any, str, float], PlatformError]:
    def unreachable(error: Any, what: str, now_s: float) -> PlatformError:
        return Unreachable(f"Mattermost: {what} failed: {sentence}.")

    return unreachable


_STATUS_OF_DRIVER: dict[type[Exception], int] = {
    driver.InvalidOrMissingParameters: 400,
    driver.NoAccessTokenProvided: 401,
    driver.NotEnoughPermissions: 403,
    driver.ResourceNotFound: 404,
    driver.MethodNotAllowed: 405,
    driver.ContentTooLarge: 413,
    driver.FeatureDisabled: 400,  # 501, but waiting does not help
}

_ADDRESS = _told("mattermost.url is not an address that can be called; it begins with https:// or http://")
_GARBLED = _told("the answer cannot be read; check that mattermost.url leads to a Mattermost server")
_CUT_OFF = _told("the connection was cut")
_TIMEOUT = _told("the server did not answer in time")

TABLE: dict[type[BaseException], Callable[[Any, str, float], PlatformError]] = {
    **dict.fromkeys(_STATUS_OF_DRIVER, _answered),
    http.HTTPError: _answered,
    http.SSLError: _told(
        "the server's certificate is not trusted; set mattermost.ca_file to the certificate of the company's authority"
    ),
    http.ProxyError: _told("the proxy refused"),
    http.ConnectTimeout: _TIMEOUT,
    http.ReadTimeout: _TIMEOUT,
    http.Timeout: _TIMEOUT,
    http.ConnectionError: _told("no connection; check mattermost.url and the network"),
    http.ChunkedEncodingError: _CUT_OFF,
    http.StreamConsumedError: _CUT_OFF,
    http.ContentDecodingError: _GARBLED,
    http.InvalidJSONError: _GARBLED,
    http.JSONDecodeError: _GARBLED,
    http.TooManyRedirects: _told("the server redirects without end; check mattermost.url"),
    http.RetryError: _told("the server kept failing"),
    http.InvalidURL: _ADDRESS,
    http.InvalidProxyURL: _ADDRESS,
    http.InvalidSchema: _ADDRESS,
    http.MissingSchema: _ADDRESS,
    http.URLRequired: _ADDRESS,
    http.InvalidHeader: _told("the token holds characters that a header cannot carry"),
    http.UnrewindableBodyError: _CUT_OFF,
    http.RequestException: _told("the request could not be made"),
}
