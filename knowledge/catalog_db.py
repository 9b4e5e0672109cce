"""The SQLite file under the catalog: connections, one writer, migrations, and the translation of SQLite's errors."""

from __future__ import annotations

import errno
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from knowledge.errors import Busy, CatalogCorrupt, KnowledgeError, NewerData, StorageFull, ToolDown

MIGRATIONS = Path(__file__).parent / "migrations"
CACHE_KIB = 16_384

_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PRIMARY_CODE = 0xFF  # the low byte of SQLite's extended result codes


def as_knowledge_error(error: sqlite3.Error | OSError, path: Path) -> KnowledgeError:
    """What `error`, raised while using the database at `path`, means to a person."""
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return StorageFull(f"The disk that holds {path} is full: free some space, then run the same command again")
        return ToolDown(f"{path} cannot be used: {error.strerror}")
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & _PRIMARY_CODE
    if primary == sqlite3.SQLITE_FULL:
        return StorageFull(f"The disk that holds {path} is full: free some space, then run the same command again")
    if primary in _CORRUPT:
        return CatalogCorrupt(
            f"{path} is damaged ({error}): restore it from a backup, or delete it together with "
            f"{path.name}-wal and {path.name}-shm and run `haechi ingest` to build it anew"
        )
    if primary in _BUSY:
        return Busy(f"{path} is in use by another process: stop that one or try again later")
    return ToolDown(f"{path} cannot be read or written ({error})")


class Database:
    """One SQLite file in WAL mode: a read connection per thread, one write connection behind a lock.

    Every error of SQLite leaves as one of `knowledge.errors`.
    """

    def __init__(
        self, path: Path, *, migrations: Callable[[], Sequence[tuple[int, str]]], max_pages: int | None
    ) -> None:
        self.path = path
        self._local = threading.local()
        self._opened: dict[sqlite3.Connection, weakref.ref[threading.Thread]] = {}
        self._opened_lock = threading.Lock()
        self._write_lock = threading.RLock()
        self._migrations = migrations()
        with self.translated():
            self._writer = self._connect()
            if max_pages is not None:
                self._writer.execute(f"PRAGMA max_page_count = {int(max_pages)}")
            self._migrate(self._migrations)

    @classmethod
    def open(cls, path: Path, *, prefix: str, max_pages: int | None = None) -> Database:
        """The database at `path`, created or brought up to date by the migrations named NNN_<prefix>*.sql.

        `max_pages` limits the file's size, as a full disk would. Raises NewerData, CatalogCorrupt, StorageFull, Busy.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise as_knowledge_error(error, path.parent) from error
        return cls(path, migrations=lambda: read_migrations(prefix), max_pages=max_pages)

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise as_knowledge_error(error, self.path) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's read connection; what it sees is the last commit, not what a transaction is writing."""
        with self.translated():
            connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._connect()
                connection.execute("PRAGMA query_only = 1")
                self._local.connection = connection
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Like `reading`, but all statements inside see the same commit."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The only way to write: all of the block becomes visible at once, or nothing of it."""
        with self._write_lock, self.translated():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def copy_to(self, path: Path) -> None:
        """Writes a consistent copy to `path`, a new file, while others read and write. Raises StorageFull."""
        with self.translated():
            source = self._connect()  # its snapshot lasts as long as the copying does, and holds nobody up
            try:
                with closing(sqlite3.connect(path)) as target:
                    source.backup(target)
            finally:
                with self._opened_lock:
                    self._opened.pop(source, None)
                source.close()

    def replace_by(self, path: Path) -> None:
        """Takes over the whole content of another database of the same kind, older ones brought up to date.

        Everybody sees either the old content or the new one. Raises NewerData, CatalogCorrupt, StorageFull.
        """
        with self._write_lock, self.translated():
            with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as source:
                version = source.execute("PRAGMA user_version").fetchone()[0]
                self._refuse_newer(path, version)
                source.backup(self._writer)
            self._migrate(self._migrations)

    def close(self) -> None:
        with self._write_lock, self._opened_lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10.0, isolation_level=None, check_same_thread=False)
        with self._opened_lock:
            self._close_those_of_ended_threads()
            self._opened[connection] = weakref.ref(threading.current_thread())
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA mmap_size = 268435456")
        return connection

    def _close_those_of_ended_threads(self) -> None:
        """What short-lived threads have read with would stay open as long as the database otherwise."""
        for connection, reference in list(self._opened.items()):
            thread = reference()
            if connection is not self._writer and (thread is None or not thread.is_alive()):
                del self._opened[connection]
                connection.close()

    def _migrate(self, migrations: Sequence[tuple[int, str]]) -> None:
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        self._refuse_newer(self.path, version)
        for number, script in migrations:
            if number > version:
                self._apply(number, script)

    def _refuse_newer(self, path: Path, version: int) -> None:
        newest = self._migrations[-1][0]
        if version > newest:
            raise NewerData(
                f"{path} was written by a newer version of haechi (data version {version}, this one knows "
                f"{newest}): install the newer version, or set data_dir to another folder"
            )

    def _apply(self, number: int, script: str) -> None:
        # executescript commits whatever is open first, so the transaction is part of the script.
        try:
            self._writer.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")
        except sqlite3.Error:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise


def read_migrations(prefix: str) -> list[tuple[int, str]]:
    """(number, script) of every migration named NNN_<prefix>*.sql, in order."""
    found = sorted(MIGRATIONS.glob(f"[0-9][0-9][0-9]_{prefix}*.sql"))
    return [(int(path.name[:3]), path.read_text(encoding="utf-8")) for path in found]
