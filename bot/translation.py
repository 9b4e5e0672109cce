"""Korean questions about code in English: asked of the small model beside the first search, bounded and remembered."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict

import structlog

from bot.content_words import is_korean
from bot.errors import ModelError
from bot.ports import ChatModel
from bot.prompting import prompt_text
from bot.types import ChatTurn
from knowledge.masking import mask

TRANSLATION_LIMIT_S = 15.0
_REMEMBERED = 256
_MOST_CHARS = 400
_LATIN = re.compile(r"[A-Za-z]{2,}")

log = structlog.get_logger(__name__)


class Translator:
    """Translates masked questions. Translations stay in memory only, the latest ones."""

    def __init__(self, model: ChatModel | None, *, limit_s: float = TRANSLATION_LIMIT_S) -> None:
        self._model = model
        self._limit_s = limit_s
        self._known: OrderedDict[str, str] = OrderedDict()

    def start(self, question: str) -> asyncio.Task[str | None] | None:
        """The translation under way; None for questions that need none, and without a model."""
        if self._model is None or not is_korean(question):
            return None
        return asyncio.create_task(self.translate(question))

    async def translate(self, question: str) -> str | None:
        """The question in English; None when the model fails, is too slow, or gives back no English."""
        if self._model is None:
            return None
        if question in self._known:
            self._known.move_to_end(question)
            return self._known[question]
        turns = (
            ChatTurn(role="system", content=prompt_text("translate")),
            ChatTurn(role="user", content=question),
        )
        try:
            async with asyncio.timeout(self._limit_s):
                written = await self._model.complete(turns)
        except (ModelError, TimeoutError) as error:
            log.warning("translation.failed", reason=str(error) or "too slow")
            return None
        line = mask(written.strip().splitlines()[0].strip(" \"'`")) if written.strip() else ""
        if not _LATIN.search(line) or is_korean(line) or len(line) > _MOST_CHARS:
            return None
        self._known[question] = line
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return line
