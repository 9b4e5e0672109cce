"""Candidates for a question: the keyword index and every vector space, asked side by side."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from datetime import datetime

from knowledge.errors import BadInput, ModelMissing, ToolDown
from knowledge.ports import Embedder, KeywordIndex, VectorIndex, Vectors
from knowledge.retrieval.question import Question
from knowledge.types import ToolStatus

KEYWORD = "keyword"
DENSE = "dense:"  # + name of the vector space
_CACHED_QUERIES = 256

Spaces = Callable[[str], Sequence[tuple[Embedder, str]]]
Hits = Sequence[tuple[str, float]]


@dataclass(slots=True, kw_only=True)
class Recalled:
    """What was found, and by whom: ranking name -> (chunk id, score), best first."""

    rankings: dict[str, Hits] = field(default_factory=dict)
    added: dict[str, Hits] = field(default_factory=dict)  # the same for the question in the words of the texts
    tools: list[ToolStatus] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    took_ms: dict[str, float] = field(default_factory=dict)
    down: bool = False  # whether a vector space could not be asked
    vanished: bool = False  # whether a text that was found by its words was replaced before it could be read


class QueryEmbeddings:
    """Query vectors, each computed once; shared by threads."""

    def __init__(self, capacity: int = _CACHED_QUERIES) -> None:
        self._capacity = capacity
        self._known: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
        """One unit vector of shape (dim,) for each text. Raises what the embedder raises."""
        space = embedder.space.key
        with self._lock:
            found = {text: self._known[(space, text)] for text in texts if (space, text) in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found |= dict(zip(missing, embedder.embed_queries(missing), strict=True))
        with self._lock:
            for text in texts:
                self._known[(space, text)] = found[text]
                self._known.move_to_end((space, text))
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)
        return [found[text] for text in texts]


class Recall:
    """Asks the keyword index and the vector spaces of several sources; thread-safe."""

    def __init__(
        self,
        *,
        keywords: KeywordIndex,
        vectors: VectorIndex,
        spaces: Spaces,
        executor: Executor,
        clock: Callable[[], datetime],
    ) -> None:
        self._keywords = keywords
        self._vectors = vectors
        self._spaces = spaces
        self._executor = executor
        self._clock = clock
        self._embeddings = QueryEmbeddings()

    def gather(self, question: Question, generations: Mapping[str, int], *, limit: int) -> Recalled:
        """Rankings of at most `limit` chunks each. An embedder that is down is noted, its ranking left out.

        Raises what the keyword index raises: without it nothing could be looked for.
        """
        recalled = Recalled()
        pending = [
            (embedder, self._executor.submit(self._ask_space, embedder, collections, question, limit))
            for embedder, collections in self._collections(generations, recalled)
        ]
        self._ask_keywords(question, generations, limit, recalled)
        for embedder, future in pending:
            self._collect(embedder, future, recalled)
        return recalled

    def _collections(self, generations: Mapping[str, int], recalled: Recalled) -> list[tuple[Embedder, list[str]]]:
        """Each embedder with the collections of all sources that it made."""
        by_space: dict[str, tuple[Embedder, list[str]]] = {}
        for source in generations:
            for embedder, collection in self._spaces(source):
                try:
                    key = embedder.space.key
                except (ModelMissing, ToolDown) as error:
                    self._note_down(type(embedder).__name__, error, recalled)
                    continue
                by_space.setdefault(key, (embedder, []))[1].append(collection)
        return list(by_space.values())

    def _ask_space(
        self, embedder: Embedder, collections: Sequence[str], question: Question, limit: int
    ) -> tuple[Hits, Hits, float, float]:
        """Hits of the question and of its added words, and the milliseconds of embedding and of searching."""
        started = time.perf_counter()
        texts = [question.text, question.added_text] if question.added_text else [question.text]
        vectors = self._embeddings.embed(embedder, texts)
        embedded = time.perf_counter()
        found = [self._nearest(vector, collections, limit) for vector in vectors]
        searched = time.perf_counter()
        added = found[1] if len(found) > 1 else []
        return found[0], added, (embedded - started) * 1000, (searched - embedded) * 1000

    def _nearest(self, vector: Vectors, collections: Sequence[str], limit: int) -> Hits:
        hits = [hit for collection in collections for hit in self._vectors.search(collection, vector, limit)]
        return sorted(hits, key=lambda hit: -hit[1])[:limit] if len(collections) > 1 else hits

    def _ask_keywords(self, question: Question, generations: Mapping[str, int], limit: int, recalled: Recalled) -> None:
        started = time.perf_counter()
        added: Future[Hits] | None = None
        if question.added_terms:
            terms = tuple(dict.fromkeys((*question.terms, *question.added_terms)))
            added = self._executor.submit(self._search_terms, terms, generations, limit)
        recalled.rankings[KEYWORD] = self._search_terms(question.terms, generations, limit)
        if added is not None:
            recalled.added[KEYWORD] = added.result()
        recalled.took_ms["keyword"] = (time.perf_counter() - started) * 1000
        recalled.tools.append(ToolStatus(name=KEYWORD, state="ok", detail="", checked_at=self._clock()))

    def _search_terms(self, terms: Sequence[str], generations: Mapping[str, int], limit: int) -> Hits:
        return self._keywords.search(terms, generations=generations, limit=limit) if terms else []

    def _collect(self, embedder: Embedder, future: Future[tuple[Hits, Hits, float, float]], recalled: Recalled) -> None:
        name = embedder.space.name
        try:
            hits, added, embed_ms, dense_ms = future.result()
        except (ModelMissing, ToolDown, BadInput) as error:
            self._note_down(name, error, recalled)
            return
        recalled.rankings[DENSE + name] = hits
        if added:
            recalled.added[DENSE + name] = added
        recalled.took_ms["embed"] = recalled.took_ms.get("embed", 0.0) + embed_ms
        recalled.took_ms["dense"] = recalled.took_ms.get("dense", 0.0) + dense_ms
        recalled.tools.append(ToolStatus(name=DENSE + name, state="ok", detail="", checked_at=self._clock()))

    def _note_down(self, name: str, error: Exception, recalled: Recalled) -> None:
        recalled.down = True
        sentence = f"embedder {name} could not be used, its results are missing: {error}"
        if sentence not in recalled.degraded:
            recalled.degraded.append(sentence)
            recalled.tools.append(
                ToolStatus(name=DENSE + name, state="down", detail=str(error), checked_at=self._clock())
            )
