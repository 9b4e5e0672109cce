"""The bot's own database, bot.sqlite3: what was delivered, answered, asked and thought of it.

Kept apart from the catalog so that a long ingest never delays an acknowledgement. `synchronous=FULL`: what was
committed survives a power cut, because an acknowledged delivery is never sent again.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import quote

from bot.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_TIMEOUT_S = 10.0
WAL_LIMIT_BYTES = 16 * 1024 * 1024
_MAX_FINDINGS = 100_000  # of which those that turn out to be none are passed over
THREADS = 2  # one transaction at a time anyway; the second reads what comes next while the first waits for the disk

P = ParamSpec("P")
T = TypeVar("T")

_MIGRATION_NAME = re.compile(r"(\d{3})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the database's history."""

    number: int
    name: str
    sql: str


class Store:
    """One connection that all threads share, one transaction at a time."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.RLock()
        self._in_transaction = False
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="bot-store")

    @classmethod
    def open(cls, path: Path, *, clock: Callable[[], datetime], migrations: Path = MIGRATIONS) -> Store:
        """A store whose tables are up to date. Raises StoreError when the file cannot be used or is newer."""
        try:
            connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=256
            )
        except sqlite3.Error as error:
            raise StoreError(f"Cannot open {path}: {error}; check that its folder can be written.") from error
        store = cls(connection, path)
        try:
            store._prepare()
            store._migrate(load_migrations(migrations), clock)
            path.chmod(0o600)
        except StoreError:
            connection.close()
            raise
        except (sqlite3.Error, OSError) as error:
            connection.close()
            raise store._translated(error) from error
        return store

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed at the end, rolled back when the block raises. Not reentrant."""
        with self._lock:
            if self._in_transaction:
                raise StoreError("A transaction on bot.sqlite3 was opened inside another one.")
            self._in_transaction = True
            try:
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
            except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
                if isinstance(error, sqlite3.IntegrityError):
                    raise
                raise self._translated(error) from error
            finally:
                self._in_transaction = False

    def query(self, sql: str, params: Sequence[object] = ()) -> list[sqlite3.Row]:
        """All rows of a SELECT; rows answer to column names."""
        with self._lock:
            try:
                return self._connection.execute(sql, tuple(params)).fetchall()
            except sqlite3.Error as error:
                raise self._translated(error) from error

    async def in_thread(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns, done in a thread that serves this database alone: a delivery is saved and acknowledged
        at once, however many searches fill the threads that everything else shares."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads,
            partial(copy_context().run, work, *args, **kwargs),  # log lines keep the delivery's id
        )

    # --- as a whole ---------------------------------------------------------------------------------

    def copy_to(self, path: Path) -> None:
        """Writes a consistent copy to `path`, a new file, while others read and write."""
        try:
            with closing(sqlite3.connect(self._path)) as source, closing(sqlite3.connect(path)) as target:
                source.backup(target)
            path.chmod(0o600)
        except (sqlite3.Error, OSError) as error:
            raise self._translated(error) from error

    @contextmanager
    def beside(self, path: Path, name: str) -> Iterator[sqlite3.Connection]:
        """A write transaction that sees another database as well, under `name`. Everybody else waits meanwhile."""
        with self._lock:
            try:
                self._connection.execute(f"ATTACH DATABASE ? AS {name}", (str(path),))
            except sqlite3.Error as error:
                raise self._translated(error) from error
            try:
                with self.transaction() as connection:
                    yield connection
            finally:
                self._connection.execute(f"DETACH DATABASE {name}")

    def tidy(self, *, vacuum_above_bytes: int) -> int:
        """Bytes given back to the disk. Moves the write-ahead log into the file, lets SQLite look at its statistics,
        and rewrites the file when more than that, and a quarter of it, is empty."""
        with self._lock:
            try:
                pages, free, size = (
                    int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
                    for name in ("page_count", "freelist_count", "page_size")
                )
                self._connection.execute("PRAGMA optimize")
                vacuums = free * size > vacuum_above_bytes and free * 4 > pages
                if vacuums:
                    self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                raise self._translated(error) from error
        return free * size if vacuums else 0

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        with self._lock:
            self._connection.close()

    def _prepare(self) -> None:
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA foreign_keys=ON")
        self._connection.execute("PRAGMA secure_delete=ON")  # what is erased is gone from the file too
        self._connection.execute(f"PRAGMA journal_size_limit={WAL_LIMIT_BYTES}")

    def _migrate(self, migrations: Sequence[Migration], clock: Callable[[], datetime]) -> None:
        with self.transaction() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations"
                " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
            )
            applied = {row["number"]: row["name"] for row in connection.execute("SELECT * FROM schema_migrations")}
            unknown = sorted(set(applied) - {migration.number for migration in migrations})
            if unknown:
                raise StoreError(
                    f"{self._path} was written by a newer version of haechi (step {applied[unknown[0]]});"
                    " install that version, or restore the data folder from a backup."
                )
            for migration in migrations:
                if migration.number in applied:
                    continue
                for statement in split_statements(migration.sql):
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO schema_migrations VALUES (?, ?, ?)",
                    (migration.number, migration.name, timestamp(clock())),
                )

    def _translated(self, error: Exception) -> StoreError:
        text = str(error)
        if "disk is full" in text or "No space left" in text:
            return StoreError(f"The disk that holds {self._path} is full; free some space, nothing was lost.")
        if "not a database" in text or "malformed" in text:
            return StoreError(f"{self._path} is damaged ({text}); restore it from a backup, or move it away.")
        if "readonly" in text or "unable to open" in text:
            return StoreError(f"{self._path} cannot be written ({text}); check the owner and rights of the folder.")
        return StoreError(f"{self._path} cannot be used: {text}.")


