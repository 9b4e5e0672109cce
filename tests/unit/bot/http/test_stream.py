"""The event stream: order, resuming, two tabs, restarts; and the server that carries it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.errors import AddressUnavailable
from bot.http.patience import PatientProtocol
from bot.http.security import read_body
from bot.http.server import serve
from knowledge.types import Progress
from tests.unit.bot.http.site import Site, citation, reply

OpenSite = Callable[..., Site]


@dataclass(frozen=True)
class Event:
    id: str | None
    name: str
    data: Any


async def read_events(response: httpx.Response) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        else:
            if "event" in fields:
                yield Event(fields.get("id"), fields["event"], json.loads(fields["data"]))
            fields = {}


class Tab:
    """One open page: its stream, read event by event."""

    def __init__(self, response: httpx.Response) -> None:
        self._events = read_events(response)

    async def next(self, name: str = "item") -> Event:
        async with asyncio.timeout(60):
            while True:
                event = await anext(self._events)
                if event.name == name:
                    return event

    async def ended(self) -> bool:
        async with asyncio.timeout(60):
            return await anext(self._events, None) is None


@asynccontextmanager
async def running(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    """The site on a real port of 127.0.0.1, and a client for it."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serve(site.app, host="127.0.0.1", port=0, ready=port.set_result))
    address = f"http://127.0.0.1:{await port}"
    async with httpx.AsyncClient(base_url=address, headers={"origin": address}, timeout=60) as client:
        yield client
    server.cancel()
    with pytest.raises(asyncio.CancelledError):
        await server


