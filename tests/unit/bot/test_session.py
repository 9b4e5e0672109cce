"""Commands meet on one data folder: whoever has the lock serves the others, and clients take over when it ends."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager

import pytest

from bot.control import ControlClient, ControlServer, OwnerLeft, decode_error, encode_error
from bot.data_folder import DataFolder
from bot.errors import BotError, ConfigError, DataFolderBusy, RateLimited
from bot.session import Session, sole_owner
from bot.settings import Settings, load_settings
from knowledge.errors import NotFound, UnknownSource
from tests.unit.bot.times import Clock

CONFIG = 'data_dir = "data"\n[[sources]]\nname = "rules"\nkind = "documents"\npath = "."\n'


@pytest.fixture
def settings(tmp_path) -> Settings:
    (tmp_path / "haechi.toml").write_text(CONFIG)
    return load_settings(tmp_path / "haechi.toml")


class Recorder:
    """Operations that tell who carried them out, and that can be held until they are let go or cancelled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[str] = []
        self.cancelled = asyncio.Event()
        self.entered = asyncio.Event()
        self.hold = asyncio.Event()

    async def call(self, method, params, report):
        self.calls.append(method)
        self.entered.set()
        if method == "fail":
            raise NotFound(f"{params['what']} is not there")
        if method == "crash":
            raise ZeroDivisionError("a bug")
        if method in ("ingest", "hold"):
            report({"stage": "read", "done": 1})
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return {"by": self.name, **params}


def build(recorder: Recorder):
    @asynccontextmanager
    async def open_recorder(settings):
        yield recorder

    return open_recorder


def session(settings, recorder, notes=None) -> Session:
    keep = notes if notes is not None else []
    return Session(settings, f"haechi {recorder.name}", build(recorder), clock=Clock(), note=keep.append)


def ignore(step):
    pass


async def test_the_first_carries_out_what_the_second_asks(settings):
    first, second = Recorder("first"), Recorder("second")
    async with session(settings, first) as owner, session(settings, second) as client:
        assert (await owner.call("status", {}, ignore))["by"] == "first"
        assert (await client.call("search", {"query": "연차"}, ignore)) == {"by": "first", "query": "연차"}
    assert second.calls == []


async def test_when_the_owner_ends_the_client_takes_over(settings):
    first, second = Recorder("first"), Recorder("second")
    async with session(settings, second) as client:
        async with session(settings, first) as owner:
            await owner.call("status", {}, ignore)
            assert (await client.call("status", {}, ignore))["by"] == "first"
        assert (await client.call("status", {}, ignore))["by"] == "second"


async def test_an_owner_that_ends_hands_a_running_ingest_to_its_client(settings):
    first, second = Recorder("first"), Recorder("second")
    second.hold.set()
    async with session(settings, second) as client:
        async with session(settings, first) as owner:
            await owner.call("status", {}, ignore)
            ingest = asyncio.create_task(client.call("ingest", {}, ignore))
            first.entered.clear()
            await first.entered.wait()
        assert first.cancelled.is_set()
        assert (await ingest)["by"] == "second"


async def test_an_owner_that_ends_finishes_short_requests_first(settings):
    first, second = Recorder("first"), Recorder("second")
    async with session(settings, second) as client:
        async with session(settings, first) as owner:
            await owner.call("status", {}, ignore)
            first.entered.clear()
            search = asyncio.create_task(client.call("hold", {}, ignore))
            await first.entered.wait()
            asyncio.get_running_loop().call_later(0.05, first.hold.set)
        assert (await search)["by"] == "first"


async def test_a_client_that_goes_away_cancels_what_it_asked_for(settings):
    first, second = Recorder("first"), Recorder("second")
    async with session(settings, first) as owner:
        await owner.call("status", {}, ignore)
        first.entered.clear()
        async with session(settings, second) as client:
            ingest = asyncio.create_task(client.call("ingest", {}, ignore))
            await first.entered.wait()
            ingest.cancel()
            await asyncio.gather(ingest, return_exceptions=True)
        async with asyncio.timeout(60):
            await first.cancelled.wait()
        assert (await owner.call("status", {}, ignore))["by"] == "first"


