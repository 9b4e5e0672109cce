"""What keeps the stored knowledge sound: reconcile, verify, backup and its way back. Reached through `Knowledge`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from knowledge.backup import put_back, write_backup
from knowledge.catalog import Catalog
from knowledge.index.lazy import LazyVectorIndex
from knowledge.index.reconcile import Reconciled, reconcile
from knowledge.index.vector_cache import VectorCache
from knowledge.sync import Syncer
from knowledge.verify import Verified, verify


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
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        self._vectors = vectors
        self._syncer = syncer
        self._data_dir = data_dir
        self._on_replaced = on_replaced

    def reconcile(self) -> Reconciled:
        """Compares every vector with the catalog and repairs what differs; for the night. Raises Busy, ToolDown."""
        with self._syncer.alone():
            return reconcile(self._catalog, self._vectors.opened(), self._cache, thorough=True)

    def remove_unconfigured(self) -> None:
        """Removes what is known of sources that the configuration does not name any more."""
        self._syncer.remove_unconfigured()

    def verify(self, *, repair: bool, progress: Callable[[str], None] = lambda part: None) -> Verified:
        """What differs between catalog, keywords, cache and vectors. Raises Busy, CatalogCorrupt, ToolDown."""
        with self._syncer.alone():
            return verify(self._catalog, self._vectors.opened(), self._cache, repair=repair, progress=progress)

    def backup(self, folder: Path) -> list[Path]:
        """The files written into `folder`, an empty one; syncs and searches go on meanwhile. Raises StorageFull."""
        return write_backup(self._catalog, self._cache, self._data_dir, folder)

    def restore(self, folder: Path) -> Verified:
        """Puts a backup in the place of what is known and makes the vector index agree with it, embedding nothing.

        Searches go on: they see the old content until it is replaced. Raises Busy, NotFound, CatalogCorrupt, NewerData.
        """
        with self._syncer.alone():
            put_back(self._catalog, self._cache, self._data_dir, folder)
            self._on_replaced()
            return verify(self._catalog, self._vectors.opened(), self._cache, repair=True)
