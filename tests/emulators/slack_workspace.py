"""A Slack workspace in memory: people, channels, messages, threads, reactions, and the Web API's answers about them.

What it rejects, and with which words, follows the pages of each method on docs.slack.dev. It knows nothing of Haechi.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.slack_blocks import (
    KNOWN_BLOCKS,
    MAX_MARKDOWN_CHARS,
    Refused,
    check_message,
    check_metadata,
    stored_blocks,
)

Json = dict[str, Any]

TEAM, APP, BOT_USER, BOT = "T0HAECHI1", "A0HAECHI1", "U0BOT00001", "B0BOT00001"
STREAM_LIFE_S = 300.0

ALL_SCOPES = {
    "app_mentions:read", "chat:write", "reactions:write", "reactions:read", "channels:history", "groups:history",
    "im:history", "mpim:history", "channels:read", "groups:read", "im:read", "mpim:read", "im:write", "users:read",
    "files:read", "commands", "assistant:write",
}  # fmt: skip
HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
LISTING = {"public_channel": "channels:read", "private_channel": "groups:read", "im": "im:read", "mpim": "mpim:read"}


@dataclass
class Channel:
    id: str
    name: str
    kind: str = "channel"  # channel, group, im, mpim
    members: set[str] = field(default_factory=set)
    archived: bool = False
    shared: bool = False  # with another organisation
    messages: dict[str, Json] = field(default_factory=dict)  # ts -> message, in order

    def described(self) -> Json:
        return {
            "id": self.id, "name": self.name, "is_channel": self.kind == "channel", "is_group": self.kind == "group",
            "is_im": self.kind == "im", "is_mpim": self.kind == "mpim", "is_private": self.kind != "channel",
            "is_archived": self.archived, "is_ext_shared": self.shared, "is_member": BOT_USER in self.members,
        }  # fmt: skip


class Workspace:
    """The Web API as plain functions: `call(method, args)` returns the body of the answer or raises Refused."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.scopes = set(ALL_SCOPES)
        self.known_blocks = set(KNOWN_BLOCKS)
        self.streams_allowed = True
        self.users: dict[str, Json] = {
            BOT_USER: {"id": BOT_USER, "name": "haechi", "is_bot": True, "profile": {"display_name": "haechi"}}
        }
        self.channels: dict[str, Channel] = {}
        self.ephemeral: list[Json] = []
        self.statuses: list[Json] = []
        self.changed: Callable[[str, Json], None] = lambda kind, message: None  # told of what the bot posts and edits
        self._last_us = 0

    # --- what tests arrange -------------------------------------------------------------------

    def add_user(self, user_id: str, display_name: str, *, is_bot: bool = False) -> None:
        self.users[user_id] = {
            "id": user_id, "name": display_name, "is_bot": is_bot,
            "profile": {"display_name": display_name, "real_name": display_name},
        }  # fmt: skip

    def add_channel(self, channel_id: str, name: str, *, kind: str = "channel", bot_in: bool = True) -> Channel:
        members = {*self.users} if bot_in else {*self.users} - {BOT_USER}
        channel = self.channels[channel_id] = Channel(id=channel_id, name=name, kind=kind, members=members)
        return channel

    def next_ts(self) -> str:
        self._last_us = max(int(self.clock() * 1_000_000), self._last_us + 1)
        return f"{self._last_us // 1_000_000}.{self._last_us % 1_000_000:06d}"

    def add_message(self, channel_id: str, message: Json) -> Json:
        """Keeps a message; its thread's root counts it."""
        channel = self.channels[channel_id]
        ts = self.next_ts()
        kept = {"type": "message", **message, "ts": ts, "team": TEAM}
        channel.messages[ts] = kept
        root_ts = kept.get("thread_ts")
        if root_ts and root_ts != ts and root_ts in channel.messages:
            root = channel.messages[root_ts]
            root.setdefault("thread_ts", root_ts)
            root["reply_count"] = root.get("reply_count", 0) + 1
            root["latest_reply"] = ts
        return kept

    def bot_posts(self) -> list[Json]:
        """Every message of the bot that stands in a channel: channel, ts, thread_ts, text, metadata, streaming."""
        return [
            {"channel": channel.id, **message}
            for channel in self.channels.values()
            for message in channel.messages.values()
            if message.get("bot_id") == BOT
        ]

    # --- the Web API --------------------------------------------------------------------------

    def call(self, method: str, args: Json) -> Json:
        handler = getattr(self, "_" + method.replace(".", "_"), None)
        if handler is None:
            raise Refused("unknown_method")
        answer: Json = handler(args)
        return answer

    def _auth_test(self, args: Json) -> Json:
        return {
            "url": "https://acme.slack.com/",
            "team": "Acme",
            "user": "haechi",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT,
        }

    def _users_info(self, args: Json) -> Json:
        self._need("users:read")
        if args.get("user") not in self.users:
            raise Refused("user_not_found")
        return {"user": copy.deepcopy(self.users[args["user"]])}

    def _bots_info(self, args: Json) -> Json:
        self._need("users:read")
        if not str(args.get("bot", "")).startswith("B"):
            raise Refused("bot_not_found")
        return {"bot": {"id": args["bot"], "name": f"bot {args['bot']}", "app_id": "A0OTHER"}}

    def _conversations_info(self, args: Json) -> Json:
        channel = self.channels.get(args.get("channel", ""))
        if channel is None or (channel.kind != "channel" and BOT_USER not in channel.members):
            raise Refused("channel_not_found")
        return {"channel": channel.described()}

    def _conversations_open(self, args: Json) -> Json:
        self._need("im:write")
        user = args.get("users", "")
        if user not in self.users:
            raise Refused("user_not_found")
        channel_id = f"D{user[1:]}"
        if channel_id not in self.channels:
            self.channels[channel_id] = Channel(id=channel_id, name=user, kind="im", members={user, BOT_USER})
        return {"channel": {"id": channel_id}}

    def _users_conversations(self, args: Json) -> Json:
        names = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
        wanted = str(args.get("types") or "public_channel").split(",")
        for kind in wanted:
            self._need(LISTING[kind])
        kinds = {names[kind] for kind in wanted}
        found = [
            c.described()
            for c in self.channels.values()
            if BOT_USER in c.members and c.kind in kinds and not c.archived
        ]
        page, cursor = self._page(found, args, default=100)
        return {"channels": page, "response_metadata": {"next_cursor": cursor}}

    def _conversations_history(self, args: Json) -> Json:
        channel = self._readable(args)
        oldest, latest = float(args.get("oldest") or 0), float(args.get("latest") or 1e12)
        inclusive = _true(args.get("inclusive"))
        found = [
            self._shown(message, args)
            for ts, message in reversed(channel.messages.items())
            if (message.get("thread_ts") in (None, ts) or message.get("subtype") == "thread_broadcast")
            and (oldest < float(ts) < latest or (inclusive and float(ts) in (oldest, latest)))
        ]
        page, cursor = self._page(found, args, default=100)
        return {"messages": page, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}

    def _conversations_replies(self, args: Json) -> Json:
        channel = self._readable(args)
        asked = str(args.get("ts") or "")
        if asked not in channel.messages:
            raise Refused("thread_not_found")
        root = channel.messages[asked].get("thread_ts") or asked
        oldest, latest = float(args.get("oldest") or 0), float(args.get("latest") or 1e12)
        inclusive = _true(args.get("inclusive"))
        found = [
            self._shown(message, args)
            for ts, message in channel.messages.items()
            if ts == root
            or (
                message.get("thread_ts") == root
                and (oldest < float(ts) < latest or (inclusive and float(ts) in (oldest, latest)))
            )
        ]
        page, cursor = self._page(found, args, default=1000)
        return {"messages": page, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}

    def _reactions_add(self, args: Json) -> Json:
        self._need("reactions:write")
        message = self._message(args, "timestamp")
        name = str(args.get("name") or "")
        if not name or not all(c.isalnum() or c in "_+-:'" for c in name):
            raise Refused("invalid_name")
        reactions = message.setdefault("reactions", [])
        entry = next((r for r in reactions if r["name"] == name), None)
        if entry is None:
            entry = {"name": name, "users": [], "count": 0}
            reactions.append(entry)
        if BOT_USER in entry["users"]:
            raise Refused("already_reacted")
        entry["users"].append(BOT_USER)
        entry["count"] += 1
        return {}

    def _chat_postMessage(self, args: Json) -> Json:
        self._need("chat:write")
        channel = self._writable(args)
        check_message(args, known=self.known_blocks)
        thread_ts = self._root(channel, args)
        message = self.add_message(channel.id, self._own(args, thread_ts))
        self.changed("posted", {"channel": channel.id, **message})
        return {"channel": channel.id, "ts": message["ts"], "message": copy.deepcopy(message)}

    def _chat_postEphemeral(self, args: Json) -> Json:
        self._need("chat:write")
        channel = self._writable(args)
        if args.get("user") not in channel.members:
            raise Refused("user_not_in_channel")
        check_message(args, known=self.known_blocks)
        self.ephemeral.append({**args, "way": "chat.postEphemeral"})
        return {"message_ts": self.next_ts()}

    def _chat_update(self, args: Json) -> Json:
        self._need("chat:write")
        channel = self._channel(args)
        message = self._own_message(channel, args, "cant_update_message")
        if message.get("streaming_state") == "in_progress" and not self._stream_expired(message):
            raise Refused("streaming_state_conflict")
        check_message({**args, "text": args.get("text") or message.get("text")}, known=self.known_blocks)
        if args.get("text") is not None or args.get("blocks") is not None:
            message["blocks"] = stored_blocks(args.get("blocks"))
            message["text"] = args.get("text") or ""
        if args.get("metadata") is not None:
            message["metadata"] = copy.deepcopy(args["metadata"])
        message.pop("streaming_state", None)
        message["edits"] = message.get("edits", 0) + 1
        self.changed("edited", {"channel": channel.id, **message})
        return {"channel": channel.id, "ts": message["ts"], "text": message["text"]}

    def _chat_delete(self, args: Json) -> Json:
        self._need("chat:write")
        channel = self._channel(args)
        message = self._own_message(channel, args, "cant_delete_message")
        del channel.messages[message["ts"]]
        return {"channel": channel.id, "ts": message["ts"]}

    # --- streams ------------------------------------------------------------------------------

    def _chat_startStream(self, args: Json) -> Json:
        self._need("chat:write")
        channel = self._writable(args)
        if not self.streams_allowed:
            raise Refused("feature_not_enabled")
        if channel.kind != "im" and not args.get("recipient_user_id"):
            raise Refused("missing_recipient_user_id")
        if channel.kind != "im" and not args.get("recipient_team_id"):
            raise Refused("missing_recipient_team_id")
        if not args.get("thread_ts"):
            raise Refused("invalid_arguments")
        self._stream_text(args)
        thread_ts = self._root(channel, args)
        message = self.add_message(channel.id, self._own({"text": args.get("markdown_text") or ""}, thread_ts))
        message |= {"streaming_state": "in_progress", "started_at": self.clock()}
        return {"channel": channel.id, "ts": message["ts"]}

    def _chat_appendStream(self, args: Json) -> Json:
        message = self._stream(args)
        message["text"] += self._stream_text(args)
        return {"channel": args["channel"], "ts": message["ts"]}

    def _chat_stopStream(self, args: Json) -> Json:
        message = self._stream(args)
        message["text"] += self._stream_text(args)
        if args.get("metadata") is not None:
            check_metadata(args["metadata"])
            message["metadata"] = copy.deepcopy(args["metadata"])
        message["streaming_state"] = "completed"
        return {"channel": args["channel"], "ts": message["ts"], "message": copy.deepcopy(message)}

    def _assistant_threads_setStatus(self, args: Json) -> Json:
        self._need("assistant:write")
        self.statuses.append(dict(args))
        return {}

    def _stream(self, args: Json) -> Json:
        self._need("chat:write")
        channel = self._channel(args)
        message = channel.messages.get(str(args.get("ts") or ""))
        if message is None:
            raise Refused("message_not_found")
        if message.get("bot_id") != BOT:
            raise Refused("message_not_owned_by_app")
        if message.get("streaming_state") != "in_progress" or self._stream_expired(message):
            raise Refused("message_not_in_streaming_state")
        return message

    def _stream_expired(self, message: Json) -> bool:
        return self.clock() - float(message.get("started_at") or 0) > STREAM_LIFE_S

    def _stream_text(self, args: Json) -> str:
        text = args.get("markdown_text") or ""
        if len(text) > MAX_MARKDOWN_CHARS:
            raise Refused("msg_too_long")
        return str(text)

    # --- inside -------------------------------------------------------------------------------

    def _own(self, args: Json, thread_ts: str | None) -> Json:
        message: Json = {
            "user": BOT_USER, "bot_id": BOT, "app_id": APP, "text": args.get("text") or "",
            "blocks": stored_blocks(args.get("blocks")), "bot_profile": {"id": BOT, "name": "haechi"},
        }  # fmt: skip
        if thread_ts is not None:
            message["thread_ts"] = thread_ts
        if args.get("metadata") is not None:
            message["metadata"] = copy.deepcopy(args["metadata"])
        return message

    def _root(self, channel: Channel, args: Json) -> str | None:
        thread_ts = args.get("thread_ts")
        if not thread_ts:
            return None
        if thread_ts not in channel.messages:
            raise Refused("thread_not_found")
        if channel.messages[thread_ts].get("thread_ts") not in (None, thread_ts):
            raise Refused("cannot_reply_to_message")  # a reply is no root
        return str(thread_ts)

    def _own_message(self, channel: Channel, args: Json, refusal: str) -> Json:
        message = channel.messages.get(str(args.get("ts") or ""))
        if message is None:
            raise Refused("message_not_found")
        if message.get("bot_id") != BOT:
            raise Refused(refusal)
        return message

    def _message(self, args: Json, key: str) -> Json:
        channel = self._channel(args)
        if str(args.get(key)) not in channel.messages:
            raise Refused("message_not_found")
        return channel.messages[str(args[key])]

    def _channel(self, args: Json) -> Channel:
        channel = self.channels.get(str(args.get("channel") or ""))
        if channel is None or (channel.kind != "channel" and BOT_USER not in channel.members):
            raise Refused("channel_not_found")
        return channel

    def _writable(self, args: Json) -> Channel:
        channel = self._channel(args)
        if channel.archived:
            raise Refused("is_archived")
        if BOT_USER not in channel.members:
            raise Refused("not_in_channel")
        return channel

    def _readable(self, args: Json) -> Channel:
        channel = self._channel(args)
        self._need(HISTORY[channel.kind])
        if BOT_USER not in channel.members:
            raise Refused("not_in_channel")
        return channel

    def _need(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))

    def _shown(self, message: Json, args: Json) -> Json:
        shown = copy.deepcopy(message)
        if not _true(args.get("include_all_metadata")):
            shown.pop("metadata", None)
        return shown

    def _page(self, found: list[Json], args: Json, *, default: int) -> tuple[list[Json], str]:
        limit = min(int(args.get("limit") or default), 999)
        try:
            start = int(base64.b64decode(args["cursor"])) if args.get("cursor") else 0
        except ValueError:
            raise Refused("invalid_cursor") from None
        more = start + limit < len(found)
        return found[start : start + limit], base64.b64encode(str(start + limit).encode()).decode() if more else ""


def _true(value: Any) -> bool:
    return value in (True, "true", "1", 1)
