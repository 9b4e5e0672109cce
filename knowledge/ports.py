"""The seams of `knowledge`: one protocol each, one file per adapter, one contract test suite per protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from knowledge.types import (
    Caller,
    Chunk,
    Discovery,
    EvidenceKind,
    FileLook,
    Scope,
    VectorSpace,
)

Vectors = npt.NDArray[np.float32]


class Source(Protocol):
    """A place that holds documents or code."""

    name: str

    def discover(self) -> Discovery:
        """Everything that is there now, without parsing it. Raises SourceMissing when the place itself is not there."""

    def fetch(self, uri: str) -> bytes:
        """The content of one item of the last `discover`. Raises NotFound when it has gone, else UnreadableFile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryTask:
    """What a discovery that may take long is told, and how it tells how far it is."""

    known: Mapping[str, str] = field(default_factory=dict)  # prefix -> state of the parts that are complete already
    force: bool = False  # list everything, and take what is missing for gone
    looks: Mapping[str, FileLook] = field(default_factory=dict)  # what a folder's files were like at the last look
    progress: Callable[[int, int | None, str], None] = lambda done, total, detail: None
    should_stop: Callable[[], bool] = lambda: False


@runtime_checkable
class RemoteSource(Source, Protocol):
    """A source that is told what is known of it, because it lies behind a network or is large: it can be asked to
    stop, and what provably has not changed is not read again."""

    def discover_with(self, task: DiscoveryTask) -> Discovery:
        """As `discover`. Raises SourceMissing, SourceEmpty, ToolDown; one part that fails is named in `parts`."""


class Embedder(Protocol):
    """Turns text into unit vectors of one vector space."""

    @property
    def space(self) -> VectorSpace:
        """Identity. Reading it may load the model or ask the server: raises ModelMissing or ToolDown."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """(n_texts, dim) float32, unit length. Empty input gives shape (0, dim)."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n_texts, dim) float32, unit length. Empty input gives shape (0, dim).

        Raises ModelMissing, ToolDown, BadInput. Texts longer than the model's window are split and averaged or cut by
        the adapter, the same way every time.
        """


class Reranker(Protocol):
    """Scores a question against passages together."""

    name: str

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One finite score a passage, higher is better: the logarithm of the odds that it answers the question.

        Empty input gives an empty result. A score depends on the question and its passage alone; what is too long is
        cut at its end. Takes a bounded time. Raises ModelMissing, ToolDown.
        """

    def check(self) -> str:
        """What it is, in a few words, and how long the last search took. Raises ModelMissing, ToolDown.

        Loads nothing, and says so again as soon as what was missing is there.
        """

    def warm_up(self) -> None:
        """Does what the first search would have to wait for. Raises what `check` raises."""

    def close(self) -> None:
        """Releases memory and connections; the next use takes them again."""


class VectorIndex(Protocol):
    """Nearest neighbours by cosine within named collections; can be lost and rebuilt from catalog and cache."""

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors) -> None:
        """Returns once the vectors can be searched. Raises ToolDown, StorageFull."""

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Removes what is there; ids that are not are ignored."""

    def search(self, collection: str, vector: Vectors, limit: int) -> Sequence[tuple[str, float]]:
        """(id, cosine similarity) pairs, nearest first. `vector` has shape (dim,). Unknown collection: empty."""

    def ids(self, collection: str) -> set[str]:
        """All ids of a collection; an unknown collection is empty."""

    def fetch(self, collection: str, ids: Sequence[str]) -> Mapping[str, Vectors]:
        """Id -> stored vector of shape (dim,) for those of `ids` that are there."""

    def count(self, collection: str) -> int:
        """How many vectors a collection holds; an unknown one holds none."""

    def collections(self) -> set[str]:
        """Names of all collections."""

    def drop(self, collection: str) -> None:
        """Removes a collection; nothing happens when it is not there."""

    def close(self) -> None:
        """Releases files."""


class KeywordIndex(Protocol):
    """BM25 over analysed text."""

    def search(
        self, terms: Sequence[str], *, generations: Mapping[str, int], limit: int
    ) -> Sequence[tuple[str, float]]:
        """(chunk id, BM25 score) pairs, best first, scores from 0, within the given source -> generation pairs."""

    def document_frequencies(
        self, terms: Iterable[str], *, generations: Mapping[str, int] | None = None
    ) -> tuple[Mapping[str, int], int]:
        """How many chunks hold each term, and how many chunks there are; of everything that is shown by default."""


class ChangeIndex(Protocol):
    """The messages of the commits that led to what is indexed."""

    def changed_files(self, terms: Sequence[str], *, sources: Iterable[str]) -> Mapping[tuple[str, str], float]:
        """(source, uri) -> how much commits with these analysed terms speak for a file, above 0, 1 for the best one."""


class ChunkLookup(Protocol):
    """What search needs of the catalog: only chunks of the given source -> generation pairs are ever visible."""

    def active_generations(self, scope: Scope) -> dict[str, int]:
        """Source -> the generation that is shown, for every source of the scope that has one."""

    def evidence_kinds(self) -> dict[str, EvidenceKind]:
        """Source -> whether it holds documents or code."""

    def visible_chunks(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, Chunk]:
        """Id -> chunk for those of `ids` that are visible; unknown, stale and foreign ids are left out."""

    def linked_chunk_ids(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, list[str]]:
        """Id of an article -> ids of the appendices that it refers to, in order. Ids without links are left out."""

    def referring_chunk_ids(self, ids: Collection[str], generations: Mapping[str, int]) -> dict[str, list[str]]:
        """Id of an appendix -> ids of the articles that refer to it, in order. Ids nobody refers to are left out."""

    def group_parts(self, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
        """The parts of the section or definition that `chunk` belongs to, in order, `chunk` among them.

        Of a very long one, those that stand near `chunk`.
        """

    def chunks_in_files(self, names: Collection[str], generations: Mapping[str, int]) -> dict[str, list[Chunk]]:
        """Name -> chunks, in order, of the documents whose uri is that name or ends with "/" + name.

        `names` are file names or ends of paths, as stack traces and questions give them; unknown ones are left out.
        """

    def revision_dates(
        self, families: Collection[tuple[str, str]], generations: Mapping[str, int]
    ) -> dict[tuple[str, str], list[date]]:
        """(source, family) -> the days on which the revisions that are in the index came into force, earliest first."""

    def revision_chunks(self, source: str, family: str, day: date, generations: Mapping[str, int]) -> list[Chunk]:
        """The chunks of one revision of a regulation, in order."""

    def callers_of(self, chunk: Chunk, generations: Mapping[str, int]) -> tuple[Caller, ...]:
        """What calls the definition that `chunk` is a part of, best first, a few; empty for what is no definition."""

    def used_modifiers(self, chunk: Chunk, generations: Mapping[str, int]) -> list[Chunk]:
        """The modifiers that a Solidity function uses, inherited ones too; empty for everything else."""

    def pending_counts(self, generations: Mapping[str, int]) -> dict[tuple[str, str], tuple[int, int]]:
        """(source, vector space key) -> (chunks whose vector is missing, chunks in all)."""
