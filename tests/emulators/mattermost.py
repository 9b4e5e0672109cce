"""A Mattermost server for tests: REST and websocket on 127.0.0.1, with its state in memory.

It answers as a recorded server does (tests/contract/test_mattermost_emulator.py replays the recording), refuses what that
one refuses, and fails as it is told. `resumes=True` behaves as servers since 6.0: connection ids, a queue of what was sent,
`hello` only when a connection is new; `resumes=False` as the recorded 5.37. What people do stands in
`mattermost_people.py`; every post is kept with its thread, props and final flag.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.emulators.mattermost_state import (
    MattermostState,
    Refusal,
    identifier,
)

Json = dict[str, Any]
Handler = Callable[[web.Request, Json], Awaitable[web.Response]]

VERSION = "5.37.0.dev.efd2e14f184a5ff0c74c776d96dee9c6.false"
QUEUE_EVENTS = 128
PENDING_S = 30.0


@dataclass
class Fault:
    """What happens to the next `times` requests that match, instead of or after what they asked for."""

    method: str
    path: str  # a regular expression for the path below /api/v4
    times: int = 1
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    carried_out: bool = False  # the request is carried out all the same; only its answer is lost
    drops: bool = False  # the connection is closed without an answer
    hold: asyncio.Event | None = None  # the request waits for it first

    def meets(self, method: str, path: str) -> bool:
        return self.times > 0 and method == self.method and re.fullmatch(self.path, path) is not None


@dataclass
class Connection:
    """What a websocket was sent; it outlives the socket when the server resumes."""

    id: str
    user_id: str
    token: str
    next_seq: int = 0
    sent: list[Json] = field(default_factory=list)
    waiting: list[Json] = field(default_factory=list)
    socket: web.WebSocketResponse | None = None
    silent: bool = False  # no frame leaves any more, and none is answered


class MattermostEmulator:
    """`async with MattermostEmulator() as server`: `server.url`, `server.state`, faults and counts."""

    def __init__(self, *, resumes: bool = True, tls: ssl.SSLContext | None = None, charset: bool = False) -> None:
        self.state = MattermostState(publish=self.publish)
        self.resumes = resumes
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str, str]] = []  # method, path below /api/v4, user name
        self.connections: dict[str, Connection] = {}
        self.opened = 0
        self.resumed = 0
        self.empty_since = 0  # the next so many `since` listings are empty, as in a race
        self.config: Json = {"MaxPostSize": "16383", "PostEditTimeLimit": "-1", "Version": "5.37.0"}
        self._content_type = "application/json; charset=utf-8" if charset else "application/json"
        self._tls = tls
        self._pending: dict[str, tuple[str, float]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._challenged = ""
        self.challenge_s = 5.0
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def __aenter__(self) -> MattermostEmulator:
        app = web.Application(client_max_size=10 * 1024 * 1024)
        app.router.add_get("/api/v4/websocket", self._websocket)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.config["SiteURL"] = self.url
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drop_sockets()
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{'localhost' if self._tls else '127.0.0.1'}:{self.port}"

    # --- faults ---------------------------------------------------------------------------------

    def fail(self, method: str, path: str, **changes: Any) -> Fault:
        fault = Fault(method, path, **changes)
        self.faults.append(fault)
        return fault

    async def drop_sockets(self) -> None:
        """Cuts every websocket; what happens meanwhile waits for those that resume."""
        for connection in list(self.connections.values()):
            if connection.socket is not None and not connection.socket.closed:
                socket, connection.socket = connection.socket, None
                await socket.close(drain=False)

    def silence_sockets(self) -> None:
        """Connections stay open, but nothing comes out of them and nothing is answered."""
        for connection in self.connections.values():
            connection.silent = True

    def forget_connections(self) -> None:
        """As after a restart of the server, or after the time that it keeps connections."""
        for key in [key for key, value in self.connections.items() if value.socket is None]:
            del self.connections[key]

    def skip_sequence(self, numbers: int = 1) -> None:
        """Events are lost on their way to open sockets."""
        for connection in self.connections.values():
            connection.next_seq += numbers

    def revoke(self, token: str) -> None:
        """The token is worth nothing from now on; open sockets stay, but are told nothing."""
        del self.state.tokens[token]

    # --- REST -----------------------------------------------------------------------------------

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = "/" + request.match_info["path"]
        hook = re.fullmatch(r"/hooks/(commands/)?([a-z0-9]{26})", path)
        if hook and request.method == "POST":
            return await self._hook(request, hook[2], is_command=bool(hook[1]))
        if not path.startswith("/api/v4/"):
            return self._json({"id": "api.context.404.app_error", "message": "Sorry, we could not find the page."}, 404)
        path = path.removeprefix("/api/v4")
        user = self._user(request)
        name = self.state.users[user].username if user else ""
        self.requests.append((request.method, path, name))
        body = await self._body(request)
        fault = next((fault for fault in self.faults if fault.meets(request.method, path)), None)
        if fault is not None:
            fault.times -= 1
            if fault.hold is not None:
                await fault.hold.wait()
            if fault.carried_out:
                await self._answer(request, path, user, body)
            if fault.drops:
                assert request.transport is not None
                request.transport.abort()
            if fault.status:
                return self._refused(Refusal(fault.status, "api.fault", "It was told to fail."), fault.headers)
        return await self._answer(request, path, user, body)

    async def _answer(self, request: web.Request, path: str, user: str | None, body: Any) -> web.StreamResponse:
        if user is None:
            token = request.headers.get("Authorization", "").removeprefix("Bearer ")
            refusal = Refusal(401, "api.context.session_expired.app_error", "Invalid or expired session, please login again.")  # fmt: skip
            return self._refused(refusal, detail=f"token={token}")
        try:
            for method, pattern, name in ROUTES:
                found = re.fullmatch(pattern, path)
                if found is not None and method == request.method:
                    return await self._carry_out(name, user, found.groups(), dict(request.query), body)
            raise Refusal(404, "api.context.404.app_error", "Sorry, we could not find the page.")
        except Refusal as refusal:
            return self._refused(refusal)

    async def _carry_out(
        self, name: str, user: str, ids: tuple[str, ...], query: dict[str, str], body: Any
    ) -> web.StreamResponse:
        state = self.state
        if name == "client_config":
            return self._json(self.config)
        if name == "create_post":
            return await self._create_post(user, body)
        if name == "channel_posts":
            if "since" in query and self.empty_since > 0:
                self.empty_since -= 1
                return self._json(state.listing([]))
            return self._json(state.channel_posts(user, ids[0], query))
        if name == "file":
            return web.Response(body=state.file(user, ids[0]), content_type="text/plain")
        if name == "execute_command":
            return self._json(await self._execute_command(user, body))
        if name == "press":
            return self._json(await self._press(user, *ids))
        status, answer = getattr(state, name)(user, *ids, *((body,) if body is not None else ()))
        return self._json(answer, status)

    async def _create_post(self, user: str, body: Json) -> web.Response:
        """A `pending_post_id` that was seen within the last half minute brings the same post again."""
        pending = str(body.get("pending_post_id") or "")
        seen = self._pending.get(pending)
        if pending and seen is not None and time.monotonic() - seen[1] < PENDING_S:
            known = self.state.posts[seen[0]]
            if known["delete_at"]:
                raise Refusal(500, "api.post.deduplicate_create_post.failed_to_get", "Failed to fetch original post.")
            return self._json({**known, "pending_post_id": ""}, 201)
        post = self.state.create_post(user, body)
        if pending:
            self._pending[pending] = (post["id"], time.monotonic())
        return self._json(post, 201)

    async def _execute_command(self, user: str, body: Json) -> Json:
        import aiohttp

        row, form, hook = self.state.start_command(user, body)
        form["response_url"] = f"{self.url}/hooks/commands/{hook}"
        headers = {"Authorization": f"Token {row['token']}", "Accept": "application/json", "User-Agent": "Mattermost-Bot/1.1"}  # fmt: skip
        failed = Refusal(500, "api.command.execute_command.failed.app_error", f"Command with a trigger of '{row['trigger']}' failed.")  # fmt: skip
        try:
            how = {"params": form} if row["method"] == "G" else {"data": form}
            method = "GET" if row["method"] == "G" else "POST"
            async with aiohttp.ClientSession() as session, session.request(method, row["url"], headers=headers, **how) as response:  # fmt: skip
                if response.status != 200:
                    raise failed
                return self.state.command_answer(user, body["channel_id"], await response.json())
        except aiohttp.ClientError:
            raise failed from None

    async def _press(self, user: str, post_id: str, action_id: str) -> Json:
        import aiohttp

        url, payload = self.state.start_press(user, post_id, action_id)
        try:
            async with aiohttp.ClientSession() as session, session.post(url, json=payload) as response:
                answer = await response.json()
        except aiohttp.ClientError:
            raise Refusal(400, "api.post.do_action.action_integration.app_error", "Action integration error.") from None
        self.state.ephemeral.append((user, str(answer.get("ephemeral_text", ""))))
        return {"status": "OK", "trigger_id": identifier()}

    async def _hook(self, request: web.Request, hook_id: str, *, is_command: bool) -> web.Response:
        body = json.loads(await request.text())
        try:
            (self.state.command_response if is_command else self.state.webhook_post)(hook_id, body)
        except Refusal as refusal:
            return self._refused(refusal)
        return web.Response(text="ok")

    async def _body(self, request: web.Request) -> Any:
        text = await request.text() if request.method in ("POST", "PUT") else ""
        return json.loads(text) if text else ({} if request.method in ("POST", "PUT") else None)

    def _user(self, request: web.Request) -> str | None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        return self.state.tokens.get(token) if kind.lower() == "bearer" else None

    def _json(self, value: Any, status: int = 200, headers: Json | None = None) -> web.Response:
        text = json.dumps(value, ensure_ascii=False)
        return web.Response(
            body=text.encode(), status=status, headers={**(headers or {}), "Content-Type": self._content_type}
        )

    def _refused(self, refusal: Refusal, headers: Json | None = None, *, detail: str = "") -> web.Response:
        body = {
            "id": refusal.id, "message": refusal.message, "detailed_error": detail or refusal.detail,
            "request_id": identifier(), "status_code": refusal.status,
        }  # fmt: skip
        return self._json(body, refusal.status, headers)

    # --- websocket ------------------------------------------------------------------------------

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        user = self._user(request)
        if user is None:  # as a browser does: the token comes in the first message, within five seconds
            user = await self._challenge(socket)
            if user is None:
                await socket.close()
                return socket
            connection = self._fresh(user, self._challenged)
        else:
            token = request.headers["Authorization"].removeprefix("Bearer ")
            asked, sequence = request.query.get("connection_id", ""), request.query.get("sequence_number", "")
            known = self.connections.get(asked) if self.resumes and asked else None
            if known is not None and known.user_id == user and not sequence.isdecimal():
                await socket.close()
                return socket
            if known is not None and known.user_id == user:
                connection = await self._resume(known, socket, int(sequence))
            else:
                connection = self._fresh(user, token)
        self.opened += 1
        connection.silent = False
        connection.socket = socket
        await self._flush(connection)
        try:
            async for frame in socket:
                await self._heard(connection, socket, frame)
        finally:
            if connection.socket is socket:
                connection.socket = None
        return socket

    async def _challenge(self, socket: web.WebSocketResponse) -> str | None:
        try:
            frame = await asyncio.wait_for(socket.receive_json(), self.challenge_s)
        except (TimeoutError, TypeError, ValueError):
            return None
        self._challenged = str((frame.get("data") or {}).get("token", ""))
        user = self.state.tokens.get(self._challenged)
        if user is not None:
            await socket.send_json({"status": "OK", "seq_reply": frame.get("seq", 1)})
        return user

    def _fresh(self, user: str, token: str) -> Connection:
        connection = Connection(identifier(), user, token)
        self.connections[connection.id] = connection
        data = {"connection_id": connection.id if self.resumes else "", "server_version": VERSION}
        connection.waiting.append(envelope("hello", data, user_id=user))
        connection.waiting.append(envelope("status_change", {"status": "online", "user_id": user}, user_id=user))
        return connection

    async def _resume(self, known: Connection, socket: web.WebSocketResponse, sequence: int) -> Connection:
        """Sends what was lost from `sequence` on; a new connection id when that is no longer there."""
        lost = [event for event in known.sent if event["seq"] >= sequence]
        if lost and lost[0]["seq"] == sequence:
            for event in lost:
                await socket.send_json(event)
        elif sequence != known.next_seq:
            del self.connections[known.id]
            fresh = self._fresh(known.user_id, known.token)
            fresh.waiting = [fresh.waiting[0], *known.waiting]
            return fresh
        self.resumed += 1
        return known

    async def _heard(self, connection: Connection, socket: web.WebSocketResponse, frame: Any) -> None:
        if connection.silent:
            return
        if frame.type is WSMsgType.PING:
            await socket.pong(frame.data)
        elif frame.type is WSMsgType.TEXT:
            asked = json.loads(frame.data)
            if connection.token not in self.state.tokens:
                error = {"id": "api.web_socket_router.not_authenticated.app_error", "message": "WebSocket connection is not authenticated.", "status_code": 401}  # fmt: skip
                await socket.send_json({"status": "FAIL", "error": error, "seq_reply": asked.get("seq")})
            elif asked.get("action") == "ping":
                data = {"text": "pong", "version": "5.37.0", "server_time": int(time.time() * 1000), "node_id": ""}
                await socket.send_json({"status": "OK", "data": data, "seq_reply": asked.get("seq")})
            else:
                await socket.send_json({"status": "OK", "seq_reply": asked.get("seq")})

    def publish(self, event: Json, users: set[str]) -> None:
        """To every connection of these users; those that are away find it when they resume."""
        for connection in self.connections.values():
            if connection.user_id in users and connection.token in self.state.tokens:
                connection.waiting.append(dict(event))
                if connection.socket is not None:
                    task = asyncio.get_running_loop().create_task(self._flush(connection))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)

    async def _flush(self, connection: Connection) -> None:
        while connection.waiting and connection.socket is not None:
            event = {**connection.waiting.pop(0), "seq": connection.next_seq}
            connection.next_seq += 1
            connection.sent = [*connection.sent[-QUEUE_EVENTS + 1 :], event]
            if not connection.silent:
                try:
                    await connection.socket.send_json(event)
                except (ConnectionError, RuntimeError):
                    return

    async def ping_sockets(self) -> None:
        """The server's own heartbeat."""
        for connection in self.connections.values():
            if connection.socket is not None and not connection.silent:
                await connection.socket.ping()

    async def repeat_event(self, index: int = -1) -> None:
        """Sends an event a second time, with the sequence number that it had."""
        for connection in self.connections.values():
            if connection.socket is not None and connection.sent:
                await connection.socket.send_json(connection.sent[index])


