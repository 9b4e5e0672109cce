"""What the ollama client and httpx raise, in the words of `knowledge.errors`: one table, complete by a test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import httpx
import ollama
import pydantic

from knowledge.errors import BadInput, KnowledgeError, ModelMissing, ToolDown

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

# Trying once more at once may help: a kept connection that the server has closed, or its queue was full.
_PASSING_STATUS = 503
_PASSING: tuple[type[Exception], ...] = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


class TooLong(BadInput):
    """The server refused a text because it does not fit into the model's window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asked whom; every message names both."""

    model: str
    url: str


def failure_of(error: Exception) -> Failure | None:
    """The row of the table for an exception; None when no row covers it."""
    return next((failure for kind, failure in FAILURES if isinstance(error, kind)), None)


def is_passing(error: Exception) -> bool:
    """Whether the same request may succeed when it is sent again at once."""
    return isinstance(error, _PASSING) or getattr(error, "status_code", None) == _PASSING_STATUS


def translate(error: Exception, caller: Caller) -> KnowledgeError:
    """The error to raise in place of `error`; `error` must be an instance of a class in TRANSLATED."""
    match failure_of(error):
        case "status":
            return _from_status(error, caller)
        case "timeout":
            return ToolDown(
                f"Ollama at {caller.url} did not answer in time ({caller.model}): check its load and its log"
            )
        case "connection":
            return ToolDown(
                f"Ollama at {caller.url} cannot be reached: start it, or correct the address in the settings"
            )
        case "request":
            return BadInput(f"The request to Ollama at {caller.url} cannot be sent ({error}): correct the address")
        case _:
            return ToolDown(f"What answers at {caller.url} does not speak Ollama's protocol ({type(error).__name__})")


def missing_model(caller: Caller) -> ModelMissing:
    """The error for a model that the server does not have, with the command that brings it."""
    return ModelMissing(
        f"Ollama at {caller.url} does not have the model {caller.model}: run `ollama pull {caller.model}`"
    )


def _from_status(error: Exception, caller: Caller) -> KnowledgeError:
    status = getattr(error, "status_code", -1)
    words = str(getattr(error, "error", error)).strip()
    about = f"{caller.model} at {caller.url}"
    if status == 404 and "not found" in words and "page not found" not in words:
        return missing_model(caller)
    if status == 404:
        return ToolDown(f"What answers at {caller.url} has no Ollama interface: correct the address, or update Ollama")
    if _says_too_long(words) and status in (400, 413, 500):
        return TooLong(f"{about}: {words}")
    if 400 <= status < 500 and status not in (408, 429):
        return BadInput(f"{about} rejected the request: {words}")
    return ToolDown(f"{about} failed with status {status}: {words or 'no reason given'}")


def _says_too_long(words: str) -> bool:
    lowered = words.lower()
    return "context length" in lowered or "input length" in lowered or "too large to process" in lowered
