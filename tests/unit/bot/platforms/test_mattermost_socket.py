"""The websocket: resumed or caught up, alive or replaced, refused and taken back."""

from __future__ import annotations

import asyncio
import json
import ssl

import aiohttp
import pytest
import trustme
from pydantic import SecretStr

from bot.errors import PlatformError
from bot.platforms.mattermost_socket import BACKOFF_LONGEST_S, MattermostSocket, Timing, probe
from tests.emulators.mattermost import MattermostEmulator
from tests.emulators.mattermost_time import ManualTime
from tests.emulators.memory_state import MemoryState
from tests.unit.bot.platforms.mattermost_bench import Bench, adapter, bench, quiet, until


async def test_a_message_is_heard_while_connected():
    async with bench() as b:
        post = b.ask()
        await until(lambda: b.messages)
        assert b.messages[0].id == post["id"]
        assert b.messages[0].delivery_id == f"mattermost:{post['id']}"


async def test_what_was_said_while_the_connection_was_cut_comes_by_resuming_it():
    async with bench(resumes=True) as b:
        b.ask("@helperbot 하나")
        await until(lambda: b.messages)
        listings = [path for _, path, _ in b.server.requests if path.endswith("/posts")]
        b.server.fail("GET", "/users/me", hold=(gate := asyncio.Event()), status=0)
        await b.server.drop_sockets()
        b.ask("@helperbot 둘")
        b.ask("@helperbot 셋")
        gate.set()
        await until(lambda: len(b.messages) == 3)
        assert b.texts == ["하나", "둘", "셋"]
        assert b.server.resumed == 1
        assert [path for _, path, _ in b.server.requests if path.endswith("/posts")] == listings


async def test_an_old_server_that_resumes_nothing_is_caught_up_by_rest():
    async with bench(resumes=False) as b:
        b.ask("@helperbot 하나")
        await until(lambda: b.messages)
        b.server.fail("GET", "/users/me", hold=(gate := asyncio.Event()), status=0)
        await b.server.drop_sockets()
        b.ask("@helperbot 둘")
        gate.set()
        await until(lambda: len(b.messages) == 2)
        await quiet()
        assert b.texts == ["하나", "둘"]
        assert b.server.resumed == 0


async def test_a_server_that_forgot_the_connection_is_caught_up_by_rest():
    async with bench(resumes=True) as b:
        b.server.fail("GET", "/users/me", hold=(gate := asyncio.Event()), status=0)
        await b.server.drop_sockets()
        b.ask("@helperbot 하나")
        b.server.forget_connections()
        gate.set()
        await until(lambda: b.messages)
        b.ask("@helperbot 둘")
        await until(lambda: len(b.messages) == 2)
        assert b.texts == ["하나", "둘"]


async def test_more_than_the_server_keeps_for_resuming_is_caught_up_by_rest():
    async with bench(resumes=True) as b:
        connection = next(iter(b.server.connections.values()))
        b.server.fail("GET", "/users/me", hold=(gate := asyncio.Event()), status=0)
        await b.server.drop_sockets()
        b.ask("@helperbot 하나")
        connection.waiting.clear()  # lost on the server's side
        connection.next_seq += 300
        gate.set()
        await until(lambda: b.messages)
        assert b.texts == ["하나"]


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_gap_in_the_sequence_is_filled(resumes):
    async with bench(resumes=resumes) as b:
        b.ask("@helperbot 하나")
        await until(lambda: b.messages)
        connection = next(iter(b.server.connections.values()))
        socket, connection.socket = connection.socket, None
        b.ask("@helperbot 둘")
        lost = {**connection.waiting.pop(0), "seq": connection.next_seq}
        connection.sent.append(lost)
        connection.next_seq += 1
        connection.socket = socket
        b.ask("@helperbot 셋")
        await until(lambda: len(b.messages) == 3)
        assert sorted(b.texts) == ["둘", "셋", "하나"]


