"""Reading sources again by command, with its progress shown by edits of one post."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog

from bot.commands_texts import text
from bot.control import Report
from bot.errors import PlatformError
from bot.ports import ChatPlatform
from bot.reply_text import safe_markdown
from bot.types import Command, Language

EDIT_EVERY_S = 5.0

Ingest = Callable[[str, Mapping[str, Any], Report], Awaitable[dict[str, Any]]]
"""KnowledgeOperations.call."""

log = structlog.get_logger(__name__)


async def reindex(
    ingest: Ingest,
    platform: ChatPlatform,
    command: Command,
    sources: Sequence[str],
    *,
    force: bool,
    language: Language,
    by: str,
    edit_every_s: float = EDIT_EVERY_S,
) -> str:
    """The outcome; the post that showed the progress says at its end what changed. Raises KnowledgeError."""
    title = text("reindexing", language, names=", ".join(f"`{name}`" for name in sources))
    post_id = await platform.show_progress(command, safe_markdown(title), post_id=None)
    progress = _Progress(platform, command, post_id, title, edit_every_s)

    def report(step: Mapping[str, Any]) -> None:
        if words := _step_words(step, language):
            progress.note(str(step["source"]), words)

    async with progress.shown():
        result = await ingest("ingest", {"sources": list(sources), "force": force, "by": by}, report)
    lines = [_result_line(source, language) for source in result["sources"]]
    done = text("reindexed", language) + "\n\n" + "\n".join(lines)
    await platform.show_progress(command, safe_markdown(done), post_id=post_id)
    failed = sum(1 for source in result["sources"] if source["problem"])
    return f"{failed} of {len(lines)} sources failed" if failed else "done"


class _Progress:
    """Edits the post when something changed, at a rate that every platform allows."""

    def __init__(self, platform: ChatPlatform, command: Command, post_id: str, title: str, edit_every_s: float) -> None:
        self._platform = platform
        self._command = command
        self._post_id = post_id
        self._title = title
        self._edit_every_s = edit_every_s
        self._steps: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()

    def note(self, source: str, words: str) -> None:
        """Takes how far a source has got."""
        self._steps[source] = words
        self._changed.set()

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Shows the progress while the block runs; an edit on its way is waited for, lest it overtakes the result."""
        task = asyncio.create_task(self._show())
        try:
            yield
        finally:
            self._ended.set()
            self._changed.set()
            await task

    async def _show(self) -> None:
        while True:
            await self._changed.wait()
            if self._ended.is_set():
                return
            self._changed.clear()
            shown = "\n".join([self._title, "", *(f"- {words}" for words in self._steps.values())])
            try:
                await self._platform.show_progress(self._command, safe_markdown(shown), post_id=self._post_id)
            except PlatformError as error:
                log.warning("progress.failed", reason=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._edit_every_s):
                    await self._ended.wait()


def _step_words(step: Mapping[str, Any], language: Language) -> str:
    stage = str(step["stage"])
    if stage not in ("read", "embed", "waiting"):
        return ""
    total = f"/{step['total']}" if step["total"] else ""
    done = "" if stage == "waiting" else step["done"]
    return text("step", language, source=step["source"], stage=text(f"step_{stage}", language), done=done, total=total)


def _result_line(source: Mapping[str, Any], language: Language) -> str:
    line = text(
        "reindexed_source",
        language,
        source=source["source"],
        added=source["added"],
        updated=source["updated"],
        deleted=source["deleted"],
        unchanged=source["unchanged"],
        failed=len(source["failed"]),
        seconds=round(source["duration_s"], 1),
    )
    return line + (text("problem", language, why=source["problem"]) if source["problem"] else "")
