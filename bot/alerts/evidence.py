"""What the company's own sources say about a fault: its frames as code, what changed there, runbooks, past cases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.alerts.alert import Alert, TraceFrame
from bot.alerts.deploys import Deployments
from bot.alerts.services import Service
from bot.content_words import bag_of, content_words, held_share
from knowledge.api import LineChange
from knowledge.errors import KnowledgeError
from knowledge.types import Caller, Chunk, Evidence, EvidenceKind, Passage, Scope, ScoredChunk, SourceStatus
from knowledge.types_cases import NewCase, Recalled

MAX_FOUND = 4  # of a search, of code and of documents each
RUNBOOK_PARTS = 2  # of one document that the settings name as a runbook
QUERY_CHARS = 1500


class Memory(Protocol):
    """What analyses need of knowledge.error_memory.ErrorMemory."""

    def recall(
        self, *, service: str, error_class: str, fingerprint: str, text: str, scope: Scope, limit: int = 3
    ) -> list[Recalled]: ...

    def wrong_causes(
        self, *, service: str, error_class: str, fingerprint: str, scope: Scope, limit: int = 3
    ) -> list[str]: ...

    def is_denied(self, case: NewCase) -> bool: ...

    def remember(self, case: NewCase) -> int | None: ...

    def take_out(self, origin: str) -> bool: ...

    def forget_origin(self, origin: str) -> bool: ...


class Places(Protocol):
    """What analyses need of knowledge.lookup_code.CodeLookup."""

    def files_named(self, names: Collection[str], *, scope: Scope) -> dict[str, list[tuple[str, str]]]: ...

    def chunks(self, ids: Sequence[str], *, scope: Scope) -> tuple[Chunk, ...]: ...

    def place_at(
        self, source: str, uri: str, line: int, *, scope: Scope, revision: str | None = None
    ) -> tuple[Chunk, int] | None: ...

    def chunks_of_file(self, source: str, uri: str, *, scope: Scope) -> tuple[Chunk, ...]: ...


class Library(Protocol):
    """What analyses need of knowledge.api.Knowledge; called in threads."""

    @property
    def memory(self) -> Memory: ...

    @property
    def code(self) -> Places: ...

    def search(self, query: str, *, scope: Scope, top_k: int = 8, kind: EvidenceKind | None = None) -> Evidence: ...

    def status(self, *, scope: Scope) -> list[SourceStatus]: ...

    def callers(self, chunk_id: str, *, scope: Scope, limit: int = 5) -> tuple[Caller, ...]: ...

    def definition(self, symbol: str, *, scope: Scope) -> tuple[Chunk, ...]: ...

    def definition_at(
        self, source: str, uri: str, line: int, *, scope: Scope, revision: str | None = None
    ) -> Chunk | None: ...

    def passage(self, chunk_id: str, *, scope: Scope) -> Passage: ...

    def blame(
        self, source: str, uri: str, start_line: int, end_line: int, *, scope: Scope, revision: str | None = None
    ) -> tuple[LineChange, ...]: ...

    def log_of_lines(
        self,
        source: str,
        uri: str,
        start_line: int,
        end_line: int,
        *,
        scope: Scope,
        since: datetime | None = None,
        before: str | None = None,
        limit: int = 10,
        revision: str | None = None,
    ) -> tuple[LineChange, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of evidence; `frame` is the call that led to it."""

    number: int
    scored: ScoredChunk
    frame: TraceFrame | None = None
    line: int | None = None  # of the frame, in the index, where it is certain
    alike: int = 1  # definitions of that name in the file, where the line could not choose between them
    revision: str | None = None  # the deployed commit at which the frame was looked up; None: the indexed one


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A commit that touched the code of a piece."""

    piece: int
    commit: LineChange
    is_line: bool  # it wrote the line of the frame
    is_later: bool  # it is in the index and not in what was deployed


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything that an analysis may rest on; `scope` is where it was looked for and may be looked for further."""

    pieces: tuple[Piece, ...]
    changes: tuple[Change, ...]
    past: tuple[Recalled, ...]
    scope: Scope
    revisions: tuple[str, ...]  # deployed commits at which frames were looked up; empty: the indexed ones had to do
    degraded: tuple[str, ...]
    since: datetime | None = None  # the deployment before, from which on changes were looked for
    wrong: tuple[str, ...] = ()  # causes that people have called wrong for this fault


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
    alert: Alert, *, service: Service | None, channel: Scope, library: Library, deploys: Deployments
) -> Gathered:
    """The evidence for a fault. A part that cannot be had now is named in `degraded`; nothing is raised for it."""
    from bot.alerts.frame_places import Mapped, map_frames
    from bot.alerts.touched import changed_since, changes_of

    code_scope, docs_scope = scope_of_service(service, channel)
    degraded: list[str] = []
    mapped: Sequence[Mapped] = ()
    try:
        mapped = map_frames(alert, service, code_scope, library, deploys)
    except KnowledgeError as error:
        degraded.append(str(error))
    pieces = [
        Piece(
            number=number, scored=one.scored, frame=one.frame, line=one.line, alike=one.alike, revision=one.revision
        )
        for number, one in enumerate(mapped, start=1)
    ]  # fmt: skip
    found = (
        *_code_found(alert, service, code_scope, library, degraded),
        *_docs_found(alert, service, docs_scope, library, degraded),
    )
    for scored in found:
        if all(scored.chunk.id != piece.scored.chunk.id for piece in pieces):
            pieces.append(Piece(number=len(pieces) + 1, scored=scored))
    framed = [one for one in pieces if one.frame]
    revisions = list(dict.fromkeys(one.revision for one in framed))
    return Gathered(
        pieces=tuple(pieces),
        changes=changes_of(framed, code_scope, library, deploys=deploys, degraded=degraded),
        past=_past(alert, channel, library),
        scope=_union(code_scope, docs_scope),
        revisions=tuple(one for one in revisions if one is not None) if None not in revisions else (),
        degraded=tuple(degraded),
        since=changed_since(framed or pieces, deploys),
        wrong=_wrong(alert, channel, library),
    )


