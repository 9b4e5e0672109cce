"""Value objects that every part of `knowledge` shares.

All of them are frozen, slotted, keyword-only dataclasses: they are built once, passed on and never edited.
Datetimes are aware UTC, ranks start at 1, and a score's direction stands in its comment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from knowledge.types_sources import EVIDENCE_KIND as EVIDENCE_KIND
from knowledge.types_sources import Discovered as Discovered
from knowledge.types_sources import Discovery as Discovery
from knowledge.types_sources import EvidenceKind as EvidenceKind
from knowledge.types_sources import FileLook as FileLook
from knowledge.types_sources import Part as Part
from knowledge.types_sources import RemoteConfig as RemoteConfig
from knowledge.types_sources import SkippedItem as SkippedItem
from knowledge.types_sources import SourceConfig as SourceConfig
from knowledge.types_sources import SourceKind as SourceKind

BlockKind = Literal["heading", "paragraph", "table", "note"]
ChunkKind = Literal["article", "appendix", "section", "definition", "window"]
Decision = Literal["ok", "weak", "none"]
ToolState = Literal["ok", "degraded", "down"]
DocumentStatus = Literal["indexed", "failed", "skipped"]

MAX_FILE_BYTES = 256 * 1024 * 1024  # a larger document is not read


# --- what is read ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of a document in reading order; a table keeps its rows, merged cells repeated in each."""

    kind: BlockKind
    text: str
    rows: tuple[tuple[str, ...], ...] = ()
    page: int | None = None  # from 1
    level: int | None = None  # of a heading, from 1
    start_line: int | None = None  # from 1, for formats that have lines
    end_line: int | None = None
    doubtful: tuple[str, ...] = ()  # words that OCR read with low confidence, those with digits first


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an extractor made of one file; `warnings` name what was lost and why."""

    format: str
    extractor: str
    status: Literal["ok", "partial"]
    title: str | None
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A company document, or a file of a repository, at one revision."""

    id: str
    source: str
    uri: str  # path relative to the source's root, "/" separated, NFC
    revision: str  # content hash for documents, commit id for code
    content_hash: str  # sha256 of the bytes for documents, blob id for code
    title: str
    media_type: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """Where a chunk stands in its document: lines for code, label, page and block numbers for documents."""

    source: str
    uri: str
    revision: str
    start_line: int | None = None  # from 1, inclusive
    end_line: int | None = None
    page: int | None = None
    label: str | None = None  # e.g. "취업규칙 제12조(연차휴가)", "[별표 1] 여비 지급 기준"
    symbol: str | None = None  # qualified name, e.g. "PaymentService.retry"
    first_block: int | None = None  # index into the document's blocks, from 0, inclusive
    last_block: int | None = None
    valid_from: date | None = None  # the day on which this wording came into force, where the document says so
    valid_until: date | None = None  # the day from which a later wording holds; None: still in force as far as known
    doubtful: tuple[str, ...] = ()  # words of this chunk that OCR read with low confidence, those with digits first
    doubtful_pages: tuple[int | None, ...] = ()  # the page on which each of them stands


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A name that a chunk calls: on which line first, and on what ("" for a plain call, "new" for a constructor)."""

    name: str  # without its receiver
    line: int  # from 1
    receivers: tuple[str, ...] = ("",)  # last name before the dot: `order.gate.send()` has "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """What a chunker yields: a chunk before it has an id and a place in the catalog.

    `group` is equal for the parts of one long section or definition, and unique within the document otherwise, so
    that evidence of one definition appears once. `refers_to` holds normalised labels ("별표 1") that this text points
    to; `anchors` the normalised labels under which this chunk can be found ("제12조", "별표 1"). `regulation` is the
    name of the regulation inside the document to which both are relative.
    """

    kind: ChunkKind
    text: str  # what a reader is shown
    index_text: str  # what is embedded and tokenised: names and labels in front, then the text
    group: str
    label: str | None = None
    symbol: str | None = None
    symbol_kind: str | None = None  # class, method, function, interface, modifier ...
    signature: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    page: int | None = None
    first_block: int | None = None
    last_block: int | None = None
    regulation: str | None = None
    anchors: tuple[str, ...] = ()
    refers_to: tuple[str, ...] = ()
    call_sites: tuple[CallSite, ...] = ()  # what a definition calls, each name once, for the callers table

    @property
    def calls(self) -> tuple[str, ...]:
        """Simple names of what is called, in order."""
        return tuple(site.name for site in self.call_sites)

    family: str | None = None  # name that all revisions of this regulation share, without dates and spaces
    valid_from: date | None = None  # the day on which this revision came into force, where the document says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A chunk as it stands in the catalog. `id` = hash(source, uri, label or symbol, index text, n-th occurrence)."""

    id: str
    document_id: str
    kind: ChunkKind
    text: str
    index_text: str
    locator: Locator
    ordinal: int  # place within the document, from 0
    tokens: int  # number of index tokens (analysis.analyze), the length that BM25 sees
    group: str
    evidence_kind: EvidenceKind
    title: str  # the document's title
    symbol_kind: str | None = None
    signature: str | None = None
    family: str | None = None  # of a regulation: the name that all its revisions within the source share


