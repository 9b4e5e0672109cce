"""Deliveries are saved once, taken in order within their thread, and taken up again after a restart."""

from __future__ import annotations

import json

import pytest

from bot.inbox import Inbox, thread_key
from bot.store import Store
from bot.types import Attachment
from tests.unit.bot.messages import message, thread
from tests.unit.bot.times import Clock


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "bot.sqlite3", clock=Clock())
    yield store
    store.close()


@pytest.fixture
def inbox(store):
    return Inbox(store, clock=Clock())


def test_what_was_saved_comes_back_as_it_was(inbox):
    sent = message(attachments=(Attachment(name="a.txt", media_type="text/plain", text="본문"),))
    assert inbox.save(sent, told="too_long")
    item = inbox.take_next(())
    assert item is not None
    assert item.message == sent
    assert (item.told, item.attempts) == ("too_long", 1)


def test_a_delivery_that_comes_twice_is_answered_once(inbox):
    assert inbox.save(message()) is True
    assert inbox.save(message(text="a second delivery of the same post")) is False
    assert inbox.take_next(()) is not None
    assert inbox.take_next(()) is None
    inbox.finish(message(), post_id="p1", outcome="answered")
    assert inbox.save(message()) is False


def test_a_busy_thread_waits_and_another_goes_ahead(inbox):
    inbox.save(message(delivery_id="a1"))
    inbox.save(message(delivery_id="a2"))
    inbox.save(message(delivery_id="b1", thread=thread("t2")))
    first = inbox.take_next(())
    assert first.message.delivery_id == "a1"
    busy = {thread_key(first.message.thread)}
    assert inbox.take_next(busy).message.delivery_id == "b1"
    assert inbox.take_next(busy | {thread_key(thread("t2"))}) is None
    inbox.finish(first.message, post_id="p", outcome="answered")
    assert inbox.take_next(()).message.delivery_id == "a2"


def test_what_was_being_worked_on_waits_again_after_a_restart(inbox):
    inbox.save(message())
    inbox.take_next(())
    assert inbox.resume() == 1
    assert inbox.take_next(()).attempts == 2


def test_what_was_done_is_not_taken_up_again(inbox):
    inbox.save(message())
    inbox.take_next(())
    inbox.finish(message(), post_id="p1", outcome="answered")
    assert inbox.resume() == 0
    assert inbox.take_next(()) is None
    assert inbox.counts() == {"done": 1}


def test_done_and_the_post_that_answers_are_recorded_together(inbox, store):
    inbox.save(message())
    inbox.take_next(())
    inbox.finish(message(), post_id="p1", outcome="no_evidence")
    assert [tuple(r) for r in store.query("SELECT state, outcome FROM inbox")] == [("done", "no_evidence")]
    assert [tuple(r) for r in store.query("SELECT delivery_id, post_id FROM replies")] == [("d1", "p1")]


def test_secrets_are_masked_before_they_reach_the_disk(inbox, tmp_path):
    secret = "AKIAIOSFODNN7EXAMPLE"
    inbox.save(
        message(
            text=f"이 키가 왜 안 되나요? {secret}", attachments=(Attachment(name="a", media_type="t", text=secret),)
        )
    )
    assert secret not in inbox.take_next(()).message.text
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in stored


def test_a_thread_of_the_bot_is_one_where_it_answered_or_is_about_to(inbox):
    assert not inbox.has_answered(thread())
    inbox.save(message())
    assert inbox.has_answered(thread())
    assert not inbox.has_answered(thread("t2"))


def test_threads_of_different_channels_never_share_a_key():
    keys = {thread_key(thread("1", "2")), thread_key(thread("2", "1")), thread_key(thread("1", "2", "other"))}
    assert len(keys) == 3
    assert all(json.loads(key) for key in keys)
