"""What a Slack message says, as readable text: blocks and attachments flattened, Slack's escapes resolved.

Pure. Step one gives text in Slack's own notation (`<@U1>`, `&amp;`) from `text`, `blocks` and `attachments`; step two,
`readable`, turns that notation into what a person sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]

OWN_BLOCK = "haechi_"  # blocks with such an id hold the bot's buttons, not its words
MAX_DEPTH = 8

_TOKEN = re.compile(r"<([^<>\n]*)>")
_USER = re.compile(r"<@([UWB][A-Z0-9]+)(?:\|[^<>]*)?>")
_INVISIBLE = "\u200b"


def raw_text(message: Json) -> str:
    """All words of a message in Slack's notation, none of them twice."""
    words = _Words()
    words.add(str(message.get("text") or ""))
    for piece in _blocks(message.get("blocks"), 0):
        words.add(piece)
    for attachment in _dicts(message.get("attachments")):
        for piece in _attachment(attachment, 0):
            words.add(piece)
    return "\n".join(words.pieces)


def mentioned_users(raw: str) -> list[str]:
    """The ids of the users that the text names, each once, in order."""
    return list(dict.fromkeys(_USER.findall(raw)))


def readable(raw: str, *, names: Mapping[str, str], bot_user_id: str) -> str:
    """Text without Slack's notation. Mentions of the bot are taken out, with a particle of address ("@haechi야") and
    the comma or colon behind them; `names` has the names of other users."""
    text = raw
    if bot_user_id in mentioned_users(raw):
        mention = rf"(?<![ \t])[ \t]*+<@{re.escape(bot_user_id)}(?:\|[^<>]*)?>(?:(?:야|아|님|씨)(?![가-힣]))?[ \t]*"
        text = re.sub(mention, " ", raw).strip(" \t\n,:")
    return unescaped(_TOKEN.sub(lambda match: _token(match[1], names), text)).strip()


def own_text(message: Json) -> str:
    """What a post of the bot says. Its `text` repeats its blocks as they were written, but only up to some length."""
    text = unescaped(str(message.get("text") or ""))
    return text if not text.endswith("…") else unescaped(raw_text({"blocks": message.get("blocks")})) or text


def unescaped(text: str) -> str:
    """Slack escapes exactly these three."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace(_INVISIBLE, "")


def escaped(text: str) -> str:
    """The counterpart of `unescaped`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# --- Slack's notation -----------------------------------------------------------------------------


def _token(inside: str, names: Mapping[str, str]) -> str:
    """What a reader sees of `<inside>`."""
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return f"@{names.get(target[1:]) or label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return _special(target[1:], label)
    if not target:
        return f"<{inside}>"
    address = target.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({address})" if label and label not in (address, target) else address


def _special(command: str, label: str) -> str:
    """`!here`, `!subteam^S1|@team`, `!date^1392734382^{date_short}|fallback`."""
    kind, _, rest = command.partition("^")
    if kind == "date":
        seconds = rest.partition("^")[0]
        return label or (_moment(seconds) if seconds.isdecimal() else command)
    if kind == "subteam":
        return label or f"@{rest}"
    return f"@{kind}" if kind in ("here", "channel", "everyone") else label or f"<!{command}>"


def _moment(seconds: str) -> str:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, OSError, ValueError):
        return seconds


# --- blocks ---------------------------------------------------------------------------------------


def _blocks(blocks: object, depth: int) -> Iterator[str]:
    """The words of each block. An unknown kind of block gives the text objects that it holds."""
    if depth > MAX_DEPTH:
        return
    for block in _dicts(blocks):
        if str(block.get("block_id") or "").startswith(OWN_BLOCK):
            continue
        kind = block.get("type")
        if kind == "rich_text":
            yield "\n".join(_rich(element, depth) for element in _dicts(block.get("elements")))
        elif kind == "table":
            yield "\n".join(_row(row, depth) for row in _sequence(block.get("rows")))
        elif kind in ("section", "header", "markdown", "context", "image", "video"):
            yield "\n".join(filter(None, (_text_of(value, depth) for value in _worded(block))))
        elif kind not in ("actions", "context_actions", "divider", "input", "file"):
            yield from _blocks(block.get("blocks"), depth + 1)
            yield _text_of(block.get("text"), depth)


def _worded(block: Json) -> Iterator[object]:
    for key in ("title", "text"):
        yield block.get(key)
    yield from _sequence(block.get("fields"))
    yield from (e for e in _dicts(block.get("elements")) if e.get("type") != "image")
    if block.get("type") in ("image", "video"):
        yield block.get("alt_text")


