"""Who may talk to the pages: host names, origins, the page token, sessions, and the headers of every response."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.http.errors import error_response, interstitial_response

SESSION_COOKIE = "haechi_session"
SESSION_DAYS = 30
MAX_BODY_BYTES = 64 * 1024
BODY_TIMEOUT_S = 20.0
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
EVIDENCE_PATH = "/evidence/"
OPEN_PATHS = ("/login", "/healthz")  # and /static/: what the login page needs

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Sessions:
    """Signed session cookies: nothing to store, valid across restarts, void as soon as the token changes."""

    def __init__(
        self, token: str, *, clock: Callable[[], datetime], new_nonce: Callable[[], str] | None = None
    ) -> None:
        self._token = token.encode()
        self._key = hashlib.sha256(b"haechi page session\0" + self._token).digest()
        self._clock = clock
        self._new_nonce = new_nonce or (lambda: secrets.token_urlsafe(16))

    def token_matches(self, offered: str) -> bool:
        return hmac.compare_digest(self._token, offered.encode())

    def issue(self) -> str:
        """The value of a new session cookie."""
        expires = int((self._clock() + timedelta(days=SESSION_DAYS)).timestamp())
        body = f"{expires}.{self._new_nonce()}"
        return f"{body}.{self._sign(body)}"

    def valid(self, cookie: str) -> bool:
        body, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(self._sign(body).encode(), signature.encode()):
            return False
        return int(body.split(".")[0]) > self._clock().timestamp()

    def _sign(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()


class TokenThrottle:
    """At most `attempts` wrong tokens in `window_s` seconds from one address, by form or by header."""

    def __init__(self, *, clock: Callable[[], datetime], attempts: int = 10, window_s: float = 60.0) -> None:
        self._clock = clock
        self._attempts = attempts
        self._window = timedelta(seconds=window_s)
        self._failures: dict[str, list[datetime]] = {}

    def blocked(self, request: Request) -> bool:
        """Whether this address has to wait; then not even the right token is looked at."""
        since = self._clock() - self._window
        recent = {who: [at for at in times if at > since] for who, times in self._failures.items()}
        self._failures = {who: times for who, times in recent.items() if times}
        return len(self._failures.get(_address(request), ())) >= self._attempts

    def failed(self, request: Request) -> None:
        """Counts a wrong token."""
        self._failures.setdefault(_address(request), []).append(self._clock())


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


class Guard:
    """ASGI middleware in front of every route. What it refuses never reaches a handler.

    Written against plain ASGI because event streams must pass unbuffered.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_hosts: Collection[str],
        own_origins: Collection[str],
        sessions: Sessions | None,
        throttle: TokenThrottle,
        granted: Callable[[str, str], bool] | None = None,
    ) -> None:
        self._app = app
        self._hosts = {host_name(host) for host in allowed_hosts}
        self._origins = {origin.rstrip("/").lower() for origin in own_origins}
        self._sessions = sessions
        self._throttle = throttle
        self._granted = granted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                is_static = scope["path"].startswith("/static/")
                headers.setdefault("cache-control", "no-cache" if is_static else "no-store")
            await send(message)

        refusal = self._refuse(Request(scope))
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        headers = request.headers
        host = headers.get("host", "")
        if host_name(host) not in self._hosts:
            return error_response(request, 421, "bad_host", host=host[:100] or "?")
        offers_token = self._sessions is not None and "authorization" in headers
        if offers_token and self._throttle.blocked(request):
            return error_response(request, 429, "token_wait")
        bearer = self._bearer_ok(headers)
        if offers_token and not bearer:
            self._throttle.failed(request)
        if request.method not in ("GET", "HEAD") and not self._same_origin(headers, host, bearer=bearer):
            return error_response(request, 403, "bad_origin")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return error_response(request, 413, "body_too_large")
        request.scope["haechi_signed_in"] = signed_in = bearer or self._session_ok(request)
        path = request.url.path
        if self._sessions is None or signed_in or path in OPEN_PATHS or path.startswith("/static/"):
            return None
        return None if self._is_granted(request) else self._ask_for_token(request)

    def _is_granted(self, request: Request) -> bool:
        """Whether the link itself allows its reader to see this piece of evidence."""
        path, grant = request.url.path, request.query_params.get("grant")
        if self._granted is None or not grant or request.method not in ("GET", "HEAD"):
            return False
        return path.startswith(EVIDENCE_PATH) and self._granted(path.removeprefix(EVIDENCE_PATH), grant)

    def _same_origin(self, headers: Headers, host: str, *, bearer: bool) -> bool:
        """Browsers name the origin of every request that changes something; a program shows its token instead."""
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        origin = headers.get("origin")
        if origin is None:
            return bearer
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if f"{parts.scheme}://{parts.netloc}".lower() in self._origins:
            return True
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()

    def _bearer_ok(self, headers: Headers) -> bool:
        scheme, _, value = headers.get("authorization", "").partition(" ")
        return self._sessions is not None and scheme.lower() == "bearer" and self._sessions.token_matches(value.strip())

    def _session_ok(self, request: Request) -> bool:
        cookie = request.cookies.get(SESSION_COOKIE)
        return self._sessions is not None and cookie is not None and self._sessions.valid(cookie)

    def _ask_for_token(self, request: Request) -> Response:
        path = request.url.path
        if path.startswith("/api/") or path == "/events" or request.method != "GET":
            return error_response(request, 401, "need_token", headers={"www-authenticate": "Bearer"})
        target = path + (f"?{request.url.query}" if request.url.query else "")
        # A SameSite=Strict cookie does not come along when a link in a chat message is followed. Loading the same
        # address once more from our own page brings it, so a signed-in reader is not asked to sign in again.
        if request.headers.get("sec-fetch-site") == "cross-site" and SESSION_COOKIE not in request.cookies:
            return interstitial_response(target)
        return RedirectResponse(f"/login?next={quote(target, safe='/')}", status_code=303)


