"""What the routes work with, and who is reading."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from bot.http.errors import request_language
from bot.http.posts_html import Reader
from bot.http.security import Sessions, TokenThrottle, cookie_header
from bot.http.texts import say
from bot.platforms.web import WebPlatform
from bot.types import Author
from knowledge.api import PageImage
from knowledge.types import DocumentSummary, Passage, Progress, Scope

PERSON_COOKIE = "haechi_person"
NAME_COOKIE = "haechi_name"
MAX_NAME_CHARS = 40
YEAR_S = 365 * 24 * 3600
# letters and symbols without ink: fillers of Hangul and Khmer, the empty Braille cell, joiners, variation selectors
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


Granted = Callable[[str, str], bool]
"""Whether a grant is for this piece of evidence: what stands behind /evidence/ in the address, and the grant."""


class KnowledgeReader(Protocol):
    """What the pages need of knowledge.api.Knowledge; called in threads."""

    def passage(self, chunk_id: str, *, scope: Scope) -> Passage:
        """The document around a chunk. Raises NotFound when it is gone or outside `scope`."""

    def page_image(self, chunk_id: str, page: int, *, scope: Scope) -> PageImage:
        """A page as a picture. Raises NotFound, ContentChanged and what reading the file raises."""

    def list_documents(self, *, scope: Scope) -> Sequence[DocumentSummary]:
        """All documents within `scope`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything the routes need; built once by `build_http`."""

    platform: WebPlatform
    knowledge: KnowledgeReader
    scope: Scope
    sessions: Sessions | None
    throttle: TokenThrottle
    health: Callable[[], Awaitable[Mapping[str, object]]]
    indexing: Callable[[], Progress | None]
    examples: Sequence[str]
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    granted: Granted | None = None


def context_of(request: Request) -> Context:
    """What `build_http` put into the application."""
    return cast(Context, request.app.state.context)


def evidence_scopes(request: Request, subject: str) -> list[tuple[Scope, bool]]:
    """(scope to read with, whether it holds for the cited part alone), in the order in which they are tried: what the
    page may show, then what the link itself grants."""
    context = context_of(request)
    found = [(context.scope, False)] if context.sessions is None or request.scope["haechi_signed_in"] else []
    if context.granted is not None and context.granted(subject, request.query_params.get("grant", "")):
        found.append((Scope.everything(), True))
    return found


def reader_of(request: Request) -> Reader:
    """Who asks: a random cookie tells people apart, a name that they typed is shown.

    The id that others see is a hash of the cookie, so that nobody can take it over from a page or a log.
    """
    language = request_language(request)
    person = request.cookies.get(PERSON_COOKIE)
    digest = hashlib.sha256(person.encode()).hexdigest()[:20] if person else "anonymous"
    name = clean_name(unquote(request.cookies.get(NAME_COOKIE, "")))[:MAX_NAME_CHARS] or say(language, "guest")
    return Reader(
        author=Author(id=f"web:{digest}", display_name=name, is_bot=False),
        language=language,
        bot_name=context_of(request).platform.bot.display_name,
    )


def clean_name(name: str) -> str:
    """`name` on one line without characters that cannot be seen; empty when nothing is left to see."""
    cleaned = " ".join("".join(c if c.isprintable() and not _BLANK.match(c) else " " for c in name).split())
    return cleaned if any(unicodedata.category(c)[0] in "LNPS" for c in cleaned) else ""


def set_cookie(
    request: Request, response: Response, name: str, value: str, *, max_age_s: int = YEAR_S, http_only: bool = True
) -> None:
    """Adds a cookie for this site; over https it is marked so that it never travels in the clear."""
    secure = request.url.scheme == "https"
    header = cookie_header(name, value, secure=secure, max_age_s=max_age_s, http_only=http_only)
    response.headers.append("set-cookie", header)


def remember_person(request: Request, response: Response) -> None:
    """Gives a new reader the cookie that tells them apart from others."""
    if PERSON_COOKIE not in request.cookies:
        set_cookie(request, response, PERSON_COOKIE, secrets.token_urlsafe(24))


def remember_name(request: Request, response: Response, name: str) -> None:
    """Keeps the name that a reader typed."""
    set_cookie(request, response, NAME_COOKIE, quote(name, safe=""))
