"""A burst of alerts through the whole chat line: thirty analyses, in order, in bounded memory, and people are answered."""

from __future__ import annotations

import asyncio
import tracemalloc
from string import ascii_lowercase

import pytest

from bot.channels import ChannelPolicy, Channels
from bot.types import Author
from knowledge.types import Scope
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.alerts.desk_world import BOT, build, open_world
from tests.unit.bot.chat_line import ChatLine, until
from tests.unit.bot.times import counting_ids

FAULTS = 30
HELD_AT = 11  # the analysis that waits until a person was answered
GROWTH_LIMIT_BYTES = 2_000_000
KIM = Author(id="kim", display_name="Kim", is_bot=False)
OPS = Channels(
    default=ChannelPolicy(scope=Scope.everything()),
    direct=ChannelPolicy(scope=Scope.everything()),
    configured={("fake", "ops"): ChannelPolicy(scope=Scope.everything(), alerts=True, language="en")},
)


class HeldPlatform(FakePlatform):
    """Holds the post of one analysis back until it is released."""

    def __init__(self) -> None:
        super().__init__(new_id=counting_ids())
        self.analyses = 0
        self.held = asyncio.Event()
        self.released = asyncio.Event()

    async def post(self, reply):
        if reply.thread.channel_id == "ops" and "Most likely place" in reply.markdown:
            self.analyses += 1
            if self.analyses == HELD_AT:
                self.held.set()
                await self.released.wait()
        return await super().post(reply)


def trace_of(fault: int, n: int) -> str:
    """One of many tellings of a fault: other ids, hosts, lines and times."""
    name = f"Step{ascii_lowercase[fault % 26].upper()}{'Late' if fault >= 26 else ''}Failed"
    return (
        f"[pay] 2026-03-02T09:{n % 60:02d}:00Z host-{n % 17} ERROR request {n:08x} failed\n"
        "Traceback (most recent call last):\n"
        f'  File "/app/payments.py", line {10 + n % 3}, in retry_declined\n'
        f"    raise {name}(payment.id)\n"
        f"{name}: payment {n} was declined"
    )


def is_quiet(store) -> bool:
    """Whether no delivery is open; cheap, however many there are."""
    return not store.query("SELECT 1 FROM inbox WHERE state IN ('received', 'working') LIMIT 1")


async def run_burst(world, alerts: int, *, limit_s: float) -> None:
    world.platform = platform = HeldPlatform()
    desk = build(world, channels=OPS)
    line = ChatLine(world, world.store, platform, alerts=desk, channels=OPS, clock=world.clock)
    async with line.running():
        for n in range(alerts):
            await platform.say(trace_of(n % FAULTS, n), author=BOT, mention=False, channel="ops")
        await asyncio.wait_for(platform.held.wait(), limit_s)
        question = await platform.say("@haechi code: PaymentRetry는 몇 번 시도하나요?", author=KIM, channel="general")
        await until(lambda: any(post.reply.thread == question.thread for post in platform.posts), limit_s)
        waiting = sum(count for state, count in line.inbox.counts().items() if state in ("received", "working"))
        assert waiting >= alerts - HELD_AT  # the person was answered while nearly all alerts were waiting
        tracemalloc.start()
        own = [tracemalloc.Filter(True, "*/bot/*"), tracemalloc.Filter(True, "*/knowledge/*")]
        own += [tracemalloc.Filter(False, "*/tests/*")]
        platform.released.set()
        await until(lambda: platform.analyses >= FAULTS, limit_s)
        before = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(own).statistics("filename"))
        await until(lambda: is_quiet(world.store), limit_s)
        after = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(own).statistics("filename"))
        tracemalloc.stop()
        await desk.show_counts(line.platforms)
    assert after - before < GROWTH_LIMIT_BYTES
    ops = [post.reply for post in platform.posts if post.reply.thread.channel_id == "ops"]
    analyses = [reply for reply in ops if "Most likely place" in reply.markdown]
    assert len(analyses) == FAULTS
    order = [reply.markdown.split("`")[1] for reply in analyses]
    assert order == [trace_of(fault, 0).rpartition("\n")[2].partition(":")[0] for fault in range(FAULTS)]
    of_alerts = world.store.query("SELECT outcome FROM inbox WHERE kind = 'alert' ORDER BY seq")
    assert [row["outcome"] for row in of_alerts] == ["analysed"] * FAULTS + ["counted"] * (alerts - FAULTS)
    counted = world.store.query("SELECT count FROM alert_faults ORDER BY number")
    assert [row["count"] for row in counted] == [alerts // FAULTS] * FAULTS
    assert all(f"Seen {alerts // FAULTS} times" in reply.notices[0] for reply in analyses)
    assert sum(f"{alerts} alerts of {FAULTS} faults" in reply.markdown for reply in ops) == 1


@pytest.fixture
def world(tmp_path):
    with open_world(tmp_path) as opened:
        yield opened


async def test_a_burst_gives_one_analysis_a_fault_and_people_are_answered_meanwhile(world):
    await run_burst(world, 600, limit_s=120)


@pytest.mark.long
async def test_ten_thousand_alerts_of_thirty_faults(world):
    await run_burst(world, 9_990, limit_s=1800)
