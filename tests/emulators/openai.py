"""A server that speaks OpenAI's chat completions for tests, on 127.0.0.1, and fails as it is told.

The form of the events is that of the API reference: chunks with `choices[0].delta`, a `finish_reason`, a usage chunk
without choices, then `[DONE]`.
"""

from __future__ import annotations

import json
import socket
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.emulators.local_server import LocalServer
from tests.emulators.ollama import Failure, Received, Script, count_tokens

Json = dict[str, Any]


@dataclass(kw_only=True)
class OpenAIEmulator(LocalServer):
    """Use as a context manager: `with OpenAIEmulator(models=["small"]) as server: ... server.url`."""

    models: list[str] = field(default_factory=list)
    scripts: deque[Script] = field(default_factory=deque)
    failures: deque[Failure] = field(default_factory=deque)
    received: list[Received] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    api_key: str | None = None
    refuses: dict[str, str] = field(default_factory=dict)  # field of a request -> the words of the refusal
    raw: deque[tuple[str, str]] = field(default_factory=deque)  # media type and body of whole answers
    port: int = 0

    def __enter__(self) -> OpenAIEmulator:
        emulator = self

        class Handler(_Handler):
            server_of_tests = emulator

        self.start(Handler)
        return self

    def requests(self) -> list[Json]:
        return [request.body for request in self.received if request.path == "/v1/chat/completions"]


class _Handler(BaseHTTPRequestHandler):
    server_of_tests: OpenAIEmulator
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests read `received`."""

    def do_GET(self) -> None:
        if self._refused():
            return
        if self.path == "/v1/models":
            names = [{"id": name, "object": "model"} for name in self.server_of_tests.models]
            self._answer(200, {"object": "list", "data": names})
        else:
            self._answer(404, {"error": {"message": f"no such route {self.path}"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server_of_tests.received.append(Received(method="POST", path=self.path, body=body))
        self.server_of_tests.keys.append(self.headers.get("Authorization"))
        if self._refused():
            return
        if self.path != "/v1/chat/completions":
            self._answer(404, {"error": {"message": f"no such route {self.path}"}})
            return
        if self.server_of_tests.failures:
            failure = self.server_of_tests.failures.popleft()
            if failure.status is None:
                self._cut()
            else:
                self._answer(failure.status, {"error": {"message": failure.error}})
            return
        if refusal := next((w for name, w in self.server_of_tests.refuses.items() if name in body), None):
            self._answer(400, {"error": {"message": refusal, "type": "invalid_request_error"}})
            return
        if self.server_of_tests.raw:
            media_type, text = self.server_of_tests.raw.popleft()
            self._give(200, media_type, text.encode())
            return
        if body["model"] not in self.server_of_tests.models:
            words = f"The model `{body['model']}` does not exist"
            self._answer(404, {"error": {"message": words, "code": "model_not_found"}})
            return
        scripts = self.server_of_tests.scripts
        self._say(body, scripts.popleft() if scripts else Script())

    def _refused(self) -> bool:
        wanted = self.server_of_tests.api_key
        if wanted is None or self.headers.get("Authorization") == f"Bearer {wanted}":
            return False
        self._answer(401, {"error": {"message": "Incorrect API key provided"}})
        return True

    def _say(self, body: Json, script: Script) -> None:
        if script.hold_before_first is not None:
            script.hold_before_first.wait(timeout=30)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self._event(body, {"role": "assistant", "content": ""})
            for thought in script.thinking:
                self._event(body, {"reasoning_content": thought})
            for piece in script.pieces:
                self._event(body, {"content": piece})
            if script.hold_before_last is not None:
                script.hold_before_last.wait(timeout=30)
            self._end(body, script)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _end(self, body: Json, script: Script) -> None:
        if script.drops:
            self._cut()
            return
        if script.error is not None:
            self._data(json.dumps({"error": {"message": script.error}}))
        elif not script.breaks_off:
            self._event(body, {}, script.done_reason)
            prompt = sum(count_tokens(message["content"]) for message in body["messages"])
            usage = {"prompt_tokens": prompt if script.prompt_eval_count is None else script.prompt_eval_count}
            if (body.get("stream_options") or {}).get("include_usage"):
                self._data(json.dumps({"choices": [], "usage": usage}))
            self._data("[DONE]")
        self._chunk(b"")

    def _event(self, body: Json, delta: Json, reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        self._data(json.dumps({"model": body["model"], "choices": [choice]}, ensure_ascii=False))

    def _data(self, data: str) -> None:
        self._chunk(f"data: {data}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, status: int, body: Json) -> None:
        self._give(status, "application/json", json.dumps(body).encode())

    def _give(self, status: int, media_type: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
