"""Who is answered, and why not."""

from __future__ import annotations

import pytest

from bot.admission import admit
from bot.types import Author
from tests.unit.bot.messages import BOT, message

OTHER_BOT = Author(id="b2", display_name="alert", is_bot=True)


@pytest.mark.parametrize(
    ("changes", "answered_thread", "reason"),
    [
        ({}, False, "mention"),
        ({"mentions_bot": False, "is_direct": True}, False, "direct message"),
        ({"mentions_bot": False}, True, "follow-up in a thread of the bot"),
    ],
)
def test_who_speaks_to_the_bot_is_answered(changes, answered_thread, reason):
    admission = admit(message(**changes), bot_id=BOT.id, answered_thread=answered_thread, max_chars=100)
    assert (admission.admitted, admission.reason) == (True, reason)


@pytest.mark.parametrize(
    ("changes", "answered_thread", "reason"),
    [
        ({"author": BOT}, True, "silent: own message"),
        ({"author": OTHER_BOT}, True, "silent: another bot"),
        ({"mentions_bot": False}, False, "silent: not addressed"),
        ({"mentions_bot": False, "text": "👍"}, True, "silent: nothing asked"),
        ({"text": " ?! "}, False, "empty"),
        ({"text": "가" * 101}, False, "too_long"),
    ],
)
def test_everything_else_has_its_reason(changes, answered_thread, reason):
    admission = admit(message(**changes), bot_id=BOT.id, answered_thread=answered_thread, max_chars=100)
    assert not admission.admitted
    assert admission.reason.startswith(reason)