def _text_of(value: object, depth: int) -> str:
    """The text of a string or text object; plain text is escaped, because Slack takes it as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if value.get("type") == "rich_text":
            return "\n".join(_blocks([value], depth + 1))
        text = str(value.get("text") or "")
        return escaped(text) if value.get("type") in ("plain_text", "raw_text") else text
    return ""


def _row(row: object, depth: int) -> str:
    return " | ".join(_text_of(cell, depth).replace("\n", " ") for cell in _sequence(row))


def _rich(element: Json, depth: int) -> str:
    """One part of a rich text block, in Slack's notation."""
    if depth > MAX_DEPTH:
        return ""
    kind, children = element.get("type"), list(_dicts(element.get("elements")))
    if kind == "rich_text_list":
        indent = "  " * min(_number(element.get("indent")), 8)
        ordered = element.get("style") == "ordered"
        first = _number(element.get("offset")) + 1
        marks = (f"{number}." if ordered else "•" for number in range(first, first + len(children)))
        return "\n".join(
            f"{indent}{mark} {_rich(child, depth + 1)}" for mark, child in zip(marks, children, strict=True)
        )
    inside = "".join(_rich_inline(child) for child in children)
    if kind == "rich_text_preformatted":
        return f"```\n{inside}\n```"
    return "\n".join(f"> {line}" for line in inside.split("\n")) if kind == "rich_text_quote" else inside


def _rich_inline(element: Json) -> str:
    match element.get("type"):
        case "text":
            text = escaped(str(element.get("text") or ""))
            style = element.get("style")
            return f"`{text}`" if isinstance(style, Mapping) and style.get("code") else text
        case "link":
            label = str(element.get("text") or "")
            return f"<{element.get('url')}|{escaped(label)}>" if label else f"<{element.get('url')}>"
        case "user":
            return f"<@{element.get('user_id')}>"
        case "usergroup":
            return f"<!subteam^{element.get('usergroup_id')}>"
        case "channel":
            return f"<#{element.get('channel_id')}>"
        case "broadcast":
            return f"<!{element.get('range')}>"
        case "date":
            return f"<!date^{element.get('timestamp')}^x|{element.get('fallback') or ''}>"
        case "emoji":
            return f":{element.get('name')}:"
        case _:
            return escaped(str(element.get("text") or element.get("value") or ""))


# --- attachments ----------------------------------------------------------------------------------


def _attachment(attachment: Json, depth: int) -> Iterator[str]:
    """The words of an attachment as alerting systems send them; `fallback` only where nothing else stands."""
    found = False
    for piece in (*_attachment_parts(attachment), *_blocks(attachment.get("blocks"), depth + 1)):
        if piece.strip():
            found = True
            yield piece
    for shared in _dicts(attachment.get("message_blocks")):
        inner = shared.get("message")
        if isinstance(inner, Mapping):
            yield from _blocks(inner.get("blocks"), depth + 1)
    if not found:
        yield str(attachment.get("fallback") or "")


def _attachment_parts(attachment: Json) -> Iterator[str]:
    yield str(attachment.get("pretext") or "")
    yield str(attachment.get("author_name") or "")
    title, link = str(attachment.get("title") or ""), str(attachment.get("title_link") or "")
    yield f"{title} ({link})" if title and link else title
    yield str(attachment.get("text") or "")
    for field in _dicts(attachment.get("fields")):
        name, value = str(field.get("title") or ""), str(field.get("value") or "")
        yield f"{name}: {value}" if name and value else name or value
    yield str(attachment.get("footer") or "")


# --- inside ---------------------------------------------------------------------------------------


class _Words:
    """Pieces of a message without what is said twice: a message repeats its text in its blocks, and an attachment in
    its fallback. Compared line by line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._lines: set[str] = set()
        self._whole = ""

    def add(self, piece: str) -> None:
        piece = piece.strip("\n")
        new, whole = _plain_lines(piece), _plain(piece)
        if new <= self._lines or whole == self._whole:
            return
        if self.pieces and self._lines < new:
            self.pieces.clear()  # the blocks say all that the text says, and more
            self._whole = ""
        self.pieces.append(piece)
        self._lines |= new
        self._whole += whole


def _plain_lines(text: str) -> set[str]:
    return {plain for line in text.split("\n") if (plain := _plain(line))}


def _plain(text: str) -> str:
    """What makes two wordings of the same text equal: no blanks, no marks of style, notation without its labels."""
    text = unescaped(re.sub(r"<([^|<>]*)\|[^<>]*>", r"<\1>", text))
    return re.sub(r"[\s*_~`>•]", "", text).casefold()


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def _dicts(value: object) -> Iterator[Json]:
    return (item for item in _sequence(value) if isinstance(item, Mapping))
