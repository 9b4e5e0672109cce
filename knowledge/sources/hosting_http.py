"""Requests to the API of a web host of git: pages, conditional requests, and the limits of the host obeyed.

Limits: GitHub's "Rate limits for the REST API" and "Best practices" (Retry-After, else x-ratelimit-reset when nothing
remains, else at least a minute and longer each time), GitLab's RateLimit-Reset and Retry-After.
"""

from __future__ import annotations

import json
import os
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlencode, urlsplit

import httpx

from knowledge.errors import SourceMissing, ToolDown

PER_PAGE: Final = 100
TIMEOUT_S: Final = 30.0
ATTEMPTS: Final = 4  # of one request that fails for no reason of ours
LONGEST_WAIT_S: Final = 2 * 3600  # a primary limit starts anew within an hour
SECONDARY_WAIT_S: Final = 60
_MAX_PAGES: Final = 1000

Waiting = Callable[[str], None]


class Pause(Protocol):
    """Waits, but no longer than until it should stop."""

    def __call__(self, seconds: float, should_stop: Callable[[], bool]) -> None: ...


@dataclass(slots=True, kw_only=True)
class Watch:
    """What a long listing tells and asks on the way."""

    should_stop: Callable[[], bool]
    waiting: Waiting


class HostingClient:
    """GET and POST to one API. Answers are remembered in `memory` by their ETag, so that asking again costs nothing."""

    def __init__(
        self,
        base_url: str,
        *,
        place: str,
        headers: Callable[[], Mapping[str, str]],
        clock: Callable[[], datetime],
        pause: Pause,
        memory: Path | None = None,
        ca_file: Path | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._place = place
        self._headers = headers
        self._clock = clock
        self._pause = pause
        self._memory = _Memory(memory)
        self._ca_file = ca_file
        self._http: httpx.Client | None = None
        self._opening = threading.Lock()

    def pages(self, path: str, parameters: Mapping[str, str], watch: Watch, *, key: str = "") -> Iterator[Any]:
        """Every entry of a listing, page after page; `key` names the list within an answer that is an object."""
        url: str | None = f"{self.base_url}{path}?{urlencode({**parameters, 'per_page': str(PER_PAGE)})}"
        for _ in range(_MAX_PAGES):
            if url is None:
                break
            body, url = self._page(url, watch)
            yield from body[key] if key else body
        self._memory.save()

    def get(self, path: str, watch: Watch, *, headers: Mapping[str, str] | None = None) -> Any | None:
        """The answer of one request; None when there is nothing of that name."""
        response = self._send("GET", self.base_url + path, watch, headers or self._headers())
        return None if response.status_code == 404 else self._body(response)

    def post(self, path: str, watch: Watch, *, headers: Mapping[str, str]) -> Any:
        """The answer of one request that makes something. Raises SourceMissing when it is refused."""
        return self._body(self._send("POST", self.base_url + path, watch, headers))

    def close(self) -> None:
        """Ends the connections; the next request opens others."""
        with self._opening:
            client, self._http = self._http, None
        if client is not None:
            client.close()

    # --- one request ------------------------------------------------------------------------------

    def _page(self, url: str, watch: Watch) -> tuple[Any, str | None]:
        held = self._memory.get(url)
        headers = dict(self._headers())
        if held is not None:
            headers["If-None-Match"] = held["etag"]
        response = self._send("GET", url, watch, headers)
        if response.status_code == 304 and held is not None:
            return held["body"], held["next"]
        body = self._body(response)
        if "partial-results" in response.headers.get("x-github-sso", ""):
            raise SourceMissing(
                f"{self._place} shows only a part of its repositories to this token: authorise it for single sign-on"
            )
        following = response.links.get("next", {}).get("url")
        if following is not None and _origin(following) != _origin(self.base_url):
            raise SourceMissing(f"{self._place} sent the address of a page on another server: check base_url")
        if etag := response.headers.get("etag"):
            self._memory.put(url, {"etag": etag, "body": body, "next": following})
        return body, following

    def _send(self, method: str, url: str, watch: Watch, headers: Mapping[str, str]) -> httpx.Response:
        waited_s, failures, limits = 0.0, 0, 0
        while True:
            if watch.should_stop():
                raise ToolDown(f"{self._place} was not listed, because the sync was asked to stop")
            response: httpx.Response | None
            try:
                response = self._follow(method, url, headers)
            except httpx.TransportError as error:
                response, problem = None, f"{type(error).__name__}: {error}"
            else:
                problem = f"status {response.status_code}"
            limit_s: float | None = None if response is None else self._limit_s(response, limits)
            if response is not None and limit_s is None and response.status_code < 500:
                return response
            if limit_s is None:
                failures += 1
                if failures >= ATTEMPTS:
                    raise ToolDown(
                        f"{self._place} cannot be listed now ({problem}); it is asked again at the next sync"
                    )
                limit_s = 2.0**failures
            else:
                limits += 1
                until = datetime.fromtimestamp(self._clock().timestamp() + limit_s, UTC)
                watch.waiting(f"{self._place} allows no more requests until {until:%H:%M:%S} UTC")
            waited_s += limit_s
            if waited_s > LONGEST_WAIT_S:
                raise ToolDown(f"{self._place} allows no requests for hours; it is asked again at the next sync")
            self._pause(limit_s, watch.should_stop)

    def _follow(self, method: str, url: str, headers: Mapping[str, str]) -> httpx.Response:
        """The answer, after redirects within the server: an organisation that was renamed has one."""
        for _ in range(5):
            response = self._opened().request(method, url, headers=dict(headers))
            if not response.has_redirect_location:
                return response
            target = str(response.url.join(response.headers["location"]))
            if _origin(target) != _origin(url):
                raise SourceMissing(f"{self._place} redirects to another server: set base_url to its new address")
            url = target
        return response

    def _opened(self) -> httpx.Client:
        with self._opening:
            if self._http is None:
                verify = True if self._ca_file is None else _trusting(self._ca_file, self._place)
                try:
                    self._http = httpx.Client(timeout=TIMEOUT_S, verify=verify, follow_redirects=False)
                except (ImportError, ValueError, httpx.InvalidURL) as error:  # nothing else here comes from outside
                    raise SourceMissing(
                        f"{self._place} cannot be reached through the proxy that HTTPS_PROXY or ALL_PROXY names: give "
                        f"http://host:port, or name the server in NO_PROXY"
                    ) from error
            return self._http

    def _limit_s(self, response: httpx.Response, limits: int) -> float | None:
        """Seconds to wait because of a limit, or None when the answer speaks of none."""
        if response.status_code not in (403, 429):
            return None
        now_s = self._clock().timestamp()
        after = response.headers.get("retry-after")
        if after is not None:
            return max(1.0, float(after) if after.isdigit() else _date_s(after) - now_s)
        reset = response.headers.get("x-ratelimit-reset") or response.headers.get("ratelimit-reset")
        left = response.headers.get("x-ratelimit-remaining") or response.headers.get("ratelimit-remaining")
        if left == "0" and reset is not None and reset.isdigit():
            return max(1.0, float(reset) - now_s + 1.0)
        if response.status_code == 429 or "rate limit" in response.text.lower():
            return float(SECONDARY_WAIT_S * 2 ** min(limits, 5))
        return None

    def _body(self, response: httpx.Response) -> Any:
        if response.status_code in (401, 403):
            raise SourceMissing(
                f"{self._place} refuses the credentials (status {response.status_code}{_said(response)}): check the "
                f"token or the GitHub App, that it has not expired, and that it may read the repositories"
            )
        if response.status_code == 404:
            raise SourceMissing(
                f"{self._place} is not there, or the credentials may not see it: correct the name, or give them access"
            )
        if not response.is_success:
            raise SourceMissing(f"{self._place} answers with status {response.status_code}{_said(response)}")
        try:
            return response.json()
        except ValueError as error:
            raise SourceMissing(f"{self._place} answers with something that is no JSON: check base_url") from error


class _Memory:
    """Answers by address in one file; what cannot be read or written is only asked again."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._old: dict[str, Any] = {}
        self._new: dict[str, Any] = {}
        if path is not None:
            try:
                held = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                held = {}
            self._old = held if isinstance(held, dict) else {}

    def get(self, url: str) -> Any | None:
        held = self._old.get(url)
        if held is not None:
            self._new[url] = held
        return held

    def put(self, url: str, answer: Any) -> None:
        self._new[url] = answer

    def save(self) -> None:
        if self._path is None or self._new == self._old:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(self._new, ensure_ascii=False), encoding="utf-8")
        os.replace(draft, self._path)
        self._old = dict(self._new)


def _trusting(ca_file: Path, place: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except OSError as error:
        raise SourceMissing(
            f"{place}: ca_file {ca_file} holds no certificate that can be read: give a file with one in PEM form"
        ) from error


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _date_s(text: str) -> float:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return 0.0


def _said(response: httpx.Response) -> str:
    """What the host says about it, in short."""
    from knowledge.masking import mask

    try:
        said = response.json().get("message")
    except (ValueError, AttributeError):
        return ""
    return f", {mask(str(said))[:120]}" if said else ""
