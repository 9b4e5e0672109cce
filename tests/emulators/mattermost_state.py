"""What the Mattermost emulator remembers: people, channels, posts, reactions, webhooks, commands, files.

A method named in the emulator's table of routes takes the caller's id, the ids of the path and the body, and gives
(status, answer). People's own actions in tests are the same methods, through `say`, `edit`, `vote`.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

LONGEST_POST = 16_383
SINCE_CAP = 1000
LONGEST_PAGE = 200
OK = {"status": "OK"}
NOTIFY_PROPS = {"channel": "true", "comments": "never", "desktop": "mention", "email": "true", "mention_keys": ""}
MEMBER_PROPS = {"desktop": "default", "email": "default", "mark_unread": "all", "push": "default"}
ATTACHMENT = {
    "id": 0, "fallback": "", "color": "", "pretext": "", "author_name": "", "author_link": "", "author_icon": "",
    "title": "", "title_link": "", "text": "", "fields": None, "image_url": "", "thumb_url": "", "footer": "",
    "footer_icon": "", "ts": None,
}  # fmt: skip


class Refusal(Exception):
    """The server says no."""

    def __init__(self, status: int, id: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.status, self.id, self.message, self.detail = status, id, message, detail


_chance = random.Random(20260302)


def identifier() -> str:
    """26 letters and digits, like the server's."""
    return "".join(_chance.choices("abcdefghijkmnopqrstuwxyz13456789", k=26))


@dataclass
class UserRow:
    id: str
    username: str
    is_bot: bool = False
    first_name: str = ""
    nickname: str = ""


@dataclass
class ChannelRow:
    id: str
    type: str
    name: str
    display_name: str
    team_id: str
    creator_id: str
    create_at: int
    last_post_at: int = 0
    delete_at: int = 0
    shared: bool = False  # with another organisation's server
    members: set[str] = field(default_factory=set)
    posts: list[str] = field(default_factory=list)  # ids in the order of creation, old versions among them