def envelope(event: str, data: Json, *, user_id: str = "", channel_id: str = "", team_id: str = "") -> Json:
    """An event as the server sends it, still without its sequence number."""
    broadcast = {"omit_users": None, "user_id": user_id, "channel_id": channel_id, "team_id": team_id}
    return {"event": event, "data": data, "broadcast": broadcast}


_ID = "([a-z0-9]{26})"
_ANY = "([A-Za-z0-9_+-]+)"
ROUTES: list[tuple[str, str, str]] = [
    ("GET", "/config/client", "client_config"),
    ("GET", f"/users/{_ANY}", "get_user"),
    ("GET", f"/users/username/{_ANY}", "get_user_by_name"),
    ("GET", f"/users/{_ANY}/teams", "teams_of"),
    ("GET", f"/users/{_ANY}/teams/{_ID}/channels", "channels_of"),
    ("POST", f"/users/{_ANY}/typing", "typing"),
    ("POST", "/channels", "create_channel"),
    ("POST", "/channels/direct", "direct_channel"),
    ("POST", "/channels/group", "group_channel"),
    ("GET", f"/channels/{_ANY}", "get_channel"),
    ("GET", f"/channels/{_ANY}/members/{_ANY}", "get_member"),
    ("POST", f"/channels/{_ID}/members", "add_member"),
    ("DELETE", f"/channels/{_ID}/members/{_ID}", "remove_member"),
    ("GET", f"/channels/{_ID}/posts", "channel_posts"),
    ("POST", "/posts", "create_post"),
    ("POST", "/posts/ephemeral", "ephemeral_post"),
    ("GET", f"/posts/{_ANY}", "get_post"),
    ("PUT", f"/posts/{_ANY}/patch", "patch_post"),
    ("DELETE", f"/posts/{_ANY}", "delete_post"),
    ("GET", f"/posts/{_ANY}/thread", "get_thread"),
    ("GET", f"/posts/{_ANY}/files/info", "file_infos"),
    ("POST", f"/posts/{_ID}/actions/{_ANY}", "press"),
    ("GET", f"/files/{_ANY}", "file"),
    ("POST", "/reactions", "add_reaction"),
    ("POST", "/posts/ids/reactions", "reactions_of_posts"),
    ("GET", f"/posts/{_ANY}/reactions", "reactions_of_post"),
    ("DELETE", f"/users/{_ANY}/posts/{_ID}/reactions/{_ANY}", "remove_reaction"),
    ("POST", "/hooks/incoming", "create_webhook"),
    ("POST", "/commands", "create_command"),
    ("POST", "/commands/execute", "execute_command"),
]
