"""Extraction in a process of its own, with limits on time and resident memory: a bad file hurts that file only.

One child serves many tasks; it is ended with everything it started, and replaced, when a task goes beyond a limit or
kills it. Zip bombs, endless LibreOffice and crashes in native code end here as errors that name the file.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar, cast

from knowledge.errors import UnreadableFile
from knowledge.extract.process_tree import kill_tree, resident_bytes

Task = TypeVar("Task")
Result = TypeVar("Result")

_POLL_S = 0.1
_GOODBYE_S = 2.0
_NICENESS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """Limits on one file. Memory counts the child and all that it started (LibreOffice, Tesseract)."""

    wall_s: float = 600.0
    memory_bytes: int = 2_000_000_000
    wall_setting: str = "extraction.time_limit_s"  # what a message tells an admin to raise
    memory_setting: str = "extraction.memory_limit_mb"


class LimitedProcess(Generic[Task, Result]):
    """Runs one picklable function over tasks, one at a time, in a spawned child process.

    `describe` names a task in messages. Not thread-safe: one thread, one process.
    """

    def __init__(
        self,
        function: Callable[[Task], Result],
        *,
        describe: Callable[[Task], str],
        limits: ExtractionLimits | None = None,
    ) -> None:
        self._function = function
        self._describe = describe
        self._limits = limits or ExtractionLimits()
        self._child: BaseProcess | None = None
        self._pipe: Connection | None = None

    def run(self, task: Task, *, should_stop: Callable[[], bool] = lambda: False) -> Result:
        """What the function makes of `task`.

        Raises what the function raises; UnreadableFile when the task went beyond a limit or killed the process; and
        Stopped when `should_stop` said so while it ran.
        """
        child, pipe = self._started()
        try:
            pipe.send(task)
            self._wait(task, child, pipe, should_stop)
            outcome = pipe.recv()
        except (EOFError, OSError) as error:
            child.join(_GOODBYE_S)
            code = child.exitcode
            self._end()
            how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"status {code}"
            raise UnreadableFile(
                f"{self._describe(task)} made its reader crash ({how}); the file is damaged or hits a defect of the "
                "reader, so save it again from its program or as PDF."
            ) from error
        except BaseException:
            self._end()
            raise
        if isinstance(outcome, BaseException):
            raise outcome
        return cast(Result, outcome)

    def close(self) -> None:
        """Ends the child; the next task starts a new one."""
        if self._pipe is not None:
            with contextlib.suppress(OSError):
                self._pipe.send(_GOODBYE)
        if self._child is not None:
            self._child.join(_GOODBYE_S)
        self._end()

    def _started(self) -> tuple[BaseProcess, Connection]:
        if self._child is not None and self._pipe is not None and self._child.is_alive():
            return self._child, self._pipe
        self._end()
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        child = context.Process(target=_serve, args=(self._function, there), name="haechi-extract", daemon=False)
        child.start()
        there.close()
        self._child, self._pipe = child, here
        return child, here

    def _wait(self, task: Task, child: BaseProcess, pipe: Connection, should_stop: Callable[[], bool]) -> None:
        limits = self._limits
        deadline = time.monotonic() + limits.wall_s
        while not pipe.poll(_POLL_S):
            if should_stop():
                raise Stopped
            if time.monotonic() > deadline:
                raise UnreadableFile(
                    f"{self._describe(task)} took longer than {limits.wall_s:.0f} s to read and was given up; "
                    f"split it, or raise {limits.wall_setting}."
                )
            if child.pid is not None and resident_bytes(child.pid) > limits.memory_bytes:
                raise UnreadableFile(
                    f"{self._describe(task)} took more than {limits.memory_bytes // 1_000_000} MB of memory to read "
                    f"and was given up; split it, or raise {limits.memory_setting}."
                )

    def _end(self) -> None:
        if self._child is not None and self._child.pid is not None and self._child.is_alive():
            kill_tree(self._child.pid)
            self._child.join(_GOODBYE_S)
        if self._pipe is not None:
            self._pipe.close()
        self._child = self._pipe = None


class Stopped(Exception):
    """The work was ended because it was asked to stop."""


class LimitedPool(Generic[Task, Result]):
    """The same over many tasks, several children side by side; each has a thread here that watches it."""

    def __init__(
        self,
        function: Callable[[Task], Result],
        *,
        describe: Callable[[Task], str],
        workers: int,
        limits: ExtractionLimits | None = None,
    ) -> None:
        self._processes = [LimitedProcess(function, describe=describe, limits=limits) for _ in range(max(1, workers))]

    def run(
        self, tasks: Iterable[Task], *, should_stop: Callable[[], bool]
    ) -> Iterator[tuple[Task, Result | Exception]]:
        """(task, result or error) as they are done, in any order. Few tasks are taken ahead; a stop ends it early."""
        run: _PoolRun[Task, Result] = _PoolRun(iter(tasks), len(self._processes), should_stop)
        threads = [threading.Thread(target=run.work, args=(process,), daemon=True) for process in self._processes]
        for thread in threads:
            thread.start()
        try:
            left = len(threads)
            while left:
                item = run.done.get()
                if item is None:
                    left -= 1
                elif isinstance(item, BaseException):
                    raise item
                else:
                    yield item
        finally:
            run.leaving.set()
            for thread in threads:
                thread.join()

    def close(self) -> None:
        """Ends the children; the next task starts new ones."""
        for process in self._processes:
            process.close()


class _PoolRun(Generic[Task, Result]):
    """What the threads of one run share: the tasks that wait, and the outcomes for whoever asked."""

    def __init__(self, waiting: Iterator[Task], workers: int, should_stop: Callable[[], bool]) -> None:
        self.done: queue.Queue[tuple[Task, Result | Exception] | BaseException | None] = queue.Queue(workers)
        self.leaving = threading.Event()
        self._waiting = waiting
        self._taking = threading.Lock()
        self._should_stop = should_stop

    def work(self, process: LimitedProcess[Task, Result]) -> None:
        try:
            while not self._is_stopped():
                with self._taking:
                    task = next(self._waiting)
                try:
                    self._put((task, process.run(task, should_stop=self._is_stopped)))
                except Stopped:
                    break
                except Exception as error:  # noqa: BLE001  whatever a reader raises belongs to its file
                    self._put((task, error))
        except StopIteration:
            pass
        except BaseException as error:  # noqa: BLE001  the tasks could not be listed: raised where they are used
            self._put(error)
        finally:
            self._put(None)

    def _is_stopped(self) -> bool:
        return self.leaving.is_set() or self._should_stop()

    def _put(self, item: tuple[Task, Result | Exception] | BaseException | None) -> None:
        while not self.leaving.is_set():
            with contextlib.suppress(queue.Full):
                self.done.put(item, timeout=_POLL_S)
                return


_GOODBYE = "\0goodbye"


def _serve(function: Callable[[Task], Result], pipe: Connection) -> None:
    """What a child does: answer tasks until the owner says goodbye or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the owner, who decides
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        if task == _GOODBYE:
            return
        try:
            outcome: Result | Exception = function(task)
        except MemoryError:
            outcome = UnreadableFile("the file needs more memory to read than this machine has; split it.")
        except Exception as error:  # noqa: BLE001  handed back and raised in the owner
            error.__traceback__ = None
            outcome = error
        try:
            pipe.send(outcome)
        except (TypeError, AttributeError, ValueError) as error:  # an error that cannot be pickled
            pipe.send(RuntimeError(f"{type(outcome).__name__}: {outcome} ({error})"))
