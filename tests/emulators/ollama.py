"""An Ollama server for tests: answers as a recorded Ollama 0.9.6 does, on 127.0.0.1, and fails as it is told.

It runs in a thread of the test process. Models are declared (`EmbeddingModel`, `LanguageModel`); what a language model
says comes from `Script`s, one a chat request. tests/contract/test_ollama_emulator.py replays the recording against it.
"""

from __future__ import annotations

import hashlib
import json
import math
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.emulators.local_server import LocalServer

Json = dict[str, Any]

JSON_TYPE = "application/json; charset=utf-8"
DEFAULT_NUM_CTX = 4096


@dataclass(frozen=True, kw_only=True)
class EmbeddingModel:
    name: str
    dim: int = 384
    window_tokens: int = 512
    family: str = "bert"
    capability: str = "embedding"


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    name: str
    window_tokens: int = 32768
    family: str = "gemma3"
    capability: str = "completion"


@dataclass(frozen=True, kw_only=True)
class Script:
    """What a language model says in one request, and what goes wrong meanwhile."""

    pieces: tuple[str, ...] = ("Hello", ".")
    thinking: tuple[str, ...] = ()
    done_reason: str = "stop"
    prompt_eval_count: int | None = None  # None: as counted
    error: str | None = None  # a line of its own after the pieces, instead of the last one
    breaks_off: bool = False  # the stream ends in order, but without `done: true`
    drops: bool = False  # the connection is cut in the middle of the stream
    hold_before_first: threading.Event | None = None  # nothing is said until the event is set
    hold_before_last: threading.Event | None = None


