"""Votes: the last one of each person, on the bot's own replies alone, kept with what they are about."""

from __future__ import annotations

import json

import pytest

from bot.feedback import Feedback
from bot.inbox import Answered, Inbox
from bot.types import Author, FeedbackGiven
from tests.unit.bot.messages import PERSON, message, thread
from tests.unit.bot.times import Clock

OTHER = Author(id="u2", display_name="준", is_bot=False)


@pytest.fixture
def feedback(store):
    inbox = Inbox(store, clock=Clock())
    inbox.save(message())
    answered = Answered(post_id="p1", question="연차는?", answer="15일입니다.", evidence_ids=("c1", "c2"))
    inbox.finish(inbox.take_next("slow"), outcome="answered", answered=answered)
    return Feedback(store, clock=Clock())


def vote(vote="up", **changes) -> FeedbackGiven:
    fields = {"reply_id": "p1", "author": PERSON, "vote": vote, "comment": "", "platform": "fake"}
    return FeedbackGiven(**{**fields, **changes})


def test_a_vote_is_kept_with_question_evidence_and_answer(feedback, store):
    assert feedback.save(vote("wrong", comment="금액이 달라요 AKIAIOSFODNN7EXAMPLE"))
    (row,) = store.query("SELECT * FROM feedback")
    assert (row["vote"], row["question"], row["answer"]) == ("wrong", "연차는?", "15일입니다.")
    assert json.loads(row["evidence_ids"]) == ["c1", "c2"]
    assert row["comment"].startswith("금액이 달라요")
    assert "AKIAIOSFODNN7EXAMPLE" not in row["comment"]


def test_the_last_vote_of_each_person_counts(feedback):
    for given in (vote("up"), vote("down"), vote("up", author=OTHER)):
        feedback.save(given)
    assert feedback.counts() == {"down": 1, "up": 1}


def test_a_reaction_that_is_removed_takes_its_own_vote_back_and_no_later_one(feedback):
    feedback.save(vote("up"))
    feedback.save(vote("up", taken_back=True))
    assert feedback.counts() == {}
    feedback.save(vote("up"))
    feedback.save(vote("wrong"))
    feedback.save(vote("up", taken_back=True))
    assert feedback.counts() == {"wrong": 1}


def test_the_delivery_that_was_answered_names_the_reply_too(feedback):
    assert feedback.save(vote(reply_id="another part of it", delivery_id="d1"))
    assert feedback.counts() == {"up": 1}


@pytest.mark.parametrize(
    "wrong",
    [{"reply_id": "a post of somebody"}, {"platform": "slack"}, {"channel_id": "elsewhere"}, {"delivery_id": "d9"}],
)
def test_votes_on_anything_else_are_not_kept(feedback, wrong):
    assert feedback.save(vote(**wrong)) is False
    assert feedback.counts() == {}


def test_a_vote_between_the_post_and_its_record_is_kept_and_completed(store):
    inbox, feedback = Inbox(store, clock=Clock()), Feedback(store, clock=Clock())
    inbox.save(message())
    item = inbox.take_next("slow")
    assert feedback.save(vote("wrong", reply_id="p1", delivery_id="d1"))
    inbox.finish(item, outcome="answered", answered=Answered(post_id="p1", question="연차는?", answer="15일입니다."))
    (row,) = store.query("SELECT * FROM feedback")
    assert (row["vote"], row["question"], row["answer"]) == ("wrong", "연차는?", "15일입니다.")
    assert feedback.save(vote("up", delivery_id="d1"))
    assert feedback.counts() == {"up": 1}


def test_the_last_answer_to_a_person_is_found_in_its_thread_and_channel(feedback):
    assert feedback.last_answer_to(PERSON, thread("t1")) == "d1"
    assert feedback.last_answer_to(PERSON, thread("")) == "d1"
    assert feedback.last_answer_to(PERSON, thread("t2")) is None
    assert feedback.last_answer_to(OTHER, thread("t1")) is None
    assert feedback.last_answer_to(PERSON, thread("", channel="other")) is None
