"""What Slack rejects about the contents of a message, by its published limits; and how it keeps what it accepts.

Sources: the Block Kit reference (block and element pages), the pages of chat.postMessage and chat.update, and
"Message metadata" on docs.slack.dev; the sum of 13,200 characters over all blocks is from slackapi/bolt-js issue 2509.
"""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]

MAX_BLOCKS = 50
MAX_TEXT_CHARS = 40_000
MAX_ALL_BLOCKS_CHARS = 13_200
MAX_MARKDOWN_CHARS = 12_000  # over all markdown blocks of a message
MAX_METADATA_CHARS = 8_000

KNOWN_BLOCKS = {
    "actions", "context", "context_actions", "divider", "file", "header", "image", "markdown", "rich_text", "section",
    "table", "video",
}  # fmt: skip


class Refused(Exception):
    """Slack's word for why it does not do something, and what it says besides."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more


def check_message(args: Json, *, known: set[str] | None = None) -> None:
    """Raises Refused when text, blocks or metadata of a message are not acceptable."""
    text, blocks = args.get("text"), args.get("blocks")
    if not text and not blocks and not args.get("attachments") and not args.get("markdown_text"):
        raise Refused("no_text")
    if text is not None and not isinstance(text, str):
        raise Refused("invalid_arguments")
    if text and len(text) > MAX_TEXT_CHARS:
        raise Refused("msg_too_long")
    if blocks is not None:
        check_blocks(blocks, known=KNOWN_BLOCKS if known is None else known)
    if args.get("metadata") is not None:
        check_metadata(args["metadata"])


def check_blocks(blocks: Any, *, known: set[str]) -> None:
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    if len(blocks) > MAX_BLOCKS:
        raise Refused("invalid_blocks", response_metadata={"messages": ["[ERROR] no more than 50 items allowed"]})
    ids: set[str] = set()
    for block in blocks:
        if not isinstance(block, dict) or block.get("type") not in known:
            raise Refused("invalid_blocks", response_metadata={"messages": ["[ERROR] unsupported type"]})
        block_id = block.get("block_id")
        if block_id is not None and (len(block_id) > 255 or block_id in ids):
            raise Refused("invalid_blocks")
        ids.add(block_id or f"#{len(ids)}")
        _CHECKS.get(block["type"], lambda _: None)(block)
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > MAX_MARKDOWN_CHARS:
        raise Refused("invalid_blocks", response_metadata={"messages": ["[ERROR] must be less than 12001 characters"]})
    if sum(_chars(block) for block in blocks) > MAX_ALL_BLOCKS_CHARS:
        raise Refused("msg_blocks_too_long")


def check_metadata(metadata: Any) -> None:
    if not isinstance(metadata, dict):
        raise Refused("invalid_metadata_format")
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not re.fullmatch(r"[A-Za-z0-9_]{1,255}", kind) or not isinstance(payload, dict):
        raise Refused("invalid_metadata_schema")
    for value in payload.values():
        if not isinstance(value, str | int | float | bool | list | dict):
            raise Refused("invalid_metadata_schema")
    if len(json.dumps(metadata)) > MAX_METADATA_CHARS:
        raise Refused("metadata_too_large")


def _text_object(value: Any, limit: int, kinds: tuple[str, ...] = ("mrkdwn", "plain_text")) -> None:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        raise Refused("invalid_blocks")
    if not isinstance(value.get("text"), str) or not 1 <= len(value["text"]) <= limit:
        raise Refused(
            "invalid_blocks", response_metadata={"messages": [f"[ERROR] text must be 1 to {limit} characters"]}
        )


def _section(block: Json) -> None:
    if "text" not in block and not block.get("fields"):
        raise Refused("invalid_blocks")
    if "text" in block:
        _text_object(block["text"], 3000)
    fields = block.get("fields", [])
    if len(fields) > 10:
        raise Refused("invalid_blocks")
    for field in fields:
        _text_object(field, 2000)


def _header(block: Json) -> None:
    _text_object(block.get("text"), 150, ("plain_text",))


def _context(block: Json) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 10:
        raise Refused("invalid_blocks")
    for element in elements:
        if element.get("type") != "image":
            _text_object(element, 3000)


def _markdown(block: Json) -> None:
    if not isinstance(block.get("text"), str) or not block["text"]:
        raise Refused("invalid_blocks")
    for table in _tables(block["text"]):
        if len(table) > 101 or max(row.count("|") - 1 for row in table) > 20:
            raise Refused("invalid_blocks")


def _actions(block: Json) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 25:
        raise Refused("invalid_blocks")
    seen: set[str] = set()
    for element in elements:
        if element.get("action_id") in seen:
            raise Refused("invalid_blocks")
        seen.add(element.get("action_id"))
        if element.get("type") == "button":
            _button(element)


def _button(element: Json) -> None:
    _text_object(element.get("text"), 75, ("plain_text",))
    if len(element.get("value") or "") > 2000 or len(element.get("action_id") or "") > 255:
        raise Refused("invalid_blocks")


def _context_actions(block: Json) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 5:
        raise Refused("invalid_blocks")
    for element in elements:
        if element.get("type") not in ("feedback_buttons", "icon_button"):
            raise Refused("invalid_blocks")
        for side in ("positive_button", "negative_button"):
            if element["type"] == "feedback_buttons":
                _button({**element.get(side, {})})


def _table(block: Json) -> None:
    rows = block.get("rows")
    if not isinstance(rows, list) or not 1 <= len(rows) <= 100 or any(len(row) > 20 for row in rows):
        raise Refused("invalid_blocks")


_CHECKS = {
    "section": _section,
    "header": _header,
    "context": _context,
    "markdown": _markdown,
    "actions": _actions,
    "context_actions": _context_actions,
    "table": _table,
}


def _tables(text: str) -> list[list[str]]:
    found: list[list[str]] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.fullmatch(r"\s*\|?[\s:|-]*-{3,}[\s:|-]*", line) and "|" in line and number:
            rows = [lines[number - 1]]
            for row in lines[number:]:
                if "|" not in row:
                    break
                rows.append(row)
            found.append(rows)
    return found


def _chars(value: Any) -> int:
    """Characters of all texts in a block."""
    if isinstance(value, dict):
        return sum(
            _chars(item)
            if isinstance(item, dict | list)
            else len(item)
            if key == "text" and isinstance(item, str)
            else 0
            for key, item in value.items()
        )
    return sum(_chars(item) for item in value) if isinstance(value, list) else 0


def stored_blocks(blocks: list[Json] | None) -> list[Json]:
    """Blocks as Slack hands them out again: markdown becomes rich text and loses its id, others get one."""
    kept: list[Json] = []
    for number, block in enumerate(blocks or []):
        if block["type"] == "markdown":
            element = {"type": "rich_text_section", "elements": [{"type": "text", "text": block["text"]}]}
            kept.append({"type": "rich_text", "block_id": f"b{number}", "elements": [element]})
        else:
            kept.append({"block_id": f"b{number}", **block})
    return kept
