"""Posts of a Mattermost server as messages of the bot."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.platforms.attached_text import is_text_file
from bot.platforms.web import mention_pattern, without_mention
from bot.types import Attachment, Author, Message, MessageEvent, ThreadRef

NAME = "mattermost"
OWN_PROPS = "haechi"  # the key in a post's props under which the bot keeps what it answers

_OTHER_PERSON = re.compile(r"(?<![A-Za-z0-9/@])@([a-z][a-z0-9._-]{1,63})")
_EVERYBODY = ("channel", "all", "here")
_CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)|`[^`\n]*`", re.DOTALL)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Who the bot is on the server."""

    id: str
    username: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPart:
    """What a post of the bot says of itself: one of `parts` posts that answer a delivery together."""

    delivery_id: str
    part: int
    parts: int
    final: bool


def post_of(event_data: Mapping[str, Any], key: str = "post") -> Json | None:
    """The post or reaction of an event: a JSON text inside the JSON. None when there is none that can be read."""
    value = event_data.get(key)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def props_of(post: Mapping[str, Any]) -> Mapping[str, Any]:
    """The props of a post; none when they are of another shape."""
    props = post.get("props")
    return props if isinstance(props, dict) else {}


def own_part(post: Mapping[str, Any], own_id: str) -> OwnPart | None:
    """What the bot noted in a post of its own. A person's post that holds the same props counts for nothing."""
    noted = props_of(post).get(OWN_PROPS)
    if post.get("user_id") != own_id or not isinstance(noted, dict):
        return None
    try:
        return OwnPart(
            delivery_id=str(noted["delivery_id"]), part=int(noted["part"]), parts=int(noted["parts"]),
            final=noted["final"] is True,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None


def is_gone(post: Mapping[str, Any]) -> bool:
    """Deleted, or an old version that the server keeps beside an edited post."""
    return bool(post.get("delete_at")) or bool(post.get("original_id"))


def is_from_machine(post: Mapping[str, Any]) -> bool:
    """Posted by a webhook, a bot account or a plugin; older servers write these props as texts."""
    props = props_of(post)
    marked = any(props.get(key) in ("true", True) for key in ("from_webhook", "from_bot", "from_plugin"))
    return marked or str(post.get("type", "")).startswith("custom_")


def is_system(post: Mapping[str, Any]) -> bool:
    """A join, a leave, a new header: posts that nobody wrote, though they may name the bot."""
    kind = str(post.get("type", ""))
    return kind.startswith("system_") or kind == "add_bot_teams_channels"


def thread_of(post: Mapping[str, Any]) -> ThreadRef:
    """The thread of a post; one that answers nothing is the root of its own."""
    return ThreadRef(
        platform=NAME, channel_id=str(post.get("channel_id", "")), root_id=str(post.get("root_id") or post.get("id"))
    )


def delivery_id_of(post_id: str) -> str:
    """The same for every delivery of a post."""
    return f"{NAME}:{post_id}"


def author_of(post: Mapping[str, Any], display_name: str, *, is_bot_account: bool) -> Author:
    """Whoever wrote a post. A webhook posts in the name of the person who made it, but does not have that person's
    rights: it gets an id of its own."""
    props = props_of(post)
    user_id = str(post.get("user_id", ""))
    machine = is_bot_account or is_from_machine(post) or is_system(post)
    if props.get("from_webhook") in ("true", True):
        shown = props.get("override_username") or props.get("webhook_display_name") or display_name
        return Author(id=f"webhook:{user_id}", display_name=str(shown), is_bot=True)
    return Author(id=user_id, display_name=display_name, is_bot=machine)


def message_of(
    post: Mapping[str, Any],
    *,
    own: Own,
    author: Author,
    is_direct: bool,
    attachments: Sequence[Attachment] = (),
    event: MessageEvent = "posted",
    is_shared: bool = False,
) -> Message:
    """The message of a post. Whether it names the bot is read from its text: the server's own list of mentions also
    holds @channel, joins and, by setting, every reply."""
    post_id = str(post["id"])
    system = is_system(post)
    mention = mention_pattern(own.username)
    text = str(post.get("message", ""))
    mine = post.get("user_id") == own.id
    spoken = "" if mine or system else _CODE.sub(" ", text)
    delivery_id = delivery_id_of(post_id)
    if event in ("edited", "deleted"):
        delivery_id += f":{event}:{post.get('update_at', 0)}"
    shown = text if mine else without_mention(text, mention)
    flat = flattened_attachments(post)
    return Message(
        id=post_id,
        thread=thread_of(post),
        author=author,
        text="\n\n".join(piece for piece in (shown, flat) if piece),
        mentions_bot=mention.search(spoken) is not None,
        mentions_others=_names_others(spoken, own),
        is_direct=is_direct,
        is_shared=is_shared,
        attachments=tuple(attachments),
        posted_at=datetime.fromtimestamp(int(post.get("create_at") or 0) / 1000, UTC),
        delivery_id=delivery_id,
        event="system" if system and event == "posted" else event,
    )


def _names_others(text: str, own: Own) -> bool:
    """Whether somebody else is spoken to: "@bob"; names are written in small letters, unlike "@Override"."""
    names = {found[1].rstrip("._-") for found in _OTHER_PERSON.finditer(text)}
    return bool(names - {own.username, *_EVERYBODY})


def flattened_attachments(post: Mapping[str, Any]) -> str:
    """The text of message attachments, where alerts say everything; the fallback only when there is nothing else."""
    if OWN_PROPS in props_of(post):
        return ""
    attachments = props_of(post).get("attachments")
    texts = [_flat(item) for item in attachments if isinstance(item, dict)] if isinstance(attachments, list) else []
    return "\n\n".join(text for text in texts if text)


def _flat(attachment: Mapping[str, Any]) -> str:
    lines = [str(attachment.get(key) or "").strip() for key in ("pretext", "author_name", "title", "text")]
    fields = attachment.get("fields")
    for item in fields if isinstance(fields, list) else ():
        if isinstance(item, dict):
            title, value = str(item.get("title") or "").strip(), str(item.get("value") or "").strip()
            lines.append(f"{title}: {value}" if title and value else title or value)
    lines.append(str(attachment.get("footer") or "").strip())
    text = "\n".join(line for line in lines if line)
    return text or str(attachment.get("fallback") or "").strip()


def files_of(post: Mapping[str, Any]) -> list[Json]:
    """What the server tells about the files of a post: id, name, size, mime_type."""
    metadata = post.get("metadata")
    files = metadata.get("files") if isinstance(metadata, dict) else None
    return [item for item in files if isinstance(item, dict)] if isinstance(files, list) else []


def is_readable_file(info: Mapping[str, Any]) -> bool:
    """Text or a log that can be read along with a question."""
    return is_text_file(str(info.get("name", "")), str(info.get("mime_type", "")), int(info.get("size") or 0))
