"""Messages for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.types import Author, Message, ThreadRef

PERSON = Author(id="u1", display_name="미나", is_bot=False)
BOT = Author(id="bot:haechi", display_name="haechi", is_bot=True)


def thread(root: str = "t1", channel: str = "general", platform: str = "fake") -> ThreadRef:
    return ThreadRef(platform=platform, channel_id=channel, root_id=root)


def message(text: str = "연차는 며칠인가요?", **changes: Any) -> Message:
    fields: dict[str, Any] = {
        "id": "m1",
        "thread": thread(),
        "author": PERSON,
        "text": text,
        "mentions_bot": True,
        "is_direct": False,
        "attachments": (),
        "posted_at": datetime(2026, 3, 2, 9, 0, tzinfo=UTC),
        "delivery_id": "d1",
    }
    return Message(**{**fields, **changes})
