"""Consistent copies of what is known, taken and put back while everything runs.

A backup holds the catalog and the embedding cache. The vector index is left out: it is rebuilt from these two, and what
the mirrors and raw OCR hold unmasked stays on the machine.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from knowledge.catalog import Catalog
from knowledge.errors import CatalogCorrupt, NotFound
from knowledge.index.vector_cache import VectorCache

CATALOG = "catalog.sqlite3"
VECTORS = "vectors.sqlite3"
CALIBRATIONS = "calibrations"


def write_backup(catalog: Catalog, cache: VectorCache, data_dir: Path, folder: Path) -> list[Path]:
    """The files written into `folder`, an empty one. Raises StorageFull.

    The catalog is copied first: a cache that is a little newer than the catalog holds all vectors that it needs.
    """
    catalog.copy_to(folder / CATALOG)
    cache.copy_to(folder / VECTORS)
    written = [folder / CATALOG, folder / VECTORS]
    if (data_dir / CALIBRATIONS).is_dir():
        shutil.copytree(data_dir / CALIBRATIONS, folder / CALIBRATIONS)
        written += sorted(path for path in (folder / CALIBRATIONS).rglob("*") if path.is_file())
    return written


def put_back(
    catalog: Catalog,
    cache: VectorCache,
    data_dir: Path,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda step: None,
) -> None:
    """Replaces catalog, cache and calibrations by those of a backup. Raises NotFound, CatalogCorrupt, NewerData.

    Both databases are looked at before the first one is touched.
    """
    for name in (CATALOG, VECTORS):
        _require_sound(folder / name)
    catalog.replace_by(folder / CATALOG)
    on_step("restored-catalog")
    cache.replace_by(folder / VECTORS)
    on_step("restored-cache")
    shutil.rmtree(data_dir / CALIBRATIONS, ignore_errors=True)
    if (folder / CALIBRATIONS).is_dir():
        shutil.copytree(folder / CALIBRATIONS, data_dir / CALIBRATIONS)


def _require_sound(path: Path) -> None:
    if not path.is_file():
        raise NotFound(f"The backup holds no {path.name}: it is incomplete, take another one")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            said = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise CatalogCorrupt(f"{path.name} of the backup is damaged ({said}): take another one")
