"""What is said beside an answer: which parts were missing, and why the model did not answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.errors import ModelError, ModelNotInstalled, ModelPromptCut, ModelReplyCut, ModelTimeout
from bot.model_chain import Skipped
from bot.sources import unfinished
from bot.types import Language
from bot.wording import tool_name, word
from knowledge.types import SourceStatus, ToolStatus

NO_TITLES: Mapping[str, str] = {}
SEARCH_TOOLS = ("dense", "keyword", "catalog")
_PENDING = re.compile(r"^vectors pending for (\d+) of (\d+) chunks of (.+)$")
_EMBEDDER = re.compile(r"^embedder (\S+) could not be used, its results are missing: (.+)$", re.DOTALL)
_RERANKER = re.compile(r"^(?:the )?reranker\b", re.IGNORECASE)


def is_search_tool(tool: ToolStatus) -> bool:
    """Whether a search without the tool is not a whole one."""
    return tool.name.partition(":")[0] in SEARCH_TOOLS


def degraded_lines(sentences: Sequence[str], statuses: Sequence[SourceStatus], language: Language) -> list[str]:
    """What was missing, with sources by their titles; of a source that was never indexed that is said once."""
    titles = {status.source: status.title for status in statuses}
    new = {status.source for status in statuses if status.last_sync is None and not status.problem}
    lines = [
        degraded_line(sentence, language, titles=titles)
        for sentence in sentences
        if not ((pending := _PENDING.match(sentence)) and pending[3] in new)
    ]
    return lines + unfinished(statuses, language)


def degraded_line(sentence: str, language: Language, *, titles: Mapping[str, str] = NO_TITLES) -> str:
    """A sentence of `knowledge` about what was missing, in the reader's language; one that is not known stays."""
    if pending := _PENDING.match(sentence):
        missing, total, source = pending.groups()
        return word("vectors_pending", language, missing=missing, total=total, source=titles.get(source, source))
    if embedder := _EMBEDDER.match(sentence):
        name = tool_name(f"dense:{embedder[1]}", language)
        return word("embedder_missing", language, tool=name, reason=embedder[2].rstrip("."))
    if language == "ko" and _RERANKER.match(sentence):
        return word("reranker_missing", language)
    return sentence


def model_problem(error: ModelError, language: Language) -> str:
    """Why a model gave nothing, without addresses: the log has them."""
    names: tuple[tuple[type[ModelError], str], ...] = (
        (ModelNotInstalled, "model_gone"),
        (ModelTimeout, "model_slow"),
        (ModelPromptCut, "model_prompt"),
        (ModelReplyCut, "model_cut"),
    )
    return word(next((name for kind, name in names if isinstance(error, kind)), "model_silent"), language)


def skipped_notes(skipped: Sequence[Skipped], used: str, language: Language) -> list[str]:
    """One line for each model that was to answer and did not."""
    return [
        word("model_skipped", language, model=skip.model, reason=model_problem(skip.error, language), used=used)
        for skip in skipped
    ]


def quote_words(words: Sequence[str]) -> str:
    """The words in quotation marks, joined."""
    return ", ".join(f"‘{word}’" for word in words)