@dataclass(frozen=True, kw_only=True)
class Received:
    method: str
    path: str
    body: Json


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An answer in place of the real one; `status=None` closes the connection without an answer."""

    status: int | None
    error: str = ""


def count_tokens(text: str) -> int:
    """White space separates tokens, and a word of more than four characters is several."""
    return sum(math.ceil(len(word) / 4) for word in text.split())


def hashed_vector(text: str, dim: int) -> list[float]:
    """Unit length, equal for equal texts, and nearer for texts that share words."""
    numbers = [0.001] * dim
    for word in text.split():
        place = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest(), "big")
        numbers[place % dim] += 1.0
    norm = math.sqrt(sum(number * number for number in numbers))
    return [round(number / norm, 8) for number in numbers]


@dataclass(kw_only=True)
class OllamaEmulator(LocalServer):
    """Use as a context manager: `with OllamaEmulator(models=[...]) as server: ... server.url`."""

    models: list[EmbeddingModel | LanguageModel] = field(default_factory=list)
    scripts: deque[Script] = field(default_factory=deque)
    failures: deque[Failure] = field(default_factory=deque)  # one for each of the next requests for a model
    vector: Callable[[str, int], list[float]] = hashed_vector
    received: list[Received] = field(default_factory=list)
    most_at_once: int = 0  # chat requests that were being answered at the same time
    port: int = 0

    def __enter__(self) -> OllamaEmulator:
        emulator = self

        class Handler(_Handler):
            server_of_tests = emulator

        self._chats = 0
        self._lock = threading.Lock()
        self.start(Handler)
        return self

    def requests(self, path: str) -> list[Json]:
        return [request.body for request in self.received if request.path == path]

    def find(self, name: str) -> EmbeddingModel | LanguageModel | None:
        wanted = name if ":" in name else f"{name}:latest"
        return next((model for model in self.models if _tagged(model.name) == wanted), None)

    def chat_began(self) -> None:
        with self._lock:
            self._chats += 1
            self.most_at_once = max(self.most_at_once, self._chats)

    def chat_ended(self) -> None:
        with self._lock:
            self._chats -= 1


def unused_url() -> str:
    """An address on this machine where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class _Handler(BaseHTTPRequestHandler):
    server_of_tests: OllamaEmulator
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests read `received`."""

    def do_GET(self) -> None:
        self.server_of_tests.received.append(Received(method="GET", path=self.path, body={}))
        models = self.server_of_tests.models
        match self.path:
            case "/api/version":
                self._answer(200, {"version": "0.9.6"})
            case "/api/tags":
                self._answer(200, {"models": [_tag_entry(model) for model in models]})
            case "/api/ps":
                self._answer(200, {"models": [_running_entry(model) for model in models]})
            case _:
                self._not_found()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            self._answer(400, {"error": "invalid character in the request"})
            return
        self.server_of_tests.received.append(Received(method="POST", path=self.path, body=body))
        answer = {"/api/show": self._show, "/api/embed": self._embed, "/api/chat": self._chat, "/api/pull": self._pull}
        if self.path not in answer:
            self._not_found()
            return
        if self.server_of_tests.failures and self.path in ("/api/embed", "/api/chat"):
            failure = self.server_of_tests.failures.popleft()
            if failure.status is None:
                self._cut()
            else:
                self._answer(failure.status, {"error": failure.error})
            return
        answer[self.path](body)

    def _pull(self, body: Json) -> None:
        self._answer(500, {"error": f"pull model manifest: {body.get('model')}: no such host"}, kind="application/json")

    def _show(self, body: Json) -> None:
        model = self.server_of_tests.find(body.get("model", ""))
        if model is None:
            self._answer(404, {"error": f"model '{body.get('model')}' not found"})
        else:
            self._answer(200, _shown(model))

    def _embed(self, body: Json) -> None:
        model = self.server_of_tests.find(body.get("model", ""))
        if model is None:
            self._answer(404, {"error": f'model "{body.get("model")}" not found, try pulling it first'})
            return
        texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input", [])
        if not texts:
            self._answer(200, {"model": body["model"], "embeddings": []})
            return
        asked = (body.get("options") or {}).get("num_ctx", model.window_tokens)
        window = min(asked, model.window_tokens)
        counts = [count_tokens(text) for text in texts]
        if body.get("truncate") is False and max(counts) > window:
            self._answer(400, {"error": "input length exceeds maximum context length"})
            return
        dim = model.dim if isinstance(model, EmbeddingModel) else 640
        answer: Json = {
            "model": body["model"],
            "embeddings": [self.server_of_tests.vector(text, dim) for text in texts],
            "total_duration": 22198659,
            "load_duration": 5012278,
        }
        if any(counts):
            answer["prompt_eval_count"] = sum(min(count, window) for count in counts)
        self._answer(200, answer)

    def _chat(self, body: Json) -> None:
        if not isinstance(body.get("messages", []), list):
            text = "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message"
            self._answer(400, {"error": text})
            return
        model = self.server_of_tests.find(body.get("model", ""))
        if model is None:
            self._answer(404, {"error": f'model "{body.get("model")}" not found, try pulling it first'})
            return
        for key, ability in (("tools", "tools"), ("think", "thinking")):
            if body.get(key):
                self._answer(400, {"error": f"registry/library/{_tagged(model.name)} does not support {ability}"})
                return
        if not body.get("messages"):
            self._answer(200, _line(body["model"], "", done_reason="load", done=True))
            return
        self.server_of_tests.chat_began()
        try:
            self._say(body, self.server_of_tests.scripts.popleft() if self.server_of_tests.scripts else Script())
        finally:
            self.server_of_tests.chat_ended()

    def _say(self, body: Json, script: Script) -> None:
        if script.hold_before_first is not None:
            script.hold_before_first.wait(timeout=30)
        if body.get("stream") is False:
            last = _last_line(body, script, content="".join(script.pieces))
            self._answer(500, {"error": script.error}) if script.error else self._answer(200, last)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in _spoken_lines(body, script):
                self._chunk(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            if script.drops:
                self._cut()
            else:
                self._chunk(b"")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _not_found(self) -> None:
        self._send(404, b"404 page not found", "text/plain")

    def _answer(self, status: int, body: Json, *, kind: str = JSON_TYPE) -> None:
        self._send(status, json.dumps(body, ensure_ascii=False).encode(), kind)

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _spoken_lines(body: Json, script: Script) -> Iterator[Json]:
    for thought in script.thinking:
        line = _line(body["model"], "", done=False)
        line["message"]["thinking"] = thought
        yield line
    for piece in script.pieces:
        yield _line(body["model"], piece, done=False)
    if script.hold_before_last is not None:
        script.hold_before_last.wait(timeout=30)
    if script.error is not None:
        yield {"error": script.error}
    elif not (script.breaks_off or script.drops):
        yield _last_line(body, script, content="")


def _line(model: str, content: str, **more: object) -> Json:
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return {"model": model, "created_at": now, "message": {"role": "assistant", "content": content}, **more}


def _last_line(body: Json, script: Script, *, content: str) -> Json:
    options = body.get("options") or {}
    prompt = sum(count_tokens(message.get("content", "")) for message in body["messages"])
    counted = min(prompt, options.get("num_ctx", DEFAULT_NUM_CTX))
    return _line(
        body["model"],
        content,
        done_reason=script.done_reason,
        done=True,
        total_duration=1227456619,
        load_duration=643305483,
        prompt_eval_count=counted if script.prompt_eval_count is None else script.prompt_eval_count,
        prompt_eval_duration=182180044,
        eval_count=len(script.pieces),
        eval_duration=401455685,
    )


def _tagged(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _digest(model: EmbeddingModel | LanguageModel) -> str:
    return hashlib.sha256(repr(model).encode()).hexdigest()


def _details(model: EmbeddingModel | LanguageModel) -> Json:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family],
        "parameter_size": "22.57M",
        "quantization_level": "F16",
    }


def _tag_entry(model: EmbeddingModel | LanguageModel) -> Json:
    return {
        "name": _tagged(model.name),
        "model": _tagged(model.name),
        "modified_at": "2026-11-29T22:52:28.253628784Z",
        "size": 45949638,
        "digest": _digest(model),
        "details": _details(model),
    }


def _running_entry(model: EmbeddingModel | LanguageModel) -> Json:
    entry = {key: value for key, value in _tag_entry(model).items() if key != "modified_at"}
    return entry | {"expires_at": "2026-11-29T23:35:12.216084957Z", "size_vram": 0}


def _shown(model: EmbeddingModel | LanguageModel) -> Json:
    return {
        "modelfile": f"FROM {_tagged(model.name)}\n",
        "parameters": "num_ctx                        1024",
        "template": "{{ .Prompt }}",
        "details": _details(model),
        "model_info": {
            "general.architecture": model.family,
            "general.parameter_count": 22568064,
            f"{model.family}.context_length": model.window_tokens,
        },
        "tensors": [{"name": "output_norm.weight", "type": "F32", "shape": [640]}],
        "capabilities": [model.capability],
        "modified_at": "2026-11-29T22:52:28.253628784Z",
    }
