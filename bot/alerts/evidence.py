"""What the company's own sources say about a fault: its frames as code, what changed there, runbooks, past cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.alerts.alert import Alert, Deploy, TraceFrame
from bot.alerts.services import Service
from knowledge.api import LineChange
from knowledge.errors import KnowledgeError, NotFound
from knowledge.types import Chunk, DocumentSummary, Evidence, EvidenceKind, Passage, Scope, ScoredChunk
from knowledge.types_cases import NewCase, Recalled

MAX_FRAMES = 6
MAX_FOUND = 4  # of a search, of code and of documents each
MAX_CHANGES = 5
QUERY_CHARS = 1500


class Memory(Protocol):
    """What analyses need of knowledge.error_memory.ErrorMemory."""

    def recall(
        self, *, service: str, error_class: str, fingerprint: str, text: str, scope: Scope, limit: int = 3
    ) -> list[Recalled]: ...

    def remember(self, case: NewCase) -> int | None: ...

    def take_out(self, origin: str) -> bool: ...


class Library(Protocol):
    """What analyses need of knowledge.api.Knowledge; called in threads."""

    @property
    def memory(self) -> Memory: ...

    def search(self, query: str, *, scope: Scope, top_k: int = 8, kind: EvidenceKind | None = None) -> Evidence: ...

    def list_documents(self, *, scope: Scope) -> list[DocumentSummary]: ...

    def definition(self, symbol: str, *, scope: Scope) -> tuple[Chunk, ...]: ...

    def definition_at(
        self, source: str, uri: str, line: int, *, scope: Scope, revision: str | None = None
    ) -> Chunk | None: ...

    def passage(self, chunk_id: str, *, scope: Scope) -> Passage: ...

    def log_of_lines(
        self,
        source: str,
        uri: str,
        start_line: int,
        end_line: int,
        *,
        scope: Scope,
        since: datetime | None = None,
        limit: int = 10,
        revision: str | None = None,
    ) -> tuple[LineChange, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of evidence; `frame` is the call that led to it."""

    number: int
    scored: ScoredChunk
    frame: TraceFrame | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything that an analysis may rest on; `scope` is where it was looked for and may be looked for further."""

    pieces: tuple[Piece, ...]
    changes: tuple[tuple[int, LineChange], ...]  # the number of the piece, and a commit that changed its lines
    past: tuple[Recalled, ...]
    scope: Scope
    revision: str | None  # the deployed commit at which frames were looked up; None: the indexed one
    degraded: tuple[str, ...]


def scope_of_service(service: Service | None, channel: Scope) -> tuple[Scope, Scope]:
    """(where its code lies, where its documents lie), never more than the channel may see."""
    if service is None:
        return channel, channel
    code = [name.partition("/")[0] for name in service.repositories]
    docs = [name.partition("/")[0] for name in service.runbooks]
    return (
        channel.narrowed_to(*code) if code else channel,
        channel.narrowed_to(*docs) if docs else channel,
    )


def gather(
    alert: Alert, *, service: Service | None, channel: Scope, library: Library, deploys: Sequence[Deploy]
) -> Gathered:
    """The evidence for a fault. A part that cannot be had now is named in `degraded`; nothing is raised for it."""
    code_scope, docs_scope = scope_of_service(service, channel)
    revision = alert.revision or (deploys[0].revision if deploys else None)
    since = deploys[1].deployed_at if len(deploys) > 1 else None
    degraded: list[str] = []
    found: dict[str, tuple[ScoredChunk, TraceFrame | None]] = {}
    try:
        mapped, revision = _map_frames(alert, code_scope, library, revision)
        for frame, chunk in mapped:
            found.setdefault(chunk.id, (ScoredChunk(chunk=chunk), frame))
    except KnowledgeError as error:
        revision = None
        degraded.append(str(error))
    query = f"{alert.error_class or ''} {alert.message or alert.title}\n{alert.raw}"[:QUERY_CHARS]
    kinds: tuple[tuple[EvidenceKind, Scope], ...] = (("code", code_scope), ("docs", docs_scope))
    for kind, scope in kinds:
        try:
            asked = query if kind == "code" else f"{alert.title} {alert.error_class or ''} {alert.message}"[:300]
            evidence = library.search(asked, scope=scope, top_k=MAX_FOUND, kind=kind)
        except KnowledgeError as error:
            degraded.append(str(error))
            continue
        degraded += [sentence for sentence in evidence.degraded if sentence not in degraded]
        if kind == "docs" and evidence.verdict.decision == "none":
            continue
        for scored in evidence.chunks[:MAX_FOUND]:
            found.setdefault(scored.chunk.id, (scored, None))
    pieces = tuple(
        Piece(number=number, scored=scored, frame=frame)
        for number, (scored, frame) in enumerate(found.values(), start=1)
    )
    past = library.memory.recall(
        service=alert.service or "",
        error_class=alert.error_class or "",
        fingerprint=alert.fingerprint,
        text=f"{alert.error_class or ''}\n{alert.message or alert.title}",
        scope=channel,
    )
    changes = _changes(pieces, code_scope, library, since, degraded)
    whole = _union(code_scope, docs_scope)
    return Gathered(
        pieces=pieces, changes=changes, past=tuple(past), scope=whole, revision=revision, degraded=tuple(degraded)
    )


def _map_frames(
    alert: Alert, scope: Scope, library: Library, revision: str | None
) -> tuple[list[tuple[TraceFrame, Chunk]], str | None]:
    """The company's own frames as definitions, innermost first, and the commit at which all of them were looked up;
    None for the commit where the indexed one had to do for one of them."""
    own = [frame for frame in alert.frames if frame.in_app and frame.line is not None]
    if not own:
        return [], None
    by_name: dict[str, list[DocumentSummary]] = {}
    for document in library.list_documents(scope=scope):
        if document.status == "indexed":
            by_name.setdefault(document.uri.rpartition("/")[2], []).append(document)
    mapped: list[tuple[TraceFrame, Chunk]] = []
    for frame in own[: 4 * MAX_FRAMES]:
        candidates = by_name.get(frame.file.rpartition("/")[2], [])
        best = max(candidates, key=lambda one: _shared_end(one.uri, frame.file), default=None)
        if best is None or frame.line is None:
            continue
        try:
            chunk = library.definition_at(best.source, best.uri, frame.line, scope=scope, revision=revision)
        except NotFound:  # the commit is not in the copy, or is a version's name: the indexed one has to do
            chunk, revision = library.definition_at(best.source, best.uri, frame.line, scope=scope), None
        if chunk is not None:
            mapped.append((frame, chunk))
        if len(mapped) == MAX_FRAMES:
            break
    return mapped, revision if mapped else None


def _shared_end(uri: str, file: str) -> int:
    """How many parts of two paths agree, counted from the end."""
    shared = 0
    for one, other in zip(reversed(uri.split("/")), reversed(file.split("/")), strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _changes(
    pieces: Sequence[Piece], scope: Scope, library: Library, since: datetime | None, degraded: list[str]
) -> tuple[tuple[int, LineChange], ...]:
    """Commits that touched the functions of the frames, the latest first, each once."""
    found: dict[str, tuple[int, LineChange]] = {}
    for piece in pieces[:3]:
        where = piece.scored.chunk.locator
        if piece.frame is None or where.start_line is None or where.end_line is None:
            continue
        try:
            log = library.log_of_lines(
                where.source, where.uri, where.start_line, where.end_line, scope=scope, since=since, limit=MAX_CHANGES
            )
        except KnowledgeError as error:
            degraded.append(str(error))
            continue
        for change in log:
            if not change.is_limit:
                found.setdefault(change.commit, (piece.number, change))
    ordered = sorted(found.values(), key=lambda one: one[1].committed_at, reverse=True)
    return tuple(ordered[:MAX_CHANGES])


def _union(one: Scope, other: Scope) -> Scope:
    if one.sources is None or other.sources is None:
        return Scope(sources=None)
    return Scope(sources=one.sources | other.sources)
