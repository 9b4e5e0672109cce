"""The emulated Ollama answers every recorded request with the recorded status, content type, and shape of the body."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.emulators.ollama import EmbeddingModel, LanguageModel, OllamaEmulator, Script

RECORDED = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "ollama" / "recorded-0.9.6.json").read_text(encoding="utf-8")
)
# Keys whose own keys depend on the model, not on the protocol.
FREE_FORM = {"model_info", "tensors"}
# Left out by the server when it is zero, or given only once a model was loaded.
LEFT_OUT_WHEN_ZERO = {"prompt_eval_count", "load_duration"}


@pytest.fixture(scope="module")
def server():
    models = [EmbeddingModel(name="minilm", dim=384, window_tokens=512), LanguageModel(name="tinygemma")]
    with OllamaEmulator(models=models) as emulator:
        yield emulator


def shape(value: Any, key: str = "") -> Any:
    if key in FREE_FORM:
        return "free form"
    if isinstance(value, dict):
        return {k: shape(v, k) for k, v in value.items() if k not in LEFT_OUT_WHEN_ZERO}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


def request_body(recorded: dict[str, Any]) -> Any:
    body = recorded["json"]
    if "too long" in recorded["note"]:  # the recording holds only the beginning of this text
        return body | {"input": ["word " * 600]}
    if "longer than num_ctx" in recorded["note"]:
        return body | {"messages": [{"role": "user", "content": "alpha " * 400}]}
    return body


@pytest.mark.parametrize("recorded", RECORDED, ids=[f"{r['note']} {n}" for n, r in enumerate(RECORDED)])
def test_the_emulator_answers_as_the_recorded_server_did(server, recorded):
    server.scripts.clear()
    answer = httpx.request(recorded["method"], server.url + recorded["path"], json=request_body(recorded), timeout=60)

    assert answer.status_code == recorded["status"]
    assert answer.headers["content-type"] == recorded["content_type"]
    lines = [line for line in recorded["lines"] if isinstance(line, dict)]
    if not lines:
        assert answer.text == recorded["lines"][0]
        return
    given = [json.loads(line) for line in answer.text.splitlines()]
    if recorded["path"] == "/api/ps" and not lines[0]["models"]:
        assert set(given[0]) == {"models"}
        return
    assert shape(given[0]) == shape(lines[0])
    assert shape(given[-1]) == shape(lines[-1])


def test_a_prompt_longer_than_the_window_is_counted_as_the_window_and_nothing_else_tells(server):
    recorded = next(r for r in RECORDED if "longer than num_ctx" in r["note"])
    answer = httpx.post(server.url + "/api/chat", json=request_body(recorded), timeout=60).json()
    assert answer["prompt_eval_count"] == recorded["lines"][-1]["prompt_eval_count"] == 256


def test_the_recorded_words_for_a_missing_model_and_for_a_long_text_are_used(server):
    missing = httpx.post(server.url + "/api/embed", json={"model": "nope", "input": ["x"]}, timeout=60)
    assert missing.json() in [r["lines"][0] for r in RECORDED if r["note"] == "embed with a missing model"]
    body = {"model": "minilm", "input": ["word " * 600], "truncate": False}
    too_long = httpx.post(server.url + "/api/embed", json=body, timeout=60)
    assert too_long.json() in [r["lines"][0] for r in RECORDED if r["note"] == "embed, too long, truncate false"]


def test_an_error_inside_a_stream_is_a_line_of_its_own(server):
    server.scripts.append(Script(pieces=("a",), error="runner stopped"))
    body = {"model": "tinygemma", "messages": [{"role": "user", "content": "x"}]}
    answer = httpx.post(server.url + "/api/chat", json=body, timeout=60)
    assert json.loads(answer.text.splitlines()[-1]) == {"error": "runner stopped"}


def test_a_dropped_connection_is_seen_as_one(server):
    server.scripts.append(Script(pieces=("a",), drops=True))
    body = {"model": "tinygemma", "messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(server.url + "/api/chat", json=body, timeout=60)
