"""Errors of slack-sdk, slack-bolt and aiohttp in the words of bot.errors."""

from __future__ import annotations

import inspect
import json
from types import SimpleNamespace

import aiohttp
import pytest
import slack_bolt.error
import slack_sdk.errors
from slack_sdk.errors import SlackApiError

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.platforms.slack_failures import SlackRefusal, failure_of, translate, translating


def upstream() -> list[type[Exception]]:
    found = []
    for module in (slack_sdk.errors, slack_bolt.error, aiohttp):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Exception) and kind.__module__.split(".")[0] in ("slack_sdk", "slack_bolt", "aiohttp"):
                found.append(kind)
    return found


# Raised by aiohttp's servers, never by its client.
SERVER_SIDE = {
    "WSMessageTypeError",
    "EofStream",
    "BadContentDispositionHeader",
    "BadContentDispositionParam",
    "FormDataError",
}


def test_every_exception_class_of_the_libraries_is_translated():
    table_misses = [
        kind.__name__
        for kind in upstream()
        if failure_of(kind.__new__(kind)) is None and kind.__name__ not in SERVER_SIDE and not issubclass(kind, Warning)
    ]
    assert len(upstream()) > 20
    assert table_misses == []


def answer(
    error: str | None = None, *, status: int = 200, headers: dict | None = None, **more: object
) -> SlackApiError:
    data = {"ok": False, "error": error, **more} if error else {}
    return SlackApiError("failed", SimpleNamespace(data=data, status_code=status, headers=headers or {}))


@pytest.mark.parametrize(
    "code", ["invalid_auth", "token_revoked", "account_inactive", "not_authed", "not_allowed_token_type"]
)
def test_a_token_that_does_not_work_is_an_auth_error(code):
    error = translate(answer(code), "chat.postMessage")
    assert isinstance(error, AuthError)
    assert code in str(error)


def test_a_missing_scope_is_named_with_the_remedy():
    error = translate(
        answer("missing_scope", needed="channels:history", provided="chat:write"), "conversations.history"
    )
    assert isinstance(error, SlackRefusal)
    assert error.code == "missing_scope"
    assert "channels:history" in str(error)
    assert "reinstall" in str(error)


@pytest.mark.parametrize("headers", [{"Retry-After": "7"}, {"retry-after": "7"}])
def test_a_limit_carries_how_long_to_wait(headers):
    error = translate(answer("ratelimited", status=429, headers=headers), "chat.update")
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 7


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "soon"}])
def test_a_limit_without_a_time_has_one_all_the_same(headers):
    assert translate(answer("ratelimited", status=429, headers=headers), "x").retry_after_s > 0


@pytest.mark.parametrize(
    "error",
    [
        answer(status=500), answer(status=503), answer("internal_error"), answer("fatal_error"), TimeoutError(),
        aiohttp.ClientConnectionError("x"), aiohttp.ServerDisconnectedError(), ConnectionResetError(),
        json.JSONDecodeError("x", "", 0),
    ],
)  # fmt: skip
def test_what_may_work_later_is_unreachable(error):
    assert isinstance(translate(error, "chat.postMessage"), Unreachable)


def test_a_refusal_keeps_slacks_word():
    error = translate(answer("not_in_channel"), "chat.postMessage")
    assert isinstance(error, SlackRefusal)
    assert (error.code, "/invite" in str(error)) == ("not_in_channel", True)


def test_errors_are_one_line_and_hold_no_answer_of_slack():
    error = SlackApiError(
        "The request failed.", SimpleNamespace(data={"error": "x_y", "secret": "xoxb-1"}, status_code=200)
    )
    told = str(translate(error, "chat.update"))
    assert "\n" not in told
    assert "xoxb-1" not in told


def test_other_errors_pass_through():
    with pytest.raises(ZeroDivisionError), translating("x"):
        _ = 1 / 0
    with pytest.raises(PlatformError), translating("x"):
        raise OSError("no route")
