"""Who is answered, who is told why not, and whom the bot passes over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.admission import Surroundings, admit
from bot.types import Attachment, Author
from tests.unit.bot.messages import PERSON, message, thread

AROUND = Surroundings(bot_id="B1", max_chars=100, answered_thread=False)
WEBHOOK = Author(id="W1", display_name="alerts", is_bot=True)
LOG = Attachment(name="error.log", media_type="text/plain", text="Traceback: KeyError")


def decided(around: Surroundings = AROUND, **changes):
    admission = admit(message(**changes), around)
    return admission.kind if admission.admitted else admission.told or admission.reason


def with_(**changes) -> Surroundings:
    return replace(AROUND, **changes)


def test_a_mention_and_a_direct_message_are_answered():
    assert decided() == "message"
    assert decided(mentions_bot=False, is_direct=True) == "message"


def test_what_nobody_said_to_the_bot_is_passed_over():
    assert "not addressed" in decided(mentions_bot=False)


def test_a_follow_up_in_a_thread_of_the_bot_needs_no_mention():
    assert decided(with_(answered_thread=True), mentions_bot=False) == "message"


def test_a_follow_up_that_speaks_to_somebody_else_is_passed_over_unless_it_names_the_bot_too():
    own = with_(answered_thread=True)
    assert "somebody else" in decided(own, mentions_bot=False, mentions_others=True)
    assert decided(own, mentions_others=True) == "message"


def test_own_messages_and_other_bots_are_passed_over_even_when_they_name_the_bot():
    assert "own message" in decided(author=Author(id="B1", display_name="haechi", is_bot=True))
    assert "another bot" in decided(author=WEBHOOK)
    assert "another bot" in decided(author=WEBHOOK, is_direct=True)


@pytest.mark.parametrize(
    ("event", "words"), [("edited", "an edit"), ("deleted", "a deletion"), ("system", "a system post")]
)
def test_edits_deletions_and_system_posts_are_passed_over_although_a_join_names_the_bot(event, words):
    assert words in decided(event=event)
    assert words in decided(with_(alerts=True), event=event, author=WEBHOOK)


def test_what_programs_post_in_an_alert_channel_is_an_alert():
    first = {"id": "t1", "thread": thread("t1"), "mentions_bot": False}
    assert decided(with_(alerts=True), author=WEBHOOK, **first) == "alert"
    assert decided(with_(alerts=True), author=WEBHOOK, text="", attachments=(LOG,), **first) == "alert"
    assert "without text" in decided(with_(alerts=True), author=WEBHOOK, text=" ", **first)
    assert decided(with_(alerts=True, alert_authors={PERSON.id}), **first) == "alert"


def test_below_a_post_no_bot_is_an_alert_lest_two_bots_talk_for_ever():
    assert "below a post" in decided(with_(alerts=True), author=WEBHOOK, id="m2", thread=thread("t1"))


def test_the_own_post_in_an_alert_channel_is_none():
    own = Author(id="B1", display_name="haechi", is_bot=True)
    assert "own message" in decided(with_(alerts=True), author=own, id="t1", thread=thread("t1"))


def test_people_in_an_alert_channel_are_heard_as_elsewhere():
    assert decided(with_(alerts=True)) == "message"
    assert "not addressed" in decided(with_(alerts=True), mentions_bot=False)


def test_where_answering_is_switched_off_alerts_are_still_heard():
    off = with_(answers=False, alerts=True)
    assert "switched off" in decided(off)
    assert decided(off, author=WEBHOOK, id="t1", thread=thread("t1")) == "alert"


@pytest.mark.parametrize("text", ["", "  ", "?!", "🙏"])
def test_who_says_nothing_is_told_when_the_bot_was_spoken_to(text):
    assert decided(text=text) == "empty"
    assert "nothing is asked" in decided(with_(answered_thread=True), text=text, mentions_bot=False)


def test_a_file_with_text_is_a_question_by_itself():
    assert decided(text="", attachments=(LOG,)) == "message"
    assert decided(text="", attachments=(Attachment(name="a.png", media_type="image/png", text=None),)) == "empty"


def test_too_long_and_too_much_are_told():
    assert decided(text="가" * 101) == "too_long"
    assert decided(with_(over_limit=True)) == "over_limit"
    assert "not addressed" in decided(with_(over_limit=True), mentions_bot=False)


def test_where_other_organisations_read_along_nothing_is_answered_until_an_admin_has_listed_the_channel():
    unlisted = with_(is_listed=False)
    assert decided(unlisted) == "message"
    assert decided(unlisted, is_shared=True) == "shared"
    assert decided(with_(is_listed=True), is_shared=True) == "message"
    followed = with_(is_listed=False, answered_thread=True)
    assert "not listed" in decided(followed, is_shared=True, mentions_bot=False)
    corrected = with_(is_listed=False, names_cause=True, answered_thread=True)  # below an alert that came by HTTP
    assert decided(corrected, mentions_bot=False) == "message"
    assert "not listed" in decided(corrected, is_shared=True, mentions_bot=False)
