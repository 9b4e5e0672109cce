"""What becomes of alerts that came by HTTP: posted once, counted, gathered, kept while their channel cannot be reached."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from types import SimpleNamespace

import pytest

from bot.alerts.alert import Alert
from bot.alerts.digests import Digests
from bot.alerts.intake import MAX_CRASHES, NOWHERE, AlertIntake, IntakeFull
from bot.alerts.placing import AlertPlacing, IncomingAlerts, root_delivery
from bot.alerts.reading import read_payload
from bot.alerts.services import Services
from bot.alerts.store import FaultStore, Limits
from bot.channels import ChannelPolicy, Channels
from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.inbox import Inbox
from bot.restoring import bring_back
from bot.store import Store
from knowledge.types import Scope
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.chat_line import until
from tests.unit.bot.times import Clock, counting_ids

WINDOW = timedelta(minutes=10)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def world(tmp_path):
    clock = Clock()
    store = Store.open(tmp_path / "bot.sqlite3", clock=clock)
    platform = FakePlatform(new_id=counting_ids())
    platform.channels |= {"ops", "pay"}
    yield SimpleNamespace(
        clock=clock, store=store, platform=platform, handed=[], bodies=count(1), place=("fake", "ops")
    )
    store.close()


def start(world, *, limits=None, platforms=None, place_of=None, max_waiting=100) -> AlertPlacing:
    """A new process over the same store."""
    policy = ChannelPolicy(scope=Scope.everything(), language="en")
    intake = AlertIntake(
        world.store, clock=world.clock, place_of=place_of or (lambda alert: world.place), repeat_window=WINDOW,
        max_waiting=max_waiting,
    )  # fmt: skip
    return AlertPlacing(
        intake=intake,
        digests=Digests(world.store, clock=world.clock),
        faults=FaultStore(world.store, clock=world.clock, limits=limits or Limits()),
        store=world.store,
        inbox=Inbox(world.store, clock=world.clock),
        channels=Channels(default=policy, direct=policy),
        platforms={"fake": world.platform} if platforms is None else platforms,
        clock=world.clock,
        handed_over=lambda: world.handed.append(1),
    )


def alert(world, fault: str = "PaymentDeclined", *, status: str = "firing", place: str = "retry") -> Alert:
    text = f'Traceback (most recent call last):\n  File "app/pay.py", line 10, in {place}\n    go()\n{fault}: card 1234'
    reading = read_payload(text.encode(), content_type="text/plain", services=Services(), posted_at=world.clock())
    return replace(reading.alerts[0], status=status, service="pay")


def take(world, line: AlertPlacing, *alerts: Alert, body: str = "") -> str:
    body = body or f"body {next(world.bodies)}"
    return line.intake.take(alerts, f"identity of {body}").id


def roots(world) -> list[str]:
    return [post.reply.markdown for post in world.platform.roots]


def outcomes(world) -> list[tuple[str, str | None]]:
    rows = world.store.query("SELECT state, outcome FROM incoming_alerts ORDER BY number")
    return [(row["state"], row["outcome"]) for row in rows]


def in_inbox(world) -> list[str]:
    return [row["delivery_id"] for row in world.store.query("SELECT delivery_id FROM inbox ORDER BY seq")]


async def test_a_new_fault_is_posted_and_goes_through_the_inbox_from_there(world):
    line = start(world)
    body = take(world, line, alert(world))
    await line.place_on("fake")
    assert len(roots(world)) == 1
    assert "PaymentDeclined" in roots(world)[0]
    assert "card 1234" in roots(world)[0]
    item = line.inbox.take_next("alert")
    assert item is not None
    assert item.delivery_id == f"alert:{body}"
    assert item.thread == world.platform.roots[0].reply.thread
    assert item.delivery.author.is_bot
    assert world.handed == [1]


async def test_a_fault_whose_analysis_failed_is_posted_and_analysed_anew_when_it_is_told_later(world):
    line = start(world)
    take(world, line, alert(world))
    await line.place_on("fake")
    item = line.inbox.take_next("alert")
    take(world, line, alert(world))
    await line.place_on("fake")  # while it is worked on
    line.inbox.finish(item, outcome="failed: PlatformError", failed=True)  # its post was deleted, for example
    take(world, line, alert(world))
    await line.place_on("fake")  # at once: what fails for every alert is not tried for every alert
    assert len(roots(world)) == 1
    world.clock.advance(16 * 60)
    again = take(world, line, alert(world))
    await line.place_on("fake")
    assert len(roots(world)) == 2
    item = line.inbox.take_next("alert")
    assert item.delivery_id == f"alert:{again}"
    assert item.thread == world.platform.roots[1].reply.thread
    (fault,) = world.store.query("SELECT * FROM alert_faults")
    assert (fault["count"], fault["delivery_key"]) == (4, item.delivery_id)


async def test_the_alert_is_analysed_as_it_was_read_from_its_body(world):
    line, taken = start(world), []

    class Desk:
        async def handle(self, message, platform):
            raise AssertionError("read again from the text of its post")

        async def take(self, one, key, thread, platform):
            taken.append((one, key, thread))
            return "analysed"

    told = alert(world)
    take(world, line, told)
    await line.place_on("fake")
    item = line.inbox.take_next("alert")
    handler = IncomingAlerts(line.intake, world.store, Desk())
    assert await handler.handle(item.delivery, world.platform) == "analysed"
    assert taken == [(told, item.delivery_id, item.thread)]


async def test_the_same_fault_again_is_counted_without_a_post(world):
    line = start(world)
    take(world, line, alert(world))
    take(world, line, alert(world), body="later")
    await line.place_on("fake")
    assert len(roots(world)) == 1
    assert outcomes(world) == [("placed", None), ("done", "counted")]
    assert len(in_inbox(world)) == 1


async def test_a_storm_of_one_fault_makes_one_post(world):
    line = start(world, max_waiting=1000)
    for number in range(300):
        take(world, line, alert(world), body=str(number))
    await line.place_on("fake")
    assert len(roots(world)) == 1
    (fault,) = world.store.query("SELECT count FROM alert_faults")
    assert fault["count"] == 300


async def test_a_resolved_notice_closes_the_fault_and_is_not_posted(world):
    line = start(world)
    take(world, line, alert(world))
    take(world, line, alert(world, status="resolved"))
    await line.place_on("fake")
    assert len(roots(world)) == 1
    (fault,) = world.store.query("SELECT state FROM alert_faults")
    assert fault["state"] == "resolved"
    assert outcomes(world)[1] == ("done", "resolved")


async def test_a_resolved_notice_of_nothing_makes_nothing(world):
    line = start(world)
    take(world, line, alert(world, status="resolved"))
    await line.place_on("fake")
    assert roots(world) == []
    assert outcomes(world) == [("done", "resolved: nothing was going on")]


async def test_alerts_of_one_body_are_placed_in_its_order(world):
    line = start(world)
    take(world, line, *(alert(world, f"Fault{n}Error", place=f"f{n}") for n in range(5)))
    await line.place_on("fake")
    assert [text.split("`")[1] for text in roots(world)] == [f"Fault{n}Error: card 1234" for n in range(5)]
    assert [key.partition("#")[2] for key in in_inbox(world)] == ["", "2", "3", "4", "5"]


# --- repeats --------------------------------------------------------------------------------------


def test_the_same_body_within_the_window_makes_nothing_new_over_a_restart_too(world):
    first = start(world).intake.take([alert(world)], "same")
    world.clock.advance(WINDOW.total_seconds() - 1)
    again = start(world).intake.take([alert(world)], "same")
    assert (first.id, first.is_new, again.id, again.is_new) == (first.id, True, first.id, False)
    assert start(world).intake.taken_before("same") == again
    assert len(outcomes(world)) == 1


async def test_the_same_body_after_the_window_is_counted(world):
    line = start(world)
    line.intake.take([alert(world)], "same")
    world.clock.advance(WINDOW.total_seconds() + 1)
    assert line.intake.taken_before("same") is None
    line.intake.take([alert(world)], "same")
    await line.place_on("fake")
    assert outcomes(world) == [("placed", None), ("done", "counted")]


def test_more_than_fits_is_refused_and_nothing_of_it_is_kept(world):
    line = start(world, max_waiting=3)
    take(world, line, alert(world), alert(world))
    with pytest.raises(IntakeFull):
        take(world, line, alert(world), alert(world), body="more")
    assert len(outcomes(world)) == 2
    assert line.intake.taken_before("identity of more") is None


# --- kills ----------------------------------------------------------------------------------------


def kill_at(monkeypatch, owner, method: str, *, after: bool) -> None:
    """Lets the process end before or right after the first call of a method."""
    real = getattr(owner, method)

    def dying(*args, **kwargs):
        monkeypatch.setattr(owner, method, real)
        if after:
            real(*args, **kwargs)
        raise Killed

    monkeypatch.setattr(owner, method, dying)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", ["trying", "posted", "note", "save", "placed"])
async def test_a_kill_at_any_point_doubles_nothing_and_loses_nothing(world, monkeypatch, point, after):
    line = start(world)
    take(world, line, alert(world))
    owner = {"note": line.faults, "save": line.inbox}.get(point, line.intake)
    with monkeypatch.context() as patch:
        kill_at(patch, type(owner), point, after=after)
        with pytest.raises(Killed):
            await line.place_on("fake")
    world.clock.advance(60)
    again = start(world)
    again.intake.resume()
    await again.place_on("fake")
    assert len(roots(world)) == 1
    assert outcomes(world) == [("placed", None)]
    assert len(in_inbox(world)) == 1
    (fault,) = world.store.query("SELECT * FROM alert_faults")
    assert fault["count"] == 1
    assert fault["root_id"] == world.platform.roots[0].id


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_kill_before_or_after_any_write_of_a_busy_hour_leaves_what_an_hour_without_kills_leaves(
    world, tmp_path, monkeypatch, after
):
    """Faults a and b are analysed, c is beyond the limit; a ends and comes back, which is beyond the limit too."""
    told = [("a", "firing"), ("b", "firing"), ("a", "firing"), ("c", "firing"), ("a", "resolved"), ("c", "firing"),
            ("a", "firing"), ("b", "firing")]  # fmt: skip
    limits = Limits(channel_per_hour=2)
    for moment in count(0):
        store = Store.open(tmp_path / f"{moment}.sqlite3", clock=world.clock)
        store._connection.execute("PRAGMA synchronous=OFF")  # nothing here pulls a plug
        own = SimpleNamespace(**{**vars(world), "store": store, "platform": FakePlatform(new_id=counting_ids())})
        own.platform.channels.add("ops")
        line = start(own, limits=limits)
        for name, status in told:
            take(own, line, alert(own, f"Fault{name.upper()}Error", status=status, place=name))
        with monkeypatch.context() as patch:
            was_killed = kill_at_write(patch, moment, after=after)
            with suppress(Killed):
                await line.place_on("fake")
        again = start(own, limits=limits)
        again.intake.resume()
        await again.place_on("fake")
        await again.show_digests()
        found = [post.reply.markdown for post in own.platform.roots]
        faults = store.query("SELECT error_class, state, count FROM alert_faults ORDER BY number")
        assert [text.split("`")[1][:6] for text in found[:2]] == ["FaultA", "FaultB"], moment
        assert len(found) == 3, moment
        assert "2 faults, 3 alerts" in found[2], moment
        assert [(row["error_class"][:6], row["state"], row["count"]) for row in faults] == [
            ("FaultA", "resolved", 2), ("FaultB", "open", 2), ("FaultC", "limited", 2), ("FaultA", "limited", 1)
        ], moment  # fmt: skip
        assert len(in_inbox(own)) == 2, moment
        assert {state for state, _ in outcomes(own)} == {"placed", "done"}, moment
        store.close()
        if not was_killed():
            break
    assert moment > 20


def kill_at_write(patch, moment: int, *, after: bool):
    """Lets the process end before or after its n-th transaction, counted from 0; tells whether it did."""
    real, numbers, killed = Store.transaction, count(), []

    @contextmanager
    def dying(self):
        number = next(numbers)
        if number == moment and not after:
            killed.append(number)
            raise Killed
        with real(self) as connection:
            yield connection
        if number == moment:
            killed.append(number)
            raise Killed

    patch.setattr(Store, "transaction", dying)
    return lambda: bool(killed)


async def test_a_kill_while_a_repeat_is_counted_counts_it_once(world, monkeypatch):
    line = start(world)
    take(world, line, alert(world))
    take(world, line, alert(world), body="again")
    with monkeypatch.context() as patch:
        kill_at(patch, AlertIntake, "done", after=False)
        with pytest.raises(Killed):
            await line.place_on("fake")
    await start(world).place_on("fake")
    (fault,) = world.store.query("SELECT count FROM alert_faults")
    assert fault["count"] == 2
    assert len(roots(world)) == 1


async def test_an_alert_in_whose_middle_the_process_ends_again_and_again_is_given_up(world, monkeypatch):
    line = start(world)
    take(world, line, alert(world))
    take(world, line, alert(world, "OtherError"))
    for _ in range(MAX_CRASHES + 1):
        with monkeypatch.context() as patch:
            kill_at(patch, AlertIntake, "trying", after=True)
            with pytest.raises(Killed):
                await start(world).place_on("fake")
    await start(world).place_on("fake")
    assert outcomes(world)[0] == ("failed", f"the process ended {MAX_CRASHES + 1} times in it")
    assert outcomes(world)[1] == ("placed", None)


async def test_a_mistake_in_one_alert_ends_no_other(world, monkeypatch):
    line = start(world)
    take(world, line, alert(world))
    take(world, line, alert(world, "OtherError"))
    with monkeypatch.context() as patch:
        real = FaultStore.going_on

        def failing(self, one, thread):
            if one.error_class == "PaymentDeclined":
                raise ZeroDivisionError
            return real(self, one, thread)

        patch.setattr(FaultStore, "going_on", failing)
        await line.place_on("fake")
    assert outcomes(world) == [("failed", "failed: ZeroDivisionError"), ("placed", None)]


async def test_an_alert_that_an_older_version_wrote_otherwise_is_given_up(world):
    line = start(world)
    take(world, line, alert(world))
    with world.store.transaction() as connection:
        connection.execute("""UPDATE incoming_alerts SET alert = '{"title": "x"}'""")
    await line.place_on("fake")
    assert outcomes(world) == [("failed", "its record cannot be read")]


async def test_an_alert_that_was_posted_after_the_backup_is_found_again_after_a_restore(world, tmp_path):
    line = start(world)
    take(world, line, alert(world))
    world.store.copy_to(tmp_path / "backup.sqlite3")
    await line.place_on("fake")
    restored = Store.open(tmp_path / "restored.sqlite3", clock=world.clock)
    try:
        bring_back(restored, tmp_path / "backup.sqlite3", world.clock(), clock=world.clock)
        again = start(SimpleNamespace(**{**vars(world), "store": restored}))
        again.intake.resume()
        await again.place_on("fake")
        assert len(roots(world)) == 1
        (row,) = restored.query("SELECT state, root_id FROM incoming_alerts")
        assert (row["state"], row["root_id"]) == ("placed", world.platform.roots[0].id)
    finally:
        restored.close()


# --- channels that cannot be reached --------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "wait_s"),
    [
        (Unreachable("Slack does not answer."), 2.0),
        (RateLimited("Slack asks to wait.", 17.0), 17.0),
        (AuthError("The token was revoked."), 60.0),
        (PlatformError("The bot is not in that channel."), 2.0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_an_alert_waits_for_a_platform_that_does_not_take_it(world, error, wait_s):
    line = start(world)
    take(world, line, alert(world))
    world.platform.errors.append(error)
    await line.place_on("fake")
    assert outcomes(world) == [("waiting", None)]
    assert line.troubles[world.place].reason == str(error)
    world.clock.advance(wait_s - 0.5)
    await line.place_on("fake")
    assert roots(world) == []
    world.clock.advance(1)
    await line.place_on("fake")
    assert len(roots(world)) == 1
    assert line.troubles == {}


async def test_one_channel_that_fails_holds_up_no_other_and_keeps_its_order(world):
    places = {"a": ("fake", "gone"), "b": ("fake", "pay")}
    line = start(world, place_of=lambda one: places[one.labels["to"]])
    for number, to in enumerate("abab"):
        take(world, line, replace(alert(world, f"Fault{number}Error", place=f"f{number}"), labels={"to": to}))
    await line.place_on("fake")
    assert [text.split("`")[1].partition(":")[0] for text in roots(world)] == ["Fault1Error", "Fault3Error"]
    world.platform.channels.add("gone")
    world.clock.advance(3)
    await line.place_on("fake")
    assert [text.split("`")[1].partition(":")[0] for text in roots(world)][2:] == ["Fault0Error", "Fault2Error"]


async def test_a_wait_grows_and_begins_anew_after_a_success(world):
    line = start(world)
    take(world, line, alert(world))
    waits = []
    for _ in range(10):
        world.platform.errors.append(Unreachable("away"))
        before = world.clock()
        await line.place_on("fake")
        world.clock.now = line.troubles[world.place].again_at
        waits.append((world.clock() - before).total_seconds())
    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == 300


async def test_a_channel_for_which_nothing_waits_any_more_is_in_no_trouble(world):
    line = start(world)
    take(world, line, alert(world))
    world.platform.errors.append(Unreachable("away"))
    await line.place_on("fake")
    world.clock.advance(8 * 24 * 3600)
    line.intake.forget_old()
    await line.place_on("fake")
    assert line.troubles == {}


async def test_an_alert_without_a_channel_waits_until_the_settings_name_one(world):
    world.place = NOWHERE
    line = start(world)
    take(world, line, alert(world))
    await line.place_on("fake")
    assert line.intake.waiting() == {NOWHERE: (1, world.clock())}
    world.place = ("fake", "ops")
    again = start(world)
    assert again.intake.resume() == 1
    await again.place_on("fake")
    assert outcomes(world) == [("placed", None)]


async def test_a_platform_that_is_slow_holds_up_no_other(world):
    slow = FakePlatform(new_id=counting_ids(), name="slow")
    slow.channels.add("ops")
    answered = asyncio.Event()

    async def waiting(channel_id, markdown, *, delivery_id, since):
        await answered.wait()
        return await FakePlatform.open_thread(slow, channel_id, markdown, delivery_id=delivery_id, since=since)

    slow.open_thread = waiting
    line = start(
        world, platforms={"fake": world.platform, "slow": slow}, place_of=lambda one: (one.labels["to"], "ops")
    )
    for number, to in enumerate(("slow", "fake", "slow", "fake")):
        take(world, line, replace(alert(world, f"Fault{number}Error", place=f"f{number}"), labels={"to": to}))
    running = asyncio.create_task(line.run())
    await until(lambda: len(roots(world)) == 2)
    assert slow.roots == []
    answered.set()
    await until(lambda: len(slow.roots) == 2)
    take(world, line, replace(alert(world, "Fault9Error", place="f9"), labels={"to": "fake"}))
    line.wake()
    await until(lambda: len(roots(world)) == 3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_what_could_be_posted_only_later_says_when_it_came(world):
    line = start(world)
    take(world, line, alert(world))
    world.clock.advance(3600)
    await line.place_on("fake")
    assert "This alert came at 2026-03-02 09:00 UTC" in roots(world)[0]


async def test_an_alert_that_waited_for_a_week_is_given_up(world):
    line = start(world, platforms={})
    take(world, line, alert(world))
    world.clock.advance(7 * 24 * 3600 + 1)
    assert line.intake.forget_old() == 1
    assert outcomes(world) == [("failed", "waited too long")]


async def test_records_of_what_is_done_are_removed_except_what_the_inbox_still_needs(world):
    line = start(world)
    take(world, line, alert(world))
    take(world, line, alert(world), body="again")
    await line.place_on("fake")
    world.clock.advance(3 * 24 * 3600)
    line.intake.forget_old()
    assert outcomes(world) == [("placed", None)]
    item = line.inbox.take_next("alert")
    line.inbox.finish(item, outcome="analysed")
    line.intake.forget_old()
    assert outcomes(world) == []
    assert world.store.query("SELECT * FROM alert_bodies") == []


# --- more faults than are analysed ----------------------------------------------------------------


async def test_faults_beyond_the_limit_are_gathered_under_one_post_that_lists_them(world):
    line = start(world, limits=Limits(channel_per_hour=2), max_waiting=1000)
    for number in range(30):
        take(world, line, alert(world, f"Fault{number}Error", place=f"f{number}"))
    for number in range(5):
        take(world, line, alert(world, "Fault7Error", place="f7"), body=f"again {number}")
    await line.place_on("fake")
    await line.show_digests()
    assert len(roots(world)) == 3
    digest = roots(world)[2]
    assert "28 faults, 33 alerts" in digest
    assert digest.splitlines()[3].startswith("- `Fault7Error` · `pay`: 6 times")
    assert "8 more faults" in digest
    assert len(in_inbox(world)) == 2


async def test_a_digest_is_found_again_after_a_kill_and_edited_only_when_it_changed(world, monkeypatch):
    line = start(world, limits=Limits(channel_per_hour=1))
    take(world, line, alert(world, "FirstError", place="a"))
    take(world, line, alert(world, "SecondError", place="b"))
    with monkeypatch.context() as patch:
        kill_at(patch, Digests, "keep", after=False)
        with pytest.raises(Killed):
            await line.place_on("fake")
    again = start(world, limits=Limits(channel_per_hour=1))
    await again.place_on("fake")
    await again.show_digests()
    assert len(roots(world)) == 2
    assert "SecondError" in roots(world)[1]
    assert again.digests.to_show() == []
    take(world, again, alert(world, "SecondError", place="b"), body="again")
    await again.place_on("fake")
    assert [one.alerts for one in again.digests.to_show()] == [2]
    world.clock.advance(31)
    world.platform.failing = True
    await again.show_digests()
    world.platform.failing = False
    world.clock.advance(31)
    await again.show_digests()
    assert "2 times" in roots(world)[1]


async def test_a_fault_that_was_only_counted_gets_its_post_when_there_is_room_again(world):
    line = start(world, limits=Limits(channel_per_hour=1))
    take(world, line, alert(world, "FirstError", place="a"))
    take(world, line, alert(world, "SecondError", place="b"))
    await line.place_on("fake")
    world.clock.advance(3601)
    take(world, line, alert(world, "SecondError", place="b"))
    await line.place_on("fake")
    assert "SecondError: card" in roots(world)[2]
    assert len(in_inbox(world)) == 2


def test_the_first_post_and_the_analysis_answer_different_deliveries():
    assert root_delivery("alert:1") != "alert:1"
