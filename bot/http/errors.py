"""Error responses that say what to do: a page for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.http.html import Html, el
from bot.http.texts import choose_language, say
from bot.types import Language

LANGUAGE_COOKIE = "haechi_lang"


def request_language(request: Request) -> Language:
    """The language of this reader."""
    return choose_language(request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language"))


def wants_json(request: Request) -> bool:
    """Whether an error goes to a program rather than to a reader."""
    path = request.url.path
    return path.startswith("/api/") or path in ("/events", "/healthz")


def error_response(
    request: Request, status: int, key: str, *, headers: Mapping[str, str] | None = None, **values: object
) -> Response:
    """The text `key` as a page, or as {"error": {"code", "message"}} for a program."""
    language = request_language(request)
    message = say(language, key, **values)
    if wants_json(request):
        return JSONResponse({"error": {"code": key, "message": message}}, status_code=status, headers=headers)
    title = say(language, "not_found" if status == 404 else "crash" if status >= 500 else "error_title")
    return HTMLResponse(plain_page(language, title, el("p", message)), status_code=status, headers=headers)


def interstitial_response(target: str) -> Response:
    """A page that loads `target` at once, from our own site."""
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Haechi</title>'
        + el("meta", http_equiv="refresh", content=f"0;url={target}")
        + "</head><body>"
        + el("p", el("a", "Haechi", href=target))
        + "</body></html>"
    )


def plain_page(language: Language, title: str, content: Html, *, heading: str | None = None, home: bool = True) -> str:
    """A page without channels: errors, the login form, evidence on its own."""
    return "<!doctype html>" + el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("title", f"{title} · Haechi"),
            el("link", rel="icon", href="/static/icon.svg"),
            el("link", rel="stylesheet", href="/static/haechi.css"),
        ),
        el(
            "body",
            el(
                "main",
                el("h1", heading or title),
                content,
                el("p", el("a", say(language, "home"), href="/"), class_="more") if home else None,
                id="main",
                class_="plain",
            ),
        ),
        lang=language,
    )