async def test_an_event_that_comes_twice_is_delivered_once():
    async with bench() as b:
        b.ask()
        await until(lambda: b.messages)
        await b.server.repeat_event()
        b.ask("@helperbot 다음")
        await until(lambda: len(b.messages) == 2)
        assert b.texts[1] == "다음"


async def test_frames_that_are_no_events_break_nothing():
    async with bench() as b:
        connection = next(iter(b.server.connections.values()))
        for text in (
            "",
            "no json",
            "[]",
            '"x"',
            "{}",
            '{"event": "posted"}',
            '{"event": "posted", "data": {"post": "{"}}',
        ):
            await connection.socket.send_str(text)
        for data in ({"post": "[]"}, {"post": '{"id": "a"}'}, {"post": '{"id": "a", "create_at": "x"}'}, None):
            await connection.socket.send_str(json.dumps({"event": "posted", "data": data, "seq": connection.next_seq}))
            connection.next_seq += 1
        b.ask("@helperbot 살아 있나요?")
        await until(lambda: "살아 있나요?" in b.texts)


async def open_on_manual_time(server: MattermostEmulator):
    time = ManualTime()
    socket = MattermostSocket(server.url, "bot-token", ca_file=None, timing=time.timing(), before_connecting=_nothing)
    running = asyncio.create_task(socket.run())
    await until(lambda: socket.state == "open")
    return time, socket, running


async def _nothing() -> None:
    return


async def test_a_dead_socket_is_noticed_within_90_s_and_replaced():
    async with MattermostEmulator() as server:
        time, socket, running = await open_on_manual_time(server)
        await time.pass_s(30)
        await quiet(0.05)
        server.silence_sockets()
        assert server.opened == 1
        silent_since_s = time.now_s
        while server.opened == 1 and time.now_s - silent_since_s < 200:
            await time.pass_s(1)
            await quiet(0.01)
        assert time.now_s - silent_since_s < 90
        await until(lambda: socket.state == "open")
        await socket.close()
        await running


async def test_a_socket_that_answers_pings_is_kept():
    async with MattermostEmulator() as server:
        time, socket, running = await open_on_manual_time(server)
        for _ in range(12):
            await time.pass_s(25, step_s=25)
            await quiet(0.02)
            await server.ping_sockets()
        assert (server.opened, socket.state) == (1, "open")
        await socket.close()
        await running


async def test_a_token_revoked_at_run_time_is_reported_retried_slowly_and_recovered_from():
    async with MattermostEmulator() as server:
        time = ManualTime()
        state_of = server.state
        memory = MemoryState()
        b = Bench(server, adapter(server, memory, timing=time.timing()), memory)
        await b.start()
        server.revoke("bot-token")
        for _ in range(4):
            await time.pass_s(25, step_s=25)
            await quiet(0.05)
        status = await b.platform.check()
        assert status.state == "down"
        assert "token" in status.detail
        assert "bot-token" not in status.detail
        asked = len(server.requests)
        await time.pass_s(300, step_s=15)
        await quiet(0.1)
        assert 1 <= len(server.requests) - asked <= 10  # slowly
        state_of.tokens["bot-token"] = state_of.bot
        b.ask("@helperbot 돌아왔나요?")
        for _ in range(10):
            await time.pass_s(15, step_s=15)
            await quiet(0.05)
        assert (await b.platform.check()).state == "ok"
        await until(lambda: b.texts == ["돌아왔나요?"])
        await b.stop()


async def test_waiting_between_attempts_grows_to_a_limit_and_differs_between_bots():
    waits: list[float] = []

    async def fail() -> None:
        raise PlatformError("not there")

    def socket_with(jitter: float) -> MattermostSocket:
        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) >= 12:
                await socket.close()

        timing = Timing(monotonic=lambda: 0.0, sleep=sleep, jitter=lambda: jitter)
        socket = MattermostSocket("http://127.0.0.1:9", "t", ca_file=None, timing=timing, before_connecting=fail)
        return socket

    await socket_with(0.0).run()
    assert waits == sorted(waits)
    assert waits[-1] == BACKOFF_LONGEST_S / 2
    assert waits[0] < 1
    slow, waits = list(waits), []
    await socket_with(1.0).run()
    assert all(fast > half for fast, half in zip(waits, slow, strict=False))


