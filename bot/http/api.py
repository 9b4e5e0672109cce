"""Routes that answer with JSON: what the page's script calls, and what programs may call with a token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.errors import PlatformError
from bot.http.context import MAX_NAME_CHARS, Context, clean_name, context_of, reader_of, remember_name, set_cookie
from bot.http.errors import error_response
from bot.http.evidence import PANEL, evidence_html, evidence_title
from bot.http.pages import MAX_MESSAGE_CHARS
from bot.http.posts_html import VOTES, evidence_path
from bot.http.security import SESSION_COOKIE, read_body
from bot.platforms.web import thread_path
from bot.stored_forms import encode_citation
from bot.types import Citation
from bot.web_posts import ChannelExists, Post
from knowledge.errors import NotFound, TransientError

MAX_COMMENT_CHARS = 2000
MAX_KEY_CHARS = 64
POSTS_GIVEN = 200


async def add_channel(request: Request) -> Response:
    """The new channel: 201, or 409 when its name is taken."""
    body = await _json_object(request)
    if isinstance(body, Response):
        return body
    name = clean_name(_text(body, "name"))
    if not 0 < len(name) <= MAX_NAME_CHARS:
        return error_response(request, 422, "channel_name_rule")
    try:
        channel = await asyncio.to_thread(context_of(request).platform.posts.add_channel, name)
    except ChannelExists:
        return error_response(request, 409, "channel_exists", name=name)
    return JSONResponse({"id": channel.id, "name": channel.name, "url": f"/c/{channel.id}"}, status_code=201)


async def add_post(request: Request) -> Response:
    """A new thread, or a reply when the address names one; 201 after the bot has saved it."""
    body = await _json_object(request)
    if isinstance(body, Response):
        return body
    text = _text(body, "text").strip()
    if not text:
        return error_response(request, 422, "empty_message")
    if len(text) > MAX_MESSAGE_CHARS:
        return error_response(request, 422, "too_long", n=len(text), limit=MAX_MESSAGE_CHARS)
    platform, author = context_of(request).platform, reader_of(request).author
    try:
        post = await platform.submit(
            channel_id=request.path_params["channel_id"],
            root_id=request.path_params.get("root_id"),
            author=author,
            text=text,
            client_key=_text(body, "key")[:MAX_KEY_CHARS] or None,
        )
    except LookupError:
        return error_response(request, 404, "not_found_text")
    url = thread_path(post.thread.channel_id, post.thread.root_id)
    return JSONResponse({"id": post.id, "thread": post.thread.root_id, "url": url}, status_code=201)


async def thread(request: Request) -> Response:
    """The posts of a thread that this reader may see."""
    posts = context_of(request).platform.posts
    channel_id, root_id = request.path_params["channel_id"], request.path_params["root_id"]
    found = await asyncio.to_thread(posts.thread, channel_id, root_id, limit=POSTS_GIVEN)
    reader_id = reader_of(request).author.id
    if not any(post.visible_to(reader_id) for post in found):
        return error_response(request, 404, "not_found_text")
    return JSONResponse({"posts": [_post_json(post, reader_id) for post in found if post.visible_to(reader_id)]})


async def give_feedback(request: Request) -> Response:
    """Passes a vote on an answer on to the bot."""
    body = await _json_object(request)
    if isinstance(body, Response):
        return body
    vote = _text(body, "vote")
    if vote not in VOTES:
        return error_response(request, 422, "bad_request", what=f"vote: {', '.join(VOTES)}")
    try:
        await context_of(request).platform.vote(
            post_id=request.path_params["post_id"],
            author=reader_of(request).author,
            vote=vote,
            comment=_text(body, "comment")[:MAX_COMMENT_CHARS],
        )
    except LookupError:
        return error_response(request, 404, "not_found_text")
    except PlatformError:
        return error_response(request, 503, "vote_failed")
    return JSONResponse({"vote": vote})


async def set_name(request: Request) -> Response:
    """Keeps the name under which this reader writes."""
    body = await _json_object(request)
    if isinstance(body, Response):
        return body
    name = clean_name(_text(body, "name"))
    if not 0 < len(name) <= MAX_NAME_CHARS:
        return error_response(request, 422, "name_rule")
    response = JSONResponse({"name": name})
    remember_name(request, response, name)
    return response


async def evidence(request: Request) -> Response:
    """Markup for the panel beside a thread."""
    context, reader = context_of(request), reader_of(request)
    chunk_id = request.path_params["chunk_id"]
    try:
        passage = await asyncio.to_thread(context.knowledge.passage, chunk_id, scope=context.scope)
    except NotFound:
        return error_response(request, 404, "evidence_gone")
    except TransientError:
        return error_response(request, 503, "evidence_failed")
    full_path = evidence_path(chunk_id)
    html = await asyncio.to_thread(evidence_html, passage, reader, window=PANEL, full_path=full_path, chunk_id=chunk_id)
    return JSONResponse({"title": evidence_title(passage), "html": html})


async def status(request: Request) -> Response:
    """Whether questions are taken, and how far the index is."""
    context = context_of(request)
    tool = await context.platform.check()
    return JSONResponse({"listening": tool.state == "ok", "indexing": indexing_json(context)})


async def sign_out(request: Request) -> Response:
    """Takes the session cookie away."""
    response = JSONResponse({"url": "/login"})
    set_cookie(request, response, SESSION_COOKIE, "", max_age_s=0)
    return response


def indexing_json(context: Context) -> Mapping[str, object] | None:
    """The running sync, or None when nothing is being read."""
    progress = context.indexing()
    if progress is None or progress.stage == "done" or not context.scope.allows(progress.source):
        return None
    return {"stage": progress.stage, "done": progress.done, "total": progress.total}


async def _json_object(request: Request) -> Mapping[str, object] | Response:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return error_response(request, 415, "bad_request", what="content-type: application/json")
    raw = await read_body(request)
    if raw is None:
        return error_response(request, 413, "body_too_large")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return error_response(request, 400, "bad_request", what="JSON")
    if not isinstance(body, dict):
        return error_response(request, 400, "bad_request", what="JSON object")
    return body


def _text(body: Mapping[str, object], key: str) -> str:
    """The string under `key`, without NUL and lone surrogates, which neither SQLite nor UTF-8 can hold."""
    value = body.get(key)
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def _post_json(post: Post, reader_id: str) -> dict[str, object]:
    return {
        "id": post.id,
        "author": {"name": post.author.display_name, "is_bot": post.author.is_bot},
        "mine": post.author.id == reader_id,
        "kind": post.kind,
        "text": post.text,
        "final": post.final,
        "citations": [_citation_json(citation) for citation in post.citations],
        "nearest": [_citation_json(citation) for citation in post.nearest],
        "notices": list(post.notices),
        "error_id": post.error_id,
        "posted_at": post.posted_at.isoformat(),
    }


def _citation_json(citation: Citation) -> dict[str, object]:
    return {**encode_citation(citation), "evidence": evidence_path(citation.chunk_id)}
