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

CONVERT = "convert it first, for example with iconv -f CP949 -t UTF-8"


def is_text(text: str) -> bool:
    """Whether it can be written as UTF-8: without lone surrogates, which stand for undecodable bytes too."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


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
        except BotError as error:
            if type(error) is not BotError:  # about the data folder or its owner: the next line would meet the same
                raise
            return failed_search_form(self.query, error)


def read_query_lines(lines: Iterable[bytes]) -> Iterator[QueryLine]:
    """The queries of all lines that are not blank, in order."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8").strip().lstrip("\ufeff")
        except UnicodeDecodeError:
            shown = line.decode("utf-8", "replace").strip()
            yield QueryLine(query=shown, problem=f"Line {number} is not UTF-8 text; {CONVERT}.")
            continue
        if text:
            yield _parse(text, number) if text.startswith("{") else QueryLine(query=text)


def _parse(text: str, number: int) -> QueryLine:
    try:
        fields = json.loads(text)
    except RecursionError:
        return QueryLine(query="", problem=f"Line {number} is nested too deeply.")
    except ValueError as error:  # what json cannot read, and numbers of thousands of digits
        return QueryLine(query=text, problem=f"Line {number} begins with {{ but is not valid JSON: {error}.")
    query, source = fields.get("query"), fields.get("source")
    if not isinstance(query, str) or not query.strip():
        return QueryLine(query="", problem=f'Line {number} has no text in "query".')
    if not is_text(query):
        shown = query.encode("utf-8", "replace").decode()
        return QueryLine(query=shown, problem=f'Line {number}: "query" holds half a character (a lone surrogate).')
    if source is not None and not isinstance(source, str):
        return QueryLine(query=query, problem=f'Line {number}: "source" must be the name of a source.')
    unknown = sorted(set(fields) - {"query", "source"})
    if unknown:
        return QueryLine(query=query, problem=f'Line {number} has the unknown key "{unknown[0]}".')
    return QueryLine(query=query, source=source or None)
