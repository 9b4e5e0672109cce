"""A reranker behind an address: text-embeddings-inference, llama.cpp, vLLM, Infinity, Jina, Cohere and the like."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from knowledge.embed.text import embeddable
from knowledge.errors import KnowledgeError, ModelMissing, ToolDown
from knowledge.masking import mask
from knowledge.rerank.http_forms import Form, UnknownAnswer, body_of, forms_of, reason_of, scores_of

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_CONNECT_TIMEOUT_S = 3.0
_AT_ONCE = 32  # passages: what text-embeddings-inference takes by default
_CHARS_PER_TOKEN = 4  # at most, on average: longer texts are cut before they are sent
_SHORTEST_CHARS = 200  # a passage this short that is still "too long" is a fault of the server
_QUESTION_SHARE = 2
_MOST_ANSWER_BYTES = 4_000_000
_MOST_ERROR_CHARS = 300
_NOT_UNDERSTOOD = frozenset({404, 405, 422})  # another form may be
_PASSING = frozenset({502, 503, 504})
_BROKEN: tuple[type[httpx.TransportError], ...] = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
_PROBE = "probe"


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    text: str


class HttpReranker:
    """Reranker port over HTTP. Thread-safe.

    Which form the server speaks is found out at its first use. A request is sent a second time when the connection
    broke or the server was restarting: asking twice changes nothing.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        token: Callable[[], str | None] = lambda: None,
        max_tokens: int = 256,
        timeout_s: float = 5.0,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`token` is asked for each request, so that one that was replaced in its file is used."""
        self.name = model or (urlsplit(url).hostname or url)
        self._url = url
        self._model = model
        self._token = token
        self._most_chars = max_tokens * _CHARS_PER_TOKEN
        self._timeout_s = timeout_s
        self._now_s = monotonic_s
        self._form: Form | None = None
        self._client: httpx.Client | None = None
        self._opening = threading.Lock()
        self._trouble: KnowledgeError | None = None
        self._is_known = False  # whether it has ever answered
        self._took_ms: float | None = None

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One number a passage, higher is better. Raises ToolDown, ModelMissing; all within `timeout_s`."""
        started_s = self._now_s()
        scores: list[float] = []
        try:
            for start in range(0, len(passages), _AT_ONCE):
                scores += self._scores(query, passages[start : start + _AT_ONCE], started_s + self._timeout_s)
        except (ToolDown, ModelMissing) as error:
            self._trouble = error
            raise
        if passages:
            self._trouble, self._is_known = None, True
            self._took_ms = (self._now_s() - started_s) * 1000
        return scores

    def check(self) -> str:
        """Which server it is, and how long the last search took. Asks it to score one word when that is not known to
        work, else only whether it is there. Raises ToolDown, ModelMissing."""
        if self._trouble is not None or not self._is_known:
            took_ms = self._took_ms
            self.score(_PROBE, [_PROBE])
            self._took_ms = took_ms  # one word says nothing about searches
        else:
            reply = self._sent_twice(httpx.Request("GET", self._address_of_health()), self._now_s() + self._timeout_s)
            if reply.status >= 500:  # whatever else it answers, it is there
                raise self._refused(reply)
        took = "" if self._took_ms is None else f", last time {self._took_ms:.0f} ms"
        return f"{self._about()}{took}"

    def warm_up(self) -> None:
        """Finds out which form the server speaks. Raises ToolDown, ModelMissing."""
        self.check()

    def close(self) -> None:
        """Releases connections; the next use opens new ones."""
        with self._opening:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _scores(self, query: str, passages: Sequence[str], ends_at_s: float) -> list[float]:
        """Scores of a few passages, which are cut shorter for as long as the server finds them too long."""
        while True:
            most = self._most_chars
            question = embeddable(query[: most // _QUESTION_SHARE])
            reply = self._ask(question, [embeddable(passage[:most]) for passage in passages], ends_at_s)
            if reply.status < 300:
                return self._read(reply, len(passages))
            if not _says_too_long(reply) or most <= _SHORTEST_CHARS:
                raise self._refused(reply)
            self._most_chars = min(self._most_chars, max(_SHORTEST_CHARS, most // 2))

    def _ask(self, question: str, passages: Sequence[str], ends_at_s: float) -> _Reply:
        """The reply in the form that the server is known to speak, or in the first one that it understands."""
        if (known := self._form) is not None:
            reply = self._post(known, question, passages, ends_at_s)
            if reply.status not in _NOT_UNDERSTOOD or _says_too_long(reply):
                return reply
            self._form = None  # another server may stand there now
        replies: list[_Reply] = []
        for form in forms_of(self._url):
            reply = self._post(form, question, passages, ends_at_s)
            if reply.status not in _NOT_UNDERSTOOD or _says_too_long(reply):
                if reply.status < 300:
                    self._form = form
                return reply
            replies.append(reply)
        return next((reply for reply in replies if reply.status != 404), replies[0])

    def _post(self, form: Form, question: str, passages: Sequence[str], ends_at_s: float) -> _Reply:
        body = body_of(form, model=self._model, query=question, passages=passages)
        token = self._token()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = httpx.Request("POST", form.url, json=body, headers=headers)
        return self._sent_twice(request, ends_at_s)

    def _sent_twice(self, request: httpx.Request, ends_at_s: float) -> _Reply:
        """The reply; the request is sent a second time when it may succeed at once. Raises ToolDown."""
        try:
            reply = self._send(request, ends_at_s)
        except _Broken:
            return self._send(request, ends_at_s, is_last=True)
        return self._send(request, ends_at_s, is_last=True) if reply.status in _PASSING else reply

    def _send(self, request: httpx.Request, ends_at_s: float, *, is_last: bool = False) -> _Reply:
        """One request and its reply, all within the time that is left. Raises _Broken unless it `is_last`, ToolDown."""
        left_s = ends_at_s - self._now_s()
        if left_s <= 0.0:
            raise self._too_slow()
        timeout = httpx.Timeout(left_s, connect=min(left_s, _CONNECT_TIMEOUT_S))
        request.extensions["timeout"] = timeout.as_dict()
        try:
            answer = self._connected().send(request, stream=True)
            try:
                return _Reply(answer.status_code, self._whole_text(answer, ends_at_s))
            finally:
                answer.close()
        except httpx.TimeoutException as error:
            raise self._too_slow() from error
        except _BROKEN as error:
            if not is_last:
                raise _Broken from error
            raise ToolDown(f"The connection to {self._about()} breaks off: see its log") from error
        except (httpx.TransportError, httpx.InvalidURL, httpx.DecodingError) as error:
            raise ToolDown(
                f"{self._about()} cannot be reached ({type(error).__name__}): start it, or correct reranker.url"
            ) from error

    def _whole_text(self, answer: httpx.Response, ends_at_s: float) -> str:
        content = bytearray()
        for piece in answer.iter_bytes():
            content += piece
            if len(content) > _MOST_ANSWER_BYTES:
                raise ToolDown(
                    f"{self._about()} answers with more than {_MOST_ANSWER_BYTES} bytes: correct reranker.url"
                )
            if self._now_s() >= ends_at_s:
                raise self._too_slow()
        return content.decode("utf-8", "replace")

    def _read(self, reply: _Reply, count: int) -> list[float]:
        try:
            return scores_of(json.loads(reply.text), count)
        except (ValueError, RecursionError) as error:  # brackets without end and numbers of any length, too
            self._form = None
            why = error if isinstance(error, UnknownAnswer) else "it is no JSON"
            raise ToolDown(
                f"{self._about()} gives an answer that cannot be read ({why}): correct reranker.url"
            ) from error

    def _refused(self, reply: _Reply) -> KnowledgeError:
        said = _printable(mask(reason_of(reply.text))[:_MOST_ERROR_CHARS])
        if reply.status < 400:
            return ToolDown(
                f"{self._about()} redirects to another address (status {reply.status}): set reranker.url to that one"
            )
        if reply.status in (401, 403):
            return ToolDown(
                f"{self._about()} refuses the token (status {reply.status}): correct reranker.token_env or token_file"
            )
        if reply.status == 429:
            return ToolDown(f"{self._about()} allows no more requests for now (status 429): lower its load")
        if reply.status in (400, 404) and "model" in said.lower():
            return ModelMissing(
                f"{self._about()} does not have the model: load it there, or correct reranker.name ({said})"
            )
        if reply.status in _NOT_UNDERSTOOD:
            return ToolDown(f"{self._about()} has no /rerank (status {reply.status}): correct reranker.url")
        return ToolDown(f"{self._about()} failed with status {reply.status}: {said or 'no reason given'}")

    def _too_slow(self) -> ToolDown:
        return ToolDown(
            f"{self._about()} did not answer within {self._timeout_s:g} s: check its load, ask for fewer "
            "reranker.candidates, or raise reranker.timeout_s"
        )

    def _about(self) -> str:
        place = self._url.partition("?")[0]  # behind it may stand a key
        return f"The reranker {self._model} at {place}" if self._model else f"The reranker at {place}"

    def _address_of_health(self) -> str:
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc}/health"

    def _connected(self) -> httpx.Client:
        with self._opening:
            if self._client is None:
                # a proxy from the environment must not stand between this process and its own machine
                loopback = urlsplit(self._url).hostname in _LOOPBACK
                self._client = httpx.Client(trust_env=not loopback, follow_redirects=False)
            return self._client


class _Broken(Exception):
    """The connection broke off: the same request may succeed at once."""


def _printable(text: str) -> str:
    """A text without what would move the cursor or end the line of a log."""
    return "".join(character if character.isprintable() else " " for character in text)


def _says_too_long(reply: _Reply) -> bool:
    if reply.status not in (400, 413, 422, 500):
        return False
    said = reason_of(reply.text).lower()
    return any(
        words in said for words in ("too large", "too long", "context length", "context size", "maximum", "n_ctx")
    )
