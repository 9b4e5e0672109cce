"""Embedders that an Ollama server runs, through /api/embed of the official client."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import urlsplit

import numpy as np
from ollama import Client

from knowledge.embed.ollama_failures import TRANSLATED, Caller, TooLong, is_passing, missing_model, translate
from knowledge.embed.text import PREPARATION_VERSION, embeddable, halves
from knowledge.embed.vectors import pooled, unit_vectors
from knowledge.errors import BadInput, ToolDown
from knowledge.ports import Vectors
from knowledge.types import VectorSpace

T = TypeVar("T")

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_SHORTEST_SPLIT_CHARS = 64  # a text this short that is still "too long" is a server's fault, not the text's
_PROBE = "dimension"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one family of models wants its texts. `window_tokens=None` leaves the window to the server."""

    query_prefix: str = ""
    passage_prefix: str = ""
    window_tokens: int | None = None

    @property
    def prefix_scheme(self) -> str:
        return f"{self.query_prefix}|{self.passage_prefix}" if self.query_prefix or self.passage_prefix else ""


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "nomic-embed-text": Recipe(
            query_prefix="search_query: ", passage_prefix="search_document: ", window_tokens=2048
        ),
        "bge-m3": Recipe(window_tokens=8192),
        "multilingual-e5": Recipe(query_prefix="query: ", passage_prefix="passage: ", window_tokens=512),
    }
)


def recipe_for(model: str) -> Recipe:
    """The recipe of the model's family, by its name without namespace and tag; plain texts for unknown names."""
    family = model.rpartition("/")[2].partition(":")[0].lower()
    return next((recipe for name, recipe in RECIPES.items() if family.startswith(name)), Recipe())


class OllamaEmbedder:
    """One embedding model of an Ollama server.

    A text that the server finds too long is halved at white space, as often as needed, and the vectors of the parts
    are averaged by length; every part gets the prefix again. Nothing is cut silently: `truncate` is always off. The
    server's digest of the model is part of the vector space and is asked once: a model pulled anew is another space
    from the next start on.
    """

    def __init__(self, model: str, *, url: str, timeout_s: float = 120.0, batch_texts: int = 16) -> None:
        self.name = f"ollama:{model}"
        self._model = model
        self._url = url
        self._timeout_s = timeout_s
        self._batch_texts = batch_texts
        self._recipe = recipe_for(model)
        self._caller = Caller(model=model, url=url)
        self._identifying = threading.Lock()
        self._connecting = threading.Lock()
        self._client: Client | None = None
        self._space: VectorSpace | None = None

    def __reduce__(self) -> tuple[Callable[[str, str, float, int], OllamaEmbedder], tuple[str, str, float, int]]:
        return (_rebuild, (self._model, self._url, self._timeout_s, self._batch_texts))

    @property
    def space(self) -> VectorSpace:
        with self._identifying:
            if self._space is None:
                digest = self._digest()
                dim = len(self._request([_PROBE])[0])
                self._space = VectorSpace(
                    name=re.sub(r"[^a-zA-Z0-9._-]+", "-", self.name),  # it becomes part of a collection's name
                    digest=f"{digest}-{PREPARATION_VERSION}",
                    dim=dim,
                    prefix_scheme=self._recipe.prefix_scheme,
                )
            return self._space

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, self._recipe.query_prefix)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, self._recipe.passage_prefix)

    def close(self) -> None:
        """Releases the connections; the next use opens new ones."""
        with self._connecting:
            client, self._client = self._client, None
        if client is not None:
            client.close()  # type: ignore[no-untyped-call]

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        dim = self.space.dim
        vectors = np.zeros((len(texts), dim), dtype=np.float32)
        for start in range(0, len(texts), self._batch_texts):
            batch = [embeddable(text) for text in texts[start : start + self._batch_texts]]
            vectors[start : start + len(batch)] = self._embed_batch(batch, prefix, dim)
        return vectors

    def _embed_batch(self, texts: Sequence[str], prefix: str, dim: int) -> Vectors:
        """Vectors of a few texts; a batch that is too long is divided, first between its texts, then within one."""
        try:
            raw = self._request([prefix + text for text in texts])
        except TooLong as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                parts = (self._embed_batch(texts[:middle], prefix, dim), self._embed_batch(texts[middle:], prefix, dim))
                return np.concatenate(parts)
            if len(texts[0]) <= _SHORTEST_SPLIT_CHARS:
                raise BadInput(
                    f"{self._model} at {self._url} finds a text of {len(texts[0])} characters too long: "
                    f"raise the model's num_ctx on the server ({error})"
                ) from error
            both = halves(texts[0])
            vectors = np.concatenate([self._embed_batch([half], prefix, dim) for half in both])
            return pooled(vectors, [len(half) for half in both])[np.newaxis]
        return unit_vectors(raw, rows=len(texts), dim=dim, origin=f"{self._model} at {self._url}")

    def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        options = {"num_ctx": self._recipe.window_tokens} if self._recipe.window_tokens else None
        client = self._connected()
        answer = self._translated(lambda: client.embed(self._model, texts, truncate=False, options=options))
        embeddings: Sequence[Sequence[float]] = answer.embeddings
        if len(embeddings) != len(texts):
            raise ToolDown(
                f"{self._model} at {self._url} gave {len(embeddings)} vectors for {len(texts)} texts: "
                "check the server's log"
            )
        return embeddings

    def _digest(self) -> str:
        wanted = {self._model, f"{self._model}:latest"}
        for entry in self._translated(self._connected().list).models:
            if entry.model in wanted and entry.digest:
                return str(entry.digest)
        raise missing_model(self._caller)

    def _connected(self) -> Client:
        with self._connecting:
            if self._client is None:
                # a proxy from the environment must not stand between this process and its own machine
                loopback = urlsplit(self._url).hostname in _LOOPBACK
                self._client = Client(self._url, timeout=self._timeout_s, trust_env=not loopback)
            return self._client

    def _translated(self, call: Callable[[], T]) -> T:
        """What `call` returns, after a second try where that may help; its errors in the words of this package."""
        try:
            try:
                return call()
            except TRANSLATED as error:
                if not is_passing(error):
                    raise
                return call()
        except TRANSLATED as error:
            raise translate(error, self._caller) from error


def _rebuild(model: str, url: str, timeout_s: float, batch_texts: int) -> OllamaEmbedder:
    return OllamaEmbedder(model, url=url, timeout_s=timeout_s, batch_texts=batch_texts)
