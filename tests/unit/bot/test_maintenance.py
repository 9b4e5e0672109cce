"""Restoring, erasing and forgetting over a real bot.sqlite3."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.audit import AuditLog
from bot.erasure import erase_person
from bot.errors import BotError, StoreError
from bot.export import KINDS, export_page
from bot.inbox import Answered, Inbox
from bot.platform_state import StoredPlatformState
from bot.restoring import bring_back
from bot.retention import apply_periods
from bot.settings_check import Problem
from bot.settings_operations import RetentionSettings
from bot.store import Store, timestamp
from bot.types import Author, Message, ThreadRef

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Clock:
    now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    store = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    yield store
    store.close()


def said(number: int, *, author: str = "U1", at: datetime = NOW, text: str = "연차는 며칠인가요?") -> Message:
    return Message(
        id=str(number), thread=ThreadRef(platform="slack", channel_id="C1", root_id=str(number)),
        author=Author(id=author, display_name="미나", is_bot=False), text=text, mentions_bot=True, is_direct=False,
        attachments=(), posted_at=at, delivery_id=f"C1:{number}",
    )  # fmt: skip


def answer(inbox: Inbox, message: Message, text: str = "15일입니다.") -> None:
    inbox.save(message)
    item = inbox.take_next("slow")
    assert item is not None
    inbox.finish(item, outcome="answered", answered=Answered(post_id="P", question=message.text, answer=text))


def restored(store, tmp_path, clock, backup):
    bring_back(store, backup, clock(), clock=clock)


def fresh_store(tmp_path, clock) -> Store:
    """Of another machine, or after the old one was lost."""
    return Store.open(tmp_path / "fresh.sqlite3", clock=clock)


def test_a_restore_forgets_no_delivery_and_answers_none_twice(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    for number in (1, 2, 3):
        inbox.save(said(number))
    store.copy_to(tmp_path / "backup")
    for _ in range(2):  # after the backup 1 and 2 are answered, 3 is being answered, and 4 comes
        item = inbox.take_next("slow")
        inbox.finish(item, outcome="answered", answered=Answered(post_id="P", answer="15일"))
    working = inbox.take_next("slow")
    inbox.save(said(4))
    restored(store, tmp_path, clock, tmp_path / "backup")
    assert [inbox.save(said(number)) for number in (1, 2, 3, 4)] == [False] * 4
    assert inbox.take_next("slow").delivery_id == "C1:4"
    assert inbox.take_next("slow") is None  # 3 is still being worked on by whoever took it
    inbox.finish(working, outcome="answered")
    assert inbox.counts() == {"done": 3, "working": 1}


def test_open_questions_of_a_backup_are_looked_up_first_and_ancient_ones_given_up(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    inbox.save(said(1))
    clock.now = NOW + timedelta(days=2)
    inbox.save(said(2))
    inbox.take_next("slow")
    store.copy_to(tmp_path / "backup")
    other = fresh_store(tmp_path, clock)
    restored(other, tmp_path, clock, tmp_path / "backup")
    inbox = Inbox(other, clock=clock)
    item = inbox.take_next("slow")
    assert (item.delivery_id, item.postponed) == ("C1:2", 1)
    assert inbox.take_next("slow") is None
    assert inbox.counts() == {"failed": 1, "working": 1}
    other.close()


def test_what_people_and_the_audit_said_since_stays_and_what_was_lost_comes_back(store, clock, tmp_path):
    audit = AuditLog(store, clock=clock)
    audit.record("slack:U1", "reindex", "before")
    answer(Inbox(store, clock=clock), said(1))
    store.copy_to(tmp_path / "backup")
    clock.now = NOW + timedelta(hours=1)
    audit.record("slack:U1", "reindex", "since")
    for _ in range(2):  # a second restore of the same backup adds nothing
        store.copy_to(tmp_path / "again")
        restored(store, tmp_path, clock, tmp_path / "backup")
    assert [row["detail"] for row in export_page(store, "audit", since=None, after=0)[0]] == ["before", "since"]
    other = fresh_store(tmp_path, clock)
    AuditLog(other, clock=clock).record("cli", "verify", "other")
    restored(other, tmp_path, clock, tmp_path / "again")
    details = [row["detail"] for row in export_page(other, "audit", since=None, after=0)[0]]
    assert sorted(details) == ["before", "other", "since"]
    assert [row["question"] for row in export_page(other, "answers", since=None, after=0)[0]] == [said(1).text]
    other.close()


def test_every_row_of_a_backup_comes_back_on_an_empty_machine(store, clock, tmp_path):
    """Whatever tables there will be: a row that is written today is there after a restore."""
    with store.transaction() as connection:
        tables = filled(connection)
    store.copy_to(tmp_path / "backup")
    other = fresh_store(tmp_path, clock)
    restored(other, tmp_path, clock, tmp_path / "backup")
    found = {table: other.query(f"SELECT count(*) n FROM {table}")[0]["n"] for table in tables}
    assert {table for table, count in found.items() if not count} == set()
    other.close()


def filled(connection) -> list[str]:
    """The tables of the database, each of which has got a row, whatever its columns are."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {row[0]: row[1] for row in rows if not row[0].startswith(("sqlite_", "schema_"))}
    for name, sql in tables.items():
        if connection.execute(f"SELECT 1 FROM {name}").fetchone():
            continue
        columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
        row = {column["name"]: allowed(sql, column) for column in columns}
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    return list(tables)


def allowed(sql: str, column) -> object:
    """A value that the column's CHECK lets through."""
    listed = re.search(rf"\bCHECK \({column['name']} IN \(([^)]*)\)", sql)
    if listed:
        first = listed[1].split(",")[0].strip()
        return int(first) if column["type"] == "INTEGER" else first.strip("'")
    return timestamp(NOW) if column["type"] == "TEXT" else 1