def host_name(host: str) -> str:
    """The name of a Host header or a setting without port, in lower case; an IPv6 address loses its brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0]


def local_target(target: str) -> str:
    """`target` when it is a path of this site, else "/": a login must not forward to other sites."""
    parts = urlsplit(target) if target.startswith("/") and not target.startswith(("//", "/\\")) else None
    if parts is None or parts.scheme or parts.netloc or any(ord(character) < 33 for character in target):
        return "/"
    return target


def cookie_header(name: str, value: str, *, secure: bool, max_age_s: int, http_only: bool = True) -> str:
    """One Set-Cookie value: this site only, never sent along by other sites."""
    jar: SimpleCookie = SimpleCookie()
    try:
        jar[name] = value
    except CookieError as error:
        raise ValueError(f"The cookie {name} cannot hold this value.") from error
    attributes = {"path": "/", "samesite": "Strict", "max-age": max_age_s, "httponly": http_only, "secure": secure}
    for attribute, setting in attributes.items():
        jar[name][attribute] = setting
    return jar[name].OutputString()


async def read_body(
    request: Request, limit_bytes: int = MAX_BODY_BYTES, *, limit_s: float = BODY_TIMEOUT_S
) -> bytes | None:
    """The body, or None when it is larger than the limit; never holds more than that. Raises HTTPException 408 when
    it takes longer than `limit_s`."""
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limit_s):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit_bytes:
                    return None
                chunks.append(chunk)
    except TimeoutError:
        raise HTTPException(408, headers={"connection": "close"}) from None
    return b"".join(chunks)


def hosts_and_origins(allowed_hosts: Sequence[str], public_url: str | None) -> tuple[set[str], set[str]]:
    """Host names that are answered, and origins other than the Host header's that count as our own."""
    hosts = {*LOOPBACK_HOSTS, *allowed_hosts}
    if not public_url:
        return hosts, set()
    parts = urlsplit(public_url)
    return hosts | {parts.netloc}, {f"{parts.scheme}://{parts.netloc}"}
