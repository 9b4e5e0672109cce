"""The Model Context Protocol: the official client against our endpoint on a real port, over real knowledge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import httpx2
import pytest
import structlog
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from bot.http.machine import MachineDoor
from bot.http.mcp import McpEndpoint
from knowledge.types import Scope, SourceConfig
from tests.unit.knowledge.shelf import LEAVE, TRAVEL, Shelf

TOKEN = "open-sesame-for-assistants"


@pytest.fixture
def shelf(tmp_path: Path):
    shelf = Shelf(tmp_path)
    other = tmp_path / "board"
    other.mkdir()
    (other / "bonus.md").write_text("# 임원규정\n\n## 제1조(상여)\n임원의 상여는 500만원으로 한다.\n", encoding="utf-8")
    shelf.sources = (*shelf.sources, SourceConfig(name="board", kind="documents", path=other))
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.knowledge.sync()
    yield shelf
    shelf.close()


@asynccontextmanager
async def served(shelf: Shelf, *, token: str | None = TOKEN) -> AsyncIterator[str]:
    """The address of the endpoint, which sees the source "rules" only."""
    endpoint = McpEndpoint(
        shelf.knowledge,
        scope=Scope.of("rules"),
        token=token,
        allowed_hosts=["127.0.0.1"],
        version="1",
        link=lambda scored: f"https://docs.example.com/{scored.chunk.locator.uri}",
    )
    app = MachineDoor(Starlette(), routes=[endpoint.route])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="none"))
    async with endpoint.running():
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0)
        try:
            port = server.servers[0].sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def said(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    return "".join(part.text for part in result.content)


async def test_an_assistant_finds_an_article_and_reads_it_whole(shelf):
    async with served(shelf) as address, connected(address) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"search_docs", "list_docs", "read_article"}
        found = await said(client, "search_docs", query="연차휴가는 며칠인가요?")
        assert "제2조(연차휴가)】" in found
        assert "15일" in found
        assert "https://docs.example.com/leave.md" in found
        assert "하루 3만원" in await said(client, "read_article", document="travel.md", article="제2조")
        assert "rules: leave.md" in await said(client, "list_docs")


async def test_what_the_scope_leaves_out_cannot_be_searched_listed_or_read(shelf):
    async with served(shelf) as address, connected(address) as client:
        assert "500만원" not in await said(client, "search_docs", query="임원의 상여는 얼마인가요?")
        assert "board" not in await said(client, "list_docs")
        assert "500만원" not in await said(client, "read_article", document="bonus.md", article="제1조")


async def test_no_evidence_is_said_in_words_that_an_assistant_cannot_take_for_an_answer(shelf):
    async with served(shelf) as address, connected(address) as client:
        assert (await said(client, "search_docs", query="축구 경기 결과")).startswith("근거 문서 없음")


async def test_a_missing_article_names_what_is_near_and_is_no_protocol_error(shelf):
    async with served(shelf) as address, connected(address) as client:
        told = await said(client, "read_article", document="travel.md", article="제9조")
        assert told.startswith("사용할 수 없음")


@pytest.mark.parametrize("shown", [{}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"}])
async def test_without_the_token_nothing_is_told(shelf, shown):
    async with served(shelf) as address, httpx.AsyncClient(headers=shown) as http:
        response = await http.post(address, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert response.status_code == 401
        assert "search_docs" not in response.text


async def test_a_page_in_a_browser_that_was_led_to_the_address_is_refused_by_its_host_name(shelf):
    async with served(shelf, token=None) as address, httpx.AsyncClient() as http:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        response = await http.post(address, json=call, headers={"host": "evil.example.com"})
        assert response.status_code in (403, 421)


async def test_every_call_leaves_a_line_with_its_tool_and_without_what_was_asked(shelf):
    with structlog.testing.capture_logs() as lines:
        async with served(shelf) as address, connected(address) as client:
            await said(client, "search_docs", query="연차휴가는 며칠인가요?")
    (line,) = [line for line in lines if line["event"] == "mcp.answered"]
    assert (line["tool"], line["chars"] > 0) == ("search_docs", True)
    assert "연차휴가" not in str(line)
