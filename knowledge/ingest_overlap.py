"""Embedding that begins while a sync still reads: the model is loaded, and full batches are embedded, meanwhile.

Only for a first index or another large change, of one generation with one space whose embedder computes in worker
processes: there the readers leave cores idle whenever the owner writes, and the model takes seconds to load.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType

from knowledge.catalog import Catalog
from knowledge.catalog_generations import Generation
from knowledge.index.spaces import EmbedderShelf
from knowledge.ingest_embed import Filled, VectorFiller

LEAST_ITEMS = 64  # fewer are read before a model is loaded
_LOOK_S = 0.2  # how often a stop is looked for, and progress told


class Growth:
    """Tells whoever embeds whether more texts may still come."""

    def __init__(self) -> None:
        self._is_over = threading.Event()

    def end(self) -> None:
        """Nothing comes any more."""
        self._is_over.set()

    def may_continue(self) -> bool:
        return not self._is_over.is_set()

    def wait(self) -> None:
        """Until it is over, or a moment has passed."""
        self._is_over.wait(_LOOK_S)


class EarlyEmbedding:
    """`with EarlyEmbedding(...) as early:` around a sync: `end_growth` when all is read, then `finish`.

    `key` says what it embeds: (generation, embedder), or None for nothing. An error in the block ends the embedding.
    """

    def __init__(self, key: tuple[int, str] | None, fill: Callable[[Growth, Callable[[], bool]], Filled]) -> None:
        """`fill` embeds until nothing can come any more, or the second argument tells it to stop."""
        self.key = key
        self._growth = Growth()
        self._is_cancelled = threading.Event()
        self._result: Filled | BaseException | None = None

        def embed() -> None:
            try:
                self._result = fill(self._growth, self._is_cancelled.is_set)
            except BaseException as error:  # noqa: BLE001  handed over to the thread of the sync, which raises it
                self._result = error

        self._thread = threading.Thread(target=embed, name="early-embedding", daemon=True)

    def __enter__(self) -> EarlyEmbedding:
        if self.key is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._growth.end()
        if self.key is not None:
            self._is_cancelled.set()  # after `finish` there is nothing left to cancel
            self._thread.join()

    def end_growth(self) -> None:
        """All that is to be embedded is in the catalog."""
        self._growth.end()

    def finish(self, catalog: Catalog, progress: Callable[[str, int, int], None]) -> Filled:
        """What was embedded, once all of it is; `progress` gets (embedder, done, total). Raises what embedding did."""
        if self.key is None:
            return Filled()
        total = catalog.pending_count(*self.key)
        while self._thread.is_alive():
            self._thread.join(_LOOK_S)
            progress(self.key[1], total - catalog.pending_count(*self.key), total)
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result or Filled()


def begin_early(
    generations: Sequence[Generation],
    filler: VectorFiller,
    shelf: EmbedderShelf,
    *,
    items: int,
    should_stop: Callable[[], bool],
) -> EarlyEmbedding:
    """The embedding that is worth beginning while `items` documents are read; one without a key when none is."""
    nothing = EarlyEmbedding(None, lambda growth, stop: Filled())
    if items < LEAST_ITEMS or len(generations) != 1 or len(generations[0].spaces) != 1:
        return nothing
    generation, (recorded,) = generations[0], generations[0].spaces
    if recorded.space is None or not filler.uses_workers(recorded.embedder):
        return nothing
    space, _ = shelf.space_of(recorded.embedder)
    if space != recorded.space:
        return nothing

    def fill(growth: Growth, is_cancelled: Callable[[], bool]) -> Filled:
        return filler.fill(
            generation,
            recorded,
            shelf.get(recorded.embedder),
            should_stop=lambda: is_cancelled() or should_stop(),
            progress=lambda done, total: None,
            growth=growth,
        )

    return EarlyEmbedding((generation.id, recorded.embedder), fill)
