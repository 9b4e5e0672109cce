"""Replies as Slack messages: parts within Slack's limits, in the richest form that the workspace accepts.

Three forms, tried in this order when Slack refuses one (`invalid_blocks` and the like): a markdown block, which renders
tables, code and headings; sections in Slack's older mrkdwn; plain text. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.persona import language_of
from bot.platforms.slack_mrkdwn import plain_tables, to_mrkdwn
from bot.platforms.slack_text import OWN_BLOCK, escaped
from bot.platforms.splitting import split_markdown
from bot.reply_text import full_markdown, safe_markdown
from bot.types import Language, Reply, Vote

Form = Literal["markdown", "sections", "text"]
FORMS: tuple[Form, ...] = ("markdown", "sections", "text")
Block = dict[str, Any]

PART_CHARS = 9_000  # escaped; a markdown block holds 12,000, all blocks about 13,200, tables grow when aligned
SECTION_CHARS = 2_600  # of 3,000; marks of style take some
MAX_SECTIONS = 45  # of 50 blocks
NOTICE_CHARS = 3_000  # of `text` beside blocks, which is shown in notifications; above 4,000 a post can fail
VOTE_ACTION = f"{OWN_BLOCK}vote"

# What Slack says when it does not take a form of a message, as opposed to the message itself.
FORM_REFUSED = frozenset(
    {
        "invalid_blocks", "invalid_blocks_format", "invalid_attachments", "msg_blocks_too_long", "block_mismatch",
        "markdown_text_conflict", "invalid_arguments", "invalid_array_arg", "msg_too_long", "unsupported_block",
    }
)  # fmt: skip

# Slack draws these as pictures, also in "pay.py:100: error"; a character that nobody sees keeps them as they are.
_NUMBER_EMOJI = re.compile(r"(?P<code>```.*?```|`[^`\n]*`)|:(?P<number>100|1234):", re.DOTALL)

_VOTES: tuple[tuple[Vote, str, str], ...] = (("up", "👍", "👍"), ("down", "👎", "👎"), ("wrong", "⚠️ 틀림", "⚠️ Wrong"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One message of a reply, as Markdown. `vote_on`: the id of the delivery whose reply it closes, with buttons."""

    markdown: str
    vote_on: str | None = None
    language: Language = "ko"


def parts_of(reply: Reply) -> list[Part]:
    """The messages that a reply takes, at least one."""
    language = reply.language or language_of(reply.markdown)
    texts = split_markdown(full_markdown(reply, language=language), PART_CHARS, measure=_escaped_chars) or ["…"]
    votes = reply.final and reply.kind in ("answer", "refusal")
    last = len(texts) - 1
    return [
        Part(markdown=text, vote_on=reply.delivery_id if votes and number == last else None, language=language)
        for number, text in enumerate(texts)
    ]


def private_part(markdown: str) -> list[Part]:
    """The same for text outside threads: no buttons."""
    return [
        Part(markdown=text)
        for text in split_markdown(safe_markdown(markdown), PART_CHARS, measure=_escaped_chars) or ["…"]
    ]


def status_part(words: str) -> Part:
    """What is shown while there is no text yet."""
    return Part(markdown=f"_{' '.join(safe_markdown(words).split())}_")


def growing_part(markdown: str) -> Part:
    """What is shown of a reply that grows: as much of its beginning as one message holds."""
    texts = split_markdown(safe_markdown(markdown[: PART_CHARS * 2]), PART_CHARS, measure=_escaped_chars)
    return Part(markdown="…" if not texts else texts[0] if len(texts) == 1 else f"{texts[0]}\n\n…")


def message_fields(part: Part, form: Form) -> dict[str, Any]:
    """`text` and `blocks` for chat.postMessage, chat.update and the like."""
    if form == "text":
        return {"text": to_mrkdwn(part.markdown)}
    blocks: list[Block] = (
        [{"type": "markdown", "text": _without_pictures(plain_tables(part.markdown, keep=1))}]
        if form == "markdown"
        else [_section(text) for text in _section_texts(part.markdown)]
    )
    if part.vote_on is not None:
        blocks.append(vote_block(part.language, part.vote_on))
    return {"text": notification(part.markdown), "blocks": blocks}


def _without_pictures(markdown: str) -> str:
    return _NUMBER_EMOJI.sub(lambda found: found["code"] or f":{found['number']}\u200b:", markdown)


def notification(markdown: str) -> str:
    """`markdown` for notifications and search: cut, and escaped so that nothing in it is taken for a command."""
    text = markdown if len(markdown) <= NOTICE_CHARS else f"{markdown[:NOTICE_CHARS]}…"
    return escaped(text)


def vote_block(language: Language, delivery_id: str) -> Block:
    """Three buttons; the delivery whose answer they are about stands in their values."""
    elements = [
        {
            "type": "button",
            "action_id": f"{VOTE_ACTION}_{vote}",
            "text": {"type": "plain_text", "text": korean if language == "ko" else english, "emoji": True},
            "value": f"{vote}:{delivery_id}",
        }
        for vote, korean, english in _VOTES
    ]
    return {"type": "actions", "block_id": f"{OWN_BLOCK}votes", "elements": elements}


def _escaped_chars(text: str) -> int:
    """How long a text is in the older forms, where `<` takes four characters."""
    return len(escaped(text))


def _section_texts(markdown: str) -> Sequence[str]:
    """Pieces whose mrkdwn fits into a section; what is left over of an odd text goes into the last one, cut."""
    texts = [
        to_mrkdwn(text)
        for text in split_markdown(plain_tables(markdown, keep=0), SECTION_CHARS, measure=_escaped_chars)
    ]
    fitting = [text for whole in texts for text in _cut(whole)]
    return fitting[:MAX_SECTIONS] or ["…"]


def _cut(text: str) -> list[str]:
    limit = 3_000
    return [text[start : start + limit] for start in range(0, len(text), limit)]


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}
