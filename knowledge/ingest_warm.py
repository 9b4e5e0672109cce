"""Reader processes that outlive a sync for some minutes: starting one and loading its parsers takes seconds, which is
most of what a single changed file would cost."""

from __future__ import annotations

import threading
from collections.abc import Callable

from knowledge.catalog_rows import PreparedDocument
from knowledge.extract.limits import LimitedPool
from knowledge.ingest_prepare import PrepareTask

IDLE_S = 300.0

Pool = LimitedPool[PrepareTask, PreparedDocument]


class WarmReaders:
    """Lends pools of reader processes, each to one sync at a time. At most one is kept, and ends when nobody takes it
    for `idle_s`; 0 keeps none."""

    def __init__(self, build: Callable[[], Pool], *, idle_s: float = IDLE_S) -> None:
        self._build = build
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._kept: Pool | None = None
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def take(self) -> Pool:
        """A pool, warm if one is kept."""
        with self._lock:
            self._stop_timer()
            pool, self._kept = self._kept, None
        return pool if pool is not None else self._build()

    def give_back(self, pool: Pool) -> None:
        """Keeps the pool for the next sync, or ends its processes."""
        with self._lock:
            if self._kept is None and self._idle_s > 0 and not self._is_closed:
                self._kept = pool
                self._timer = threading.Timer(self._idle_s, self._end_idle)
                self._timer.daemon = True
                self._timer.start()
                return
        pool.close()

    def close(self) -> None:
        """Ends the kept processes; those lent end when they are given back."""
        with self._lock:
            self._is_closed = True
            self._stop_timer()
            pool, self._kept = self._kept, None
        if pool is not None:
            pool.close()

    def _end_idle(self) -> None:
        with self._lock:
            if self._timer is not threading.current_thread():
                return  # taken meanwhile
            self._timer = None
            pool, self._kept = self._kept, None
        if pool is not None:
            pool.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
