"""Fills in missing vectors: from the cache where it can, else from the embedder; stores, then confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation, RecordedSpace
from knowledge.errors import BadInput, KnowledgeError, StorageFull
from knowledge.index.collections import collection_name
from knowledge.index.reconcile import confirm
from knowledge.index.vector_cache import VectorCache, text_key
from knowledge.ports import Embedder, VectorIndex, Vectors
from knowledge.types import VectorSpace
from knowledge.workers import Inline, WorkerCrashed, WorkerPool, embed, runs_in_process, start_embedding

PAGE = 512
EARLY_PAGE = 128  # as many are taken at least while more is read, so that batches stay full
TEXTS_PER_TASK = 16
STORED_AT_ONCE = 128
INLINE_TEXTS = 24  # fewer are embedded here and now: starting processes would take longer

Texts = tuple[str, ...]
Runner = WorkerPool[Texts, Vectors] | Inline[Texts, Vectors]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The outcome for one space of one generation."""

    embedded: int = 0
    problem: str | None = None


@dataclass(slots=True)
class _Work:
    """What is known while one space is being filled."""

    collection: str
    waiting: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # text -> (number, chunk id)
    ready: list[tuple[int, str, Vectors]] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    embedded: int = 0


class Growth(Protocol):
    """Whether more texts may still come."""

    def may_continue(self) -> bool: ...

    def wait(self) -> None: ...