async def test_a_server_that_keeps_its_settings_to_itself_is_heard_all_the_same():
    async with bench(listening=False) as b:
        b.server.fail("GET", "/config/client", times=1000, status=403)
        await b.start()
        b.ask("@helperbot 하나")
        await until(lambda: b.texts == ["하나"])
        post = await b.platform.post(b.reply(b.server.state.posts[b.messages[0].id]))
        assert b.platform.permalink(b.messages[0].thread, post).startswith(b.server.url)


async def test_a_listener_that_broke_off_can_begin_again_and_misses_nothing():
    async with bench() as b:
        b.failing.append(ZeroDivisionError("a mistake in the program"))
        b.ask("@helperbot 하나")
        with pytest.raises(ExceptionGroup):
            await b.listener
        b.ask("@helperbot 둘")
        await b.start()
        await until(lambda: b.texts == ["하나", "둘"])


# --- a token that is replaced ------------------------------------------------------------------------


async def test_a_token_that_was_replaced_in_its_file_is_taken_up_without_a_restart():
    configured = [SecretStr("bot-token")]
    async with bench(token_now=lambda: configured[-1]) as b:
        b.server.state.tokens["token-2"] = b.server.state.bot
        configured.append(SecretStr("token-2"))
        b.server.revoke("bot-token")
        await b.server.drop_sockets()
        b.server.forget_connections()
        post = b.ask()
        await until(lambda: b.messages)
        post_id = await b.platform.post(b.reply(post))
        assert b.server.state.posts[post_id]["message"] == "15일입니다. [1]"


# --- wss:// with a private authority ----------------------------------------------------------------


@pytest.fixture
def authority(tmp_path):
    ca = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("localhost").configure_cert(server)
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return server, tmp_path / "ca.pem"


async def test_rest_and_websocket_work_with_a_certificate_of_a_private_authority(authority):
    tls, ca_file = authority
    async with bench(server=MattermostEmulator(tls=tls), ca_file=ca_file) as b:
        assert b.server.url.startswith("https://")
        post = b.ask()
        await until(lambda: b.messages)
        post_id = await b.platform.post(b.reply(post))
        assert b.server.state.posts[post_id]["message"] == "15일입니다. [1]"


async def test_a_certificate_that_nobody_vouches_for_is_refused_and_the_remedy_named(authority):
    tls, _ = authority
    async with MattermostEmulator(tls=tls) as server:
        platform = adapter(server, MemoryState())
        with pytest.raises(PlatformError, match=r"mattermost\.ca_file"):
            await platform.rest.me()
        with pytest.raises(PlatformError):
            await probe(server.url, "bot-token", ca_file=None)
        await platform.close()


async def test_an_authority_that_is_no_certificate_is_an_error_that_names_the_setting(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing")
    async with MattermostEmulator() as server:
        with pytest.raises(PlatformError, match=r"mattermost\.ca_file"):
            await probe(server.url.replace("http://", "https://"), "bot-token", ca_file=tmp_path / "ca.pem")


async def test_the_probe_tells_a_wrong_token_from_a_right_one():
    async with MattermostEmulator() as server:
        await probe(server.url, "bot-token", ca_file=None)
        server.state.tokens.clear()
        server.challenge_s = 0.05
        with pytest.raises(PlatformError, match="greet"):
            await probe(server.url, "bot-token", ca_file=None)


async def test_the_client_of_the_emulator_sees_what_a_browser_sees():
    """The token may come in the first message, as browsers send it."""
    async with (
        MattermostEmulator() as server,
        aiohttp.ClientSession() as session,
        session.ws_connect(server.url + "/api/v4/websocket") as socket,
    ):
        await socket.send_json({"seq": 1, "action": "authentication_challenge", "data": {"token": "alice-token"}})
        assert (await socket.receive_json())["status"] == "OK"
        assert (await socket.receive_json())["event"] == "hello"
