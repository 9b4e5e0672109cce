"""What a model may look up before it concludes: read-only, bounded in number and size, within the channel's scope."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from bot.alerts.evidence import Change, Gathered, Library, Piece
from knowledge.errors import NotFound
from knowledge.masking import mask
from knowledge.types import EvidenceKind, ScoredChunk

MAX_NEW = 2  # pieces of evidence that one call adds
MAX_CHANGES = 8
CALLERS = 4

Tool = Literal["search_code", "search_documents", "definition", "callers", "blame", "none"]
_NUMBER = re.compile(r"\[?\s*(\d{1,3})\s*\]?")
_SYMBOL = re.compile(r"[^\s()\[\]{};,'\"`]{1,200}")


class Request(BaseModel):
    """What the model wants to look up before it concludes; "none" when it has enough."""

    tool: Tool
    argument: str = Field(default="", max_length=300)


def carry_out(tool: Tool, argument: str, gathered: Gathered, library: Library) -> Gathered:
    """The evidence with what was found; unchanged for an argument that names nothing. Raises KnowledgeError for what
    could not be looked up."""
    if tool == "blame":
        return _with_blame(argument, gathered, library)
    known = {piece.scored.chunk.id for piece in gathered.pieces}
    new = [scored for scored in _found(tool, argument, gathered, library) if scored.chunk.id not in known][:MAX_NEW]
    first = len(gathered.pieces) + 1
    more = tuple(Piece(number=first + n, scored=scored) for n, scored in enumerate(new))
    return replace(gathered, pieces=(*gathered.pieces, *more))


def _found(tool: Tool, argument: str, gathered: Gathered, library: Library) -> list[ScoredChunk]:
    if tool == "callers":
        return _callers(argument, gathered, library)
    if tool == "definition":
        found = library.definition(argument, scope=gathered.scope)[:MAX_NEW] if _SYMBOL.fullmatch(argument) else ()
        return [ScoredChunk(chunk=chunk) for chunk in found]
    kind: EvidenceKind = "code" if tool == "search_code" else "docs"
    return list(library.search(mask(argument), scope=gathered.scope, top_k=3, kind=kind).chunks)


def _callers(argument: str, gathered: Gathered, library: Library) -> list[ScoredChunk]:
    """Definitions that call the one of a piece of evidence, named by its number, or the first one of that name."""
    piece = _piece(argument, gathered)
    ids = [piece.scored.chunk.id] if piece is not None else []
    if piece is None and _SYMBOL.fullmatch(argument):
        ids = [chunk.id for chunk in library.definition(argument, scope=gathered.scope)[:1]]
    found = []
    for chunk_id in ids:
        for caller in library.callers(chunk_id, scope=gathered.scope, limit=CALLERS):
            where = caller.locator
            chunk = library.definition_at(where.source, where.uri, where.start_line or 1, scope=gathered.scope)
            if chunk is not None:
                found.append(ScoredChunk(chunk=chunk))
    return found


def _with_blame(argument: str, gathered: Gathered, library: Library) -> Gathered:
    """The changes with the commits from which the lines of a piece of evidence stem, the latest first."""
    piece = _piece(argument, gathered)
    where = piece.scored.chunk.locator if piece is not None else None
    if piece is None or where is None or where.start_line is None or where.end_line is None:
        return gathered
    try:
        lines = library.blame(where.source, where.uri, where.start_line, where.end_line, scope=gathered.scope)
    except NotFound:
        return gathered
    known = {change.commit.commit for change in gathered.changes}
    latest = sorted((one for one in lines if not one.is_limit), key=lambda one: one.committed_at, reverse=True)
    new: dict[str, Change] = {}
    for one in latest:
        if one.commit not in known:
            new.setdefault(one.commit, Change(piece=piece.number, commit=one, is_line=False, is_later=False))
    return replace(gathered, changes=(*gathered.changes, *new.values())[:MAX_CHANGES])


def _piece(argument: str, gathered: Gathered) -> Piece | None:
    match = _NUMBER.fullmatch(argument)
    return next((one for one in gathered.pieces if match and one.number == int(match[1])), None)