@asynccontextmanager
async def tab(client: httpx.AsyncClient, query: str, **headers: str) -> AsyncIterator[Tab]:
    async with client.stream("GET", f"/events?{query}", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Tab(response)


async def test_a_reply_grows_in_order_and_ends_with_its_sources(site: Site) -> None:
    message = await site.ask("@haechi 숙박비는?")
    async with running(site) as client, tab(client, f"channel=general&root={message.id}") as page:
        await page.next("status")
        stream = site.platform.stream(message.thread, message.delivery_id)
        seen = []
        for piece in ("숙박비는 ", "**80,000원** ", "입니다 [1]."):
            await stream.append(piece)
            seen.append((await page.next()).data)
        await stream.finish(reply(message, "숙박비는 **80,000원** 입니다 [1].", citations=(citation(),)))
        last = (await page.next()).data
    assert len({item["id"] for item in [*seen, last]}) == 1, "one post that grows"
    assert ["80,000원" in item["html"] for item in seen] == [False, True, True]
    assert all(item["spoken"] is None and 'data-state="open"' in item["html"] for item in seen)
    assert 'data-evidence="chunk-1"' in last["html"]
    assert last["spoken"].startswith("숙박비는")


async def test_a_tab_that_lost_its_connection_gets_what_it_missed_once(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    query = f"channel=general&root={message.id}"
    async with running(site) as client:
        async with tab(client, query) as page:
            await page.next("status")
            await site.platform.post(reply(message, "첫째"))
            first = await page.next()
        assert first.id is not None
        await site.platform.post(reply(message, "둘째"))
        await site.platform.post(reply(message, "셋째"))
        async with tab(client, query, **{"last-event-id": first.id}) as page:
            missed = [await page.next(), await page.next()]
        async with tab(client, f"{query}&after={first.id}") as page:
            assert (await page.next()).id == missed[0].id
    assert ["둘째" in missed[0].data["html"], "셋째" in missed[1].data["html"]] == [True, True]


async def test_the_page_itself_says_where_its_stream_begins(site: Site) -> None:
    """What is posted between the building of a page and its first connection is not lost."""
    message = await site.ask("@haechi 하나")
    async with running(site) as client:
        html = (await client.get(f"/c/general/t/{message.id}")).text
        cursor = html.partition('data-cursor="')[2].partition('"')[0]
        await site.platform.post(reply(message, "사이에 온 답"))
        async with tab(client, f"channel=general&root={message.id}&after={cursor}") as page:
            assert "사이에 온 답" in (await page.next()).data["html"]


async def test_after_a_restart_a_tab_is_told_to_load_again(open_site: OpenSite) -> None:
    before = open_site()
    message = await before.ask("@haechi 하나")
    old = before.platform.changes.last_id
    after = open_site(run="b")
    async with (
        running(after) as client,
        tab(client, f"channel=general&root={message.id}", **{"last-event-id": old}) as page,
    ):
        reset = await page.next("reset")
        assert reset.id == after.platform.changes.last_id
        await after.platform.post(reply(message, "새 답"))
        assert "새 답" in (await page.next()).data["html"]


async def test_two_tabs_see_the_same_and_the_channel_page_sees_the_thread(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    other = await site.ask("@haechi 다른 스레드")
    thread = f"channel=general&root={message.id}"
    async with (
        running(site) as client,
        tab(client, thread) as one,
        tab(client, thread) as two,
        tab(client, "channel=general") as channel,
    ):
        for page in (one, two, channel):
            await page.next("status")
        await site.platform.post(reply(other, "다른 곳의 답"))
        await site.platform.post(reply(message, "여기의 답"))
        assert (await one.next()).data == (await two.next()).data
        lines = {(await channel.next()).data["id"], (await channel.next()).data["id"]}
    assert lines == {f"thread-{other.id}", f"thread-{message.id}"}


async def test_a_private_post_travels_to_its_reader_only(site: Site) -> None:
    async with running(site) as kim, httpx.AsyncClient(base_url=kim.base_url, timeout=60) as lee:
        await kim.get("/c/general")
        sent = (await kim.post("/api/channels/general/posts", json={"text": "@haechi 연차"})).json()
        thread = site.platform.posts.threads("general", limit=1)[0].root.thread
        author_id = site.platform.posts.threads("general", limit=1)[0].root.author.id
        query = f"channel=general&root={sent['thread']}"
        async with tab(kim, query) as mine, tab(lee, query) as theirs:
            for page in (mine, theirs):
                await page.next("status")
            await site.platform.respond_private(thread, author_id, "혼자만")
            assert "혼자만" in (await mine.next()).data["html"]
            await site.platform.post(reply(thread, "모두에게"))
            assert "모두에게" in (await theirs.next()).data["html"]


async def test_progress_of_the_index_is_pushed_and_ends(site: Site) -> None:
    site.progress = Progress(source="rules", stage="read", done=12, total=40)
    async with running(site) as client, tab(client, "channel=general") as page:
        assert (await page.next("status")).data == {"indexing": {"stage": "read", "done": 12, "total": 40}}
        site.progress = None
        await site.ask("@haechi 깨우기")
        assert (await page.next("status")).data == {"indexing": None}


async def test_markup_with_line_breaks_stays_within_one_event(site: Site) -> None:
    message = await site.ask("@haechi 하나")
    async with running(site) as client, tab(client, f"channel=general&root={message.id}") as page:
        await page.next("status")
        await site.platform.post(reply(message, "하나\r\ndata: {}\n\nevent: reset\u2028\n```\na\n\nb\n```"))
        assert "event: reset" in (await page.next()).data["html"]


# --- the server -----------------------------------------------------------------------------------


async def test_stopping_ends_open_streams_and_frees_the_port(site: Site) -> None:
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serve(site.app, host="127.0.0.1", port=0, ready=port.set_result))
    number = await port
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{number}", timeout=60) as client:
        async with tab(client, "channel=general") as page:
            await page.next("status")
            server.cancel()
            assert await page.ended()
        with pytest.raises(asyncio.CancelledError):
            await server
    with socket.create_server(("127.0.0.1", number)):
        pass


async def test_a_port_in_use_is_named_with_the_setting_to_change(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(AddressUnavailable, match=rf"127\.0\.0\.1 port {number}.*web\.port"):
            await serve(site.app, host="127.0.0.1", port=number, ready=lambda _: None)


async def test_an_address_of_another_machine_is_named_with_the_setting_to_change(site: Site) -> None:
    with pytest.raises(AddressUnavailable, match=r"web\.host"):
        await serve(site.app, host="192.0.2.1", port=0, ready=lambda _: None)


async def test_a_stream_ends_when_its_reader_leaves(site: Site) -> None:
    from bot.http.posts_html import Reader
    from bot.http.stream import event_stream

    reader = Reader(author=site.platform.bot, language="ko", bot_name="haechi")
    stream = event_stream(site.app.state.context, reader, channel_id="general", root_id=None, after=None)
    async with aclosing(stream) as pieces:
        assert (await anext(pieces)).startswith("retry:")
        assert "event: status" in await anext(pieces)
    await site.platform.close()
    stream = event_stream(site.app.state.context, reader, channel_id="general", root_id=None, after=None)
    assert len([piece async for piece in stream]) == 1


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 19, "-1", "x", ""])
async def test_a_position_that_cannot_be_is_one_that_is_not_known(site: Site, number: str) -> None:
    run = site.platform.changes.last_id.rpartition("-")[0]
    assert site.platform.changes.position(f"{run}-{number}") is None


# --- slow senders ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0",
        b"POST /api/channels HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Origin: http://127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
        b"POST /api/channels HTTP/1.1\r\nHost: evil\r\nContent-Length: 100\r\n\r\n{",
    ],
)
async def test_a_request_that_never_comes_completely_is_given_up(
    site: Site, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "request_timeout_s", 0.2)
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serve(site.app, host="127.0.0.1", port=0, ready=port.set_result))
    reader, writer = await asyncio.open_connection("127.0.0.1", await port)
    writer.write(sent)
    async with asyncio.timeout(60):
        await reader.read()
    writer.close()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port.result()}", timeout=60) as client:
        assert (await client.get("/c/general")).status_code == 200
    server.cancel()
    with pytest.raises(asyncio.CancelledError):
        await server


async def test_a_body_that_takes_too_long_is_answered_with_408() -> None:
    async def receive() -> dict[str, object]:
        await asyncio.Event().wait()
        raise AssertionError

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with pytest.raises(HTTPException) as caught:
        await read_body(request, limit_s=0.01)
    assert caught.value.status_code == 408