class MattermostState:
    """`publish(event, user ids)` sends an event to whoever should hear of it."""

    def __init__(self, *, publish: Callable[[Json, set[str]], None]) -> None:
        self.users: dict[str, UserRow] = {}
        self.tokens: dict[str, str] = {}
        self.channels: dict[str, ChannelRow] = {}
        self.posts: dict[str, Json] = {}
        self.reactions: dict[str, list[Json]] = {}
        self.integrations: dict[tuple[str, str], Json] = {}
        self.webhooks: dict[str, Json] = {}
        self.commands: dict[str, Json] = {}
        self.command_hooks: dict[str, Json] = {}
        self.files: dict[str, tuple[Json, bytes]] = {}
        self.ephemeral: list[tuple[str, str]] = []  # user id, text
        self.team = {"id": identifier(), "name": "acme", "display_name": "Acme"}
        self.team_members: set[str] = set()
        self.now_ms: Callable[[], int] = lambda: int(time.time() * 1000)
        self._publish = publish
        self._last_ms = 0
        self.marks_bots = True  # newer servers put `from_bot` into every post of a bot account
        self.bot = self.add_user("helperbot", token="bot-token", is_bot=True, first_name="Helper")
        self.alice = self.add_user("alice", token="alice-token", nickname="앨리스")
        self.bob = self.add_user("bob", token="bob-token")
        self.town = self.add_channel("town-square", "Town Square", {self.bot, self.alice, self.bob})

    # --- set up ---------------------------------------------------------------------------------

    def add_user(self, username: str, *, token: str, is_bot: bool = False, **names: str) -> str:
        row = UserRow(identifier(), username, is_bot, **names)
        self.users[row.id] = row
        self.tokens[token] = row.id
        self.team_members.add(row.id)
        return row.id

    def add_channel(self, name: str, display_name: str, members: set[str], *, type: str = "O") -> str:
        team = "" if type in "DG" else self.team["id"]
        row = ChannelRow(identifier(), type, name, display_name, team, "", self._ms(), members=set(members))
        self.channels[row.id] = row
        return row.id

    def add_file(self, name: str, content: bytes, media_type: str) -> str:
        file_id = identifier()
        info = {"id": file_id, "name": name, "size": len(content), "mime_type": media_type, "extension": name[-3:]}
        self.files[file_id] = (info, content)
        return file_id

    def say(self, user: str, channel: str, text: str, *, root: str = "", **fields: Any) -> Json:
        """A person posts."""
        return self.create_post(user, {"channel_id": channel, "message": text, "root_id": root, **fields})

    def system_post(self, channel: str, user: str, kind: str, text: str, props: Json) -> Json:
        return self._add_post(channel, user, {"message": text, "type": kind, "props": props})

    def rename(self, user_id: str, username: str) -> None:
        """Everybody is told, with the user as an object and not as a text."""
        self.users[user_id].username = username
        event = {"event": "user_updated", "data": {"user": self.get_user(user_id, user_id)[1]}}
        broadcast = {"omit_users": None, "user_id": "", "channel_id": "", "team_id": ""}
        self._publish({**event, "broadcast": broadcast}, set(self.users))

    def own_posts(self, *, thread: str | None = None) -> list[Json]:
        """The bot's posts that stand, oldest first."""
        found = [p for p in self.posts.values() if p["user_id"] == self.bot and not p["delete_at"] and not p["type"]]
        return [p for p in found if thread is None or p["root_id"] == thread]

    def direct(self, one: str, other: str) -> str:
        return str(self.direct_channel(one, [one, other])[1]["id"])

    # --- people, teams, channels ----------------------------------------------------------------

    def get_user(self, caller: str, user_id: str) -> tuple[int, Json]:
        row = self.users.get(caller if user_id == "me" else user_id)
        if row is None:
            raise Refusal(404, "app.user.missing_account.const", "Unable to find the user.")
        shown: Json = {
            "id": row.id, "create_at": 1, "update_at": 1, "delete_at": 0, "username": row.username, "auth_data": "",
            "auth_service": "", "email": f"{row.username}@localhost", "nickname": row.nickname,
            "first_name": row.first_name, "last_name": "", "position": "", "roles": "system_user",
            "notify_props": dict(NOTIFY_PROPS), "last_password_update": 1, "locale": "en",
            "timezone": {"automaticTimezone": "", "manualTimezone": "", "useAutomaticTimezone": "true"},
            "disable_welcome_email": False,
        }  # fmt: skip
        return 200, {**shown, **({"is_bot": True, "bot_description": "x"} if row.is_bot else {})}

    def get_user_by_name(self, caller: str, username: str) -> tuple[int, Json]:
        found = next((row.id for row in self.users.values() if row.username == username), "")
        return self.get_user(caller, found)

    def teams_of(self, caller: str, user_id: str) -> tuple[int, list[Json]]:
        shown = {
            **self.team, "create_at": 1, "update_at": 1, "delete_at": 0, "description": "", "email": "", "type": "O",
            "company_name": "", "allowed_domains": "", "invite_id": identifier(), "allow_open_invite": False,
            "scheme_id": None, "group_constrained": None, "policy_id": None,
        }  # fmt: skip
        return 200, [shown] if caller in self.team_members else []

    def channels_of(self, caller: str, user_id: str, team_id: str) -> tuple[int, list[Json]]:
        mine = [row for row in self.channels.values() if caller in row.members and row.team_id in ("", team_id)]
        return 200, [self._channel(row) for row in mine if not row.delete_at]

    def get_channel(self, caller: str, channel_id: str) -> tuple[int, Json]:
        row = self.channels.get(channel_id)
        if row is None:
            raise Refusal(404, "app.channel.get.existing.app_error", "Unable to find the existing channel.")
        self._require_member(caller, row, "read_channel", always=row.type != "O")
        return 200, self._channel(row)

    def get_member(self, caller: str, channel_id: str, user_id: str) -> tuple[int, Json]:
        row = self.channels.get(channel_id)
        if row is None or (caller if user_id == "me" else user_id) not in row.members:
            raise Refusal(404, "app.channel.get_member.missing.app_error", "No channel member found.")
        return 200, self._member(row, user_id)

    def create_channel(self, caller: str, body: Json) -> tuple[int, Json]:
        channel_id = self.add_channel(body["name"], body["display_name"], {caller}, type=body["type"])
        self.channels[channel_id].creator_id = caller
        return 201, self._channel(self.channels[channel_id])

    def direct_channel(self, caller: str, body: list[str]) -> tuple[int, Json]:
        name = "__".join(sorted(body))
        found = next((row for row in self.channels.values() if row.name == name), None)
        if any(user not in self.users for user in body):
            raise Refusal(400, "api.channel.create_direct_channel.invalid_user.app_error", "Invalid user ID.")
        if found is None:
            channel_id = self.add_channel(name, "", set(body), type="D")
            found = self.channels[channel_id]
            found.creator_id = caller
        return 201, self._channel(found)

    def group_channel(self, caller: str, body: list[str]) -> tuple[int, Json]:
        channel_id = self.add_channel(identifier(), "group", {caller, *body}, type="G")
        return 201, self._channel(self.channels[channel_id])

    def add_member(self, caller: str, channel_id: str, body: Json) -> tuple[int, Json]:
        row, user_id = self.channels[channel_id], str(body["user_id"])
        row.members.add(user_id)
        data = {"team_id": row.team_id, "user_id": user_id}
        self._send("user_added", data, row)
        names = {"addedUsername": self.users[user_id].username, "username": self.users[caller].username}
        text = f"{names['addedUsername']} added to the channel by {names['username']}."
        props = {"addedUserId": user_id, "userId": caller, **names}
        self.system_post(channel_id, caller, "system_add_to_channel", text, props)
        return 201, self._member(row, user_id)

    def remove_member(self, caller: str, channel_id: str, user_id: str) -> tuple[int, Json]:
        self.channels[channel_id].members.discard(user_id)
        broadcast = {"omit_users": None, "user_id": user_id, "channel_id": "", "team_id": ""}
        data = {"channel_id": channel_id, "remover_id": caller}
        self._publish({"event": "user_removed", "data": data, "broadcast": broadcast}, {user_id})
        return 200, OK

    def typing(self, caller: str, user_id: str, body: Json) -> tuple[int, Json]:
        return 200, OK

    # --- posts ----------------------------------------------------------------------------------

    def create_post(self, caller: str, body: Json) -> Json:
        row = self.channels.get(str(body.get("channel_id")))
        if row is None or caller not in row.members:
            raise self._forbidden(caller, "create_post")
        if row.delete_at:
            raise Refusal(400, "api.post.create_post.can_not_post_to_deleted.error", "Can not post to deleted channel.")
        self._require_length(str(body.get("message", "")))
        root = str(body.get("root_id") or "")
        if root:
            found = self.posts.get(root)
            if found is None or found["delete_at"] or found["root_id"] or found["channel_id"] != row.id:
                raise Refusal(400, "api.post.create_post.root_id.app_error", "Invalid RootId parameter.")
        return self._add_post(row.id, caller, body)

    def patch_post(self, caller: str, post_id: str, body: Json) -> tuple[int, Json]:
        post = self.posts.get(post_id)
        if post is None or post["user_id"] != caller:
            raise self._forbidden(caller, "edit_post")
        if post["delete_at"]:
            raise Refusal(400, "api.post.update_post.permissions_details.app_error", "Unable to edit a deleted post.")
        self._require_length(str(body.get("message", "")))
        old = {**post, "id": identifier(), "original_id": post_id, "message": ""}
        now = self._ms()
        old["delete_at"] = old["update_at"] = now
        self.posts[old["id"]] = old
        self.channels[post["channel_id"]].posts.append(old["id"])
        if "message" in body:
            post["message"] = body["message"]
        if "props" in body:
            self._set_props(post, body["props"])
        post["update_at"] = post["edit_at"] = now
        self._send("post_edited", {"post": self._text(post)}, self.channels[post["channel_id"]])
        return 200, self._shown(post)

    def delete_post(self, caller: str, post_id: str) -> tuple[int, Json]:
        post = self.posts.get(post_id)
        if post is None or post["delete_at"]:
            raise Refusal(404, "app.post.get.app_error", "Unable to get the post.", f"resource: Post id: {post_id}")
        if post["user_id"] != caller:
            raise self._forbidden(caller, "delete_others_posts")
        snapshot = self._text(post)
        now = self._ms()
        for gone in [post, *(p for p in self.posts.values() if p["root_id"] == post_id and not p["delete_at"])]:
            gone.update(delete_at=now, update_at=now, props={**gone["props"], "deleteBy": caller})
        self._send("post_deleted", {"post": snapshot}, self.channels[post["channel_id"]])
        return 200, OK

    def get_post(self, caller: str, post_id: str) -> tuple[int, Json]:
        return 200, self._shown(self._visible(caller, post_id))

    def get_thread(self, caller: str, post_id: str) -> tuple[int, Json]:
        """The asked post comes first and once more in its place, in no order that could be relied on."""
        post = self._visible(caller, post_id)
        root = post["root_id"] or post_id
        inside = [p for p in self.posts.values() if root in (p["id"], p["root_id"]) and not p["delete_at"]]
        inside.sort(key=lambda p: p["id"])
        replies = len(inside) - 1
        listing = self.listing([post, *inside])
        for shown in listing["posts"].values():
            shown["reply_count"] = replies
        return 200, listing

    def channel_posts(self, caller: str, channel_id: str, query: dict[str, str]) -> Json:
        row = self.channels.get(channel_id)
        if row is None or caller not in row.members:
            raise self._forbidden(caller, "read_channel")
        posts = [self.posts[key] for key in row.posts]
        if "since" in query:
            since = int(query["since"])
            changed = [post for post in posts if post["update_at"] > since]
            return self.listing(sorted(changed[:SINCE_CAP], key=lambda p: -p["create_at"]))
        posts = sorted((p for p in posts if not p["delete_at"]), key=lambda p: (-p["create_at"], p["id"]))
        if "before" in query:
            anchor = self.posts[query["before"]]["create_at"]
            posts = [post for post in posts if post["create_at"] < anchor]
        elif "after" in query:
            anchor = self.posts[query["after"]]["create_at"]
            posts = [post for post in posts if post["create_at"] > anchor]
        size = min(int(query.get("per_page", 60)), LONGEST_PAGE)
        first = int(query.get("page", 0)) * size
        return self.listing(posts[first : first + size])

    def ephemeral_post(self, caller: str, body: Json) -> tuple[int, Json]:
        raise self._forbidden(caller, "create_post_ephemeral")

    def file_infos(self, caller: str, post_id: str) -> tuple[int, list[Json]]:
        post = self._visible(caller, post_id)
        return 200, [self.files[file_id][0] for file_id in post.get("file_ids", ())]

    def file(self, caller: str, file_id: str) -> bytes:
        if file_id not in self.files:
            raise Refusal(404, "app.file_info.get.app_error", "Unable to get the file info.")
        return self.files[file_id][1]

    def listing(self, posts: list[Json]) -> Json:
        shown = {post["id"]: self._shown(post) for post in posts}
        return {"order": [post["id"] for post in posts], "posts": shown, "next_post_id": "", "prev_post_id": ""}

    # --- reactions ------------------------------------------------------------------------------

    def add_reaction(self, caller: str, body: Json) -> tuple[int, Json]:
        if body.get("user_id") != caller:
            raise Refusal(403, "api.reaction.save_reaction.user_id.app_error", "You cannot save reaction for the other user.")  # fmt: skip
        post = self._visible(caller, str(body["post_id"]))
        now = self._ms()
        reaction = {
            "user_id": caller, "post_id": post["id"], "emoji_name": body["emoji_name"], "create_at": now,
            "update_at": now, "delete_at": 0, "remote_id": "",
        }  # fmt: skip
        self.reactions.setdefault(post["id"], []).append(reaction)
        post["update_at"] = now
        self._send("reaction_added", {"reaction": self._json(reaction)}, self.channels[post["channel_id"]])
        return 200, reaction

    def remove_reaction(self, caller: str, user_id: str, post_id: str, emoji: str) -> tuple[int, Json]:
        post = self._visible(caller, post_id)
        kept = [r for r in self.reactions.get(post_id, ()) if (r["user_id"], r["emoji_name"]) != (user_id, emoji)]
        self.reactions[post_id] = kept
        now = self._ms()
        reaction = {
            "user_id": user_id, "post_id": post_id, "emoji_name": emoji, "create_at": 0, "update_at": now,
            "delete_at": 0, "remote_id": "",
        }  # fmt: skip
        self._send("reaction_removed", {"reaction": self._json(reaction)}, self.channels[post["channel_id"]])
        return 200, OK

    def reactions_of_post(self, caller: str, post_id: str) -> tuple[int, list[Json]]:
        self._visible(caller, post_id)
        return 200, list(self.reactions.get(post_id, ()))

    def reactions_of_posts(self, caller: str, post_ids: list[str]) -> tuple[int, Json]:
        """All or nothing: one that may not be read makes the server refuse."""
        for post_id in post_ids:
            post = self.posts.get(post_id)
            if post is None or caller not in self.channels[post["channel_id"]].members:
                raise self._forbidden(caller, "read_channel")
        return 200, {post_id: list(self.reactions.get(post_id, ())) for post_id in post_ids}

    def vote(self, user: str, post_id: str, emoji: str) -> None:
        self.add_reaction(user, {"user_id": user, "post_id": post_id, "emoji_name": emoji})

    # --- webhooks, commands, buttons ------------------------------------------------------------

    def create_webhook(self, caller: str, body: Json) -> tuple[int, Json]:
        now = self._ms()
        row = {
            "id": identifier(), "create_at": now, "update_at": now, "delete_at": 0, "user_id": caller,
            "channel_id": body["channel_id"], "team_id": self.team["id"], "display_name": body.get("display_name", ""),
            "description": "", "username": body.get("username", ""), "icon_url": "", "channel_locked": False,
        }  # fmt: skip
        self.webhooks[row["id"]] = row
        return 201, row

    def webhook_post(self, hook_id: str, body: Json) -> None:
        row = self.webhooks.get(hook_id)
        if row is None:
            raise Refusal(400, "web.incoming_webhook.invalid.app_error", "Invalid webhook.")
        name = body.get("username") or row["username"]
        props = {"from_webhook": "true", "override_username": name, "webhook_display_name": row["display_name"]}
        if body.get("attachments"):
            props["attachments"] = body["attachments"]
        kind = "slack_attachment" if body.get("attachments") else ""
        fields = {"message": body.get("text", ""), "props": props, "type": kind}
        self._add_post(row["channel_id"], row["user_id"], fields, sender=name)

    def create_command(self, caller: str, body: Json) -> tuple[int, Json]:
        now = self._ms()
        row = {
            "id": identifier(), "token": identifier(), "create_at": now, "update_at": now, "delete_at": 0,
            "creator_id": caller, "team_id": body["team_id"], "trigger": body["trigger"], "method": body["method"],
            "username": body.get("username", ""), "icon_url": "", "auto_complete": body.get("auto_complete", False),
            "auto_complete_desc": "", "auto_complete_hint": body.get("auto_complete_hint", ""), "display_name": "",
            "description": "", "url": body["url"], "plugin_id": "",
        }  # fmt: skip
        self.commands[row["trigger"]] = row
        return 201, row

    def start_command(self, caller: str, body: Json) -> tuple[Json, dict[str, str], str]:
        """(the command, the form that its address gets, the id for later answers)."""
        channel = self.channels.get(str(body.get("channel_id")))
        if channel is None or caller not in channel.members:
            raise self._forbidden(caller, "use_slash_commands")
        trigger, _, text = str(body["command"]).removeprefix("/").partition(" ")
        row = self.commands.get(trigger)
        if row is None:
            raise Refusal(404, "api.command.execute_command.not_found.app_error", f"Command with a trigger of '/{trigger}' not found.")  # fmt: skip
        hook = identifier()
        self.command_hooks[hook] = {"user_id": caller, "channel_id": channel.id, "left": 5, "said": []}
        form = {
            "channel_id": channel.id, "channel_name": channel.name, "command": f"/{trigger}", "response_url": "",
            "team_domain": self.team["name"], "team_id": self.team["id"], "text": text, "token": row["token"],
            "trigger_id": identifier(), "user_id": caller, "user_name": self.users[caller].username,
        }  # fmt: skip
        return row, form, hook

    def command_answer(self, caller: str, channel_id: str, answer: Json) -> Json:
        if answer.get("text"):
            self.ephemeral.append((caller, str(answer["text"])))
        return {
            "response_type": answer.get("response_type", "ephemeral"), "text": answer.get("text", ""), "username": "",
            "channel_id": "", "icon_url": "", "type": "", "props": None, "goto_location": "",
            "trigger_id": identifier(), "skip_slack_parsing": answer.get("skip_slack_parsing", False),
            "attachments": None, "extra_responses": None,
        }  # fmt: skip

    def command_response(self, hook_id: str, body: Json) -> None:
        row = self.command_hooks.get(hook_id)
        if row is None or row["left"] <= 0:
            raise Refusal(400, "app.command_webhook.try_use.invalid", "Invalid webhook.")
        row["left"] -= 1
        row["said"].append(body)
        if body.get("response_type") == "in_channel":
            self._add_post(row["channel_id"], row["user_id"], {"message": body["text"], "props": {}})
        else:
            self.ephemeral.append((row["user_id"], str(body["text"])))

    def start_press(self, caller: str, post_id: str, action_id: str) -> tuple[str, Json]:
        """(the address, the body) of a click."""
        post = self._visible(caller, post_id)
        integration = self.integrations.get((post_id, action_id))
        if integration is None:
            raise Refusal(404, "api.post.do_action.action_id.app_error", "Invalid action id.")
        channel = self.channels[post["channel_id"]]
        payload = {
            "user_id": caller, "user_name": self.users[caller].username, "channel_id": channel.id,
            "channel_name": channel.name, "team_id": channel.team_id, "team_domain": self.team["name"],
            "post_id": post_id, "trigger_id": identifier(), "type": "button", "data_source": "",
            "context": integration.get("context", {}),
        }  # fmt: skip
        return integration["url"], payload

    # --- inside ---------------------------------------------------------------------------------

    def _add_post(self, channel_id: str, user: str, body: Json, *, sender: str = "") -> Json:
        now = self._ms()
        row = self.channels[channel_id]
        root = str(body.get("root_id") or "")
        post: Json = {
            "id": identifier(), "create_at": now, "update_at": now, "edit_at": 0, "delete_at": 0, "is_pinned": False,
            "user_id": user, "channel_id": channel_id, "root_id": root, "parent_id": root, "original_id": "",
            "message": str(body.get("message", "")), "type": str(body.get("type", "")), "props": {}, "hashtags": "",
            "pending_post_id": str(body.get("pending_post_id") or ""), "reply_count": 0, "last_reply_at": 0,
            "participants": None, "metadata": {},
        }  # fmt: skip
        if body.get("file_ids"):
            post["file_ids"] = list(body["file_ids"])
            post["metadata"] = {"files": [self.files[file_id][0] for file_id in body["file_ids"]]}
        self._set_props(post, body.get("props") or {})
        self.posts[post["id"]] = post
        row.posts.append(post["id"])
        row.last_post_at = now
        if root:
            self.posts[root]["update_at"] = now
        self._tell(row, post, sender)
        return self._shown(post)

    def _tell(self, row: ChannelRow, post: Json, sender: str) -> None:
        """The event; the server counts DMs, @channel and joins among the mentions."""
        system = post["type"].startswith("system_")
        words = mention_words(post["message"])
        named = {user.id for user in self.users.values() if f"@{user.username}" in words}
        if words & {"@channel", "@all", "@here"}:
            named |= row.members
        if row.type in "DG":
            named |= row.members
        named |= {str(post["props"].get("addedUserId"))} & set(self.users)
        data = {"channel_display_name": row.display_name, "channel_name": row.name, "channel_type": row.type}
        if named - {post["user_id"]}:
            data["mentions"] = self._json(sorted(named - {post["user_id"]}))
        name = "System" if system else sender or f"@{self.users[post['user_id']].username}"
        data |= {"post": self._text(post), "sender_name": name, "set_online": True, "team_id": row.team_id}
        self._send("posted", data, row)

    def _set_props(self, post: Json, props: Json) -> None:
        """Keeps what buttons lead to aside: clients never see it. A bot's posts are marked."""
        props = json.loads(self._json(props))
        for attachment in props.get("attachments") or ():
            for action in attachment.get("actions") or ():
                action.setdefault("id", identifier())
                integration = action.pop("integration", None)
                if integration is not None:
                    self.integrations[(post["id"], action["id"])] = integration
        if props.get("attachments"):
            props["attachments"] = [{**ATTACHMENT, **attachment} for attachment in props["attachments"]]
            post["metadata"] = {"embeds": [{"type": "message_attachment"}]}
        if self.users[post["user_id"]].is_bot and self.marks_bots:
            props["from_bot"] = "true"
        post["props"] = props

    def _visible(self, caller: str, post_id: str) -> Json:
        post = self.posts.get(post_id)
        if post is None or post["delete_at"]:
            raise Refusal(404, "app.post.get.app_error", "Unable to get the post.", f"resource: Post id: {post_id}")
        if caller not in self.channels[post["channel_id"]].members:
            raise self._forbidden(caller, "read_channel")
        return post

    def _shown(self, post: Json) -> Json:
        shown: Json = json.loads(self._json(post))
        if post["delete_at"]:
            shown["message"] = ""
        reactions = self.reactions.get(post["id"])
        if reactions:
            shown["metadata"] = {**shown["metadata"], "reactions": list(reactions)}
            shown["has_reactions"] = True
        if post["root_id"]:
            replies = [p for p in self.posts.values() if p["root_id"] == post["root_id"] and not p["delete_at"]]
            shown["reply_count"] = len(replies)
        return shown

    def _text(self, post: Json) -> str:
        return self._json(self._shown(post))

    @staticmethod
    def _json(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def _send(self, event: str, data: Json, row: ChannelRow) -> None:
        broadcast = {"omit_users": None, "user_id": "", "channel_id": row.id, "team_id": ""}
        self._publish({"event": event, "data": data, "broadcast": broadcast}, set(row.members))

    def _ms(self) -> int:
        """Milliseconds that grow with every call, so that posts have an order."""
        self._last_ms = max(self.now_ms(), self._last_ms + 1)
        return self._last_ms

    def _require_length(self, text: str) -> None:
        if len(text) > LONGEST_POST:
            raise Refusal(400, "model.post.is_valid.msg.app_error", "Invalid message.", f"id={identifier()}")

    def _require_member(self, caller: str, row: ChannelRow, permission: str, *, always: bool) -> None:
        if always and caller not in row.members:
            raise self._forbidden(caller, permission)

    def _forbidden(self, caller: str, permission: str) -> Refusal:
        detail = f"userId={caller}, permission={permission},"
        return Refusal(403, "api.context.permissions.app_error", "You do not have the appropriate permissions.", detail)

    def _channel(self, row: ChannelRow) -> Json:
        return {
            "id": row.id, "create_at": row.create_at, "update_at": row.create_at, "delete_at": row.delete_at,
            "team_id": row.team_id, "type": row.type, "display_name": row.display_name, "name": row.name, "header": "",
            "purpose": "", "last_post_at": row.last_post_at, "total_msg_count": len(row.posts), "extra_update_at": 0,
            "creator_id": row.creator_id, "scheme_id": None, "props": None, "group_constrained": None, "shared": row.shared or None,
            "total_msg_count_root": len(row.posts), "policy_id": None,
        }  # fmt: skip

    def _member(self, row: ChannelRow, user_id: str) -> Json:
        return {
            "channel_id": row.id, "user_id": user_id, "roles": "channel_user", "last_viewed_at": 0, "msg_count": 0,
            "mention_count": 0, "mention_count_root": 0, "msg_count_root": 0, "notify_props": dict(MEMBER_PROPS),
            "last_update_at": row.create_at, "scheme_guest": False, "scheme_user": True, "scheme_admin": False,
            "explicit_roles": "",
        }  # fmt: skip


def mention_words(text: str) -> set[str]:
    """The words that can be mentions: outside code, split as the server splits them, and then once more at points."""
    plain = re.sub(r"(?ms)^(```|~~~).*?(^\1|\Z)|`[^`\n]+`", " ", text)
    found: set[str] = set()
    for word in re.findall(r"[\w.:@-]+", plain):
        word = word.lstrip(":.-_").rstrip(":.-_").lower()
        found |= {word, *re.split(r"[.:-]", word)}
    return found