def require_usable(path: Path) -> None:
    """Raises StoreError unless `path` is a sound bot.sqlite3 that this version can read; it is only looked at."""
    known = {migration.number for migration in load_migrations(MIGRATIONS)}
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            said = _damage_of(connection) or "ok"
            applied = {row[0] for row in connection.execute("SELECT number FROM schema_migrations")}
    except sqlite3.Error as error:
        said, applied = str(error), set()
    if said != "ok":
        raise StoreError(f"{path.name} of the backup is damaged ({said}); take another one.")
    if applied - known:
        raise StoreError(f"{path.name} of the backup was written by a newer version of haechi; install that version.")


def _damage_of(connection: sqlite3.Connection) -> str | None:
    """The first thing that SQLite finds wrong with a file. Values that it takes for NULL are looked at: it errs about
    tables WITHOUT ROWID whose key is in another order than their columns, as `deploys` is in backups before 042."""
    for (said,) in connection.execute(f"PRAGMA quick_check({_MAX_FINDINGS})"):
        named = re.fullmatch(r"NULL value in (\w+)\.(\w+)", said)
        is_null = f"SELECT 1 FROM {named[1]} WHERE typeof({named[2]}) = 'null'" if named else ""
        if said != "ok" and (not named or connection.execute(is_null).fetchone() is not None):
            return str(said)
    return None


def load_migrations(folder: Path) -> tuple[Migration, ...]:
    """The migration files of `folder` by number. Raises StoreError when a name is wrong or a number stands twice."""
    found: dict[int, Migration] = {}
    for file in sorted(folder.glob("*.sql")):
        match = _MIGRATION_NAME.fullmatch(file.name)
        if match is None:
            raise StoreError(f"The migration {file.name} must be called NNN_name.sql.")
        number = int(match[1])
        if number in found:
            raise StoreError(f"Two migrations have the number {match[1]}: {found[number].name} and {file.name}.")
        found[number] = Migration(number=number, name=file.name, sql=file.read_text(encoding="utf-8"))
    return tuple(found[number] for number in sorted(found))


def split_statements(script: str) -> list[str]:
    """The statements of an SQL script: `executescript` would commit the transaction that protects a migration."""
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending.strip())
            pending = ""
    if pending.strip() and not all(line.startswith("--") for line in pending.strip().splitlines()):
        raise StoreError(f"A migration ends in the middle of a statement: {pending.strip()[:60]!r}.")
    return statements


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds always present, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def moment(text: str) -> datetime:
    """The aware datetime that `timestamp` wrote."""
    return datetime.fromisoformat(text)
