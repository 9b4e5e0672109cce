"""Every exception of the client libraries has its words; a new one upstream fails here first."""

from __future__ import annotations

import httpx
import ollama
import pytest

from knowledge.embed.ollama_failures import Caller, TooLong, failure_of, translate
from knowledge.errors import BadInput, KnowledgeError, ModelMissing, ToolDown

CALLER = Caller(model="bge-m3", url="http://127.0.0.1:11434")
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
    assert isinstance(translated, KnowledgeError)
    assert CALLER.url in str(translated)


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (ollama.ResponseError("model 'bge-m3' not found", 404), ModelMissing, "ollama pull bge-m3"),
        (ollama.ResponseError("404 page not found", 404), ToolDown, "no Ollama interface"),
        (ollama.ResponseError("input length exceeds maximum context length", 400), TooLong, "exceeds"),
        (ollama.ResponseError("the input length exceeds the context length", 400), TooLong, "exceeds"),
        (ollama.ResponseError("input is too large to process", 500), TooLong, "too large"),
        (ollama.ResponseError("invalid input type", 400), BadInput, "invalid input type"),
        (ollama.ResponseError("slow down", 429), ToolDown, "429"),
        (ollama.ResponseError("", 502), ToolDown, "502"),
        (httpx.ReadTimeout("x"), ToolDown, "in time"),
        (httpx.ConnectError("x"), ToolDown, "start it"),
        (ConnectionError("x"), ToolDown, "start it"),
        (httpx.UnsupportedProtocol("x"), BadInput, "correct the address"),
    ],
)
def test_a_failure_says_what_to_do(error, expected, words):
    translated = translate(error, CALLER)
    assert type(translated) is expected
    assert words in str(translated)
