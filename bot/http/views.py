"""Routes that answer with pages."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from bot.http.context import YEAR_S, context_of, evidence_scopes, reader_of, remember_person, set_cookie
from bot.http.errors import LANGUAGE_COOKIE, error_response, plain_page, request_language
from bot.http.evidence import CITED_PART, PAGE, evidence_html, evidence_title
from bot.http.pages import Site, channel_page, login_form, thread_page
from bot.http.security import SESSION_COOKIE, SESSION_DAYS, local_target, read_body
from bot.http.texts import LANGUAGES, say
from bot.web_posts import GENERAL
from knowledge.errors import NotFound, TransientError

THREADS_SHOWN = 50
POSTS_SHOWN = 200

# With "no-referrer" a browser sends `Origin: null` for a form, and the origin check would refuse the login.
FORM_HEADERS = {"referrer-policy": "same-origin"}


async def home(request: Request) -> Response:
    """Leads to the general channel."""
    chosen = _language_choice(request)
    return chosen if chosen is not None else RedirectResponse(f"/c/{GENERAL}", status_code=303)


async def channel(request: Request) -> Response:
    """The page of a channel."""
    chosen = _language_choice(request)
    if chosen is not None:
        return chosen
    context = context_of(request)
    site = await _site(request)
    if site is None:
        return error_response(request, 404, "not_found_text")
    before = request.query_params.get("before", "")
    threads = await asyncio.to_thread(
        context.platform.posts.threads,
        site.channel.id,
        reader_id=site.reader.author.id,
        limit=THREADS_SHOWN + 1,
        before_seq=int(before) if before.isdecimal() and len(before) < 18 else None,
    )
    earlier = threads[1].root.seq if len(threads) > THREADS_SHOWN else None
    shown = threads[-THREADS_SHOWN:]
    return _page(request, channel_page(site, shown, examples=context.examples, earlier=earlier))


async def thread(request: Request) -> Response:
    """The page of a thread."""
    chosen = _language_choice(request)
    if chosen is not None:
        return chosen
    posts = context_of(request).platform.posts
    site = await _site(request)
    root_id = request.path_params["root_id"]
    if site is None:
        return error_response(request, 404, "not_found_text")
    author_id = site.reader.author.id
    summary = await asyncio.to_thread(posts.summary, site.channel.id, root_id)
    if summary is None or not summary.root.visible_to(author_id):
        return error_response(request, 404, "not_found_text")
    found = await asyncio.to_thread(posts.thread, site.channel.id, root_id, limit=POSTS_SHOWN + 1)
    votes = await asyncio.to_thread(posts.votes_of, author_id, site.channel.id, root_id)
    cut = POSTS_SHOWN if len(found) > POSTS_SHOWN else None
    visible = [post for post in found[-POSTS_SHOWN:] if post.visible_to(author_id)]
    return _page(request, thread_page(site, root_id, visible, votes, cut=cut))


async def evidence(request: Request) -> Response:
    """The evidence on a page of its own, readable without script."""
    chosen = _language_choice(request)
    if chosen is not None:
        return chosen
    knowledge, reader = context_of(request).knowledge, reader_of(request)
    chunk_id = request.path_params["chunk_id"]
    for scope, part_alone in evidence_scopes(request, chunk_id):
        try:
            passage = await asyncio.to_thread(knowledge.passage, chunk_id, scope=scope)
        except NotFound:
            continue
        except TransientError:
            return error_response(request, 503, "evidence_failed")
        html = await asyncio.to_thread(
            evidence_html, passage, reader, window=CITED_PART if part_alone else PAGE, full_path=None,
            chunk_id=None if part_alone else chunk_id,
        )  # fmt: skip
        return HTMLResponse(plain_page(reader.language, evidence_title(passage), html, heading=reader.say("evidence")))
    return error_response(request, 404, "evidence_gone")


async def login(request: Request) -> Response:
    """The form for the token, and what happens when it is sent."""
    context, language = context_of(request), request_language(request)
    target = local_target(request.query_params.get("next", "/"))
    if context.sessions is None or request.scope["haechi_signed_in"]:
        return RedirectResponse(target, status_code=303)
    problem = None
    status = 200
    if request.method == "POST":
        body = await read_body(request)
        if body is None:
            return error_response(request, 413, "body_too_large")
        offered = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        if context.throttle.blocked(request):
            problem, status = "token_wait", 429
        elif context.sessions.token_matches(offered):
            response = RedirectResponse(target, status_code=303)
            set_cookie(request, response, SESSION_COOKIE, context.sessions.issue(), max_age_s=SESSION_DAYS * 24 * 3600)
            return response
        else:
            context.throttle.failed(request)
            problem, status = "token_wrong", 401
    form = login_form(language, target=target, problem=problem)
    page = plain_page(language, say(language, "sign_in"), form, home=False)
    return HTMLResponse(page, status_code=status, headers=FORM_HEADERS)


async def healthz(request: Request) -> Response:
    """Whether the bot works, as a status code; the details only for those who hold the token."""
    context = context_of(request)
    health = await context.health()
    down = health.get("status") == "down"
    shown = dict(health) if request.scope["haechi_signed_in"] else {"status": "down" if down else "ok"}
    return JSONResponse(shown, status_code=503 if down else 200)


def _language_choice(request: Request) -> Response | None:
    """Keeps the language of `?lang=` and leads to the same page without it, so that bookmarks stay neutral."""
    wanted = request.query_params.get("lang")
    if wanted is None:
        return None
    rest = urlencode([item for item in request.query_params.multi_items() if item[0] != "lang"])
    response = RedirectResponse(request.url.path + (f"?{rest}" if rest else ""), status_code=303)
    if wanted in LANGUAGES:
        set_cookie(request, response, LANGUAGE_COOKIE, wanted, max_age_s=YEAR_S)
    return response


async def _site(request: Request) -> Site | None:
    """What surrounds the content, or None when the channel is not there. The cursor is taken first: a change that
    comes while the page is built is then shown twice rather than never."""
    context = context_of(request)
    cursor = context.platform.changes.last_id
    channels = await asyncio.to_thread(context.platform.posts.channels)
    for found in channels:
        if found.id == request.path_params["channel_id"]:
            return Site(
                reader=reader_of(request),
                channels=channels,
                channel=found,
                cursor=cursor,
                path=request.url.path,
                can_sign_out=context.sessions is not None,
            )
    return None


def _page(request: Request, html: str) -> Response:
    response = HTMLResponse(html)
    remember_person(request, response)
    return response
