"""Who may post alerts and deployments: the token by one of several ways, compared in constant time; how many a minute.

Every alerting system can prove itself by one of these: `Authorization: Bearer TOKEN`, HTTP Basic with the token as the
password (SNS: https://any:TOKEN@host/alerts), GitHub's and GitLab's webhook secret, and `?token=` for what can do no
more than call an address; addresses are not logged here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.http.machine import whole_body

SIGNATURE = "x-hub-signature-256"


class AlertDoor:
    """Lets calls in that know the token, and not more of them than `per_minute`."""

    def __init__(self, token: str, clock: Callable[[], datetime], per_minute: int) -> None:
        self._token = token.encode()
        self._clock = clock
        self._per_minute = per_minute
        self._calls: deque[datetime] = deque()

    async def body_of(self, request: Request, *, limit_bytes: int) -> bytes | Response:
        """The body of a caller who may come in now, else the response. Raises HTTPException 408 and 413.

        The body is read before the caller is known only where a signature of it is what proves the caller.
        """
        signature = _raw(request, SIGNATURE)
        body = await whole_body(request, limit_bytes=limit_bytes) if signature else None
        known = self._is_signed(signature, body) if signature and body is not None else self._knows_token(request)
        if not known:
            return refusal(
                401,
                "The token is missing or wrong; send `Authorization: Bearer TOKEN` with that of [alerts].",
                headers={"WWW-Authenticate": 'Basic realm="alerts"'},  # SNS sends its password only when asked
            )
        wait_s = self._wait_s()
        if wait_s is not None:
            return refusal(
                429,
                f"More than {self._per_minute} calls came within a minute; send it again later.",
                retry_after_s=wait_s,
            )
        return await whole_body(request, limit_bytes=limit_bytes) if body is None else body

    def _knows_token(self, request: Request) -> bool:
        scheme, _, told = _raw(request, "authorization").partition(b" ")
        given = request.query_params.get("token", "").encode("utf-8", "surrogateescape")
        if scheme.lower() == b"bearer":
            given = told.strip()
        elif scheme.lower() == b"basic":
            given = _password(told.strip())
        elif "x-gitlab-token" in request.headers:
            given = _raw(request, "x-gitlab-token")
        return hmac.compare_digest(given, self._token)

    def _is_signed(self, signature: bytes, body: bytes) -> bool:
        expected = f"sha256={hmac.new(self._token, body, hashlib.sha256).hexdigest()}"
        return hmac.compare_digest(signature, expected.encode())

    def _wait_s(self) -> int | None:
        """None when there is room for one more call, which is counted; else how long there will be none."""
        now = self._clock()
        while self._calls and now - self._calls[0] >= timedelta(minutes=1):
            self._calls.popleft()
        if len(self._calls) >= self._per_minute:
            return 60 - int((now - self._calls[0]).total_seconds())
        self._calls.append(now)
        return None


def refusal(
    status: int, sentence: str, *, retry_after_s: int | None = None, headers: dict[str, str] | None = None
) -> Response:
    """A response that says in one sentence what is wrong and what to do."""
    told = {**(headers or {}), **({"Retry-After": str(max(1, retry_after_s))} if retry_after_s is not None else {})}
    return JSONResponse({"error": sentence}, status_code=status, headers=told)


def _raw(request: Request, name: str) -> bytes:
    """A header as it came, empty when it did not: Starlette reads every one as Latin-1."""
    return request.headers.get(name, "").encode("latin-1")


def _password(told: bytes) -> bytes:
    try:
        return base64.b64decode(told, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""
