"""Servers that rerank, for tests, on 127.0.0.1: each style asks and answers as the server that it stands for.

tei: text-embeddings-inference. llama: llama.cpp. vllm, infinity, cohere: the servers of those names; Jina's has the form
of cohere at /v1. All count the words that question and passage share, and answer best first.
"""

from __future__ import annotations

import json
import math
import re
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.emulators.local_server import LocalServer

Style = Literal["tei", "llama", "vllm", "infinity", "cohere"]
Json = dict[str, Any]
PATHS: dict[Style, tuple[str, ...]] = {
    "tei": ("/rerank",),
    "llama": ("/rerank", "/reranking", "/v1/rerank", "/v1/reranking"),
    "vllm": ("/rerank", "/v1/rerank", "/v2/rerank"),
    "infinity": ("/rerank",),
    "cohere": ("/v1/rerank", "/v2/rerank"),
}
KNOWN_FIELDS: dict[Style, set[str] | None] = {  # None: anything is taken
    "tei": None,
    "llama": None,
    "vllm": None,
    "infinity": {"model", "query", "documents", "top_n", "return_documents", "raw_scores"},
    "cohere": {"model", "query", "documents", "top_n", "max_tokens_per_doc", "priority"},
}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Received:
    path: str
    body: Json
    authorization: str | None


@dataclass(frozen=True)
class Failure:
    """An answer instead of scores; without a status the connection is cut."""

    status: int | None
    body: Any = ""


@dataclass(kw_only=True)
class RerankServer(LocalServer):
    """Use as a context manager: `with RerankServer(style="tei") as server: ... server.url`."""

    style: Style = "tei"
    model: str = "bge-reranker-v2-m3"
    token: str | None = None
    longest_chars: int | None = None  # of question and passage together, where the server does not cut
    failures: deque[Failure] = field(default_factory=deque)
    before_answer: Callable[[], None] = lambda: None
    health: int = 200
    received: list[Received] = field(default_factory=list)
    port: int = 0
    connections: set[socket.socket] = field(default_factory=set)

    def __enter__(self) -> RerankServer:
        server = self

        class Handler(_Handler):
            server_of_tests = server

        self.start(Handler)
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        for connection in list(self.connections):  # those that are kept open would go on being served
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def answer(self, body: Json) -> tuple[int, Any]:
        """Status and answer to a request that is let in."""
        passages = body.get("texts" if self.style == "tei" else "documents", body.get("texts"))
        known = KNOWN_FIELDS[self.style]
        if known is not None and (unknown := body.keys() - known):
            return 422, {"detail": [{"loc": ["body", sorted(unknown)[0]], "msg": "Extra inputs are not permitted"}]}
        if not isinstance(passages, list) or not passages or not isinstance(body.get("query"), str):
            return self._not_understood()
        if self.style in ("vllm", "cohere", "infinity") and body.get("model", self.model) != self.model:
            return 404, {"error": {"message": f"The model `{body['model']}` does not exist.", "type": "NotFoundError"}}
        if self.style == "cohere" and "model" not in body:
            return 400, {"message": "model is required"}
        if self.style == "tei" and len(passages) > 32:
            return 413, {
                "error": f"batch size {len(passages)} > maximum allowed batch size 32",
                "error_type": "Validation",
            }
        if self.longest_chars is not None and max(len(body["query"] + p) for p in passages) > self.longest_chars:
            return self._too_long(body)
        return 200, self._ranked(body, passages)

    def _not_understood(self) -> tuple[int, Any]:
        if self.style == "llama":
            return 400, {"error": {"code": 400, "message": '"documents" must be a non-empty string array'}}
        if self.style == "tei":
            return 422, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1"
        return 422, {"detail": [{"loc": ["body", "documents"], "msg": "Field required"}]}

    def _too_long(self, body: Json) -> tuple[int, Any]:
        if self.style == "tei" and body.get("truncate"):
            return 200, self._ranked(body, [text[: self.longest_chars] for text in body["texts"]])
        if self.style == "tei":
            return 413, {"error": "`inputs` must have less than 512 tokens. Given: 1730", "error_type": "Validation"}
        if self.style == "llama":
            words = "input is too large to process. increase the physical batch size"
            return 500, {"error": {"code": 500, "message": words, "type": "server_error"}}
        words = "This model's maximum context length is 512 tokens. However, you requested 1730 tokens"
        return 400, {"error": {"message": words, "type": "BadRequestError", "code": 400}}

    def _ranked(self, body: Json, passages: list[str]) -> Any:
        words = set(_WORD.findall(body["query"].lower()))
        raw = [float(len(words & set(_WORD.findall(passage.lower())))) * 2.0 - 5.0 for passage in passages]
        as_raw = self.style == "llama" or body.get("raw_scores", False)
        scores = raw if as_raw else [1.0 / (1.0 + math.exp(-score)) for score in raw]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        if self.style == "tei":
            return [{"index": place, "score": scores[place]} for place in order]
        results = [{"index": place, "relevance_score": scores[place]} for place in order[: body.get("top_n")]]
        if self.style == "vllm":
            results = [{**result, "document": {"text": passages[result["index"]]}} for result in results]
        return {"id": "rerank-1", "model": self.model, "results": results, "usage": {"total_tokens": 1}}


class _Handler(BaseHTTPRequestHandler):
    server_of_tests: RerankServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server_of_tests.connections.add(self.connection)

    def finish(self) -> None:
        self.server_of_tests.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests read `received`."""

    def do_GET(self) -> None:
        self._answer(self.server_of_tests.health if self.path == "/health" else 404, "")

    def do_POST(self) -> None:
        server = self.server_of_tests
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        authorization = self.headers.get("Authorization")
        server.received.append(Received(self.path, body, authorization))
        server.before_answer()
        if server.token is not None and authorization != f"Bearer {server.token}":
            self._answer(401, {"error": "unauthorized"})
        elif self.path not in PATHS[server.style]:
            self._answer(404, {"detail": "Not Found"})
        elif server.failures:
            failure = server.failures.popleft()
            if failure.status is None:
                self.close_connection = True
                self.connection.close()
            else:
                self._answer(failure.status, failure.body)
        else:
            self._answer(*server.answer(body))

    def _answer(self, status: int, answer: Any) -> None:
        content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