def _past(alert: Alert, channel: Scope, library: Library) -> tuple[Recalled, ...]:
    found = library.memory.recall(
        service=alert.service or "",
        error_class=alert.error_class or "",
        fingerprint=alert.fingerprint,
        text=f"{alert.error_class or ''}\n{alert.message or alert.title}",
        scope=channel,
    )
    return tuple(found)


def _wrong(alert: Alert, channel: Scope, library: Library) -> tuple[str, ...]:
    found = library.memory.wrong_causes(
        service=alert.service or "",
        error_class=alert.error_class or "",
        fingerprint=alert.fingerprint,
        scope=channel,
    )
    return tuple(found)


def _code_found(
    alert: Alert, service: Service | None, scope: Scope, library: Library, degraded: list[str]
) -> list[ScoredChunk]:
    query = f"{alert.error_class or ''} {alert.message or alert.title}\n{alert.raw}"[:QUERY_CHARS]
    try:
        evidence = library.search(query, scope=scope, top_k=2 * MAX_FOUND, kind="code")
    except KnowledgeError as error:
        degraded.append(str(error))
        return []
    degraded += [sentence for sentence in evidence.degraded if sentence not in degraded]
    own = [scored for scored in evidence.chunks if is_of_service(scored.chunk.locator.uri, service)]
    return own[:MAX_FOUND]


def _docs_found(
    alert: Alert, service: Service | None, scope: Scope, library: Library, degraded: list[str]
) -> list[ScoredChunk]:
    """Parts of the documents that the settings name as runbooks, and behind them what a search finds."""
    query = f"{alert.title} {alert.error_class or ''} {alert.message}"[:300]
    try:
        named = [
            scored for told in (service.runbooks if service else ()) for scored in _runbook(told, query, scope, library)
        ]
        evidence = library.search(query, scope=scope, top_k=MAX_FOUND, kind="docs")
    except KnowledgeError as error:
        degraded.append(str(error))
        return []
    degraded += [sentence for sentence in evidence.degraded if sentence not in degraded]
    whole = service is None or not service.runbooks or any("/" not in told for told in service.runbooks)
    searched = evidence.chunks if whole and evidence.verdict.decision == "ok" else ()  # an alert is asked of everything
    return [*named, *searched][: MAX_FOUND + len(named)]


def _runbook(told: str, query: str, scope: Scope, library: Library) -> list[ScoredChunk]:
    """The parts of a document named as "source/uri" that hold most of the query's words; they need no gate, because
    somebody said that this is what to read."""
    source, _, uri = told.partition("/")
    if not uri or not scope.allows(source):
        return []
    words = content_words(query)
    parts = library.code.chunks_of_file(source, uri, scope=scope)
    ranked = sorted(parts, key=lambda chunk: (-held_share(words, bag_of(chunk.index_text)), chunk.ordinal))
    return [ScoredChunk(chunk=chunk) for chunk in ranked[:RUNBOOK_PARTS]]


def is_of_service(uri: str, service: Service | None) -> bool:
    """Whether a file may belong to a service that names repositories within a source of many."""
    within = [name.partition("/")[2].strip("/") for name in service.repositories] if service else []
    if not within or not all(within):
        return True
    return any(f"/{uri}".find(f"/{repository}/") >= 0 for repository in within)


def _union(one: Scope, other: Scope) -> Scope:
    if one.sources is None or other.sources is None:
        return Scope(sources=None)
    return Scope(sources=one.sources | other.sources)
