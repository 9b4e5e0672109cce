"""The event stream of a page: posts as they appear and grow, threads of a channel, progress of the index."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bot.http.api import indexing_json
from bot.http.context import Context, context_of, reader_of
from bot.http.posts_html import Reader, post_html, summary_html
from bot.platforms.web_events import Change

RETRY_MS = 2000
STATUS_EVERY_S = 1.0
KEEP_ALIVE_S = 15.0
SPOKEN_CHARS = 300


async def events(request: Request) -> Response:
    """Server-sent events after `Last-Event-ID`, which browsers send when they reconnect, or `?after=`."""
    query = request.query_params
    after = request.headers.get("last-event-id") or query.get("after")
    pieces = event_stream(
        context_of(request), reader_of(request), channel_id=query.get("channel", ""), root_id=query.get("root"),
        after=after,
    )  # fmt: skip
    return StreamingResponse(pieces, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def event_stream(
    context: Context, reader: Reader, *, channel_id: str, root_id: str | None, after: str | None
) -> AsyncIterator[str]:
    """Events of one thread, or the thread list of one channel when `root_id` is None, until the platform closes."""
    changes = context.platform.changes
    clock = asyncio.get_running_loop().time
    yield f"retry: {RETRY_MS}\n\n"
    position = changes.position(after)
    status: object = "unknown"  # so that the first round always says how the index stands
    spoke_at = clock()
    while not changes.closed:
        pieces: list[str] = []
        found = changes.since(position) if position is not None else None
        if found is None:  # what came in between is no longer known: the page loads its content again
            position = changes.last_number
            pieces.append(_event("reset", {}, changes.id_of(position)))
        else:
            position = found[-1].number if found else changes.last_number
            wanted = [c for c in found if c.channel_id == channel_id and root_id in (None, c.root_id)]
            pieces += await _render(context, reader, wanted, root_id=root_id)
        if (now := indexing_json(context)) != status:
            status = now
            pieces.append(_event("status", {"indexing": now}, None))
        if not pieces and clock() - spoke_at >= KEEP_ALIVE_S:
            pieces.append(": keep-alive\n\n")
        for piece in pieces:
            yield piece
            spoke_at = clock()
        await changes.wait(position, STATUS_EVERY_S)


async def _render(context: Context, reader: Reader, wanted: Sequence[Change], *, root_id: str | None) -> list[str]:
    """One event for each post or thread that changed, in the order of its last change, in its present state."""
    posts = context.platform.posts
    pieces: list[str] = []
    if root_id is None:
        latest = {change.root_id: change for change in wanted}
        for change in sorted(latest.values(), key=lambda c: c.number):
            summary = await asyncio.to_thread(posts.summary, change.channel_id, change.root_id)
            if summary is not None and summary.root.visible_to(reader.author.id):
                data: dict[str, object] = {"id": f"thread-{change.root_id}", "html": summary_html(summary, reader)}
                pieces.append(_event("item", data, context.platform.changes.id_of(change.number)))
        return pieces
    if not wanted:
        return pieces
    latest = {change.post_id: change for change in wanted}
    found = {post.id: post for post in await asyncio.to_thread(posts.find_all, list(latest))}
    votes = await asyncio.to_thread(posts.votes_of, reader.author.id, wanted[0].channel_id, root_id)
    for change in sorted(latest.values(), key=lambda c: c.number):
        post = found.get(change.post_id)
        if post is None or not post.visible_to(reader.author.id):
            continue
        spoken = post.text[:SPOKEN_CHARS] if post.author.is_bot and post.final else None
        shown: dict[str, object] = {"id": f"post-{post.id}", "html": post_html(post, reader, votes), "spoken": spoken}
        pieces.append(_event("item", shown, context.platform.changes.id_of(change.number)))
    return pieces


def _event(name: str, data: Mapping[str, object], event_id: str | None) -> str:
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {name}\ndata: {json.dumps(data)}\n\n"
