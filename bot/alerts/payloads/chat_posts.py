"""Bodies in the shape of an incoming webhook of Slack, Mattermost or Teams: their words as one text."""

from __future__ import annotations

from collections.abc import Iterator

from bot.alerts.payloads.told import Json, first, objects, text

_CHAT_KEYS = ("username", "icon_emoji", "icon_url", "channel", "attachments", "blocks", "props")


def text_of_post(payload: Json) -> str | None:
    """The words of a post; None when the payload has another shape."""
    is_card = payload.get("@type") == "MessageCard"
    if not is_card and not ({"text", "attachments", "blocks"} & payload.keys() and set(_CHAT_KEYS) & payload.keys()):
        return None
    told = "\n".join(one for one in _pieces(payload) if one)
    return told if any(letter.isalnum() for letter in told) else None


def _pieces(payload: Json) -> Iterator[str]:
    yield first(payload.get("title"), payload.get("summary"))
    yield text(payload.get("text"))
    for part in (*objects(payload.get("attachments")), *objects(payload.get("sections"))):
        yield from (text(part.get(key)) for key in ("pretext", "title", "activityTitle", "text"))
        for field in (*objects(part.get("fields")), *objects(part.get("facts"))):
            name, value = first(field.get("title"), field.get("name")), text(field.get("value"))
            yield f"{name}: {value}" if name and value else name or value
    for block in objects(payload.get("blocks")):
        for piece in (block, *objects(block.get("fields"))):
            inner = piece.get("text")
            yield text(inner.get("text")) if isinstance(inner, dict) else text(inner)
