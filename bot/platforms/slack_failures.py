"""What slack-sdk, slack-bolt and aiohttp raise, in the words of `bot.errors`: one table, complete by a test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import aiohttp
from slack_bolt.error import BoltError
from slack_sdk.errors import (
    BotUserAccessError,
    SlackApiError,
    SlackClientConfigurationError,
    SlackClientError,
    SlackClientNotConnectedError,
    SlackObjectFormationError,
    SlackRequestError,
    SlackTokenRotationError,
)

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable

Failure = Literal["answer", "auth", "certificate", "connection", "garbled", "request"]

# Looked up from the top; a class stands for its subclasses too.
FAILURES: tuple[tuple[type[Exception], Failure], ...] = (
    (SlackApiError, "answer"),
    (SlackTokenRotationError, "auth"),
    (SlackClientNotConnectedError, "connection"),
    (BotUserAccessError, "request"),
    (SlackRequestError, "request"),
    (SlackObjectFormationError, "request"),
    (SlackClientConfigurationError, "request"),
    (SlackClientError, "request"),
    (BoltError, "request"),
    (aiohttp.InvalidURL, "request"),
    (aiohttp.ContentTypeError, "garbled"),
    (aiohttp.ClientConnectorCertificateError, "certificate"),
    (aiohttp.ClientPayloadError, "connection"),
    (aiohttp.ClientError, "connection"),
    (aiohttp.WebSocketError, "connection"),
    (json.JSONDecodeError, "garbled"),
    (UnicodeDecodeError, "garbled"),
    (AttributeError, "garbled"),  # the client reads a text/plain answer with status 200 as if it were JSON
    (TimeoutError, "connection"),
    (OSError, "connection"),
)
TRANSLATED: tuple[type[Exception], ...] = tuple(kind for kind, _ in FAILURES)

AUTH_CODES = frozenset(
    {
        "not_authed", "invalid_auth", "account_inactive", "token_revoked", "token_expired", "user_removed_from_team",
        "team_disabled", "no_permission", "not_allowed_token_type", "access_denied", "org_login_required",
    }
)  # fmt: skip
SERVER_CODES = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
)
RATE_CODES = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})

_REMEDIES: Mapping[str, str] = {
    "missing_scope": "add the scope {needed} under OAuth & Permissions of the app, then reinstall it to the workspace",
    "not_in_channel": "invite the bot to that channel with /invite",
    "channel_not_found": "the channel is gone, or private and the bot is not in it: invite it with /invite",
    "is_archived": "that channel is archived",
    "not_allowed_token_type": "this needs another kind of token: xoxb- is slack.bot_token, xapp- slack.app_token",
    "account_inactive": "the app was removed or disabled: reinstall it and set the new slack.bot_token",
    "token_revoked": "reinstall the app and set the new token",
    "token_expired": "token rotation is on for this app: use an app without it, or set a fresh token",
    "invalid_auth": "correct the token in slack.bot_token (xoxb-) or slack.app_token (xapp-)",
}
DEFAULT_RETRY_AFTER_S = 30.0


class SlackRefusal(PlatformError):
    """Slack understood the call and will not do it; `code` is its word for why."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def translating(call: str) -> Iterator[None]:
    """Raises PlatformError, one of its subclasses, in place of what the libraries raise inside the block."""
    try:
        yield
    except TRANSLATED as error:
        raise translate(error, call) from error


def failure_of(error: Exception) -> Failure | None:
    """The row of the table for an exception; None when no row covers it."""
    return next((failure for kind, failure in FAILURES if isinstance(error, kind)), None)


def translate(error: Exception, call: str) -> PlatformError:
    """The error to raise in place of `error`, which is an instance of a class in TRANSLATED."""
    match failure_of(error):
        case "answer":
            return _from_answer(error, call)
        case "auth":
            return AuthError(f"Slack does not renew the bot's token ({call}): reinstall the app and set its new token.")
        case "certificate":
            return Unreachable(
                f"The certificate of what answers for Slack is not trusted ({call}): set slack.ca_file to the"
                " certificate of the company's authority or proxy."
            )
        case "connection":
            return Unreachable(
                f"Slack cannot be reached ({call}: {_named(error)}): check the network and status.slack.com."
            )
        case "garbled":
            return Unreachable(
                f"What answers for Slack does not speak its protocol ({call}: {_named(error)}); check slack.api_url."
            )
        case _:
            return PlatformError(f"The call {call} to Slack cannot be sent: {_named(error)}.")


def _from_answer(error: Exception, call: str) -> PlatformError:
    response: Any = getattr(error, "response", None)
    data = getattr(response, "data", response)
    data = data if isinstance(data, Mapping) else {}
    status = getattr(response, "status_code", None) or getattr(response, "status", None) or 200
    code = str(data.get("error") or "")
    if status == 429 or code in RATE_CODES:
        return RateLimited(f"Slack asks to wait before the next {call}.", _retry_after_s(response))
    if code in AUTH_CODES:
        return AuthError(f"Slack refuses the token ({call}: {code}): {_remedy(code, data)}.")
    if not code or status >= 500 or code in SERVER_CODES:
        return Unreachable(f"Slack failed ({call}: {code or f'status {status}'}); see status.slack.com.")
    remedy = _remedy(code, data)
    return SlackRefusal(f"Slack refused {call}: {code}{f'; {remedy}' if remedy else ''}.", code)


def _remedy(code: str, data: Mapping[str, Any]) -> str:
    return _REMEDIES.get(code, "").format(needed=data.get("needed") or "that it names")


def _retry_after_s(response: Any) -> float:
    headers = getattr(response, "headers", None) or {}
    for name, value in dict(headers).items():
        if str(name).lower() == "retry-after":
            try:
                return max(0.0, float(value))
            except ValueError:
                break
    return DEFAULT_RETRY_AFTER_S


def _named(error: Exception) -> str:
    """Class and first line: longer texts of these libraries repeat whole answers."""
    text = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