class VectorFiller:
    """Brings pending chunks into dense search, in batches that are each complete before the next one."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        cache: VectorCache,
        vectors: VectorIndex,
        workers: int,
        ollama_url: str,
        in_workers: bool,
        on_step: Callable[[str], None],
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        self._vectors = vectors
        self._workers = workers
        self._ollama_url = ollama_url
        self._in_workers = in_workers
        self._on_step = on_step

    def fill(
        self,
        generation: Generation,
        recorded: RecordedSpace,
        embedder: Embedder,
        *,
        should_stop: Callable[[], bool],
        progress: Callable[[int, int], None],
        growth: Growth | None = None,
    ) -> Filled:
        """Embeds what is pending in one space. A tool that fails ends it: what is left stays pending.

        While `growth` may continue, more is awaited, and full pages only are taken.
        """
        space = recorded.space
        total = self._catalog.pending_count(generation.id, recorded.embedder)
        if space is None or (total == 0 and growth is None):
            return Filled()
        work = _Work(collection=collection_name(self._catalog.installation, generation.source, space.key))
        runner = self._runner(recorded.embedder, embedder, total if growth is None else INLINE_TEXTS + 1)
        tasks = self._tasks(work, generation, recorded, space, growth, should_stop)
        try:
            self._run(runner, tasks, work, generation, recorded, total, should_stop=should_stop, progress=progress)
            if work.rejected and not should_stop():
                self._one_by_one(runner, work, generation, recorded, space, should_stop=should_stop)
            problem = None
        except StorageFull:
            raise
        except KnowledgeError as error:
            problem = str(error)
        finally:
            runner.close()
        return Filled(embedded=work.embedded, problem=problem)

    def uses_workers(self, embedder: str) -> bool:
        """Whether the embedder of that name computes in processes beside this one."""
        return self._in_workers and runs_in_process(embedder)

    def _runner(self, name: str, embedder: Embedder, total: int) -> Runner:
        if self.uses_workers(name) and total > INLINE_TEXTS:
            return WorkerPool(
                embed, workers=self._workers, initializer=start_embedding, initargs=(name, self._ollama_url)
            )
        return Inline(embedder.embed_passages)

    def _run(
        self,
        runner: Runner,
        tasks: Iterator[Texts],
        work: _Work,
        generation: Generation,
        recorded: RecordedSpace,
        total: int,
        *,
        should_stop: Callable[[], bool],
        progress: Callable[[int, int], None],
    ) -> None:
        space = recorded.space
        assert space is not None  # `fill` looks
        for texts, result in runner.run(tasks, should_stop=should_stop):
            if isinstance(result, BadInput | WorkerCrashed):
                work.rejected.extend(texts)
                continue
            if isinstance(result, Exception):
                self._store(work, generation, recorded, at_least=1)
                raise result if isinstance(result, KnowledgeError) else _as_tool_error(recorded.embedder, result)
            self._keep(work, space, texts, result)
            self._store(work, generation, recorded, at_least=STORED_AT_ONCE)
            progress(total - self._catalog.pending_count(generation.id, recorded.embedder), total)
        self._store(work, generation, recorded, at_least=1)

    def _tasks(
        self,
        work: _Work,
        generation: Generation,
        recorded: RecordedSpace,
        space: VectorSpace,
        growth: Growth | None,
        should_stop: Callable[[], bool],
    ) -> Iterator[Texts]:
        """Texts that must be embedded; what the cache holds is stored on the way."""
        after = -1
        while True:
            may_grow = growth is not None and growth.may_continue()  # asked first: what comes later is seen later
            page = self._catalog.pending_chunks(generation.id, recorded.embedder, after=after, limit=PAGE)
            if growth is not None and may_grow and len(page) < EARLY_PAGE and not should_stop():
                growth.wait()
                continue
            if not page:
                return
            after = page[-1][0]
            keys = {text: text_key(text) for _, _, text in page}
            held = self._cache.get(space.key, list(keys.values()))
            missing: dict[str, None] = {}
            for number, chunk, text in page:
                vector = held.get(keys[text])
                if vector is not None:
                    work.ready.append((number, chunk, vector))
                elif text in work.waiting:
                    work.waiting[text].append((number, chunk))
                else:
                    work.waiting[text] = [(number, chunk)]
                    missing[text] = None
            self._store(work, generation, recorded, at_least=STORED_AT_ONCE)
            texts = list(missing)
            for start in range(0, len(texts), TEXTS_PER_TASK):
                yield tuple(texts[start : start + TEXTS_PER_TASK])

    def _keep(self, work: _Work, space: VectorSpace, texts: Texts, vectors: Vectors) -> None:
        self._cache.put(space.key, {text_key(text): vector for text, vector in zip(texts, vectors, strict=True)})
        self._on_step("vectors-cached")
        work.embedded += len(texts)
        for text, vector in zip(texts, vectors, strict=True):
            work.ready.extend((number, chunk, vector) for number, chunk in work.waiting.pop(text))

    def _store(self, work: _Work, generation: Generation, recorded: RecordedSpace, *, at_least: int) -> None:
        if len(work.ready) < at_least:
            return
        batch, work.ready = work.ready, []
        self._vectors.upsert(work.collection, [chunk for _, chunk, _ in batch], np.stack([row[2] for row in batch]))
        self._on_step("vectors-upserted")
        confirm(self._catalog, generation.id, recorded.embedder, [number for number, _, _ in batch])
        self._on_step("vectors-confirmed")

    def _one_by_one(
        self,
        runner: Runner,
        work: _Work,
        generation: Generation,
        recorded: RecordedSpace,
        space: VectorSpace,
        *,
        should_stop: Callable[[], bool],
    ) -> None:
        """Finds the text that an embedder rejects: the others of its batch get their vectors, it keeps the reason."""
        for texts, result in runner.run(((text,) for text in work.rejected), should_stop=should_stop):
            if isinstance(result, BadInput | WorkerCrashed):
                self._note_problem(generation.id, recorded.embedder, work.waiting.pop(texts[0]), str(result))
            elif isinstance(result, Exception):
                raise result if isinstance(result, KnowledgeError) else _as_tool_error(recorded.embedder, result)
            else:
                self._keep(work, space, texts, result)
        self._store(work, generation, recorded, at_least=1)

    def _note_problem(self, generation: int, embedder: str, chunks: Sequence[tuple[int, str]], reason: str) -> None:
        with self._catalog.transaction() as connection:
            connection.executemany(
                "UPDATE pending SET problem = ? WHERE generation = ? AND embedder = ? AND chunk = ?",
                [(reason[:500], generation, embedder, number) for number, _ in chunks],
            )


def _as_tool_error(embedder: str, error: Exception) -> KnowledgeError:
    from knowledge.errors import ToolDown

    failure = ToolDown(f"The embedder {embedder} failed: {error}")
    failure.__cause__ = error
    return failure
