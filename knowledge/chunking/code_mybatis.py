"""Mappers of MyBatis and iBatis: each statement, fragment and result map is a definition, called `namespace.id`.

What a mapper's interface declares is found here by the same name: `OrderMapper.findById`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge.chunking.code_text import PART_CHARS, index_text, join_lines, signature_of, split_lines, split_rows
from knowledge.types import CallSite, ChunkDraft

_MAPPER = re.compile(r"<(?:mapper|sqlMap)\b[^>]*?\bnamespace\s*=\s*[\"'](?P<namespace>[\w.$-]+)[\"']", re.S)
_OPEN = re.compile(
    r"<(?P<tag>select|insert|update|delete|sql|resultMap|statement|procedure)\b(?P<attributes>[^>]{0,2000})>"
)
_ID = re.compile(r"\bid\s*=\s*[\"'](?P<id>[\w.$-]+)[\"']")
_REFERENCE = re.compile(r"\b(?:refid|resultMap|select)\s*=\s*[\"'](?P<name>[\w.$-]+)[\"']")
_HEAD_CHARS = 4000
_MAX_CALLS = 50
_SHARED_CHARS = 1000  # a line this long that another statement holds already is written by a program


def is_mapper(uri: str, text: str) -> bool:
    """Whether an XML file holds statements of a mapper."""
    return uri.lower().endswith(".xml") and _MAPPER.search(text[:_HEAD_CHARS]) is not None


def chunk_mapper(uri: str, text: str) -> list[ChunkDraft]:
    """One chunk a statement with the comment above it; long ones in parts that repeat their tag."""
    head = _MAPPER.search(text[:_HEAD_CHARS])
    namespace = head["namespace"] if head is not None else ""
    lines = split_lines(text)
    drafts: list[ChunkDraft] = []
    groups: dict[str, int] = {}
    for first, last, code_row, tag, name, attributes in _statements(text, lines):
        mapper = namespace.rpartition(".")[2]
        symbol = f"{mapper}.{name}" if mapper else name
        groups[symbol] = groups.get(symbol, 0) + 1
        group = symbol if groups[symbol] == 1 else f"{symbol}#{groups[symbol]}"
        signature = signature_of(f"<{tag} {' '.join(attributes.split())}>")
        for start, end in split_rows(lines, first, last, {}, PART_CHARS):
            shown = join_lines(lines[start : end + 1])
            shown = shown if start == first else f"{signature} …\n{shown}"
            calls = _references("\n".join(lines[max(start, code_row) : end + 1]), max(start, code_row), name)
            drafts.append(
                ChunkDraft(
                    kind="definition",
                    text=shown,
                    index_text=index_text(uri, symbol, shown, kind=f"sql query {tag}", roles=namespace),
                    group=group,
                    symbol=symbol,
                    symbol_kind=tag,
                    signature=signature,
                    start_line=start + 1,
                    end_line=end + 1,
                    anchors=(f"{namespace}.{name}",) if namespace != mapper else (),
                    call_sites=calls,
                )
            )
    return drafts


def _statements(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int, int, str, str, str]]:
    """(first row with the comment, last row, row of the tag, tag, id, attributes) of every statement."""
    position = row = counted = 0
    free_row = 0  # the first row that no statement has taken
    while (opened := _OPEN.search(text, position)) is not None:
        position = opened.end()
        found = _ID.search(opened["attributes"])
        if found is None:
            continue
        end = position
        if not opened["attributes"].rstrip().endswith("/"):
            closing = f"</{opened['tag']}>"
            at = text.find(closing, position)
            end = at + len(closing) if at >= 0 else len(text)
        row += text.count("\n", counted, opened.start())
        counted = opened.start()
        code_row = row
        last = min(code_row + text.count("\n", opened.start(), end), len(lines) - 1)
        position = end
        if last < free_row and len(lines[code_row]) > _SHARED_CHARS:
            continue  # each of thousands of statements would hold the same line whole
        first = max(_with_comment(lines, code_row), min(free_row, code_row))
        yield first, last, code_row, opened["tag"], found["id"], opened["attributes"]
        free_row = last + 1


def _with_comment(lines: Sequence[str], row: int) -> int:
    """The first row of the XML comment that ends directly above."""
    if row == 0 or not lines[row - 1].rstrip().endswith("-->"):
        return row
    for start in range(row - 1, max(-1, row - 31), -1):
        if lines[start].lstrip().startswith("<!--"):
            return start
    return row


def _references(text: str, first_row: int, own: str) -> tuple[CallSite, ...]:
    """Fragments, result maps and nested selects that a statement uses."""
    sites: dict[str, CallSite] = {}
    for match in _REFERENCE.finditer(text):
        name = match["name"].rpartition(".")[2]
        if name != own and name not in sites and len(sites) < _MAX_CALLS:
            sites[name] = CallSite(name=name, line=first_row + text.count("\n", 0, match.start()) + 1)
    return tuple(sites.values())
