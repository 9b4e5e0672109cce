"""What keeps the stored knowledge sound: reconcile, verify, backup and its way back. Reached through `Knowledge`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from knowledge.backup import put_back, write_backup
from knowledge.catalog import Catalog
from knowledge.errors import ToolDown
from knowledge.index.lazy import LazyVectorIndex
from knowledge.index.reconcile import Reconciled, reconcile
from knowledge.index.vector_cache import VectorCache
from knowledge.ports import VectorIndex
from knowledge.sync import Syncer
from knowledge.verify import Verified, verify

T = TypeVar("T")


class Maintenance:
    """Every method may be called from any thread. Those that need a still index raise Busy while a sync runs."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        cache: VectorCache,
        vectors: LazyVectorIndex,
        syncer: Syncer,
        data_dir: Path,
        on_replaced: Callable[[], None],
        on_step: Callable[[str], None],
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        self._vectors = vectors
        self._syncer = syncer
        self._data_dir = data_dir
        self._on_replaced = on_replaced
        self._on_step = on_step

    def reconcile(self) -> Reconciled:
        """Compares every vector with the catalog and repairs what differs; for the night. Raises Busy, ToolDown."""
        with self._syncer.alone():
            return self._mending(lambda vectors: reconcile(self._catalog, vectors, self._cache, thorough=True))

    def remove_unconfigured(self) -> None:
        """Removes what is known of sources that the configuration does not name any more."""
        self._syncer.remove_unconfigured()

    def verify(self, *, repair: bool, progress: Callable[[str], None] = lambda part: None) -> Verified:
        """What differs between catalog, keywords, cache and vectors. Raises Busy, CatalogCorrupt, ToolDown."""
        with self._syncer.alone():
            if not repair:
                return verify(self._catalog, self._vectors.opened(), self._cache, repair=False, progress=progress)
            return self._mending(
                lambda vectors: verify(self._catalog, vectors, self._cache, repair=True, progress=progress)
            )

    def backup(self, folder: Path) -> list[Path]:
        """The files written into `folder`, an empty one; syncs and searches go on meanwhile. Raises StorageFull."""
        return write_backup(self._catalog, self._cache, self._data_dir, folder)

    def restore(
        self,
        folder: Path,
        *,
        aside: Path | None = None,
        begins: Callable[[], None] = lambda: None,
        ends: Callable[[], None] = lambda: None,
        undone: Callable[[], None] = lambda: None,
    ) -> Verified:
        """Puts a backup in the place of what is known and makes the vector index agree with it, embedding nothing.

        With `aside`, an empty folder, what was known is copied there before; `begins` is called when that is done and
        nothing has been touched, `ends` when all of it is in its place. When anything fails in between, `ends` too,
        what was known is put back, and `undone` called. Searches go on: they see the old content until it is replaced.
        Raises Busy, NotFound, CatalogCorrupt, NewerData, StorageFull, ToolDown and what `ends` raises.
        """
        with self._syncer.alone():
            if aside is not None:
                write_backup(self._catalog, self._cache, self._data_dir, aside)
            begins()
            try:
                verified = self._replace(folder)
                ends()
            except BaseException:
                if aside is not None:
                    self._replace(aside)
                    undone()
                raise
            return verified

    def _mending(self, work: Callable[[VectorIndex], T]) -> T:
        """What `work` returns; an index that fails it, because its files are damaged, is opened anew once."""
        try:
            return work(self._vectors.opened())
        except ToolDown:
            self._vectors.open_anew()
            return work(self._vectors.opened())

    def _replace(self, folder: Path) -> Verified:
        put_back(self._catalog, self._cache, self._data_dir, folder, on_step=self._on_step)
        self._on_replaced()
        verified = self._mending(lambda vectors: verify(self._catalog, vectors, self._cache, repair=True))
        self._on_step("restored-verified")
        return verified
