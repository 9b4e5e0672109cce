"""How connections are kept."""

from __future__ import annotations

import asyncio

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.http.server import serve

LONGEST_IDLE_OF_PROXIES_S = 60.0


async def test_an_idle_connection_is_kept_longer_than_clients_and_proxies_keep_it(monkeypatch):
    async def hello(request: Request) -> Response:
        return PlainTextResponse("hello")

    loop = asyncio.get_running_loop()
    ended: list[float] = []
    call_later = loop.call_later

    def note(delay, callback, *args, **kwargs):
        if getattr(callback, "__name__", "") == "timeout_keep_alive_handler":
            ended.append(delay)
        return call_later(delay, callback, *args, **kwargs)

    monkeypatch.setattr(loop, "call_later", note)
    port: asyncio.Future[int] = loop.create_future()
    serving = asyncio.create_task(
        serve(Starlette(routes=[Route("/", hello)]), host="127.0.0.1", port=0, ready=port.set_result)
    )
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{await port}/")).text == "hello"
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert ended
    assert min(ended) > LONGEST_IDLE_OF_PROXIES_S
