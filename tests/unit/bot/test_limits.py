"""How much may be asked, counted from what was really accepted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.inbox import Inbox
from bot.limits import HOUR, MINUTE, Allowance, Limits
from bot.store import Store
from bot.types import Author
from tests.unit.bot.messages import PERSON, message
from tests.unit.bot.times import Clock

OTHER = Author(id="u2", display_name="준", is_bot=False)
NO_LIMIT = Allowance(per_minute=0, per_hour=0)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def inbox(tmp_path, clock):
    store = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    yield Inbox(store, clock=clock)
    store.close()


def ask(inbox, name, author=PERSON, **options):
    inbox.save(message(delivery_id=name, author=author), **options)


def reached(limits, inbox, clock, author=PERSON):
    return limits.reached(inbox, author, platform="fake", now=clock())


def test_a_person_may_ask_as_often_as_allowed_and_again_when_the_window_has_passed(inbox, clock):
    limits = Limits(user=Allowance(per_minute=2, per_hour=0), total=NO_LIMIT)
    ask(inbox, "a")
    clock.advance(10)
    ask(inbox, "b")
    over = reached(limits, inbox, clock)
    assert (over.whose, over.window, over.wait_s(clock())) == ("user", MINUTE, 50)
    assert reached(limits, inbox, clock, OTHER) is None
    clock.advance(51)
    assert reached(limits, inbox, clock) is None


def test_of_two_limits_the_longer_wait_is_told(inbox, clock):
    limits = Limits(user=Allowance(per_minute=1, per_hour=1), total=NO_LIMIT)
    ask(inbox, "a")
    assert reached(limits, inbox, clock).window == HOUR


def test_all_together_have_a_limit_too(inbox, clock):
    limits = Limits(user=NO_LIMIT, total=Allowance(per_minute=2, per_hour=0))
    ask(inbox, "a")
    ask(inbox, "b", OTHER)
    assert reached(limits, inbox, clock, Author(id="u3", display_name="새", is_bot=False)).whose == "total"


def test_what_was_told_or_costs_nothing_does_not_count(inbox, clock):
    limits = Limits(user=Allowance(per_minute=1, per_hour=1), total=NO_LIMIT)
    ask(inbox, "a", lane="quick", told="empty")
    ask(inbox, "b", kind="alert", lane="alert")
    assert reached(limits, inbox, clock) is None


def test_without_limits_nobody_waits(inbox, clock):
    for number in range(50):
        ask(inbox, f"d{number}")
    assert reached(Limits(user=NO_LIMIT, total=NO_LIMIT), inbox, clock) is None


def test_a_restart_forgets_nothing(inbox, clock, tmp_path):
    ask(inbox, "a")
    again = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    try:
        limits = Limits(user=Allowance(per_minute=1, per_hour=0), total=NO_LIMIT)
        over = reached(limits, Inbox(again, clock=clock), clock)
        assert over.free_at == clock() + timedelta(minutes=1)
    finally:
        again.close()


def test_a_clock_that_was_set_back_uses_up_nobodys_allowance(inbox, clock):
    limits = Limits(user=Allowance(per_minute=2, per_hour=2), total=NO_LIMIT)
    ask(inbox, "1")
    ask(inbox, "2")
    assert reached(limits, inbox, clock) is not None
    clock.now -= timedelta(days=1)
    assert reached(limits, inbox, clock) is None
    ask(inbox, "3")
    ask(inbox, "4")
    assert reached(limits, inbox, clock) is not None
