"""A cross-encoder in a folder of this machine, computed by onnxruntime: no network, no server.

The model is loaded at first use, once a process, and again when its files change. Files that are gone are a reranker
that is gone: its memory is freed, and it comes back with the files. Searches take turns, so that neither memory nor
processors are taken twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.errors import ModelMissing, ToolDown
from knowledge.rerank.onnx_folder import ModelFiles, find_model

if TYPE_CHECKING:
    from onnxruntime import RunOptions

    from knowledge.rerank.onnx_session import CrossEncoder


class OnnxReranker:
    """Reranker port over one folder. Thread-safe."""

    def __init__(
        self,
        place: Path,
        *,
        max_tokens: int = 256,
        threads: int = 2,
        timeout_s: float = 5.0,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`place` is a folder, or the ".onnx" file in it that is to be used. `timeout_s` bounds one search, waiting
        for others included; loading, which happens once, is not counted."""
        self.name = place.stem if place.suffix == ".onnx" else place.name
        self._place = place
        self._max_tokens = max_tokens
        self._threads = threads
        self._timeout_s = timeout_s
        self._now_s = monotonic_s
        self._turn = threading.Lock()
        self._files: ModelFiles | None = None
        self._model: CrossEncoder | None = None
        self._refused: tuple[ModelFiles, str] | None = None  # files that cannot be loaded, and why
        self._trouble: str | None = None  # what went wrong last, until something goes well
        self._took_ms: float | None = None

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One number a passage, higher is better. Raises ModelMissing for files that are not there or no use, ToolDown
        when it takes too long or the model fails."""
        if not passages:
            return []
        ends_at_s = self._now_s() + self._timeout_s
        if not self._turn.acquire(timeout=self._timeout_s):
            raise self._too_slow()
        try:
            before_s = self._now_s()
            model = self._current()
            started_s = self._now_s()
            budget = _Budget(ends_at_s + started_s - before_s, self._now_s, self._too_slow)
            scores = model.score(query, passages, options=budget.options)
        except ToolDown as error:
            self._trouble = str(error)
            raise
        else:
            self._trouble, self._took_ms = None, (self._now_s() - started_s) * 1000
            return scores
        finally:
            self._turn.release()

    def check(self) -> str:
        """Which model it is, and how long the last search took. Loads nothing.

        Raises ModelMissing, and ToolDown when the last search went wrong.
        """
        files = find_model(self._place)
        if self._refused is not None and self._refused[0] == files:
            raise ModelMissing(self._refused[1])
        if self._trouble is not None:
            raise ToolDown(self._trouble)
        took = "" if self._took_ms is None else f", last time {self._took_ms:.0f} ms"
        return f"{files.name}{took}"

    def warm_up(self) -> None:
        """Loads the model. Raises ModelMissing."""
        with self._turn:
            self._current()

    def close(self) -> None:
        """Frees the memory; the next use loads the model again."""
        with self._turn:
            self._files = self._model = None

    def _current(self) -> CrossEncoder:
        """The model of the files as they are now. Those that could not be loaded are not tried again unchanged."""
        try:
            files = find_model(self._place)
        except ModelMissing:
            self._files = self._model = None
            raise
        if self._refused is not None and self._refused[0] == files:
            raise ModelMissing(self._refused[1])
        if self._model is None or files != self._files:
            from knowledge.rerank.onnx_session import CrossEncoder

            self._files = self._model = self._refused = None  # both models together may not fit into memory
            try:
                self._model = CrossEncoder(files, max_tokens=self._max_tokens, threads=self._threads)
            except ModelMissing as error:
                self._refused = (files, str(error))
                raise
            self._files, self._trouble = files, None
        return self._model

    def _too_slow(self) -> ToolDown:
        return ToolDown(
            f"The reranker {self.name} takes longer than {self._timeout_s:g} s: use a smaller model or fewer "
            "reranker.candidates, or raise reranker.timeout_s"
        )


class _Budget:
    """The time that is left, asked for before each batch."""

    def __init__(self, ends_at_s: float, now_s: Callable[[], float], too_slow: Callable[[], ToolDown]) -> None:
        self._ends_at_s = ends_at_s
        self._now_s = now_s
        self._too_slow = too_slow

    def options(self) -> RunOptions:
        """What a batch runs under. Raises ToolDown when no time is left."""
        from onnxruntime import RunOptions

        if self._now_s() >= self._ends_at_s:
            raise self._too_slow()
        return RunOptions()
