"""A page with real storage and a scripted knowledge behind it, for tests of the HTTP side."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from starlette.applications import Starlette

from bot.http.server import build_http
from bot.platforms.web import WebPlatform
from bot.store import Store
from bot.types import Author, Citation, Delivery, Message, Reply, ThreadRef
from knowledge.api import PageImage
from knowledge.errors import NotFound
from knowledge.types import DocumentSummary, Locator, Passage, Progress, Scope

ORIGIN = "http://127.0.0.1:8765"


class SteppingClock:
    """One second later at every look; `now` can be moved on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class ScriptedKnowledge:
    """Passages by chunk id, within a scope, as the real knowledge gives them."""

    def __init__(self, passages: Mapping[str, Passage] | None = None) -> None:
        self.passages = dict(passages or {})
        self.images: dict[tuple[str, int], PageImage | Exception] = {}

    def passage(self, chunk_id: str, *, scope: Scope) -> Passage:
        passage = self.passages.get(chunk_id)
        if passage is None or not scope.allows(passage.source):
            raise NotFound(f"There is no chunk {chunk_id}.")
        return passage

    def page_image(self, chunk_id: str, page: int, *, scope: Scope) -> PageImage:
        self.passage(chunk_id, scope=scope)
        image = self.images.get((chunk_id, page), NotFound(f"There is no page {page}."))
        if isinstance(image, Exception):
            raise image
        return image

    def list_documents(self, *, scope: Scope) -> Sequence[DocumentSummary]:
        return []


def counted_ids(prefix: str = "id") -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers)}"


class Site:
    """Store, platform and application over one data folder; opening another one on it is a restart."""

    def __init__(
        self,
        folder: Path,
        *,
        passages: Mapping[str, Passage] | None = None,
        token: str | None = None,
        allowed_hosts: Sequence[str] = (),
        public_url: str | None = None,
        scope: Scope | None = None,
        examples: Sequence[str] = (),
        run: str = "a",
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.clock = SteppingClock()
        self.store = Store.open(folder / "bot.sqlite3", clock=self.clock)
        self.platform = WebPlatform(self.store, clock=self.clock, new_id=new_id or counted_ids(run))
        self.knowledge = ScriptedKnowledge(passages)
        self.progress: Progress | None = None
        self.health: dict[str, object] = {"status": "ok", "data_dir": "/srv/haechi"}
        self.received: list[Delivery] = []
        self.app: Starlette = build_http(
            platform=self.platform,
            knowledge=self.knowledge,
            scope=scope or Scope.everything(),
            token=token,
            allowed_hosts=allowed_hosts,
            public_url=public_url,
            examples=examples,
            health=self._health,
            indexing=lambda: self.progress,
            clock=self.clock,
            new_id=lambda: "error-1",
        )

    async def _health(self) -> Mapping[str, object]:
        return self.health

    async def receive(self, delivery: Delivery) -> None:
        self.received.append(delivery)

    def client(self, *, origin: str | None = ORIGIN, base_url: str = ORIGIN, **options: object) -> httpx.AsyncClient:
        """A browser-like client: keeps cookies, names its origin, does not follow redirects."""
        headers = {"origin": origin} if origin else {}
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=base_url, headers=headers, **options)  # type: ignore[arg-type]

    async def ask(self, text: str, *, root_id: str | None = None, name: str = "김하늘") -> Message:
        """A message as the bot would hear it."""
        post = await self.platform.submit(
            channel_id="general",
            root_id=root_id,
            author=Author(id="web:kim", display_name=name, is_bot=False),
            text=text,
        )
        (message,) = [m for m in await self.platform.fetch_thread(post.thread, 100) if m.id == post.id]
        return message

    def close(self) -> None:
        self.store.close()


def citation(index: int = 1, chunk_id: str = "chunk-1", **fields: object) -> Citation:
    locator = {
        "source": "rules",
        "uri": "여비규정.md",
        "revision": "f" * 64,
        "label": "여비규정 제3조(숙박비)",
        "page": 2,
    }
    locator |= {key: value for key, value in fields.items() if key in Locator.__dataclass_fields__}
    return Citation(
        index=index,
        chunk_id=chunk_id,
        locator=Locator(**locator),  # type: ignore[arg-type]
        title=str(fields.get("title", "여비규정")),
        url=None,
        quote=str(fields.get("quote", "숙박비는 1박에 80,000원까지 지급한다.")),
    )


def reply(message: Message | ThreadRef, text: str, *, final: bool = True, **fields: object) -> Reply:
    thread = message.thread if isinstance(message, Message) else message
    delivery_id = message.delivery_id if isinstance(message, Message) else "web:none"
    citations = fields.pop("citations", ())
    return Reply(
        thread=thread, markdown=text, citations=citations, delivery_id=delivery_id, final=final, **fields  # type: ignore[arg-type]
    )  # fmt: skip
