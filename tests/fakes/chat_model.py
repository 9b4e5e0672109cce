"""A chat model for tests: says what it is told to, piece by piece, and fails as it is told.

It passes the same contract tests as the real adapter (tests/contract/test_chat_model.py).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.errors import ModelError
from bot.ports import Waiting
from bot.types import ChatTurn
from knowledge.types import ToolState, ToolStatus


@dataclass(frozen=True, kw_only=True)
class FakeReply:
    """One reply: its pieces, then `error` if there is one."""

    pieces: tuple[str, ...] = ()
    error: ModelError | None = None
    hold: asyncio.Event | None = None  # nothing is said until the event is set


class FakeChatModel:
    """Gives `replies` in their order, and `otherwise` when they are used up. `asked` holds every prompt."""

    def __init__(
        self,
        *replies: FakeReply,
        otherwise: FakeReply | None = None,
        name: str = "fake-model",
        state: ToolState = "ok",
        detail: str = "",
    ) -> None:
        self.name = name
        self.replies: deque[FakeReply] = deque(replies)
        self.otherwise = otherwise or FakeReply(pieces=("No more replies.",))
        self.asked: list[tuple[ChatTurn, ...]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.closed = False
        self._state: ToolState = state
        self._detail = detail

    @classmethod
    def saying(cls, *texts: str) -> FakeChatModel:
        """A model that gives each text as one reply, word by word."""
        return cls(*(FakeReply(pieces=tuple(_words(text))) for text in texts))

    async def stream(self, turns: Sequence[ChatTurn], *, waiting: Waiting | None = None) -> AsyncGenerator[str]:
        self.asked.append(tuple(turns))
        reply = self.replies.popleft() if self.replies else self.otherwise
        if reply.hold is not None:
            await reply.hold.wait()
        for piece in reply.pieces:
            await asyncio.sleep(0)  # as a network does, lets others run between two pieces
            yield piece
        if reply.error is not None:
            raise reply.error

    async def complete(self, turns: Sequence[ChatTurn], *, schema: Mapping[str, Any] | None = None) -> str:
        self.schemas.append(schema)
        return "".join([piece async for piece in self.stream(turns)])

    async def check(self) -> ToolStatus:
        return ToolStatus(
            name="model", state=self._state, detail=self._detail or self.name, checked_at=datetime.now(UTC)
        )

    async def close(self) -> None:
        self.closed = True


def _words(text: str) -> Iterable[str]:
    first, *others = text.split(" ")
    yield first
    for word in others:
        yield f" {word}"
