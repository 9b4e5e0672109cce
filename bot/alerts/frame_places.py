"""Frames of a stack trace as definitions in the company's own code, innermost first."""

from __future__ import annotations

from bot.alerts.alert import Alert, TraceFrame
from bot.alerts.evidence import Library, is_of_service
from bot.alerts.services import Service
from knowledge.errors import NotFound
from knowledge.types import Chunk, Scope, ScoredChunk

MAX_FRAMES = 6
MAX_TRIED = 24
CALLERS = 4
WITH_CALLERS = 3  # leading definitions whose callers are told


def map_frames(
    alert: Alert, service: Service | None, scope: Scope, library: Library, revision: str | None
) -> tuple[list[tuple[TraceFrame, ScoredChunk]], str | None]:
    """The company's own frames as definitions with their callers, and the commit at which all of them were looked up;
    None for the commit where the indexed one had to do for one of them. Raises KnowledgeError."""
    own = [frame for frame in alert.frames if frame.in_app][:MAX_TRIED]
    by_name = library.code.files_named([name for frame in own for name in _file_names(frame)], scope=scope)
    mapped: list[tuple[TraceFrame, ScoredChunk]] = []
    for frame in own:
        named = [one for name in _file_names(frame) for one in by_name.get(name, [])]
        files = [one for one in named if is_of_service(one[1], service)]
        best = max(files, key=lambda one: _shared_end(one[1], frame.file), default=None)
        if best is None or not _may_be(best[1], frame.file):
            continue
        chunk, at = _definition(frame, best, scope, library, revision)
        if chunk is None or any(scored.chunk.id == chunk.id for _, scored in mapped):
            continue
        revision = at
        callers = library.callers(chunk.id, scope=scope, limit=CALLERS) if len(mapped) < WITH_CALLERS else ()
        mapped.append((frame, ScoredChunk(chunk=chunk, callers=callers)))
        if len(mapped) == MAX_FRAMES:
            break
    return mapped, revision if mapped else None


def _definition(
    frame: TraceFrame, place: tuple[str, str], scope: Scope, library: Library, revision: str | None
) -> tuple[Chunk | None, str | None]:
    """(the definition of a frame, the commit at which it was looked up): by its line, else by its name in the file."""
    source, uri = place
    chunk = None
    if frame.line is not None:
        try:
            chunk = library.definition_at(source, uri, frame.line, scope=scope, revision=revision)
        except NotFound:  # the commit is not in the copy, or is a version's name: the indexed one has to do
            chunk, revision = library.definition_at(source, uri, frame.line, scope=scope), None
    if chunk is None and frame.symbol:  # the line was changed since, or the trace tells none
        name = frame.symbol.replace("::", ".").replace("#", ".").rpartition(".")[2]
        within = [c for c in library.code.chunks_of_file(source, uri, scope=scope) if c.locator.symbol]
        chunk = next((c for c in within if (c.locator.symbol or "").rpartition(".")[2] == name), None)
        if chunk is None and frame.line is None and within:  # inherited, or inlined by the build: its class at least
            chunk = within[0]
        revision = None if chunk is not None else revision
    return chunk, revision


def _file_names(frame: TraceFrame) -> list[str]:
    """The names that the file may have: where a build took it out, the class is told instead ("shop/Cart.")."""
    name = frame.file.rpartition("/")[2]
    return [name + ending for ending in ("kt", "java", "scala", "groovy")] if name.endswith(".") else [name]


def _may_be(uri: str, file: str) -> bool:
    """Whether two paths agree in a folder too, where both have one: an index.ts elsewhere is another file."""
    return _shared_end(uri, file) > 1 or "/" not in file or "/" not in uri


def _shared_end(uri: str, file: str) -> int:
    """How many parts of two paths agree, counted from the end."""
    shared = 0
    for one, other in zip(reversed(uri.split("/")), reversed(file.split("/")), strict=False):
        if one != other and not (not shared and other.endswith(".") and one.startswith(other)):
            break
        shared += 1
    return shared
