"""Ctrl-C and SIGTERM on the command line: the first one stops in order, a second one at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPED_AT_ONCE = "Stopped at once. What was stored is kept; the same command goes on from there."
STOPPING = "stopping: finishing what is in flight; press Ctrl-C again to stop at once"
FAILED = 1


def run_until_stopped(work: Coroutine[Any, Any, T], *, announce: Callable[[], None] = lambda: None) -> T:
    """The result of `work`. The first signal is announced and cancels it, which raises KeyboardInterrupt when it has
    ended; the second ends this process and its workers."""
    stop = _Stop(announce)
    with stop.handling():
        try:
            return asyncio.run(stop.watch(work))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            work.close()  # for a signal that came before it began


def end_at_once() -> None:
    """Ends this process and its workers without waiting: all that is stored is stored in transactions."""
    from knowledge.extract.process_tree import kill_tree

    for child in multiprocessing.active_children():
        if child.pid is not None:
            kill_tree(child.pid)
    tell(STOPPED_AT_ONCE)
    os._exit(FAILED)


def interrupt_on_sigterm() -> None:
    """Lets SIGTERM raise KeyboardInterrupt, as Ctrl-C does, so that files and processes are closed in order."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, _interrupt)


def tell(line: str) -> None:
    """Prints a line on standard error; says nothing when nobody reads that any more."""
    with suppress(OSError, ValueError, AttributeError):
        print(line, file=sys.stderr, flush=True)


class _Stop:
    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce = announce
        self._signals = 0
        self._cancel: Callable[[], None] | None = None

    @contextmanager
    def handling(self) -> Iterator[None]:
        previous = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        self._cancel = cancel
        return await work

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            end_at_once()
        if self._cancel is None:
            raise KeyboardInterrupt
        self._announce()
        self._cancel()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
