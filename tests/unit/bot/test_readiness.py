"""Health of a running bot: asked seldom, honest about what is down."""

from __future__ import annotations

import asyncio

import pytest
import structlog

from bot.errors import StoreError
from bot.model_chain import ModelPool
from bot.readiness import HEALTH_TTL_S, Readiness, check_machine
from knowledge.types import ToolStatus
from tests.fakes.chat_model import FakeChatModel
from tests.unit.bot.times import Clock


class Tools:
    """Reports the states it is given, and counts how often it is asked."""

    def __init__(self, **states):
        self.states, self.asked = states, 0

    def check(self):
        self.asked += 1
        now = Clock()()
        return [ToolStatus(name=n, state=s, detail="", checked_at=now) for n, s in self.states.items()]


async def test_all_well_is_ok():
    health = await Readiness(knowledge=Tools(catalog="ok", chroma="ok"), models=ModelPool(), clock=Clock()).health()
    assert health == {"status": "ok", "tools": {"catalog": "ok", "chroma": "ok"}, "platforms": {}}


async def test_a_platform_that_is_down_is_named_and_degrades():
    readiness = Readiness(knowledge=Tools(catalog="ok"), models=ModelPool(), clock=Clock())

    async def states():
        return [ToolStatus(name="slack", state="down", detail="token revoked", checked_at=Clock()())]

    readiness.platform_states = states
    health = await readiness.health()
    assert (health["status"], health["platforms"]) == ("degraded", {"slack": "down"})


async def test_a_tool_that_is_down_degrades_and_the_catalog_brings_all_down():
    degraded = await Readiness(knowledge=Tools(catalog="ok", chroma="down"), models=ModelPool(), clock=Clock()).health()
    down = await Readiness(knowledge=Tools(catalog="down"), models=ModelPool(), clock=Clock()).health()
    assert (degraded["status"], down["status"]) == ("degraded", "down")


async def test_the_model_counts_too():
    model = FakeChatModel(state="down", name="qwen")
    health = await Readiness(knowledge=Tools(catalog="ok"), models=ModelPool.of(model), clock=Clock()).health()
    assert health["status"] == "degraded"


async def test_tools_are_not_asked_at_every_look():
    clock, tools = Clock(), Tools(catalog="ok")
    readiness = Readiness(knowledge=tools, models=ModelPool(), clock=clock)
    await readiness.health()
    await readiness.health()
    assert tools.asked == 1
    clock.advance(HEALTH_TTL_S + 1)
    await readiness.health()
    assert tools.asked == 2


async def test_since_is_when_it_happened_and_not_when_somebody_asked():
    clock, tools = Clock(), Tools(catalog="ok", chroma="ok")
    readiness = Readiness(knowledge=tools, models=ModelPool(), clock=clock)
    began, looks, broke = clock(), 0, None

    async def pause(seconds):
        nonlocal looks, broke
        looks += 1
        clock.advance(seconds)
        if looks == 2:
            tools.states["chroma"], broke = "down", clock()
        if looks == 5:
            raise asyncio.CancelledError

    with structlog.testing.capture_logs() as lines, pytest.raises(asyncio.CancelledError):
        await readiness.watch(pause)
    parts = {part.name: (part.state, part.since) for part in await readiness.parts()}
    assert parts == {"catalog": ("ok", began), "chroma": ("down", broke)}
    assert readiness.is_watched
    told = [(line["part"], line["state"], line["before"]) for line in lines if line["event"] == "part.changed"]
    assert told == [("chroma", "down", "ok")]


async def test_who_needs_to_know_now_gets_a_fresh_look():
    tools = Tools(catalog="ok")
    readiness = Readiness(knowledge=tools, models=ModelPool(), clock=Clock())
    await readiness.parts()
    tools.states["catalog"] = "down"
    assert (await readiness.ready())["status"] == "ok"
    assert [part.state for part in await readiness.parts(fresh=True)] == ["down"]
    assert (await readiness.ready())["status"] == "down"


async def test_parts_that_only_a_running_bot_has_are_asked_too():
    readiness = Readiness(knowledge=Tools(catalog="ok"), models=ModelPool(), clock=Clock())

    async def sources():
        return [ToolStatus(name="source:rules", state="degraded", detail="not a folder", checked_at=Clock()())]

    readiness.more_states.append(sources)
    assert (await readiness.health())["status"] == "degraded"
    parts = (await readiness.ready())["parts"]
    assert ("source:rules", "degraded", "not a folder") in [(p["name"], p["state"], p["detail"]) for p in parts]


async def test_what_cannot_be_looked_at_is_down_and_the_watch_goes_on():
    readiness = Readiness(knowledge=Tools(catalog="ok"), models=ModelPool(), clock=Clock())

    async def alerts():
        raise StoreError("bot.sqlite3 is locked")

    readiness.more_states.append(alerts)
    found = {part.name: (part.state, part.detail) for part in await readiness.parts()}
    assert found["records"] == ("down", "bot.sqlite3 is locked")


def test_a_missing_reader_is_told_with_its_packages_but_is_no_problem(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    checks = {check.name: check for check in check_machine()}
    assert checks["tesseract"].ok
    assert "scans and pictures are left unread" in checks["tesseract"].detail
    assert "tesseract-ocr-kor" in checks["tesseract"].remedy
    assert not checks["git"].ok