# --- what is asked --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The sources that this asker may see here and now. Every read takes one, and none has a default.

    `sources=None` means all sources, and is written out as `Scope.everything()` by those who may: the owner's own
    command line. An empty set sees nothing.
    """

    sources: frozenset[str] | None

    @classmethod
    def everything(cls) -> Scope:
        return cls(sources=None)

    @classmethod
    def of(cls, *names: str) -> Scope:
        return cls(sources=frozenset(names))

    def allows(self, source: str) -> bool:
        return self.sources is None or source in self.sources

    def narrowed_to(self, *names: str) -> Scope:
        """Those of `names` that this scope already allows: narrowing never widens."""
        return Scope(sources=frozenset(n for n in names if self.allows(n)))


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """The identity of an embedder: vectors are comparable within one space only."""

    name: str  # short name in configuration and output, e.g. "e5"
    digest: str  # of the weights or the model, as the embedder reports it
    dim: int
    prefix_scheme: str  # e.g. "query: |passage: "

    @property
    def key(self) -> str:
        """A name that is safe in file and collection names, different for every differing field."""
        import hashlib

        tail = hashlib.sha256(f"{self.name}\0{self.digest}\0{self.dim}\0{self.prefix_scheme}".encode()).hexdigest()
        return f"{self.name}-{self.dim}-{tail[:10]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A definition that calls another one, in one line."""

    signature: str
    symbol: str | None
    locator: Locator


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChunk:
    """A chunk with its place in every ranking."""

    chunk: Chunk
    dense_ranks: Mapping[str, int] = field(default_factory=dict)  # vector space name -> rank, from 1
    dense_scores: Mapping[str, float] = field(default_factory=dict)  # cosine similarity, -1..1, higher is nearer
    keyword_rank: int | None = None
    keyword_score: float | None = None  # BM25, from 0, higher is better
    rrf: float = 0.0  # higher is better
    rerank: float | None = None  # higher is better
    features: Mapping[str, float] = field(default_factory=dict)
    via: str | None = None  # id of the chunk that linked to this one
    callers: tuple[Caller, ...] = ()  # of a definition: what calls it, best first, bounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate thinks of the evidence."""

    decision: Decision
    reason: str
    probability: float | None = None  # that the evidence answers the question, 0..1; None when uncalibrated
    missing: tuple[str, ...] = ()  # telling words of the question that no leading evidence mentions, as written


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatus:
    """The state of one part at one moment."""

    name: str  # "keyword", "dense:e5", "catalog", "source:rules", "model" ...
    state: ToolState
    detail: str
    checked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The outcome of one search: ranked chunks, the gate's verdict, and which tools took part in what state."""

    query: str
    route: Literal["docs", "code", "both"]
    chunks: tuple[ScoredChunk, ...]
    verdict: Verdict
    tools: tuple[ToolStatus, ...]
    degraded: tuple[str, ...] = ()  # plain sentences: "vectors pending for 12 of 340 chunks of rules"
    took_ms: Mapping[str, float] = field(default_factory=dict)  # total, embed, dense, keyword, rerank


# --- what is kept up to date ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedItem:
    """An item that could not be read."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What one sync of one source did."""

    source: str
    added: int
    updated: int
    deleted: int
    unchanged: int
    failed: tuple[FailedItem, ...]
    duration_s: float
    chunks: int = 0
    embedded: int = 0  # vectors that had to be computed (not found in the cache)
    pending: int = 0  # vectors still missing when the run ended
    dry_run: bool = False
    documents: tuple[DocumentReport, ...] = ()  # filled by a dry run
    problem: str | None = None  # why the source as a whole, or its vectors, could not be brought up to date
    stopped: bool = False  # ended before it was complete because it was asked to


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReport:
    """One line of a dry run."""

    uri: str
    change: Literal["added", "updated", "deleted", "unchanged", "failed"]
    format: str | None = None
    extractor: str | None = None
    blocks: int = 0
    chunks: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A step of long work, for progress bars; `total` is None while it is unknown."""

    source: str
    stage: Literal["discover", "read", "embed", "done"]
    done: int
    total: int | None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """A generation that is built beside the shown one, and how far it has got."""

    documents: int
    of_documents: int  # of the shown one: as many are to come, about
    chunks: int
    pending: Mapping[str, int]  # embedder -> chunks whose vector is missing
    complete: bool  # every document is in; what is missing are vectors
    embedders: tuple[str, ...]
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """What is indexed of one source, how fresh it is, and what is wrong with it."""

    source: str
    title: str
    kind: SourceKind
    documents: int
    chunks: int
    pending: Mapping[str, int]  # vector space name -> chunks whose vector is missing
    failed: tuple[FailedItem, ...]
    skipped: Mapping[str, int]  # reason -> count
    last_sync: datetime | None
    revision: str | None
    embedders: tuple[str, ...]
    calibrated: bool
    problem: str | None = None  # why the last sync failed as a whole
    parts: int | None = None  # repositories, of a source that holds many
    warned: Mapping[str, int] = field(default_factory=dict)  # of code: what could not be parsed -> files
    building: Building | None = None  # what will take the place of what is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSummary:
    """One row of `haechi list`."""

    source: str
    uri: str
    title: str
    media_type: str
    status: DocumentStatus
    reason: str | None
    chunks: int
    revision: str
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text to show beside an answer: a whole document or file, masked, with the place of one chunk in it."""

    source: str
    uri: str
    title: str
    revision: str
    evidence_kind: EvidenceKind
    media_type: str
    blocks: tuple[Block, ...]  # documents
    lines: tuple[str, ...]  # code
    locator: Locator | None  # what to highlight
    url: str | None = None  # link_template filled in
    callers: tuple[Caller, ...] = ()  # of a definition: what calls it, best first
    ends_with_newline: bool = True  # whether the last of `lines` is ended by a line break
