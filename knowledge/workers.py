"""Spawned worker processes of low priority: they read and embed, and never write to the data folder."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from typing import Generic, TypeVar

from knowledge.errors import ToolDown
from knowledge.ports import Embedder, Vectors

Task = TypeVar("Task")
Result = TypeVar("Result")

NICENESS = 10
IN_FLIGHT_PER_WORKER = 2
WAIT_S = 0.5  # how often a stop is looked for while workers are busy


class WorkerCrashed(Exception):
    """The process that worked on a task died, twice: once among others and once alone."""


class WorkerPool(Generic[Task, Result]):
    """Runs one function over many tasks in worker processes, which start with the first task.

    A process that dies takes the tasks in flight with it: each is tried once more, alone, in new processes. The one
    that kills its process again is reported as WorkerCrashed; the others are not affected.
    """

    def __init__(
        self,
        function: Callable[[Task], Result],
        *,
        workers: int,
        initializer: Callable[..., None] | None = None,
        initargs: tuple[object, ...] = (),
    ) -> None:
        self._function = _Attempt(function)
        self._workers = max(1, workers)
        self._initializer = initializer
        self._initargs = initargs
        self._executor: ProcessPoolExecutor | None = None

    def run(
        self, tasks: Iterable[Task], *, should_stop: Callable[[], bool]
    ) -> Iterator[tuple[Task, Result | Exception]]:
        """(task, result or error) as they are done, in any order. Few tasks are taken ahead; a stop ends it early."""
        waiting = iter(tasks)
        flying: dict[Future[Result | Exception], Task] = {}
        exhausted = False
        while True:
            while not exhausted and len(flying) < self._workers * IN_FLIGHT_PER_WORKER and not should_stop():
                try:
                    task = next(waiting)
                except StopIteration:
                    exhausted = True
                    break
                yield from self._submit(task, flying)
            if not flying:
                return
            done, _ = wait(flying, timeout=WAIT_S, return_when=FIRST_COMPLETED)
            if should_stop():
                for future in flying:
                    future.cancel()
                exhausted = True
                flying = {future: task for future, task in flying.items() if not future.cancelled()}
                done = {future for future in done if future in flying}
            broken = []
            for future in done:
                task = flying.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    broken.append(task)
                else:
                    yield task, future.result()
            if broken:
                suspects = [*broken, *flying.values()]
                flying.clear()
                self.close()
                yield from self._one_at_a_time(suspects)

    def close(self) -> None:
        """Ends the processes; the next task starts new ones."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)

    def _submit(
        self, task: Task, flying: dict[Future[Result | Exception], Task]
    ) -> Iterator[tuple[Task, Result | Exception]]:
        try:
            flying[self._pool().submit(self._function, task)] = task
        except BrokenProcessPool:
            self.close()
            yield from self._one_at_a_time([task])

    def _one_at_a_time(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Result | Exception]]:
        """Each task alone in a process, which is new after every death: the one that kills it is found."""
        executor = self._new_executor(workers=1)
        try:
            for task in tasks:
                try:
                    result: Result | Exception = executor.submit(self._function, task).result()
                except BrokenProcessPool as error:
                    result = WorkerCrashed("the process that worked on it died, twice")
                    result.__cause__ = error
                    executor.shutdown(wait=True)
                    executor = self._new_executor(workers=1)
                yield task, result
        finally:
            executor.shutdown(wait=True, cancel_futures=True)

    def _pool(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = self._new_executor(workers=self._workers)
        return self._executor

    def _new_executor(self, *, workers: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            max_workers=workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(self._initializer, self._initargs),
        )


class Inline(Generic[Task, Result]):
    """Does in this process, one after the other, what a WorkerPool does in others: for work that is tiny or waits."""

    def __init__(self, function: Callable[[Task], Result]) -> None:
        self._attempt = _Attempt(function)

    def run(
        self, tasks: Iterable[Task], *, should_stop: Callable[[], bool]
    ) -> Iterator[tuple[Task, Result | Exception]]:
        for task in tasks:
            if should_stop():
                return
            yield task, self._attempt(task)

    def close(self) -> None:
        """Nothing is held."""


class _Attempt(Generic[Task, Result]):
    """Calls a function and hands its error back as a value: one bad file or text never ends a run."""

    def __init__(self, function: Callable[[Task], Result]) -> None:
        self._function = function

    def __call__(self, task: Task) -> Result | Exception:
        try:
            return self._function(task)
        except Exception as error:  # noqa: BLE001  whatever a reader or a model raises belongs to its task
            error.__traceback__ = None
            return error


class InWorker(Generic[Task, Result]):
    """A function as a worker process of another kind runs it: bound to its parent from the first task on."""

    def __init__(self, function: Callable[[Task], Result]) -> None:
        self._function = function

    def __call__(self, task: Task) -> Result:
        global _bound
        if not _bound:
            _bound = True
            live_with_parent()
        return self._function(task)


_bound = False


def live_with_parent() -> None:
    """Binds this worker process to the one that started it: it ends when that one ends, however it ends, with all that
    it started, and it does not hold its input and output open."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    from knowledge.extract.process_tree import tree_of

    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)

    def watch() -> None:
        wait_for([parent.sentinel])
        for pid in tree_of(os.getpid()) - {os.getpid()}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _start_worker(initializer: Callable[..., None] | None, initargs: tuple[object, ...]) -> None:
    live_with_parent()
    # Ctrl-C goes to the whole process group; the owner decides what is finished and what is not
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    if initializer is not None:
        initializer(*initargs)


# --- embedding ----------------------------------------------------------------------------------------

_embedder: Embedder | None = None


def runs_in_process(embedder: str) -> bool:
    """Whether the embedder of that name computes on this machine's own cores, and so belongs into workers."""
    return not embedder.startswith("ollama:")


def start_embedding(embedder: str, ollama_url: str) -> None:
    """Initialises a worker process for `embed`."""
    global _embedder
    from knowledge.embed.registry import build_embedder

    _embedder = build_embedder(embedder, ollama_url=ollama_url)


def embed(texts: tuple[str, ...]) -> Vectors:
    """(n_texts, dim) float32, unit length, from the embedder of this worker process."""
    if _embedder is None:
        raise ToolDown("This process was not started for embedding")
    return _embedder.embed_passages(texts)
