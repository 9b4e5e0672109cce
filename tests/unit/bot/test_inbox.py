"""Deliveries are saved once, taken in order within their thread, and taken up again after a restart."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from bot.inbox import Answered, Inbox, order_key, thread_key
from bot.store import Store
from bot.types import Attachment, Command, Reply
from knowledge.types import Scope
from tests.unit.bot.messages import PERSON, message, thread
from tests.unit.bot.times import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    store = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    yield store
    store.close()


@pytest.fixture
def inbox(store, clock):
    return Inbox(store, clock=clock)


def command(args: str = "status", delivery_id: str = "c1", root: str = "") -> Command:
    return Command(name="haechi", args=args, author=PERSON, thread=thread(root), delivery_id=delivery_id)


def reply(text: str = "15일입니다.") -> Reply:
    return Reply(thread=thread(), markdown=text, citations=(), delivery_id="d1", final=True)


def taken(inbox, lane="slow"):
    item = inbox.take_next(lane)
    return item.delivery_id if item else None


def test_what_was_saved_comes_back_as_it_was(inbox):
    sent = message(attachments=(Attachment(name="a.txt", media_type="text/plain", text="본문"),))
    assert inbox.save(sent, told="too_long", reply=reply())
    item = inbox.take_next("slow")
    assert item is not None
    assert item.delivery == sent
    assert (item.told, item.reply, item.crashes, item.postponed) == ("too_long", reply(), 0, 0)


def test_a_command_comes_back_as_it_was(inbox):
    assert inbox.save(command("ask 연차?"), kind="command")
    item = inbox.take_next("slow")
    assert (item.delivery, item.kind) == (command("ask 연차?"), "command")


def test_a_delivery_that_comes_twice_is_answered_once(inbox):
    assert inbox.save(message()) is True
    assert inbox.save(message(text="a second delivery of the same post")) is False
    item = inbox.take_next("slow")
    assert item is not None
    assert inbox.take_next("slow") is None
    inbox.finish(item, outcome="answered", answered=Answered(post_id="p1"))
    assert inbox.save(message()) is False
    assert inbox.knows("d1")
    assert not inbox.knows("d2")


def test_a_busy_thread_waits_and_another_goes_ahead(inbox):
    inbox.save(message(delivery_id="a1"))
    inbox.save(message(delivery_id="a2"))
    inbox.save(message(delivery_id="b1", thread=thread("t2")))
    first = inbox.take_next("slow")
    assert first.delivery_id == "a1"
    assert taken(inbox) == "b1"
    assert taken(inbox) is None
    inbox.finish(first, outcome="answered")
    assert taken(inbox) == "a2"


def test_order_within_a_thread_holds_across_lanes(inbox):
    inbox.save(message(delivery_id="a1"))
    inbox.save(message(delivery_id="a2"), lane="quick", told="empty")
    assert taken(inbox, "quick") is None
    item = inbox.take_next("slow")
    inbox.finish(item, outcome="answered")
    assert taken(inbox, "quick") == "a2"


def test_what_was_said_first_comes_first_although_it_arrived_last(inbox):
    said = message().posted_at
    inbox.save(message(delivery_id="second", posted_at=said + timedelta(seconds=1)))
    inbox.save(message(delivery_id="first", posted_at=said))
    item = inbox.take_next("slow")
    assert item.delivery_id == "first"
    assert taken(inbox) is None
    inbox.finish(item, outcome="answered")
    assert taken(inbox) == "second"


def test_what_is_being_worked_on_is_finished_before_what_was_said_earlier(inbox):
    said = message().posted_at
    inbox.save(message(delivery_id="second", posted_at=said + timedelta(seconds=1)))
    item = inbox.take_next("slow")
    inbox.save(message(delivery_id="first", posted_at=said))
    assert taken(inbox) is None
    inbox.finish(item, outcome="answered")
    assert taken(inbox) == "first"


def test_lanes_do_not_wait_for_each_other(inbox):
    inbox.save(message(delivery_id="a1"))
    inbox.save(command(), kind="command", lane="quick")
    assert taken(inbox, "quick") == "c1"
    assert taken(inbox, "alert") is None


def test_commands_outside_of_threads_do_not_wait_for_each_other(inbox):
    inbox.save(command(delivery_id="c1"), kind="command", lane="quick")
    inbox.save(command(delivery_id="c2"), kind="command", lane="quick")
    assert [taken(inbox, "quick"), taken(inbox, "quick")] == ["c1", "c2"]
    assert order_key(command(root="t1")) == thread_key(thread("t1"))


def test_what_waits_for_its_platform_holds_up_its_thread_and_no_other(inbox, clock):
    inbox.save(message(delivery_id="a1"))
    inbox.save(message(delivery_id="a2"))
    inbox.save(message(delivery_id="b1", thread=thread("t2")))
    item = inbox.take_next("slow")
    due = clock() + timedelta(seconds=30)
    inbox.postpone(item.delivery_id, until=due)
    assert inbox.next_due() == due
    assert taken(inbox) == "b1"
    assert taken(inbox) is None
    clock.advance(30)
    again = inbox.take_next("slow")
    assert (again.delivery_id, again.postponed, again.crashes) == ("a1", 1, 0)
    assert inbox.next_due() is None


def test_what_was_being_worked_on_waits_again_after_a_restart(inbox):
    inbox.save(message())
    inbox.take_next("slow")
    assert inbox.resume() == 1
    assert inbox.take_next("slow").crashes == 1


def test_what_was_done_is_not_taken_up_again(inbox):
    inbox.save(message())
    inbox.finish(inbox.take_next("slow"), outcome="answered", answered=Answered(post_id="p1"))
    assert inbox.resume() == 0
    assert inbox.take_next("slow") is None
    assert inbox.counts() == {"done": 1}


def test_a_reply_that_is_ready_outlives_a_restart(inbox):
    inbox.save(message())
    inbox.take_next("slow")
    inbox.keep_reply("d1", reply(), Scope.of("rules"))
    inbox.resume()
    item = inbox.take_next("slow")
    assert (item.reply, item.scope) == (reply(), Scope.of("rules"))


def test_done_and_the_post_that_answers_are_recorded_together(inbox, store):
    inbox.save(message())
    secret = "AKIAIOSFODNN7EXAMPLE"
    answered = Answered(
        post_id="p1", question=f"q {secret}", answer=f"a {secret}", evidence_ids=("c1",), scope=Scope.of("rules")
    )
    inbox.finish(inbox.take_next("slow"), outcome="no_evidence", answered=answered)
    assert [tuple(r) for r in store.query("SELECT state, outcome FROM inbox")] == [("done", "no_evidence")]
    (row,) = store.query("SELECT * FROM replies")
    assert (row["delivery_id"], row["post_id"], json.loads(row["evidence_ids"])) == ("d1", "p1", ["c1"])
    assert secret not in row["question"] + row["answer"]
    assert inbox.scopes_of(thread()) == {"p1": Scope.of("rules")}


def test_secrets_are_masked_before_they_reach_the_disk(inbox, tmp_path):
    secret = "AKIAIOSFODNN7EXAMPLE"
    inbox.save(
        message(
            text=f"이 키가 왜 안 되나요? {secret}", attachments=(Attachment(name="a", media_type="t", text=secret),)
        )
    )
    assert secret not in inbox.take_next("slow").delivery.text
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in stored


def test_a_thread_of_the_bot_is_one_where_it_answered_or_is_about_to(inbox):
    moment = message().posted_at
    assert not inbox.has_answered(thread(), before=moment)
    inbox.save(message())
    assert inbox.has_answered(thread(), before=moment)
    assert not inbox.has_answered(thread("t2"), before=moment)


def test_what_was_said_before_the_bot_was_spoken_to_is_no_follow_up_however_late_it_comes(inbox):
    asked = message()
    inbox.save(asked)
    inbox.finish(inbox.take_next("slow"), outcome="answered", answered=Answered(post_id="p1"))
    assert not inbox.has_answered(thread(), before=asked.posted_at - timedelta(seconds=1))
    assert inbox.has_answered(thread(), before=asked.posted_at + timedelta(seconds=1))


def test_what_is_said_about_an_alert_or_to_a_command_makes_no_thread_of_the_bot(inbox):
    inbox.save(message(), kind="alert", lane="alert")
    inbox.finish(inbox.take_next("alert"), outcome="analysed", answered=Answered(post_id="p1"))
    inbox.save(command(root="t1"), kind="command", lane="quick")
    assert not inbox.has_answered(thread(), before=message().posted_at + timedelta(days=1))


def test_threads_of_different_channels_never_share_a_key():
    keys = {thread_key(thread("1", "2")), thread_key(thread("2", "1")), thread_key(thread("1", "2", "other"))}
    assert len(keys) == 3
    assert all(json.loads(key) for key in keys)


def test_a_clock_that_was_set_back_holds_up_nothing_that_was_put_off_before(inbox, clock):
    inbox.save(message())
    inbox.take_next("slow")
    inbox.postpone("d1", until=clock() + timedelta(seconds=60))
    assert taken(inbox) is None
    clock.now -= timedelta(hours=3)
    assert taken(inbox) == "d1"
