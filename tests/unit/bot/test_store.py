"""bot.sqlite3: migrations in order, transactions that leave nothing half done, errors a person can act on."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading

import pytest

from bot.errors import StoreError
from bot.store import Store, load_migrations, require_usable, split_statements, timestamp
from tests.unit.bot.times import Clock

_opened: list[Store] = []


@pytest.fixture(autouse=True)
def _closed():
    yield
    while _opened:
        _opened.pop().close()


def open_store(path, **options):
    store = Store.open(path, clock=Clock(), **options)
    _opened.append(store)
    return store


def add_audit(store, action):
    with store.transaction() as connection:
        connection.execute("INSERT INTO audit_log (at, actor, action, detail) VALUES ('t', 'a', ?, '')", (action,))


def actions(store):
    return [row["action"] for row in store.query("SELECT action FROM audit_log ORDER BY id")]


def test_a_commit_survives_the_process_being_killed(tmp_path):
    script = (
        "import os, signal, sys; from datetime import UTC, datetime; from pathlib import Path; from bot.store import Store\n"
        "store = Store.open(Path(sys.argv[1]), clock=lambda: datetime.now(UTC))\n"
        "with store.transaction() as c:\n"
        "    c.execute(\"INSERT INTO audit_log (at, actor, action, detail) VALUES ('t', 'a', 'kept', '')\")\n"
        "c = store._connection; c.execute('BEGIN IMMEDIATE')\n"
        "c.execute(\"INSERT INTO audit_log (at, actor, action, detail) VALUES ('t', 'a', 'half done', '')\")\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path / "bot.sqlite3")], check=False)
    assert run.returncode == -9
    assert actions(open_store(tmp_path / "bot.sqlite3")) == ["kept"]


def test_every_commit_is_synced_to_the_disk(tmp_path):
    store = open_store(tmp_path / "bot.sqlite3")
    assert store.query("PRAGMA synchronous")[0][0] == 2  # FULL
    assert store.query("PRAGMA journal_mode")[0][0] == "wal"


def test_an_error_inside_a_transaction_undoes_all_of_it(tmp_path):
    store = open_store(tmp_path / "bot.sqlite3")

    def write_and_fail():
        with store.transaction() as connection:
            connection.execute("INSERT INTO audit_log (at, actor, action, detail) VALUES ('t', 'a', 'x', '')")
            raise LookupError

    with pytest.raises(LookupError):
        write_and_fail()
    assert actions(store) == []
    add_audit(store, "after")
    assert actions(store) == ["after"]


def test_a_transaction_inside_another_is_refused(tmp_path):
    store = open_store(tmp_path / "bot.sqlite3")
    with pytest.raises(StoreError, match="inside another"), store.transaction(), store.transaction():
        pass


def test_threads_write_one_after_the_other(tmp_path):
    store = open_store(tmp_path / "bot.sqlite3")
    threads = [threading.Thread(target=lambda: [add_audit(store, "x") for _ in range(20)]) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(actions(store)) == 100


def test_migrations_run_once_and_in_order(tmp_path):
    steps = tmp_path / "steps"
    steps.mkdir()
    (steps / "001_first.sql").write_text("CREATE TABLE t (x TEXT) STRICT;\nINSERT INTO t VALUES ('a; b');\n")
    open_store(tmp_path / "s.sqlite3", migrations=steps).close()
    (steps / "002_second.sql").write_text("ALTER TABLE t ADD COLUMN y TEXT;\nUPDATE t SET y = x;\n")
    store = open_store(tmp_path / "s.sqlite3", migrations=steps)
    assert [tuple(row) for row in store.query("SELECT x, y FROM t")] == [("a; b", "a; b")]
    assert [row["number"] for row in store.query("SELECT number FROM schema_migrations")] == [1, 2]


def test_a_failing_migration_leaves_the_file_as_it_was(tmp_path):
    steps = tmp_path / "steps"
    steps.mkdir()
    (steps / "001_first.sql").write_text("CREATE TABLE t (x TEXT);\n")
    open_store(tmp_path / "s.sqlite3", migrations=steps).close()
    (steps / "002_broken.sql").write_text("CREATE TABLE u (x TEXT);\nINSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(StoreError, match="nowhere"):
        open_store(tmp_path / "s.sqlite3", migrations=steps)
    (steps / "002_broken.sql").unlink()
    store = open_store(tmp_path / "s.sqlite3", migrations=steps)
    assert [row[0] for row in store.query("SELECT name FROM sqlite_master WHERE name IN ('t', 'u')")] == ["t"]


def test_a_file_of_a_newer_version_is_not_touched(tmp_path):
    open_store(tmp_path / "bot.sqlite3").close()
    with sqlite3.connect(tmp_path / "bot.sqlite3") as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (900, '900_future.sql', 't')")
    connection.close()
    with pytest.raises(StoreError, match=r"newer version of haechi \(step 900_future.sql\)"):
        open_store(tmp_path / "bot.sqlite3")


def test_a_damaged_file_is_named_with_what_to_do(tmp_path):
    (tmp_path / "bot.sqlite3").write_bytes(b"this is no database at all, but long enough to be read as one" * 40)
    with pytest.raises(StoreError, match=r"bot\.sqlite3 is damaged .* restore it from a backup"):
        open_store(tmp_path / "bot.sqlite3")


def test_a_full_disk_is_said_and_what_was_committed_stays(tmp_path):
    store = open_store(tmp_path / "bot.sqlite3")
    add_audit(store, "before")
    pages = store.query("PRAGMA page_count")[0][0]
    store.query(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match=r"disk .* is full; free some space"):
        add_audit(store, "x" * 100_000)
    assert actions(store)[0] == "before"
    store.query("PRAGMA max_page_count = 1000000")
    add_audit(store, "after")
    assert actions(store)[-1] == "after"


def test_only_its_user_can_read_the_file(tmp_path):
    open_store(tmp_path / "bot.sqlite3")
    assert (tmp_path / "bot.sqlite3").stat().st_mode & 0o777 == 0o600


def test_the_migrations_of_the_program_have_distinct_numbers():
    numbers = [migration.number for migration in load_migrations(Store.__init__.__globals__["MIGRATIONS"])]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1


@pytest.mark.parametrize("name", ["1_short.sql", "001-dash.sql"])
def test_a_migration_with_a_wrong_name_is_refused(tmp_path, name):
    (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(StoreError, match="NNN_name"):
        load_migrations(tmp_path)


def test_a_script_that_ends_in_the_middle_of_a_statement_is_refused():
    assert split_statements("SELECT 1;\n-- done\n") == ["SELECT 1;"]
    with pytest.raises(StoreError, match="middle of a statement"):
        split_statements("SELECT 1;\nSELECT ';'")


def test_times_sort_as_text():
    clock = Clock()
    first = timestamp(clock())
    clock.advance(0.000001)
    assert first < timestamp(clock())
    assert len(first) == len(timestamp(clock()))


# --- what SQLite's own check says -----------------------------------------------------------------

DEPLOY = ("payment-api", "production", "67ddee967f", "shop", "2026-11-30T09:00:00.000000Z")
DEPLOYS_BEFORE_042 = """
    DROP TABLE deploys;
    CREATE TABLE deploys (
        service TEXT NOT NULL, environment TEXT NOT NULL, revision TEXT NOT NULL, repository TEXT NOT NULL,
        deployed_at TEXT NOT NULL, PRIMARY KEY (service, environment, deployed_at, revision)
    ) STRICT, WITHOUT ROWID;
    DELETE FROM schema_migrations WHERE number >= 42;