async def test_progress_reaches_the_client_before_the_result(settings):
    first, second = Recorder("first"), Recorder("second")
    first.hold.set()
    steps = []
    async with session(settings, first) as owner, session(settings, second) as client:
        await owner.call("status", {}, ignore)
        await client.call("ingest", {}, steps.append)
    assert steps == [{"stage": "read", "done": 1}]


async def test_errors_come_through_with_their_class_and_text(settings):
    first, second = Recorder("first"), Recorder("second")
    async with session(settings, first) as owner, session(settings, second) as client:
        await owner.call("status", {}, ignore)
        with pytest.raises(NotFound, match="제99조 is not there"):
            await client.call("fail", {"what": "제99조"}, ignore)
        with pytest.raises(BotError, match=r"failed unexpectedly \(ZeroDivisionError\); see the log"):
            await client.call("crash", {}, ignore)
        assert (await client.call("status", {}, ignore))["by"] == "first"


async def test_a_client_with_other_settings_is_told(settings, tmp_path):
    (tmp_path / "other.toml").write_text(CONFIG + "[search]\ntop_k = 3\n")
    other = load_settings(tmp_path / "other.toml")
    notes = []
    first, second = Recorder("first"), Recorder("second")
    async with session(settings, first) as owner, session(other, second, notes) as client:
        await owner.call("status", {}, ignore)
        await client.call("status", {}, ignore)
    assert len(notes) == 1
    assert "with the settings it was started with" in notes[0]


async def test_a_bot_does_not_wait_for_another_bot(settings):
    async with sole_owner(settings, build(Recorder("first")), clock=Clock()):
        with pytest.raises(DataFolderBusy, match="haechi run"):
            async with sole_owner(settings, build(Recorder("second")), clock=Clock()):
                pass


async def test_services_that_cannot_be_opened_leave_the_folder_free(settings):
    @asynccontextmanager
    async def broken(settings):
        raise ConfigError("persona.md is broken")
        yield

    failing = Session(settings, "haechi x", broken, clock=Clock(), note=ignore)
    with pytest.raises(ConfigError, match="persona"):
        await failing.call("status", {}, ignore)
    async with session(settings, Recorder("next")) as after:
        assert (await after.call("status", {}, ignore))["by"] == "next"


async def test_a_lock_without_a_socket_is_waited_for_while_its_owner_starts(settings):
    folder = DataFolder.prepare(settings.data_dir)
    folder.lock("haechi search", started_at=Clock()())
    threading.Timer(0.2, folder.release).start()
    async with session(settings, Recorder("waiting")) as client:
        assert (await client.call("status", {}, ignore))["by"] == "waiting"


async def test_nobody_listening_is_told_apart_from_an_answer(tmp_path):
    with pytest.raises(OwnerLeft):
        await ControlClient.connect(tmp_path / "control.sock")


async def test_long_results_pass(tmp_path):
    class Long:
        async def call(self, method, params, report):
            return {"text": "가" * 3_000_000}

    server = ControlServer(Long(), path=tmp_path / "c.sock", greeting={})
    await server.start()
    assert (tmp_path / "c.sock").stat().st_mode & 0o777 == 0o600
    client = await ControlClient.connect(tmp_path / "c.sock")
    assert len((await client.call("read", {}, ignore))["text"]) == 3_000_000
    await client.close()
    await server.drain()
    assert not (tmp_path / "c.sock").exists()


@pytest.mark.parametrize("error", [NotFound("x"), UnknownSource("y"), ConfigError("z"), DataFolderBusy("b")])
def test_an_error_keeps_class_and_text_on_its_way(error):
    again = decode_error(encode_error(error))
    assert (type(again), str(again)) == (type(error), str(error))


def test_an_error_with_more_than_a_text_still_arrives():
    again = decode_error(encode_error(RateLimited("wait", 3.0)))
    assert isinstance(again, BotError)
    assert str(again) == "wait"
