"""Everything that the libraries raise becomes an error of the bot that says what to do, and never holds the token."""

from __future__ import annotations

import inspect

import mattermostdriver.exceptions
import pytest
import requests
from requests import exceptions as http

from bot.errors import AuthError, PlatformError, RateLimited, Unreachable
from bot.platforms.mattermost_failures import TABLE, Refused, refusal_of, translated
from tests.emulators.memory_state import MemoryState
from tests.unit.bot.platforms.mattermost_bench import adapter, bench


def upstream() -> set[type[BaseException]]:
    modules = (http, mattermostdriver.exceptions)
    found = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    return {kind for kind in found if issubclass(kind, requests.RequestException)}


def test_every_error_class_of_the_libraries_is_in_the_table():
    assert len(upstream()) > 25
    assert {kind.__name__ for kind in upstream() - set(TABLE)} == set()


@pytest.mark.parametrize("kind", sorted(upstream(), key=lambda kind: kind.__name__))
def test_every_error_is_one_sentence_of_the_platform(kind):
    error = kind("boom", "", 0) if kind is http.JSONDecodeError else kind("boom")
    told = translated(error, what="post", now_s=0.0)
    assert isinstance(told, PlatformError)
    assert str(told).endswith((".", ")."))


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, Refused), (401, AuthError), (403, Refused), (404, Refused), (408, Unreachable), (413, Refused),
     (429, RateLimited), (500, Unreachable), (502, Unreachable), (503, Unreachable)],
)  # fmt: skip
@pytest.mark.parametrize("body", [None, [], {"id": "x", "message": "no", "detailed_error": "token=secret"}])
def test_a_status_decides_what_is_done_about_it(status, kind, body):
    told = refusal_of(status, body, {}, what="post", now_s=0.0)
    assert type(told) is kind
    assert "secret" not in str(told)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry-After": "7"}, 7), ({"X-Ratelimit-Reset": "3"}, 3), ({"X-Ratelimit-Reset": "2000000010"}, 10), ({}, 1),
     ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 1), ({"Retry-After": "-5"}, 0), ({"Retry-After": "9999"}, 300)],
)  # fmt: skip
def test_how_long_to_wait_is_read_from_either_header(headers, seconds):
    told = refusal_of(429, None, headers, what="post", now_s=2_000_000_000.0)
    assert isinstance(told, RateLimited)
    assert told.retry_after_s == seconds


async def test_a_server_that_is_not_there_is_unreachable():
    async with bench(listening=False) as b:
        url = b.server.url
    platform = adapter(b.server, MemoryState(), url=url)
    with pytest.raises(Unreachable, match=r"mattermost\.url"):
        await platform.rest.me()
    await platform.close()


async def test_a_server_that_takes_too_long_is_unreachable():
    import asyncio

    async with bench(listening=False, request_timeout_s=0.2) as b:
        gate = asyncio.Event()
        b.server.fail("GET", "/users/me", hold=gate, status=0)
        with pytest.raises(Unreachable, match="in time"):
            await b.platform.rest.me()
        gate.set()


async def test_something_else_than_mattermost_is_told_as_such():
    from aiohttp import web

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<html>", content_type="text/html")

    async def moved(request: web.Request) -> web.Response:
        raise web.HTTPFound("/api/v4/users/me")

    for handler in (page, moved):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        async with bench(listening=False) as b:
            platform = adapter(b.server, MemoryState(), url=f"http://127.0.0.1:{runner.addresses[0][1]}")
            with pytest.raises(Unreachable, match=r"mattermost\.url"):
                await platform.rest.me()
            await platform.close()
        await runner.cleanup()


async def test_a_wrong_token_is_an_error_of_the_token_and_is_not_shown():
    async with bench(listening=False) as b:
        platform = adapter(b.server, MemoryState(), token="sehrgeheim")
        with pytest.raises(AuthError) as caught:
            await platform.rest.me()
        assert "sehrgeheim" not in str(caught.value)
        assert "sehrgeheim" not in repr(platform._options)
        await platform.close()


async def test_a_server_below_a_path_is_reached_there():
    async with bench(listening=False) as b:
        platform = adapter(b.server, MemoryState(), url=f"{b.server.url}/chat")
        with pytest.raises(Refused) as caught:
            await platform.rest.me()
        assert caught.value.status == 404
        assert platform._socket._address.endswith("/chat/api/v4/websocket")
        await platform.close()
