"""Embedders by their configured names, and the check that one still speaks the space of a generation's vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from knowledge.catalog_generations import Generation, RecordedSpace
from knowledge.errors import KnowledgeError, ToolDown
from knowledge.ports import Embedder, Vectors
from knowledge.types import VectorSpace


class EmbedderShelf:
    """One embedder per configured name, built at first use and shared by search and sync."""

    def __init__(self, build: Callable[[str], Embedder]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._built: dict[str, Embedder] = {}

    def get(self, name: str) -> Embedder:
        """The embedder of that name. Raises ToolDown when this version knows no such embedder."""
        with self._lock:
            if name not in self._built:
                try:
                    self._built[name] = self._build(name)
                except ValueError as error:
                    raise ToolDown(str(error)) from error
            return self._built[name]

    def first(self, names: Sequence[str]) -> Embedder | None:
        """The embedder of the first name; None without names. Raises ToolDown."""
        return self.get(names[0]) if names else None

    def space_of(self, name: str) -> tuple[VectorSpace | None, str | None]:
        """(space, None), or (None, why the embedder cannot be asked)."""
        try:
            return self.get(name).space, None
        except KnowledgeError as error:
            return None, str(error)

    def check(self, name: str) -> str:
        """What `name` is, in a few words. Raises ModelMissing or ToolDown."""
        space = self.get(name).space
        return f"{space.dim} dimensions, {space.digest[:12]}"


class RecordedEmbedder:
    """An embedder for questions to vectors that were made earlier: refuses when its model has changed since."""

    def __init__(self, shelf: EmbedderShelf, recorded: RecordedSpace, space: VectorSpace, *, source: str) -> None:
        self._shelf = shelf
        self._recorded = recorded
        self._space = space
        self._source = source

    @property
    def space(self) -> VectorSpace:
        return self._space

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._checked().embed_queries(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._checked().embed_passages(texts)

    def _checked(self) -> Embedder:
        embedder = self._shelf.get(self._recorded.embedder)
        if embedder.space != self._space:
            raise ToolDown(
                f"The vectors of source {self._source} were made by another version of {self._recorded.embedder}: "
                "run `haechi ingest`"
            )
        return embedder


def matches(generation: Generation, fingerprint: str, spaces: Sequence[RecordedSpace]) -> bool:
    """Whether `generation` is what today's versions and embedders would build; an unknown space matches any."""
    if generation.fingerprint != fingerprint or len(generation.spaces) != len(spaces):
        return False
    return all(
        built.embedder == wanted.embedder
        and (built.space is None or wanted.space is None or built.space == wanted.space)
        for built, wanted in zip(generation.spaces, spaces, strict=True)
    )
