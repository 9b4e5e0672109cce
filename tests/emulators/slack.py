"""A Slack for tests on 127.0.0.1: the Web API, Socket Mode, response URLs and files, and people who use them.

    async with SlackEmulator() as slack:
        slack.workspace.add_user("U1", "미나")
        slack.workspace.add_channel("C1", "general")
        ts = await slack.say("C1", "U1", f"<@{BOT_USER}> 연차는?")

Everything is written from Slack's documentation and knows nothing of Haechi. What goes wrong is told to `fail` or
`chaos`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Self

from aiohttp import web

from tests.emulators.slack_blocks import Refused, check_message
from tests.emulators.slack_delivery import SocketMode
from tests.emulators.slack_workspace import APP, BOT, BOT_USER, TEAM, Workspace

Json = dict[str, Any]

BOT_TOKEN = "xoxb-1-emulated"
APP_TOKEN = "xapp-1-emulated"
SIGNING_SECRET = "emulated-signing-secret"
RESPONSE_USES = 5
RESPONSE_LIFE_S = 1800.0

__all__ = ["APP_TOKEN", "BOT", "BOT_TOKEN", "BOT_USER", "SIGNING_SECRET", "Failure", "SlackEmulator"]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What a call gets instead of its answer. `after`: Slack carries it out first, and only the answer goes wrong."""

    status: int = 200
    error: str = ""
    retry_after_s: int | None = None
    drops: bool = False  # the connection ends without an answer
    after: bool = False
    body: str | None = None  # instead of JSON
    headers: Json = field(default_factory=dict)


@dataclass
class _ResponseUrl:
    user: str
    channel: str
    made_at: float
    used: int = 0


