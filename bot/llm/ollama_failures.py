"""What the ollama client and httpx raise, in the words of `bot.errors`: one table, complete by a test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import httpx
import ollama
import pydantic

from bot.errors import ModelError, ModelNotInstalled, ModelTimeout, ModelUnavailable

Failure = Literal["status", "timeout", "connection", "garbled", "request"]

# Looked up from the top; a class stands for its subclasses too.
FAILURES: tuple[tuple[type[Exception], Failure], ...] = (
    (ollama.ResponseError, "status"),
    (ollama.RequestError, "request"),
    (httpx.HTTPStatusError, "status"),
    (httpx.TimeoutException, "timeout"),
    (httpx.NetworkError, "connection"),
    (httpx.ProtocolError, "connection"),
    (httpx.ProxyError, "connection"),
    (httpx.UnsupportedProtocol, "request"),
    (httpx.InvalidURL, "request"),
    (httpx.TooManyRedirects, "garbled"),
    (httpx.DecodingError, "garbled"),
    (httpx.StreamError, "garbled"),
    (httpx.CookieConflict, "garbled"),
    (json.JSONDecodeError, "garbled"),
    (pydantic.ValidationError, "garbled"),
    (ConnectionError, "connection"),
)
TRANSLATED: tuple[type[Exception], ...] = tuple(kind for kind, _ in FAILURES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asked whom; every message names both. `server` says what kind of server it is."""

    model: str
    url: str
    server: str = "Ollama"


def failure_of(error: Exception) -> Failure | None:
    """The row of the table for an exception; None when no row covers it."""
    return next((failure for kind, failure in FAILURES if isinstance(error, kind)), None)


def translate(error: Exception, caller: Caller) -> ModelError:
    """The error to raise in place of `error`; `error` must be an instance of a class in TRANSLATED."""
    match failure_of(error):
        case "status":
            return _from_status(error, caller)
        case "timeout":
            return ModelTimeout(
                f"{caller.server} at {caller.url} did not answer in time ({caller.model}): check its load"
            )
        case "connection":
            return ModelUnavailable(
                f"The connection to {caller.server} at {caller.url} failed or broke off: start it, check its log, "
                "or correct the address in the settings"
            )
        case "request":
            return ModelUnavailable(
                f"The request to {caller.server} at {caller.url} cannot be sent ({error}): correct the address"
            )
        case _:
            return ModelUnavailable(
                f"What answers at {caller.url} does not speak the protocol of {caller.server} ({type(error).__name__})"
            )


def _from_status(error: Exception, caller: Caller) -> ModelError:
    status = getattr(error, "status_code", -1)  # -1: an error line inside a stream
    words = str(getattr(error, "error", error)).strip()
    if status == 404 and "not found" in words and "page not found" not in words:
        return ModelNotInstalled(
            f"Ollama at {caller.url} does not have the model {caller.model}: run `ollama pull {caller.model}`"
        )
    if status == 404:
        return ModelUnavailable(f"What answers at {caller.url} has no Ollama interface: correct the address")
    where = "in the middle of a reply" if status == -1 else f"with status {status}"
    return ModelUnavailable(f"{caller.model} at {caller.url} failed {where}: {words or 'no reason given'}")
