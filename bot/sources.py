"""What is said about the sources of an answer: citations with their links, how fresh the index is, what was down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from bot.types import Citation, Language
from bot.wording import ago, tool_name, word
from knowledge.types import Locator, ScoredChunk, SourceConfig, SourceStatus, ToolStatus

Link = Callable[[Locator, str], str | None]
Permalink = Callable[[str, str, int | None, int | None], str | None]  # uri, revision, first line, last line

_SHORT_COMMIT_CHARS = 10
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")  # a source of many repositories has a revision that is none
_ADDRESS = re.compile(r"(?: (?:at|in|of))? https?://[^\s,;)]+?(?=[.:,;)]?(?:\s|$))")
_PATH = re.compile(r"(?<![\w./])/(?:[^\s/]+/)+([^\s/]+)")  # absolute ones; the name of the file or folder stays
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """Addresses that open the evidence for a reader: the source's `link_template`, else the commit on the repository's
    web host, else the bot's own page."""

    templates: Mapping[str, str]
    permalinks: Mapping[str, Permalink]
    page_url: str | None

    @classmethod
    def of(
        cls, sources: Iterable[SourceConfig], *, permalinks: Mapping[str, Permalink], page_url: str | None
    ) -> SourceLinks:
        return cls({s.name: s.link_template for s in sources if s.link_template is not None}, permalinks, page_url)

    def __call__(self, locator: Locator, chunk_id: str) -> str | None:
        template = self.templates.get(locator.source)
        if template is not None:
            return fill_link(template, locator)
        permalink = self.permalinks.get(locator.source)
        if permalink is not None:
            found = permalink(locator.uri, locator.revision, locator.start_line, locator.end_line)
            if found is not None:
                return found
        return f"{self.page_url}/evidence/{quote(chunk_id, safe='')}#cited" if self.page_url else None

    def page_image(self, chunk_id: str, page: int) -> str | None:
        """The address of the picture of a page; None without the bot's own page."""
        return f"{self.page_url}{page_image_path(chunk_id, page)}" if self.page_url else None


def page_image_path(chunk_id: str, page: int) -> str:
    """The path of the picture of a page on the bot's own page."""
    return f"/evidence/{quote(chunk_id, safe='')}/page/{page}"


def fill_link(template: str, locator: Locator) -> str:
    """The template with {uri}, {revision}, {start_line}, {end_line}, {page} filled in; unknown ones become empty."""

    def value(match: re.Match[str]) -> str:
        field = getattr(locator, match[1], None)
        return "" if field is None else quote(str(field), safe="/")

    return _FIELD.sub(value, template)


def cite(number: int, scored: ScoredChunk, *, quote_text: str, link: Link) -> Citation:
    """The citation [number] of a chunk."""
    chunk = scored.chunk
    return Citation(
        index=number,
        locator=chunk.locator,
        chunk_id=chunk.id,
        title=chunk.title,
        url=link(chunk.locator, chunk.id),
        quote=quote_text,
    )


def place_of(locator: Locator, title: str, language: Language) -> str:
    """ "src/pay.py:12-30" for code, "travel.docx, [별표 1] 여비 지급 기준, 12쪽" for documents."""
    if locator.start_line is not None and locator.label is None:
        end = f"-{locator.end_line}" if locator.end_line not in (None, locator.start_line) else ""
        return f"{locator.uri}:{locator.start_line}{end}"
    parts = [locator.uri, locator.label or (title if title != locator.uri else None)]
    if locator.page is not None:
        parts.append(word("page", language, n=locator.page))
    return ", ".join(part for part in parts if part)


def dated(locator: Locator, language: Language) -> str:
    """ " (2024-01-01 시행)", as far as the document says; "" otherwise."""
    days = []
    if locator.valid_from is not None:
        days.append(word("came_into_force", language, day=locator.valid_from))
    if locator.valid_until is not None:
        days.append(word("superseded", language, day=locator.valid_until))
    return f" ({', '.join(days)})" if days else ""


def freshness(
    statuses: Sequence[SourceStatus], names: Iterable[str], *, now: datetime, language: Language
) -> list[str]:
    """One line for each of the named sources: when it was indexed, and at which commit."""
    wanted = set(names)
    lines: list[str] = []
    for status in statuses:
        if status.source not in wanted or status.last_sync is None:
            continue
        when = ago(status.last_sync, now, language)
        if status.kind == "repository" and _COMMIT.fullmatch(status.revision or ""):
            commit = (status.revision or "")[:_SHORT_COMMIT_CHARS]
            lines.append(word("indexed_commit", language, source=status.title, ago=when, commit=commit))
        else:
            lines.append(word("indexed", language, source=status.title, ago=when))
    return lines


def unfinished(statuses: Sequence[SourceStatus], language: Language) -> list[str]:
    """One line for each source that was never indexed, or whose last sync failed as a whole."""
    lines: list[str] = []
    for status in statuses:
        if status.problem:
            problem = without_addresses(status.problem).rstrip(".")
            name = "source_problem" if status.last_sync is None else "source_problem_since"
            time = "" if status.last_sync is None else _moment(status.last_sync)
            lines.append(word(name, language, source=status.title, problem=problem, time=time))
        elif status.last_sync is None and status.documents:
            lines.append(word("being_indexed", language, source=status.title, n=status.documents))
        elif status.last_sync is None:
            lines.append(word("not_indexed", language, source=status.title))
    return lines


def without_addresses(problem: str) -> str:
    """A problem as readers are told it: `haechi status` and the log tell admins where things stand."""
    return _PATH.sub(r"\1", _ADDRESS.sub("", problem))


def _moment(time: datetime) -> str:
    return f"{time.astimezone(UTC):%m-%d %H:%M}"


class ToolHistory:
    """Since when each tool has been down: a status alone tells only that it is."""

    def __init__(self) -> None:
        self._down_since: dict[str, datetime] = {}

    def note(self, tools: Iterable[ToolStatus]) -> None:
        for tool in tools:
            if tool.state == "down":
                self._down_since.setdefault(tool.name, tool.checked_at)
            else:
                self._down_since.pop(tool.name, None)

    def since(self, name: str) -> str:
        """ "11-30 09:12" in UTC; "" for a tool that is not known to be down."""
        return _moment(self._down_since[name]) if name in self._down_since else ""

    def describe(self, tools: Iterable[ToolStatus], language: Language) -> str:
        """ "search by meaning e5 (connection refused, since 09:12 UTC)", joined by commas."""
        return ", ".join(
            word(
                "since",
                language,
                tool=tool_name(tool.name, language),
                detail=without_addresses(tool.detail).rstrip("."),
                time=self.since(tool.name) or _moment(tool.checked_at),
            )
            for tool in tools
        )
