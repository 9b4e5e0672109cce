"""Restoring, erasing and forgetting over a real bot.sqlite3."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.audit import AuditLog
from bot.erasure import erase_person
from bot.errors import BotError, StoreError
from bot.export import KINDS, export_page
from bot.inbox import Answered, Inbox
from bot.platform_state import StoredPlatformState
from bot.restoring import keep_what_is_newer
from bot.retention import apply_periods
from bot.settings_check import Problem
from bot.settings_operations import RetentionSettings
from bot.store import Store
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
    previous = tmp_path / "previous"
    store.copy_to(previous)
    keep_what_is_newer(backup, previous, clock())
    store.replace_by(backup, clock=clock)


def test_a_restored_inbox_answers_nothing_twice_and_nothing_ancient(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    inbox.save(said(1, at=NOW - timedelta(days=3)))
    clock.now = NOW + timedelta(days=2)
    inbox.save(said(2))
    inbox.save(said(3))
    store.copy_to(tmp_path / "backup")
    for _ in range(2):  # after the backup 1 and 2 are answered, and 4 comes and is answered
        item = inbox.take_next("slow")
        inbox.finish(item, outcome="answered", answered=Answered(post_id="P", answer="15일"))
    inbox.save(said(4))
    restored(store, tmp_path, clock, tmp_path / "backup")
    assert inbox.save(said(1)) is False
    assert inbox.save(said(4)) is False
    left = [inbox.take_next("slow"), inbox.take_next("slow"), inbox.take_next("slow")]
    assert [item.delivery_id for item in left if item] == ["C1:3", "C1:4"]
    assert all(item.postponed for item in left if item)  # whoever answers looks for the bot's own post first


def test_what_was_said_before_the_restore_and_comes_after_it_is_looked_up_first(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    store.copy_to(tmp_path / "backup")
    restored(store, tmp_path, clock, tmp_path / "backup")
    inbox.save(said(7, at=NOW - timedelta(minutes=5)))
    assert inbox.take_next("slow").postponed == 1
    inbox.save(said(8, at=NOW + timedelta(minutes=5)))
    assert inbox.take_next("slow").postponed == 0


def test_old_open_questions_of_a_backup_are_given_up(store, clock, tmp_path):
    inbox = Inbox(store, clock=clock)
    inbox.save(said(1))
    store.copy_to(tmp_path / "backup")
    store.copy_to(tmp_path / "previous")
    clock.now = NOW + timedelta(days=2)
    restored(store, tmp_path, clock, tmp_path / "backup")
    assert inbox.take_next("slow") is None
    assert inbox.counts() == {"failed": 1}


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
        store.replace_by(tmp_path / "broken", clock=clock)
    other = Store.open(tmp_path / "newer", clock=clock)
    with other.transaction() as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (998, '998_later.sql', 'now')")
    other.close()
    with pytest.raises(StoreError, match="newer"):
        store.replace_by(tmp_path / "newer", clock=clock)
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