class SlackEmulator:
    """Runs in the loop of the test. `calls` counts methods; `chaos` may fail any call."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        ack_timeout_s: float = 3.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.clock = clock
        self.tls = tls
        self.tokens = {BOT_TOKEN: "bot", APP_TOKEN: "app"}
        self.workspace = Workspace(clock=clock)
        self.workspace.changed = self._echo
        self.sockets = SocketMode(ack_timeout_s=ack_timeout_s)
        self.calls: Counter[str] = Counter()
        self.arguments: dict[str, list[Json]] = defaultdict(list)
        self.revoked: set[str] = set()
        self.chaos: Callable[[str], Failure | None] = lambda method: None
        self.subscribed = {"message", "app_mention", "reaction_added", "reaction_removed"}
        self.held: dict[str, asyncio.Event] = {}  # calls of these methods wait
        self.answers_responses = True  # False: what is posted to a response_url is shown, and its answer lost
        self._failures: dict[str, deque[Failure]] = defaultdict(deque)
        self._files: dict[str, bytes] = {}
        self._response_urls: dict[str, _ResponseUrl] = {}
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._api)
        app.router.add_get("/link", self._link)
        app.router.add_post("/hooks/{key}", self._respond)
        app.router.add_get("/files/{key}", self._file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self.tls)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.sockets.close()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def origin(self) -> str:
        """A certificate names a host and no number."""
        return f"https://localhost:{self.port}" if self.tls else f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/api/"

    # --- people -------------------------------------------------------------------------------

    async def say(self, channel_id: str, user: str, text: str, *, thread_ts: str | None = None, **more: Any) -> str:
        """A person writes; returns the ts. `more` are further fields of the message (files, blocks, subtype ...)."""
        channel = self.workspace.channels[channel_id]
        fields: Json = {"user": user, "text": text, "client_msg_id": f"client-{next(self._numbers)}", **more}
        if thread_ts is not None:
            fields["thread_ts"] = thread_ts
        message = self.workspace.add_message(channel_id, {k: v for k, v in fields.items() if v is not None})
        self._message_event(channel_id, message)
        if f"<@{BOT_USER}" in text and channel.kind != "im" and more.get("subtype") is None:
            self.event({**message, "type": "app_mention", "channel": channel_id, "event_ts": message["ts"]})
        await asyncio.sleep(0)
        return str(message["ts"])

    async def edit(self, channel_id: str, ts: str, text: str) -> None:
        message = self.workspace.channels[channel_id].messages[ts]
        before = dict(message)
        message["text"] = text
        self._hidden_event(channel_id, "message_changed", message=dict(message), previous_message=before)

    async def delete(self, channel_id: str, ts: str) -> None:
        """A post with replies below it leaves a tombstone, to which its thread goes on belonging."""
        messages = self.workspace.channels[channel_id].messages
        before = messages[ts]
        if before.get("reply_count"):
            kept = {key: before[key] for key in ("type", "ts", "thread_ts", "reply_count", "latest_reply", "team")}
            messages[ts] = {
                **kept, "subtype": "tombstone", "hidden": True, "user": "USLACKBOT",
                "text": "This message was deleted.",
            }  # fmt: skip
            self._hidden_event(channel_id, "message_changed", message=dict(messages[ts]), previous_message=before)
            return
        del messages[ts]
        self._hidden_event(channel_id, "message_deleted", previous_message=before, deleted_ts=ts)

    async def react(self, user: str, channel_id: str, ts: str, name: str, *, removed: bool = False) -> None:
        message = self.workspace.channels[channel_id].messages[ts]
        kind = "reaction_removed" if removed else "reaction_added"
        self.event(
            {
                "type": kind, "user": user, "reaction": name, "item_user": message.get("user"),
                "item": {"type": "message", "channel": channel_id, "ts": ts}, "event_ts": self.workspace.next_ts(),
            }
        )  # fmt: skip

    async def command(
        self, user: str, channel_id: str, text: str, *, command: str = "/haechi", thread_ts: str = ""
    ) -> str:
        """Somebody gives a slash command; returns its trigger id."""
        trigger = f"{next(self._numbers)}.{TEAM}"
        payload = {
            "token": "verification", "team_id": TEAM, "team_domain": "acme", "channel_id": channel_id,
            "channel_name": self.workspace.channels[channel_id].name, "user_id": user,
            "user_name": self.workspace.users[user]["name"], "command": command, "text": text, "api_app_id": APP,
            "response_url": self.response_url(user, channel_id), "trigger_id": trigger,
        }  # fmt: skip
        if thread_ts:
            payload["thread_ts"] = thread_ts
        self.sockets.dispatch("slash_commands", payload)
        return trigger

    async def press(self, user: str, channel_id: str, ts: str, action_id: str) -> None:
        """Somebody presses a button of a post."""
        message = self.workspace.channels[channel_id].messages[ts]
        action = next(
            {"block_id": block.get("block_id"), **element}
            for block in message["blocks"]
            for element in block.get("elements", ())
            if element.get("action_id") == action_id
        )
        payload = {
            "type": "block_actions", "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
            "api_app_id": APP, "token": "verification", "trigger_id": f"{next(self._numbers)}.{TEAM}",
            "container": {"type": "message", "message_ts": ts, "channel_id": channel_id, "is_ephemeral": False},
            "team": {"id": TEAM, "domain": "acme"}, "channel": {"id": channel_id, "name": "x"}, "message": dict(message),
            "response_url": self.response_url(user, channel_id),
            "actions": [{**action, "action_ts": self.workspace.next_ts()}],
        }  # fmt: skip
        self.sockets.dispatch("interactive", payload)

    def add_file(self, name: str, data: bytes, mimetype: str) -> Json:
        """A file to be given to `say(files=[...])`."""
        key = f"F{next(self._numbers)}"
        self._files[key] = data
        address = f"{self.origin}/files/{key}"
        return {
            "id": key,
            "name": name,
            "mimetype": mimetype,
            "size": len(data),
            "url_private": address,
            "url_private_download": address,
        }

    # --- what goes wrong ----------------------------------------------------------------------

    def fail(self, method: str, *failures: Failure) -> None:
        """The next calls of a method fail like this, one each."""
        self._failures[method].extend(failures)

    def response_url(self, user: str, channel_id: str) -> str:
        key = f"R{next(self._numbers)}"
        self._response_urls[key] = _ResponseUrl(user=user, channel=channel_id, made_at=self.clock())
        return f"{self.origin}/hooks/{key}"

    # --- events -------------------------------------------------------------------------------

    def event(self, event: Json) -> None:
        """Delivers an event to the app, if it has subscribed to its kind."""
        if event["type"] in self.subscribed:
            channel = self.workspace.channels.get(str(event.get("channel")))
            shared = channel is not None and channel.shared
            self.sockets.dispatch("events_api", event_callback(event, next(self._numbers), shared=shared))

    def _message_event(self, channel_id: str, message: Json) -> None:
        kind = self.workspace.channels[channel_id].kind
        if BOT_USER not in self.workspace.channels[channel_id].members:
            return
        told = {key: value for key, value in message.items() if key not in ("reply_count", "latest_reply", "metadata")}
        self.event({**told, "channel": channel_id, "channel_type": kind, "event_ts": message["ts"]})

    def _hidden_event(self, channel_id: str, subtype: str, **more: Any) -> None:
        ts = self.workspace.next_ts()
        kind = self.workspace.channels[channel_id].kind
        self.event(
            {
                "type": "message", "subtype": subtype, "hidden": True, "channel": channel_id, "channel_type": kind,
                "ts": ts, "event_ts": ts, **more,
            }
        )  # fmt: skip

    def _echo(self, kind: str, message: Json) -> None:
        """Slack tells an app of its own posts and edits too."""
        channel_id = message["channel"]
        plain = {key: value for key, value in message.items() if key != "channel"}
        if kind == "posted":
            self._message_event(channel_id, plain)
        else:
            self._hidden_event(channel_id, "message_changed", message=plain)

    # --- the Web API --------------------------------------------------------------------------

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        args = await _arguments(request)
        self.calls[method] += 1
        self.arguments[method].append(args)
        if method in self.held:
            await self.held[method].wait()
        failure = self._failures[method].popleft() if self._failures[method] else self.chaos(method)
        if failure is not None and not failure.after:
            return self._failed(request, failure)
        try:
            body = {"ok": True, **self._carry_out(method, args, _token(request, args))}
        except Refused as refusal:
            body = {"ok": False, "error": refusal.error, **refusal.more}
        if failure is not None:
            return self._failed(request, failure)
        headers = {
            "X-OAuth-Scopes": ",".join(sorted(self.workspace.scopes)),
            "Date": formatdate(self.clock(), usegmt=True),
        }
        return web.json_response(body, headers=headers)

    def _carry_out(self, method: str, args: Json, token: str) -> Json:
        if not token:
            raise Refused("not_authed")
        if token not in self.tokens:
            raise Refused("invalid_auth")
        if token in self.revoked:
            raise Refused("token_revoked")
        if (self.tokens[token] == "app") != (method == "apps.connections.open"):
            raise Refused("not_allowed_token_type")
        if method == "apps.connections.open":
            ticket = f"ticket-{next(self._numbers)}"
            self._tickets.add(ticket)
            return {"url": f"ws{self.origin.removeprefix('http')}/link?ticket={ticket}"}
        return self.workspace.call(method, args)

    def _failed(self, request: web.Request, failure: Failure) -> web.StreamResponse:
        if failure.drops:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        headers = dict(failure.headers)
        if failure.retry_after_s is not None:
            headers["Retry-After"] = str(failure.retry_after_s)
        if failure.body is not None:
            return web.Response(text=failure.body, status=failure.status, headers=headers, content_type="text/html")
        error = failure.error or {429: "ratelimited"}.get(failure.status, "internal_error")
        return web.json_response({"ok": False, "error": error}, status=failure.status, headers=headers)

    async def _link(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)
        return await self.sockets.serve(request)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        place = self._response_urls.get(request.match_info["key"])
        if place is None:
            return web.json_response({"ok": False, "error": "invalid_url"}, status=404)
        if self.clock() - place.made_at > RESPONSE_LIFE_S:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if place.used >= RESPONSE_USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        body = await request.json()
        try:
            check_message(body, known=self.workspace.known_blocks)
        except Refused as refusal:
            return web.json_response({"ok": False, "error": refusal.error}, status=400)
        place.used += 1
        self.workspace.ephemeral.append({**body, "user": place.user, "channel": place.channel, "way": "response_url"})
        if not self.answers_responses and request.transport is not None:
            request.transport.abort()
        return web.Response(text="ok")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        if self.tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer ")) != "bot":
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        data = self._files.get(request.match_info["key"])
        return (
            web.Response(status=404)
            if data is None
            else web.Response(body=data, content_type="application/octet-stream")
        )


def event_callback(event: Json, number: int, *, shared: bool = False) -> Json:
    """What wraps an event, in Socket Mode as over HTTP."""
    return {
        "token": "verification", "team_id": TEAM, "api_app_id": APP, "event": event, "type": "event_callback",
        "event_id": f"Ev{number}", "event_time": int(float(event.get("event_ts") or 0)),
        "authorizations": [{"enterprise_id": None, "team_id": TEAM, "user_id": BOT_USER, "is_bot": True, "is_enterprise_install": False}],
        "is_ext_shared_channel": shared, "event_context": f"context-{number}",
    }  # fmt: skip


def _token(request: web.Request, args: Json) -> str:
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ") if header.startswith("Bearer ") else str(args.pop("token", ""))


async def _arguments(request: web.Request) -> Json:
    args: Json = dict(request.query)
    if request.content_type == "application/json":
        args.update(await request.json())
    elif request.can_read_body:
        args.update(await request.post())
    for name in ("blocks", "metadata", "attachments"):
        if isinstance(args.get(name), str):
            try:
                args[name] = json.loads(args[name])
            except ValueError:
                args[name] = "not JSON"
    return args
