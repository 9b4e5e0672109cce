"""The whole text around a chunk, masked, for the page that opens behind a citation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable
from urllib.parse import quote

from knowledge.catalog import Catalog
from knowledge.catalog_rows import unpack_blocks
from knowledge.errors import NotFound
from knowledge.types import Chunk, Locator, Passage, SourceConfig


@runtime_checkable
class CodeSource(Protocol):
    """What evidence pages need of a repository."""

    def file_at(self, uri: str, revision: str) -> bytes: ...

    def permalink(self, uri: str, revision: str, start_line: int | None, end_line: int | None) -> str | None: ...

    def close(self) -> None: ...


def passage_of(
    catalog: Catalog,
    chunk: Chunk,
    generations: Mapping[str, int],
    *,
    config: SourceConfig,
    code_source: Callable[[], CodeSource],
) -> Passage:
    """The document or file of `chunk`. Raises NotFound when it has gone meanwhile."""
    row = catalog.document_row(chunk.document_id, generations[chunk.locator.source])
    if row is None:
        raise NotFound(f"{chunk.locator.uri} is not in the index any more: ask again")
    passage = Passage(
        source=chunk.locator.source,
        uri=chunk.locator.uri,
        title=row["title"],
        revision=row["revision"],
        evidence_kind=chunk.evidence_kind,
        media_type=row["media_type"],
        blocks=unpack_blocks(row["blocks"]),
        lines=(),
        locator=chunk.locator,
        url=fill_link(config.link_template, chunk.locator),
    )
    if chunk.evidence_kind == "docs":
        return passage
    passage = replace(passage, callers=catalog.callers_of(chunk, generations))
    return _with_code(passage, chunk.locator, code_source())


def fill_link(template: str | None, locator: Locator) -> str | None:
    """`template` with {uri}, {revision}, {start_line}, {end_line}, {page} and {label} filled in."""
    if not template:
        return None
    values = {
        "uri": quote(locator.uri),
        "revision": quote(locator.revision, safe=""),
        "start_line": str(locator.start_line or 1),
        "end_line": str(locator.end_line or locator.start_line or 1),
        "page": str(locator.page or 1),
        "label": quote(locator.label or "", safe=""),
    }
    link = template
    for name, value in values.items():
        link = link.replace("{" + name + "}", value)
    return link


def _with_code(passage: Passage, locator: Locator, source: CodeSource) -> Passage:
    from knowledge.extract.decoding import decode
    from knowledge.masking import mask

    try:
        content = source.file_at(locator.uri, locator.revision)
        url = passage.url or source.permalink(locator.uri, locator.revision, locator.start_line, locator.end_line)
    finally:
        source.close()
    text = mask(decode(content, name=locator.uri).text)
    ends = text.endswith("\n")
    lines = tuple(text.split("\n")[:-1] if ends else text.split("\n"))
    return replace(passage, lines=lines, url=url, ends_with_newline=ends)
