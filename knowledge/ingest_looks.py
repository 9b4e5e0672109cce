"""What the catalog remembers of the files of a folder, so that what has not changed is not read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from knowledge.catalog import Catalog
from knowledge.types import FileLook


def read_looks(catalog: Catalog, source: str) -> dict[str, FileLook]:
    """Uri -> what the file was like at the last look."""
    with catalog.reading() as connection:
        rows = connection.execute(
            "SELECT uri, content_hash, size_bytes, mtime_ns, ctime_ns, inode, is_settled FROM file_looks"
            " WHERE source = ?",
            (source,),
        ).fetchall()
    return {
        row[0]: FileLook(
            content_hash=row[1],
            size_bytes=row[2],
            mtime_ns=row[3],
            ctime_ns=row[4],
            inode=int(row[5]),
            is_settled=bool(row[6]),
        )
        for row in rows
    }


def record_looks(
    connection: sqlite3.Connection, source: str, before: Mapping[str, FileLook], now: Mapping[str, FileLook]
) -> None:
    """Writes what differs, inside the caller's transaction."""
    connection.executemany(
        "DELETE FROM file_looks WHERE source = ? AND uri = ?", [(source, uri) for uri in before.keys() - now.keys()]
    )
    connection.executemany(
        "INSERT OR REPLACE INTO file_looks"
        " (source, uri, content_hash, size_bytes, mtime_ns, ctime_ns, inode, is_settled)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                source,
                uri,
                look.content_hash,
                look.size_bytes,
                look.mtime_ns,
                look.ctime_ns,
                str(look.inode),
                int(look.is_settled),
            )
            for uri, look in now.items()
            if before.get(uri) != look
        ],
    )
