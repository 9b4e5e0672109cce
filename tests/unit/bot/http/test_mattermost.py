"""What a Mattermost server posts to the bot: proven, saved, answered at once."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette

from bot.errors import StoreError
from bot.http.mattermost import mattermost_routes
from bot.platforms.mattermost_commands import CommandTokens
from tests.emulators.memory_state import MemoryState
from tests.unit.bot.platforms.mattermost_bench import Bench, adapter, bench, until


class Shifting:
    """The real time, moved ahead."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@asynccontextmanager
async def wired(**options):
    """A bench whose server reaches the bot's routes over HTTP, with a registered command."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with bench(listening=False, callback_url=address, command_tokens=("other", "right"), **options) as b:
        app = Starlette(routes=mattermost_routes(b.platform))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        server.capture_signals = contextlib.nullcontext
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await until(lambda: server.started)
        await b.start()
        state = b.server.state
        state.create_command(
            state.alice,
            {"team_id": state.team["id"], "trigger": "haechi", "method": "P", "url": f"{address}/mattermost/command"},
        )
        state.commands["haechi"]["token"] = "right"
        b.address = address
        try:
            yield b
        finally:
            server.should_exit = True
            await serving


async def command(b: Bench, text: str, *, root: str = "") -> dict:
    state = b.server.state
    return await b.server._execute_command(state.alice, {"channel_id": state.town, "command": f"/haechi {text}"})


def told(b: Bench) -> list[str]:
    return [text for user, text in b.server.state.ephemeral if user == b.server.state.alice]


async def test_command_tokens_that_were_replaced_in_their_file_are_taken_up_without_a_restart():
    configured = ["right"]
    async with wired(command_tokens_now=lambda: configured) as b, httpx.AsyncClient() as client:

        async def status_with(token: str) -> int:
            return (await client.post(f"{b.address}/mattermost/command", data={**FORM, "token": token})).status_code

        assert await status_with("the-next-one") == 401
        configured[:] = ["the-next-one", "of-another-team"]
        assert await status_with("right") == 200  # until the first command comes with a new one
        assert [await status_with(token) for token in ("the-next-one", "of-another-team", "right")] == [200, 200, 401]


async def test_a_command_is_saved_and_answered_at_once_for_its_giver_alone():
    async with wired() as b:
        answer = await command(b, "reindex rules --force")
        assert answer["response_type"] == "ephemeral"
        given = b.commands[0]
        assert (given.name, given.args, given.author.id) == ("haechi", "reindex rules --force", b.server.state.alice)
        assert given.thread.channel_id == b.server.state.town


async def test_a_command_that_cannot_be_saved_is_not_acknowledged_as_heard():
    async with wired() as b:
        b.failing.append(StoreError("The disk is full."))
        answer = await command(b, "status")
        assert "again" in answer["text"]
        assert b.commands == []


async def test_answers_come_by_the_commands_address_and_then_by_direct_message():
    async with wired() as b:
        await command(b, "status")
        given = b.commands[0]
        for number in range(7):
            await b.platform.answer_command(given, f"답 {number}")
        assert told(b) == [f"답 {number}" for number in range(5)]
        direct = [p["message"] for p in b.server.state.own_posts()]
        assert direct == ["답 5", "답 6"]
        assert all(b.server.state.channels[p["channel_id"]].type == "D" for p in b.server.state.own_posts())


async def test_after_half_an_hour_answers_come_by_direct_message():
    clock = Shifting()
    async with wired(clock=clock) as b:
        await command(b, "reindex")
        clock.ahead = timedelta(minutes=31)
        await b.platform.answer_command(b.commands[0], "fertig")
        assert [p["message"] for p in b.server.state.own_posts()] == ["fertig"]


async def test_a_command_can_be_answered_after_a_restart():
    async with wired() as b:
        await command(b, "status")
        again = b.another()
        await again.platform.answer_command(b.commands[0], "fertig")
        assert told(b)[-1] == "fertig"
        await again.platform.close()


async def test_an_answer_that_the_address_refuses_comes_by_direct_message():
    async with wired() as b:
        await command(b, "status")
        b.server.state.command_hooks.clear()
        await b.platform.answer_command(b.commands[0], "fertig")
        assert [p["message"] for p in b.server.state.own_posts()] == ["fertig"]


async def test_progress_is_one_direct_message_that_changes():
    async with wired() as b:
        await command(b, "reindex")
        post_id = await b.platform.show_progress(b.commands[0], "1/10", post_id=None)
        assert await b.platform.show_progress(b.commands[0], "10/10", post_id=post_id) == post_id
        assert [p["message"] for p in b.server.state.own_posts()] == ["10/10"]


async def test_the_address_for_answers_is_never_taken_from_the_form():
    """A forged form could make the bot call any address; only the id counts."""
    async with wired() as b, httpx.AsyncClient() as client:
        hit = []
        stranger = await asyncio.start_server(lambda r, w: (hit.append(1), w.close()), "127.0.0.1", 0)
        port = stranger.sockets[0].getsockname()[1]
        form = {**FORM, "response_url": f"http://127.0.0.1:{port}/hooks/commands/{'a' * 26}"}
        assert (await client.post(f"{b.address}/mattermost/command", data=form)).status_code == 200
        form = {**FORM, "user_id": b.server.state.alice}
        await b.platform.respond_private(b.commands[0].thread, b.server.state.alice, "x")
        with contextlib.suppress(Exception):
            await b.platform.answer_command(b.commands[0], "x")
        assert hit == []
        stranger.close()


FORM = {
    "token": "right", "user_id": "u" * 26, "user_name": "alice", "channel_id": "c" * 26, "text": "status",
    "trigger_id": "t", "command": "/haechi", "response_url": f"http://chat/hooks/commands/{'a' * 26}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "status"),
    [({"token": "wrong"}, 401), ({"token": ""}, 401), ({"token": "right "}, 401), ({"token": "é"}, 401),
     ({"user_id": ""}, 400), ({"channel_id": ""}, 400), ({"trigger_id": "", "response_url": ""}, 400), ({}, 200),
     ({"token": "other"}, 200)],
)  # fmt: skip
async def test_a_form_proves_itself_by_its_token(change, status):
    async with wired() as b, httpx.AsyncClient() as client:
        response = await client.post(f"{b.address}/mattermost/command", data={**FORM, **change})
        assert response.status_code == status
        assert len(b.commands) == (1 if status == 200 else 0)


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"a=1&" * 100, b"{}", b"token"])
async def test_bodies_that_are_no_forms_are_refused(body):
    async with wired() as b, httpx.AsyncClient() as client:
        response = await client.post(f"{b.address}/mattermost/command", content=body)
        assert response.status_code in (400, 401)
        assert (await client.post(f"{b.address}/mattermost/command", content=b"x" * 300_000)).status_code == 413
        assert (await client.get(f"{b.address}/mattermost/command")).status_code == 405


async def test_without_a_configured_token_there_are_no_commands():
    async with wired() as b, httpx.AsyncClient() as client:
        b.platform._tokens = CommandTokens((), None)
        assert (await client.post(f"{b.address}/mattermost/command", data={**FORM, "token": ""})).status_code == 404


async def test_the_same_command_has_the_same_delivery_id():
    async with wired() as b, httpx.AsyncClient() as client:
        for _ in range(2):
            await client.post(f"{b.address}/mattermost/command", data=FORM)
        assert len({given.delivery_id for given in b.commands}) == 1


async def test_a_command_in_the_conversation_with_the_bot_is_direct_and_one_between_two_people_is_not():
    async with wired() as b:
        state = b.server.state
        for other in (state.bot, state.bob):
            channel = state.direct(state.alice, other)
            await b.server._execute_command(state.alice, {"channel_id": channel, "command": "/haechi status"})
        assert [given.is_direct for given in b.commands] == [True, False]


async def test_a_newer_server_tells_the_thread():
    async with wired() as b, httpx.AsyncClient() as client:
        await client.post(f"{b.address}/mattermost/command", data={**FORM, "root_id": "r" * 26})
        assert b.commands[0].thread.root_id == "r" * 26


# --- buttons ----------------------------------------------------------------------------------------


async def test_a_click_is_a_vote_and_is_thanked_for():
    async with wired() as b:
        state = b.server.state
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        await b.server._press(state.alice, post_id, "haechiwrong")
        assert [(v.reply_id, v.author.id, v.vote) for v in b.votes] == [(post_id, state.alice, "wrong")]
        assert "고맙" in told(b)[-1]


async def test_nobody_is_thanked_for_a_vote_on_an_answer_that_is_not_on_record_any_more():
    async def unknown(delivery) -> bool:
        return False

    async with wired() as b:
        post_id = await b.platform.post(b.reply(b.ask()))
        b.forward = unknown
        await b.server._press(b.server.state.alice, post_id, "haechiup")
        assert "기록에 없어서" in told(b)[-1]


async def test_a_context_from_one_answer_is_worth_nothing_under_another():
    async with wired() as b, httpx.AsyncClient() as client:
        state = b.server.state
        asked = b.ask()
        first = await b.platform.post(b.reply(asked))
        second = await b.platform.post(b.reply(asked, "zwei", delivery_id="other"))
        context = state.integrations[(first, "haechiup")]["context"]
        click = {"user_id": state.alice, "channel_id": state.town, "post_id": second, "context": context}
        answer = await client.post(f"{b.address}/mattermost/button", json=click)
        assert "cannot be used" in answer.json()["ephemeral_text"]
        for change in (
            {"post_id": asked["id"]},
            {"post_id": ""},
            {"user_id": ""},
            {"channel_id": "x"},
            {"context": None},
        ):
            click = {"user_id": state.alice, "channel_id": state.town, "post_id": first, "context": context, **change}
            await client.post(f"{b.address}/mattermost/button", json=click)
        assert b.votes == []


async def test_an_expired_button_says_so():
    clock = Shifting()
    async with wired(clock=clock) as b:
        asked = b.ask()
        post_id = await b.platform.post(b.reply(asked))
        clock.ahead = timedelta(days=31)
        await b.server._press(b.server.state.alice, post_id, "haechiup")
        assert b.votes == []
        assert "expired" in told(b)[-1]


async def test_a_vote_that_cannot_be_kept_is_not_thanked_for():
    async with wired() as b:
        asked = b.ask()
        await until(lambda: b.messages)
        post_id = await b.platform.post(b.reply(asked))
        b.failing.append(StoreError("The disk is full."))
        await b.server._press(b.server.state.alice, post_id, "haechiup")
        assert "again" in told(b)[-1]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"x"', b"\xff", b"[" * 200_000])
async def test_clicks_of_any_shape_are_refused(body):
    async with wired() as b, httpx.AsyncClient() as client:
        assert (await client.post(f"{b.address}/mattermost/button", content=body)).status_code == 400


# --- doctor -----------------------------------------------------------------------------------------


async def findings(b: Bench, *channels: str) -> dict[str, tuple[bool, str]]:
    found = await b.platform.diagnose(channels)
    assert all(item.remedy for item in found if not item.ok)
    return {item.name.removeprefix("mattermost "): (item.ok, item.detail + " " + item.remedy) for item in found}


async def test_doctor_finds_everything_well():
    async with wired() as b:
        found = await findings(b, b.server.state.town)
        assert [name for name, (ok, _) in found.items() if not ok] == []
        assert {"server", "account", "websocket", "teams", "slash command"} <= set(found)
        assert b.heard == []  # trying the command out is no command


async def test_doctor_names_what_is_wrong_and_how_to_mend_it():
    async with wired() as b:
        state = b.server.state
        other = state.add_channel("other", "Other", {state.alice})
        b.server.config["PostEditTimeLimit"] = "60"
        del state.commands["haechi"]
        found = await findings(b, other, "x" * 26)
        wrong = {name: words for name, (ok, words) in found.items() if not ok}
        assert set(wrong) == {f"channel {other}", f"channel {'x' * 26}", "edits", "slash command"}
        assert "/invite" in wrong[f"channel {other}"]
        assert "Slash Commands" in wrong["slash command"]


async def test_doctor_tells_a_callback_that_the_server_cannot_reach_and_a_token_that_does_not_match():
    async with wired() as b:
        state = b.server.state
        state.commands["haechi"]["token"] = "outdated"
        assert (await findings(b))["slash command"][0] is False
        state.commands["haechi"].update(token="right", url="http://127.0.0.1:9/mattermost/command")
        ok, words = (await findings(b))["slash command"]
        assert not ok
        assert "AllowedUntrustedInternalConnections" in words


@pytest.mark.parametrize(
    ("omitted", "finding", "remedy"),
    [
        (lambda b: b.server.state.team_members.discard(b.server.state.bot), "teams", "Invite the bot account"),
        (lambda b: b.server.state.commands["haechi"].update(method="G"), "slash command", "POST"),
        (lambda b: b.server.state.commands.clear(), "slash command", "Integrations > Slash Commands"),
        (lambda b: b.server.state.channels[b.server.state.town].members.discard(b.server.state.bot),
         "channel", "/invite"),
        (lambda b: setattr(b.server.state.channels[b.server.state.town], "delete_at", 1), "channel", "unarchive"),
        (lambda b: b.server.config.update(PostEditTimeLimit="0"), "edits", "PostEditTimeLimit"),
        (lambda b: setattr(b.server.state.users[b.server.state.bot], "is_bot", False), "account", "bot account"),
    ],
)  # fmt: skip
async def test_doctor_names_every_step_of_the_guide_that_was_left_out(omitted, finding, remedy):
    async with wired() as b:
        omitted(b)
        wrong = {name: words for name, (ok, words) in (await findings(b, b.server.state.town)).items() if not ok}
        (words,) = (words for name, words in wrong.items() if name.startswith(finding))
        assert remedy in words


async def test_doctor_asks_the_bot_itself_where_only_buttons_are_set_up():
    async with wired() as b:
        for address, ok in ((b.address, True), ("http://127.0.0.1:9", False), (b.server.url, False)):
            platform = adapter(b.server, MemoryState(), callback_url=address)
            found = {item.name: item for item in await platform.diagnose([])}
            assert found["mattermost buttons"].ok is ok
            assert ok or "callback_url" in found["mattermost buttons"].remedy
            await platform.close()


async def test_doctor_tells_a_token_that_is_refused_and_an_account_of_a_person():
    async with wired() as b:
        state = b.server.state
        state.users[state.bot].is_bot = False
        assert (await findings(b))["account"][0] is False
        state.tokens.clear()
        found = await findings(b)
        assert [name for name, (ok, _) in found.items() if not ok] == ["token"]