def test_alerts_that_were_counted_since_go_on_being_counted(store, clock, tmp_path):
    with store.transaction() as connection:
        filled(connection)
    store.copy_to(tmp_path / "backup")
    with store.transaction() as connection:
        connection.execute("UPDATE alert_faults SET count = 7")
    restored(store, tmp_path, clock, tmp_path / "backup")
    assert [row["count"] for row in store.query("SELECT count FROM alert_faults")] == [7]


def test_who_was_erased_after_the_backup_stays_erased(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    answer(inbox, said(1, text="제 병가기록은 어디 있나요?"), text="병가기록 대답")
    store.copy_to(tmp_path / "backup")
    erase_person(store, "slack", "U1")
    AuditLog(store, clock=clock).record("cli", "erase", "slack:U1: questions 1")
    with store.transaction() as connection:
        connection.execute("DELETE FROM replies")
        connection.execute("DELETE FROM inbox")
    restored(store, tmp_path, clock, tmp_path / "backup")
    rows, _ = export_page(store, "answers", since=None, after=0)
    assert [(row["question"], row["answer"]) for row in rows] == [("", "")]


def test_what_was_said_before_the_restore_and_comes_after_it_is_looked_up_first(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    store.copy_to(tmp_path / "backup")
    restored(store, tmp_path, clock, tmp_path / "backup")
    inbox.save(said(7, at=NOW - timedelta(minutes=5)))
    assert inbox.take_next("slow").postponed == 1
    inbox.save(said(8, at=NOW + timedelta(minutes=5)))
    assert inbox.take_next("slow").postponed == 0


def test_platforms_go_on_where_they_were(store, clock, tmp_path):
    state = StoredPlatformState(store, "slack", clock=clock)
    state.put("cursor", "100")
    store.copy_to(tmp_path / "backup")
    clock.now = NOW + timedelta(hours=1)
    state.put("cursor", "200")
    restored(store, tmp_path, clock, tmp_path / "backup")
    assert state.get("cursor") == "200"


def test_a_damaged_or_newer_database_changes_nothing(store, clock, tmp_path):
    AuditLog(store, clock=clock).record("slack:U1", "reindex", "rules")
    (tmp_path / "broken").write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError, match="damaged"):
        bring_back(store, tmp_path / "broken", NOW, clock=clock)
    other = Store.open(tmp_path / "newer", clock=clock)
    with other.transaction() as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (998, '998_later.sql', 'now')")
    other.close()
    with pytest.raises(StoreError, match="newer"):
        bring_back(store, tmp_path / "newer", NOW, clock=clock)
    assert len(store.query("SELECT * FROM audit_log")) == 1


def test_erasing_a_person_leaves_nothing_of_them_in_the_file_and_answers_nothing_again(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    answer(inbox, said(1, text="제 병가기록은 어디 있나요?"), text="병가기록 대답")
    answer(inbox, said(2, author="U2", text="출장비는?"))
    inbox.save(said(3, text="열린 병가기록 질문"))
    counts = erase_person(store, "slack", "U1")
    store.tidy(vacuum_above_bytes=0)
    assert counts["deliveries"] == 2
    assert counts["answers"] == 1
    assert "병가기록".encode() not in (tmp_path / "bot.sqlite3").read_bytes()
    assert inbox.save(said(1)) is False
    assert inbox.take_next("slow") is None
    rows, _ = export_page(store, "answers", since=None, after=0)
    assert [row["question"] for row in rows] == ["", "출장비는?"]


def test_an_export_pages_through_everything_and_begins_where_it_is_told(store, clock):
    audit = AuditLog(store, clock=clock)
    for number in range(450):
        clock.now = NOW + timedelta(minutes=number)
        audit.record("slack:U1", "reindex", str(number))
    found, after = [], 0
    while after is not None:
        rows, after = export_page(store, "audit", since=None, after=after)
        found += [row["detail"] for row in rows]
    assert found == [str(number) for number in range(450)]
    later = (NOW + timedelta(minutes=448)).isoformat(timespec="microseconds")
    assert [row["detail"] for row in export_page(store, "audit", since=later, after=0)[0]] == ["448", "449"]
    assert all(export_page(store, kind, since=None, after=0)[0] == [] for kind in KINDS if kind != "audit")
    with pytest.raises(BotError, match="answers, questions"):
        export_page(store, "passwords", since=None, after=0)


def test_what_is_older_than_its_period_goes_and_what_is_open_stays(store, clock):
    inbox = Inbox(store, clock=clock)
    answer(inbox, said(1))
    inbox.save(said(2), lane="long")
    AuditLog(store, clock=clock).record("slack:U1", "reindex", "rules")
    periods = RetentionSettings(questions_days=30, deliveries_days=60)
    clock.now = NOW + timedelta(days=40)
    answer(inbox, said(3))
    assert apply_periods(store, periods, NOW + timedelta(days=50))["answers"] == 1
    assert inbox.has_answered(said(1).thread, before=NOW + timedelta(days=50))  # the thread is still the bot's
    removed = apply_periods(store, periods, NOW + timedelta(days=61))
    assert (removed["deliveries"], removed["replies"], removed["audit"]) == (1, 1, 0)
    assert inbox.counts() == {"received": 1, "done": 1}


def test_deliveries_are_never_forgotten_while_a_platform_may_send_them_again():
    with pytest.raises((Problem, ValueError), match="at least 31"):
        RetentionSettings(deliveries_days=7)