"""


def test_the_key_of_a_table_without_rowids_stands_first_in_it(tmp_path):
    store = open_store(tmp_path / "bot.sqlite3")
    tables = store.query("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%WITHOUT ROWID%'")
    assert "deploys" in {row["name"] for row in tables}
    for row in tables:
        columns = store.query(f"PRAGMA table_info({row['name']})")
        key = sorted((c for c in columns if c["pk"]), key=lambda c: c["pk"])
        assert [c["name"] for c in columns][: len(key)] == [c["name"] for c in key], row["name"]


def test_a_backup_with_a_deployment_from_before_their_new_layout_is_sound_and_keeps_it(tmp_path):
    path = tmp_path / "bot.sqlite3"
    Store.open(path, clock=Clock()).close()
    with sqlite3.connect(path) as connection:
        connection.executescript(DEPLOYS_BEFORE_042)
        connection.execute("INSERT INTO deploys VALUES (?, ?, ?, ?, ?)", DEPLOY)
    connection.close()
    require_usable(path)
    store = open_store(path)
    (row,) = store.query("SELECT service, environment, revision, repository, deployed_at FROM deploys")
    assert tuple(row) == DEPLOY
    assert [tuple(row) for row in store.query("PRAGMA quick_check")] == [("ok",)]


def test_a_backup_whose_tables_lie_on_each_other_is_not_usable(tmp_path):
    path = tmp_path / "bot.sqlite3"
    store = Store.open(path, clock=Clock())
    add_audit(store, "one")
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = 1 WHERE name = 'audit_log'")
    connection.close()
    with pytest.raises(StoreError, match="is damaged"):
        require_usable(path)
