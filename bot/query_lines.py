"""Queries from standard input, one a line: plain text, or {"query": "...", "source": "rules"}.

Every line that is not blank gives exactly one result. A line that cannot be searched (not valid JSON, no query, a
source that does not exist) gives a result of the usual form without results and with an "error", so that results stay
in step with the lines; the command then ends with status 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bot.control import Report
from bot.errors import BotError
from bot.json_forms import failed_search_form
from knowledge.errors import KnowledgeError, UnknownSource


class Calls(Protocol):
    """Where the queries go to."""

    async def call(self, method: str, params: Mapping[str, Any], report: Report) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLine:
    """One line; `problem` says why it cannot be searched."""

    query: str
    source: str | None = None
    problem: str | None = None

    async def answer(self, session: Calls, common: Mapping[str, Any]) -> dict[str, Any]:
        """The result for the line. Errors that are about more than this line are raised."""
        if self.problem is not None:
            return failed_search_form(self.query, BotError(self.problem))
        params = {**common, "query": self.query}
        if self.source is not None:
            params["source"] = self.source
        try:
            return await session.call("search", params, lambda step: None)
        except UnknownSource as error:
            if self.source is None:  # it came with --source, so it is wrong for every line
                raise
            return failed_search_form(self.query, error)
        except KnowledgeError as error:
            return failed_search_form(self.query, error)


def read_query_lines(lines: Iterable[str]) -> Iterator[QueryLine]:
    """The queries of all lines that are not blank, in order."""
    for number, line in enumerate(lines, start=1):
        text = line.strip().lstrip("\ufeff")
        if text:
            yield _parse(text, number) if text.startswith("{") else QueryLine(query=text)


def _parse(text: str, number: int) -> QueryLine:
    try:
        fields = json.loads(text)
    except json.JSONDecodeError as error:
        return QueryLine(query=text, problem=f"Line {number} begins with {{ but is not valid JSON: {error}.")
    query, source = fields.get("query"), fields.get("source")
    if not isinstance(query, str) or not query.strip():
        return QueryLine(query="", problem=f'Line {number} has no text in "query".')
    if source is not None and not isinstance(source, str):
        return QueryLine(query=query, problem=f'Line {number}: "source" must be the name of a source.')
    unknown = sorted(set(fields) - {"query", "source"})
    if unknown:
        return QueryLine(query=query, problem=f'Line {number} has the unknown key "{unknown[0]}".')
    return QueryLine(query=query, source=source or None)
