"""Frames of a stack trace as definitions in the company's own code, innermost first.

The name of the function counts more than its line: the trace may be of another commit than the index. A line is told
only where the two agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.alerts.alert import Alert, TraceFrame
from bot.alerts.deploys import Deployments
from bot.alerts.evidence import Library, is_of_service
from bot.alerts.services import Service
from knowledge.errors import NotFound
from knowledge.types import Chunk, Scope, ScoredChunk

MAX_FRAMES = 6
MAX_TRIED = 24
CALLERS = 4
WITH_CALLERS = 3  # leading definitions whose callers are told
# Called by so many names that a call of one is rarely a call of the other.
_COMMON_NAMES = frozenset(
    (
        "get", "post", "put", "patch", "delete", "head", "options", "run", "call", "execute", "invoke", "apply",
        "handle", "handler", "process", "main", "init", "constructor", "__call__", "__init__", "__enter__",
        "__exit__", "new", "next", "close", "open", "read", "write", "update", "create", "save", "find", "list",
        "add", "remove", "send", "tostring", "equals", "hashcode", "render", "setup", "start", "stop",
    )
)  # fmt: skip
_GENERATED = re.compile(r"\$(?:lambda|anonfun|\d)[\w$]*|\.func\d+(?:\.\d+)*$|\.\{\{closure\}\}|::\{\{closure\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A frame with the definition that it stands for; `line` is its line in the index, where that is certain."""

    frame: TraceFrame
    scored: ScoredChunk
    line: int | None
    alike: int = 1  # definitions of that name in the file, where the line could not choose between them
    revision: str | None = None  # the deployed commit at which it was looked up; None: the indexed one had to do


def map_frames(
    alert: Alert, service: Service | None, scope: Scope, library: Library, deploys: Deployments
) -> list[Mapped]:
    """The company's own frames as definitions with their callers, each at the commit that was deployed of its
    repository. Raises KnowledgeError."""
    own = [frame for frame in alert.frames if frame.in_app][:MAX_TRIED]
    by_name = library.code.files_named([_file_name(frame) for frame in own], scope=scope)
    mapped: list[Mapped] = []
    for frame in own:
        files = [one for one in by_name.get(_file_name(frame), []) if is_of_service(one[1], service)]
        best = max(files, key=lambda one: _shared_end(one[1], frame.file), default=None)
        if best is None:
            continue
        revisions = [alert.revision, *(deploy.revision for deploy in deploys.of(*best)[:1])]
        found = _definition(frame, best, scope, library, [one for one in revisions if one])
        if found is None or any(one.scored.chunk.id == found.scored.chunk.id for one in mapped):
            continue
        chunk = found.scored.chunk
        is_told = len(mapped) < WITH_CALLERS and plain_name(chunk.locator.symbol).casefold() not in _COMMON_NAMES
        callers = library.callers(chunk.id, scope=scope, limit=CALLERS) if is_told else ()
        mapped.append(replace(found, scored=replace(found.scored, callers=callers)))
        if len(mapped) == MAX_FRAMES:
            break
    return mapped


def _definition(
    frame: TraceFrame, place: tuple[str, str], scope: Scope, library: Library, revisions: Sequence[str]
) -> Mapped | None:
    """The definition of a frame at the first of the commits that the copy knows."""
    source, uri = place
    name = plain_name(frame.symbol)
    found, revision = _at_line(frame, place, scope, library, revisions)
    if found is not None and (not name or name in _names_of(found[0])):
        return replace(_mapped(frame, found[0], line=found[1]), revision=revision)
    chunks = library.code.chunks_of_file(source, uri, scope=scope)
    named = [chunk for chunk in chunks if name and plain_name(chunk.locator.symbol) == name]
    if named:  # the file has changed since: the function is known, the line is not
        alike = len({chunk.group for chunk in named})
        return _mapped(frame, _nearest(named, frame.line), alike=alike)
    if _shared_end(uri, frame.file) < 2:
        return None  # a file of that name with no such function is another one
    if found is not None:
        return replace(_mapped(frame, found[0]), revision=revision)
    beside = [chunk for chunk in chunks if not chunk.locator.symbol] or chunks
    return _mapped(frame, _nearest(beside, frame.line)) if beside else None


def _at_line(
    frame: TraceFrame, place: tuple[str, str], scope: Scope, library: Library, revisions: Sequence[str]
) -> tuple[tuple[Chunk, int] | None, str | None]:
    """(the definition at the line of a frame with that line in the index, the commit at which it was looked up)."""
    if frame.line is None:
        return None, revisions[0] if revisions else None
    source, uri = place
    for revision in revisions:
        with suppress(NotFound):  # the commit is not in the copy, or is a version's name
            return library.code.place_at(source, uri, frame.line, scope=scope, revision=revision), revision
    return library.code.place_at(source, uri, frame.line, scope=scope), None


def _mapped(frame: TraceFrame, chunk: Chunk, *, line: int | None = None, alike: int = 1) -> Mapped:
    return Mapped(frame=frame, scored=ScoredChunk(chunk=chunk), line=line, alike=alike)


def plain_name(symbol: str | None) -> str:
    """The last part of a name without what compilers add; empty for what has no name of its own."""
    if not symbol or symbol.startswith("<"):
        return ""
    text = re.sub(r"^(?:block|rescue|ensure)(?: \(\d+ levels?\))? in ", "", symbol)
    text = re.sub(r"^lambda\$(\w+)\$\d+$", r"\1", text.rpartition(".")[2]) if "lambda$" in text else text
    text = re.sub(r"\(\*?(\w+)\)(?=\.)", r"\1", _GENERATED.sub("", text))  # (*Service).Retry
    text = re.sub(r"[(\[].*$", "", re.sub(r"<[^<>]*>", "", text)).strip()
    if text.endswith(".invokeSuspend"):
        text = text.removesuffix(".invokeSuspend").partition("$")[2].partition("$")[0] or text
    return re.split(r"[.#\s]|::|->", text.rstrip(".#:"))[-1]


def _names_of(chunk: Chunk) -> set[str]:
    """The names that a chunk may have in a trace: its own, and that of the class whose constructor or field it is."""
    parts = re.split(r"[.#]|::", chunk.locator.symbol or "")
    return {plain_name(chunk.locator.symbol), *parts[-2:]}


def _nearest(chunks: Sequence[Chunk], line: int | None) -> Chunk:
    """The chunk that begins nearest to a line; the first one without a line."""
    return chunks[0] if line is None else min(chunks, key=lambda one: abs((one.locator.start_line or 1) - line))


def _file_name(frame: TraceFrame) -> str:
    return frame.file.rpartition("/")[2]


def _shared_end(uri: str, file: str) -> int:
    """How many parts of two paths agree, counted from the end; the suffix of a file may be left out."""
    shared = 0
    for one, other in zip(reversed(uri.split("/")), reversed(file.split("/")), strict=False):
        if one != other and not (other.endswith(".") and one.startswith(other)):
            break
        shared += 1
    return shared
