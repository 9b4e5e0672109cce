"""Finds definitions of code by name and by place, what calls them, and who changed their lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from knowledge.catalog import Catalog
from knowledge.errors import NotFound
from knowledge.passages import CodeSource
from knowledge.retrieval.code_priors import code_prior
from knowledge.sources.git_history import HasHistory, LineChange, blame_lines, line_at, log_of_lines
from knowledge.types import Caller, Chunk, Scope

Answer = TypeVar("Answer")

MAX_DEFINITIONS = 20


def find_definitions(catalog: Catalog, symbol: str, generations: Mapping[str, int]) -> tuple[Chunk, ...]:
    """Definitions called `symbol`, best first: "OrderService.cancel", "Order::cancel", "cancel"; one chunk each.

    A name that is written in full comes before one that only ends like it; implementations before interfaces and tests.
    Empty when there is none.
    """
    parts = [part for part in symbol.replace("::", ".").replace("#", ".").replace("->", ".").split(".") if part]
    if not parts or not generations:
        return ()
    wanted = ".".join(parts)
    marks = ",".join(str(int(generation)) for generation in generations.values())
    names = [parts[-1], *parts[-2:-1]]
    found = catalog.chunks_where(
        f"c.generation IN ({marks}) AND c.name IN ({','.join('?' * len(names))}) AND c.symbol IS NOT NULL "
        "ORDER BY c.number LIMIT 500",
        names,
        generations,
    )
    first_parts: dict[tuple[str, str], Chunk] = {}
    for chunk in found:
        own = chunk.locator.symbol or ""
        if own == wanted or own.endswith("." + wanted) or (len(parts) > 2 and wanted.endswith("." + own)):
            first_parts.setdefault((chunk.document_id, chunk.group), chunk)

    def order(chunk: Chunk) -> tuple[bool, float, str, int]:
        prior = code_prior(chunk, about_tests=False)
        return (chunk.locator.symbol != wanted, -prior, chunk.locator.uri, chunk.locator.start_line or 0)

    return tuple(sorted(first_parts.values(), key=order)[:MAX_DEFINITIONS])


def definition_around(chunks: Sequence[Chunk], line: int) -> Chunk | None:
    """The smallest definition that covers `line`; else the smallest chunk of any kind that does, else None."""
    covering = [c for c in chunks if (c.locator.start_line or 1) <= line <= (c.locator.end_line or 0)]

    def order(chunk: Chunk) -> tuple[bool, int]:
        return (chunk.kind != "definition", (chunk.locator.end_line or 0) - (chunk.locator.start_line or 0))

    return min(covering, key=order, default=None)


class CodeLookup:
    """Definitions, their callers and the history of their lines; each read is limited by a Scope."""

    def __init__(self, catalog: Catalog, open_source: Callable[[str], CodeSource]) -> None:
        """`open_source` gives the adapter of a source by name; it is closed after each use."""
        self._catalog = catalog
        self._open_source = open_source

    def callers(self, chunk_id: str, *, scope: Scope, limit: int) -> tuple[Caller, ...]:
        """See `Knowledge.callers`."""
        from knowledge.catalog_callers import find_callers

        generations = self._catalog.active_generations(scope)
        chunk = self._catalog.visible_chunks([chunk_id], generations).get(chunk_id)
        if chunk is None:
            raise NotFound("This code is not in the index any more, or not among the sources you may see")
        return find_callers(self._catalog, chunk, generations, limit=limit)

    def definition(self, symbol: str, *, scope: Scope) -> tuple[Chunk, ...]:
        """See `Knowledge.definition`."""
        return find_definitions(self._catalog, symbol, self._catalog.active_generations(scope))

    def definition_at(self, source: str, uri: str, line: int, *, scope: Scope, revision: str | None) -> Chunk | None:
        """See `Knowledge.definition_at`."""
        found = self.place_at(source, uri, line, scope=scope, revision=revision)
        return found[0] if found is not None else None

    def place_at(
        self, source: str, uri: str, line: int, *, scope: Scope, revision: str | None = None
    ) -> tuple[Chunk, int] | None:
        """As `Knowledge.definition_at`, with the line as it is in the index."""
        generations = self._catalog.active_generations(scope.narrowed_to(source))
        chunks = [c for c in self._catalog.chunks_in_files([uri], generations).get(uri, ()) if c.locator.uri == uri]
        if not chunks:
            return None
        indexed = chunks[0].locator.revision
        place: int | None = line
        if revision is not None and not indexed.startswith(revision):
            place = self._with_history(
                source, lambda code: line_at(code, uri, line, from_revision=revision, to_revision=indexed)
            )
        chunk = definition_around(chunks, place) if place is not None else None
        return (chunk, place) if chunk is not None and place is not None else None

    def files_named(self, names: Collection[str], *, scope: Scope) -> dict[str, list[tuple[str, str]]]:
        """File name without folders -> (source, uri) of the files indexed under it, at most 5,000 a name.

        A name that ends in a point ("OrderService.") stands for every suffix.
        """
        generations = self._catalog.active_generations(scope)
        sources = {generation: source for source, generation in generations.items()}
        marks = ",".join(str(int(generation)) for generation in sources)
        found: dict[str, list[tuple[str, str]]] = {}
        with self._catalog.reading() as connection:
            for name in dict.fromkeys(names):
                rows = connection.execute(
                    f"SELECT generation, uri FROM documents WHERE generation IN ({marks}) AND file_name >= ?"
                    " AND file_name < ? AND status = 'indexed' ORDER BY generation, uri LIMIT 5000",
                    (name, f"{name[:-1]}/" if name.endswith(".") else f"{name}\0"),
                ).fetchall()
                if rows:
                    found[name] = [(sources[row["generation"]], row["uri"]) for row in rows]
        return found

    def chunks(self, ids: Sequence[str], *, scope: Scope) -> tuple[Chunk, ...]:
        """Those of the chunks that are still in the index and within the scope, in the order of `ids`."""
        found = self._catalog.visible_chunks(ids, self._catalog.active_generations(scope))
        return tuple(found[one] for one in dict.fromkeys(ids) if one in found)

    def chunks_of_file(self, source: str, uri: str, *, scope: Scope) -> tuple[Chunk, ...]:
        """The chunks of one file or document, in its order; empty when it is not indexed or not in the scope."""
        generations = self._catalog.active_generations(scope.narrowed_to(source))
        found = self._catalog.chunks_in_files([uri], generations).get(uri, ())
        return tuple(chunk for chunk in found if chunk.locator.uri == uri)

    def blame(
        self, source: str, uri: str, start_line: int, end_line: int, *, scope: Scope, revision: str | None
    ) -> tuple[LineChange, ...]:
        """See `Knowledge.blame`."""
        at = revision or self._indexed_revision(source, uri, scope)
        self._require(source, uri, scope)
        return self._with_history(source, lambda code: blame_lines(code, uri, start_line, end_line, at))

    def log_of_lines(
        self,
        source: str,
        uri: str,
        start_line: int,
        end_line: int,
        *,
        scope: Scope,
        since: datetime | None,
        before: str | None = None,
        limit: int,
        revision: str | None,
    ) -> tuple[LineChange, ...]:
        """See `Knowledge.log_of_lines`."""
        at = revision or self._indexed_revision(source, uri, scope)
        self._require(source, uri, scope)
        return self._with_history(
            source,
            lambda code: log_of_lines(code, uri, start_line, end_line, at, since=since, before=before, limit=limit),
        )

    def _indexed_revision(self, source: str, uri: str, scope: Scope) -> str:
        """The commit at which a file is indexed. Raises NotFound when it is not, or is not in the scope."""
        generations = self._catalog.active_generations(scope.narrowed_to(source))
        with self._catalog.reading() as connection:
            for generation in generations.values():
                row = connection.execute(
                    "SELECT revision FROM documents WHERE generation = ? AND uri = ?", (generation, uri)
                ).fetchone()
                if row is not None:
                    return str(row["revision"])
        raise NotFound(f"{uri} is not among the files of source {source} that you may see")

    def _require(self, source: str, uri: str, scope: Scope) -> None:
        """Raises NotFound for a source that is not in the scope."""
        if not self._catalog.active_generations(scope.narrowed_to(source)):
            raise NotFound(f"{uri} is not among the files of source {source} that you may see")

    def _with_history(self, source: str, ask: Callable[[HasHistory], Answer]) -> Answer:
        code = self._open_source(source)
        try:
            if not isinstance(code, HasHistory):
                raise NotFound(f"Source {source} has no git history")
            return ask(code)
        finally:
            code.close()
