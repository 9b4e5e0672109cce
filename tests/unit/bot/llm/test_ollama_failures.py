"""Every exception of the client libraries has its words; a new one upstream fails here first."""

from __future__ import annotations

import httpx
import ollama
import pytest

from bot.errors import ModelError, ModelNotInstalled, ModelTimeout, ModelUnavailable
from bot.llm.ollama_failures import Caller, failure_of, translate

CALLER = Caller(model="qwen3:8b", url="http://127.0.0.1:11434")
# Roots that are never raised themselves; what is below them has rows of its own.
ROOTS = {httpx.HTTPError, httpx.RequestError, httpx.TransportError}


def upstream() -> list[type[Exception]]:
    return [
        found
        for module in (httpx, ollama)
        for found in (getattr(module, name) for name in dir(module))
        if isinstance(found, type) and issubclass(found, Exception) and found not in ROOTS
    ]


@pytest.mark.parametrize("kind", upstream(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_upstream_exception_is_translated(kind):
    error = kind.__new__(kind)  # constructors differ; the class alone decides the row
    error.args = ("what happened",)
    error.error, error.status_code = "what happened", 500
    assert failure_of(error) is not None
    translated = translate(error, CALLER)
    assert isinstance(translated, ModelError)
    assert CALLER.url in str(translated)


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (
            ollama.ResponseError('{"error":"model \\"x\\" not found, try pulling it first"}', 404),
            ModelNotInstalled,
            "pull",
        ),
        (ollama.ResponseError("404 page not found", 404), ModelUnavailable, "no Ollama interface"),
        (ollama.ResponseError("runner stopped", -1), ModelUnavailable, "in the middle of a reply"),
        (ollama.ResponseError("", 502), ModelUnavailable, "status 502"),
        (httpx.ReadTimeout("x"), ModelTimeout, "in time"),
        (httpx.ConnectTimeout("x"), ModelTimeout, "in time"),
        (httpx.ConnectError("x"), ModelUnavailable, "start it"),
        (ConnectionError("x"), ModelUnavailable, "start it"),
    ],
)
def test_a_failure_says_what_to_do(error, expected, words):
    translated = translate(error, CALLER)
    assert type(translated) is expected
    assert words in str(translated)
