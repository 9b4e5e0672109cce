"""The emulated Mattermost answers every recorded call with the recorded status and shape, sends the recorded events,
and is good enough for the JavaScript client that Mattermost's own web app is built on."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import pytest
from aiohttp import web

from tests.emulators.mattermost import MattermostEmulator

HERE = Path(__file__).parent
RECORDED = json.loads((HERE.parent / "fixtures" / "mattermost" / "recorded-5.37.json").read_text(encoding="utf-8"))
CLIENT = HERE.parent / "emulators" / "mattermost_client"


class Replay:
    """The recorded conversation, once more, against the emulator."""

    def __init__(self, server: MattermostEmulator, session: aiohttp.ClientSession, callback: str) -> None:
        self.server = server
        self.session = session
        state = server.state
        self.ids = {
            "bot": state.bot,
            "alice": state.alice,
            "admin": state.bob,
            "team": state.team["id"],
            "town": state.town,
        }
        self.ids |= {"since": "1", "callback": callback}
        self.tokens = {"bot": "bot-token", "alice": "alice-token", "admin": "bob-token", "stranger": "badtoken"}

    def filled(self, value: Any) -> Any:
        text = json.dumps(value, ensure_ascii=False)
        text = re.sub(r"\{(\w+)\}", lambda found: self.ids[found[1]], text)
        text = re.sub(r"<(\d+) x 가>", lambda found: "가" * int(found[1]), text)
        return json.loads(text)

    async def call(self, row: dict[str, Any]) -> tuple[int, str, Any]:
        headers = {"Authorization": f"Bearer {self.tokens[row['as']]}"}
        url = self.server.url + "/api/v4" + self.filled(row["path"])
        async with self.session.request(row["method"], url, json=self.filled(row["json"]), headers=headers) as response:
            return response.status, response.content_type, await response.json()


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(value)
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else "list"
    return type(value).__name__


@pytest.fixture
async def replay():
    heard: list[tuple[str, str, str]] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append((request.path, request.content_type, await request.text()))
        return web.json_response({"response_type": "ephemeral", "text": "working on it"})

    app = web.Application()
    app.router.add_post("/{path:.*}", listen)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with MattermostEmulator(resumes=False) as server, aiohttp.ClientSession() as session:
        server.state.say(server.state.alice, server.state.direct(server.state.alice, server.state.bot), "earlier")
        made = Replay(server, session, f"http://127.0.0.1:{runner.addresses[0][1]}")
        made.heard = heard  # type: ignore[attr-defined]
        yield made
    await runner.cleanup()


async def test_every_recorded_call_is_answered_alike(replay):
    wrong = []
    for row in RECORDED["calls"]:
        status, kind, body = await replay.call(row)
        told = (row["method"], row["path"], row["json"])
        if (status, kind) != (row["status"], "application/json"):
            wrong.append((told, status, kind))
        if "error" in row and body.get("id") != row["error"]:
            wrong.append((told, body))
        if shape(body) != row["shape"]:
            wrong.append((told, shape(body), row["shape"]))
        if "makes" in row:
            replay.ids[row["makes"]] = body["id"]
        if "posts" in row:
            keys = {tuple(sorted(post)) for post in body["posts"].values()}
            if keys != {tuple(post) for post in row["posts"]}:
                wrong.append((told, keys))
        if "listed" in row and "since" in row["path"]:
            names = {value: key for key, value in replay.ids.items()}
            # old versions bear the time of the edited post, so their place beside it is not fixed
            assert sorted(names.get(post_id, "?") for post_id in body["order"]) == sorted(row["listed"])
    assert wrong == []
    assert len(RECORDED["calls"]) > 30


async def test_the_posts_of_a_thread_come_in_no_order_and_the_asked_one_twice(replay):
    for row in RECORDED["calls"]:
        _, _, body = await replay.call(row)
        if "makes" in row:
            replay.ids[row["makes"]] = body["id"]
        if row["path"].endswith("/thread"):
            assert sorted(body["order"]) == sorted(replay.ids[name] for name in row["listed"])
            assert body["order"][0] == replay.ids["root"]


async def test_every_recorded_event_is_sent_alike(replay):
    async with replay.session.ws_connect(
        replay.server.url + "/api/v4/websocket", headers={"Authorization": "Bearer bot-token"}
    ) as socket:
        frames: list[dict[str, Any]] = []

        async def read() -> None:
            async for frame in socket:
                frames.append(json.loads(frame.data))

        reader = asyncio.create_task(read())
        for row in RECORDED["calls"]:
            _, _, body = await replay.call(row)
            if "makes" in row:
                replay.ids[row["makes"]] = body["id"]
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        reader.cancel()
    assert [frame["seq"] for frame in frames] == list(range(len(frames)))
    assert {frame["event"] for frame in frames} == set(RECORDED["events"])
    for frame in frames:
        recorded = RECORDED["events"][frame["event"]]
        assert sorted(frame) == recorded["frame"]
        assert sorted(frame["broadcast"]) == recorded["broadcast"]
        assert set(recorded["always"]) <= set(frame["data"]) <= set(recorded["data"]), frame["event"]
        for key in ("post", "reaction"):
            if key in recorded:
                assert sorted(json.loads(frame["data"][key])) == recorded[key]


async def test_callbacks_get_what_was_recorded(replay):
    for row in RECORDED["calls"]:
        _, _, body = await replay.call(row)
        if "makes" in row:
            replay.ids[row["makes"]] = body["id"]
    slash, action = replay.heard
    recorded = {item["path"]: item for item in RECORDED["callbacks"]}
    assert (slash[0], slash[1]) == ("/slash", recorded["/slash"]["content_type"])
    assert sorted(parse_qs(slash[2])) == recorded["/slash"]["keys"]
    assert (action[0], action[1]) == ("/action", recorded["/action"]["content_type"])
    assert sorted(json.loads(action[2])) == recorded["/action"]["keys"]


async def test_a_list_since_then_holds_at_most_1000_posts_and_knows_no_pages():
    async with MattermostEmulator() as server, aiohttp.ClientSession() as session:
        state = server.state
        for number in range(1010):
            state.say(state.alice, state.town, str(number))
        headers = {"Authorization": "Bearer bot-token"}
        url = f"{server.url}/api/v4/channels/{state.town}/posts"
        for query in ("since=1", "since=1&page=1&per_page=5"):
            async with session.get(f"{url}?{query}", headers=headers) as response:
                assert len((await response.json())["order"]) == 1000
        async with session.get(f"{url}?per_page=5000", headers=headers) as response:
            assert len((await response.json())["order"]) == 200


# --- the JavaScript client --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def client_folder(tmp_path_factory) -> Path:
    """The client, installed from its lock; once for a machine where HAECHI_NODE_CACHE names a folder."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed (scripts/install-node installs them)")
    named = os.environ.get("HAECHI_NODE_CACHE")
    folder = Path(named) if named else tmp_path_factory.mktemp("mattermost_client")
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("package.json", "package-lock.json", "drive.mjs"):
        shutil.copy(CLIENT / file, folder / file)
    if not (folder / "node_modules" / "@mattermost" / "client").is_dir():
        ran = subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True, text=True,
            timeout=180, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr[-2000:]
    return folder


