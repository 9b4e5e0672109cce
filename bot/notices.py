"""What is said beside an answer: which parts were missing, and why the model did not answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.errors import ModelError, ModelNotInstalled, ModelPromptCut, ModelReplyCut, ModelTimeout, ModelUnavailable
from bot.model_chain import Skipped
from bot.sources import ToolHistory, unfinished
from bot.types import Language
from bot.wording import tool_name, word
from knowledge.types import Evidence, ScoredChunk, SourceStatus, ToolStatus

NO_TITLES: Mapping[str, str] = {}
MODEL = "model:"  # before the names of models among the tools
SEARCH_TOOLS = ("dense", "keyword", "catalog")
RERANKER = "reranker"  # no tool of the search itself: without it the same is found, in another order
_PENDING = re.compile(r"^vectors pending for (\d+) of (\d+) chunks of (.+)$")
_EMBEDDER = re.compile(r"^embedder (\S+) could not be used, its results are missing: (.+)$", re.DOTALL)
_EARLIEST = re.compile(
    r"^the question asks (?:for (?P<time>.+?)|before its last revision): the earliest wording of (?P<name>.+) that is"
    r" known holds since (?P<day>\S+)$",
    re.DOTALL,
)
_NOT_YET = re.compile(r"^(?P<name>.+) is not in force before (?P<day>\d{4}-\d{2}-\d{2})$")
_TIME_PARTICLES = re.compile(r"\s*(?:에는|에도|까지는|까지만|엔|에|기준|당시|시점|현재|때|무렵)$")
_RERANKER = re.compile(r"^(?:the )?reranker\b", re.IGNORECASE)


def code_notes(told: Sequence[ScoredChunk], language: Language) -> list[str]:
    """That what a model says of code in its own words is its reading, though it has been compared with the lines."""
    return [word("code_reading", language)] if any(one.chunk.evidence_kind == "code" for one in told) else []


def search_tools_down(tools: Sequence[ToolStatus]) -> list[ToolStatus]:
    """The tools without which a search is not a whole one, as far as they are down."""
    return [tool for tool in tools if tool.name.partition(":")[0] in SEARCH_TOOLS and tool.state == "down"]


def unsearched(statuses: Sequence[SourceStatus], language: Language, *, now: datetime) -> list[ToolStatus]:
    """What could not be searched, though every tool answered: sources that were never read, and vector spaces in which
    nothing of a source is yet. What could be is there too, as "ok"."""
    found = []
    for status in statuses:
        detail = (status.problem or word("tool_index_building", language)).rstrip(".")
        is_read = status.last_sync is not None
        found.append(
            ToolStatus(name=f"source:{status.title}", state="ok" if is_read else "down", detail=detail, checked_at=now)
        )
    for space in sorted({space for status in statuses for space in status.pending}):
        empty = [s.title for s in statuses if s.chunks and s.pending.get(space, 0) >= s.chunks]
        detail = word("vectors_none", language, sources=", ".join(empty))
        found.append(
            ToolStatus(name=f"vectors:{space}", state="down" if empty else "ok", detail=detail, checked_at=now)
        )
    return found


def search_notes(
    evidence: Evidence, statuses: Sequence[SourceStatus], tools: ToolHistory, language: Language
) -> tuple[str, ...]:
    """What was missing from a search, one sentence each, tools that were down first."""
    down = search_tools_down(evidence.tools)
    unordered = [tool for tool in evidence.tools if tool.name == RERANKER and tool.state == "down"]
    lines = degraded_lines(evidence.degraded, statuses, language, told=(*down, *unordered))
    if unordered:
        why = tools.describe(unordered, language).removeprefix(tool_name(RERANKER, language))
        lines.insert(0, f"{word('reranker_missing', language).removesuffix('.')}{why}.")
    if down:
        lines.insert(0, word("tool_partly_down", language, tools=tools.describe(down, language)))
    return tuple(dict.fromkeys(lines))


def degraded_lines(
    sentences: Sequence[str], statuses: Sequence[SourceStatus], language: Language, *, told: Sequence[ToolStatus] = ()
) -> list[str]:
    """What was missing, with sources by their titles; of a source that was never indexed that is said once, and nothing
    of the tools that are `told` otherwise."""
    known = {tool.name for tool in told}
    titles = {status.source: status.title for status in statuses}
    new = {status.source for status in statuses if status.last_sync is None and not status.problem}
    lines = [
        degraded_line(sentence, language, titles=titles)
        for sentence in sentences
        if not ((pending := _PENDING.match(sentence)) and pending[3] in new)
        and not ((embedder := _EMBEDDER.match(sentence)) and f"dense:{embedder[1]}" in known)
        and not (_RERANKER.match(sentence) and RERANKER in known)
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
    if _RERANKER.match(sentence):
        return word("reranker_missing", language)
    return _time_line(sentence, language) or sentence


def _time_line(sentence: str, language: Language) -> str | None:
    """Since when what is shown holds, when the question is about a time before; None for other sentences."""
    if not_yet := _NOT_YET.match(sentence):
        return word("not_in_force_yet", language, name=not_yet["name"], day=not_yet["day"])
    if (earliest := _EARLIEST.match(sentence)) is None:
        return None
    time = _TIME_PARTICLES.sub("", earliest["time"]) if earliest["time"] else word("before_last_revision", language)
    return word("earliest_wording", language, time=time, name=earliest["name"], day=earliest["day"])


def model_problem(error: ModelError, language: Language) -> str:
    """Why a model gave nothing, without addresses: the log has them."""
    names: tuple[tuple[type[ModelError], str], ...] = (
        (ModelNotInstalled, "model_gone"),
        (ModelTimeout, "model_slow"),
        (ModelPromptCut, "model_prompt"),
        (ModelReplyCut, "model_cut"),
    )
    return word(next((name for kind, name in names if isinstance(error, kind)), "model_silent"), language)


def is_away(error: ModelError) -> bool:
    """Whether a model itself is missing, whatever it is asked."""
    return isinstance(error, ModelNotInstalled | ModelTimeout | ModelUnavailable)


def model_states(
    skipped: Sequence[Skipped], used: str, failure: ModelError | None, *, now: datetime
) -> list[ToolStatus]:
    """The models that an answer tried: those that are missing are down."""
    tried = [*((skip.model, skip.error) for skip in skipped), (used, failure)]
    return [
        ToolStatus(
            name=MODEL + name,
            state="down" if error is not None and is_away(error) else "ok",
            detail=str(error or ""),
            checked_at=now,
        )
        for name, error in dict(reversed(tried)).items()
    ]


def model_reason(model: str, error: ModelError, tools: ToolHistory, language: Language) -> str:
    """Which model gave nothing, why, and since when: "qwen3:8b: 제한 시간 안에 답하지 않음, 11-30 09:12 UTC부터"."""
    since = tools.since(MODEL + model)
    told = f", {word('since_when', language, time=since)}" if since else ""
    return f"{model}: {model_problem(error, language)}{told}"


def skipped_notes(skipped: Sequence[Skipped], used: str, tools: ToolHistory, language: Language) -> list[str]:
    """One line for each model that was to answer and did not."""
    return [
        word("model_skipped", language, reason=model_reason(skip.model, skip.error, tools, language), used=used)
        for skip in skipped
    ]


def quote_words(words: Sequence[str]) -> str:
    """The words in quotation marks, joined."""
    return ", ".join(f"‘{word}’" for word in words)