async def test_mattermosts_own_javascript_client_can_work_with_it(client_folder):
    async with MattermostEmulator() as server:
        process = await asyncio.create_subprocess_exec(
            "node", "drive.mjs", server.url, "alice-token", server.state.town, cwd=client_folder,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

        async def answer() -> None:
            """The bot's side: answers what the client asks, cuts the connection, and speaks again."""
            state = server.state
            while not any(post["message"].startswith("@helperbot") for post in state.posts.values()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            asked = next(post for post in state.posts.values() if post["message"].startswith("@helperbot"))
            state.say(state.bot, state.town, "15일입니다", root=asked["id"])
            await server.drop_sockets()
            state.say(state.bot, state.town, "끊긴 동안", root=asked["id"])

        async with asyncio.timeout(60):
            answering = asyncio.create_task(answer())
            out, err = await process.communicate()
            await answering
        assert process.returncode == 0, err.decode()[-3000:]
        said = json.loads(out.decode().strip().splitlines()[-1])
        assert said["me"] == "alice"
        assert said["thread"] == ["@helperbot 연차는?", "15일입니다", "끊긴 동안"]
        assert said["heard"][:2] == ["@helperbot 연차는?", "15일입니다"]
        assert "끊긴 동안" in said["heard"]
        assert said["missed"] == 0  # resumed without loss, as the client itself judges
        assert said["refused"] == [400, 401, 404]
        assert server.resumed == 1
