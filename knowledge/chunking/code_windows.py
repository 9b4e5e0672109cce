"""Sections and line windows for files without definitions: documents, configuration, unknown languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from knowledge.chunking.code_mybatis import chunk_mapper, is_mapper
from knowledge.chunking.code_outline import chunk_outline
from knowledge.chunking.code_outline_formats import outline_of
from knowledge.chunking.code_sql import SQL_SUFFIXES, chunk_sql
from knowledge.chunking.code_text import index_text, join_lines, split_lines, split_rows, words_of
from knowledge.types import ChunkDraft, ChunkKind

_WINDOW_CHARS = 2400
_BLANK_ROWS = 5  # more of them separate two blocks
_MARKDOWN = frozenset(["md", "mdx", "markdown", "mdown", "adoc", "asciidoc", "rst", "rest"])
_ATX = re.compile(r"(#{1,6}|={1,6})[ \t]+(?P<title>\S.*?)[ \t]*#*$")
_FENCE = re.compile(r"\s*(```|~~~|----$|\.\.\.\.$)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_TOP_LEVEL = re.compile(r"[^\s#/*;\-)\]}>]|<[a-zA-Z!]|-\s|\[")


def chunk_plain(uri: str, text: str) -> list[ChunkDraft]:
    """Heading sections of a document, statements of SQL, sections of configuration, windows of anything else."""
    lines = split_lines(text)
    suffix = uri.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()
    if suffix in _MARKDOWN:
        return sections(uri, lines)
    if is_mapper(uri, text):
        return chunk_mapper(uri, text)
    if suffix in SQL_SUFFIXES:
        return chunk_sql(uri, text)
    outline = outline_of(uri, lines)
    if outline is not None and outline.parts:
        return chunk_outline(uri, lines, outline)
    return windows(uri, lines, 0, len(lines) - 1)


def windows(uri: str, lines: Sequence[str], first: int, last: int) -> list[ChunkDraft]:
    """Windows over these rows (from 0, both included), cut where a top-level key, a statement or a blank line is."""
    ranges = split_rows(lines, first, last, _line_borders(lines, first, last), _WINDOW_CHARS)
    return [
        _draft(uri, lines, start, end, name=words_of(uri), kind="window", group=f"window@{start + 1}", label=None)
        for start, end in ranges
        if any(c.isalnum() for line in lines[start : end + 1] for c in line[:2000])
    ]


def blocks(uri: str, lines: Sequence[str]) -> list[ChunkDraft]:
    """Windows over each run of rows that is not broken by more than a few blank ones."""
    drafts: list[ChunkDraft] = []
    rows = [row for row, line in enumerate(lines) if line.strip()]
    start = 0
    for place, row in enumerate(rows):
        if place + 1 == len(rows) or rows[place + 1] - row > _BLANK_ROWS:
            drafts += windows(uri, lines, rows[start], row)
            start = place + 1
    return drafts


def _line_borders(lines: Sequence[str], first: int, last: int) -> Mapping[int, int]:
    """Rows that begin something: 0 after a blank line at the left margin, 1 at the margin, 2 after a blank line."""
    borders = {}
    for row in range(first + 1, last + 1):
        line, after_blank = lines[row], not lines[row - 1].strip()
        if _TOP_LEVEL.match(line):
            borders[row] = 0 if after_blank else 1
        elif after_blank and line.strip():
            borders[row] = 2
    return borders


def sections(uri: str, lines: Sequence[str]) -> list[ChunkDraft]:
    """One chunk a heading section, with the path of headings as its label."""
    drafts: list[ChunkDraft] = []
    marks = [*_headings(lines), (len(lines), 0, "")]
    if marks[0][0] > 0:
        drafts += windows(uri, lines, 0, marks[0][0] - 1)
    trail: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    for (row, level, title), (next_row, _, _) in pairwise(marks):
        trail = [*(item for item in trail if item[0] < level), (level, title)]
        label = " > ".join(item[1] for item in trail)
        seen[label] = seen.get(label, 0) + 1
        group = label if seen[label] == 1 else f"{label}#{seen[label]}"
        if not any(line.strip() for line in lines[row + 1 : next_row]):
            continue  # a heading above its first sub-heading says nothing alone
        borders = {r: 0 for r in range(row + 1, next_row) if not lines[r - 1].strip()}
        for start, end in split_rows(lines, row, next_row - 1, borders, _WINDOW_CHARS):
            drafts.append(_draft(uri, lines, start, end, name=label, kind="section", group=group, label=label))
    return drafts


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """(row, level, title) of ATX, AsciiDoc and underlined headings outside fenced code."""
    found: list[tuple[int, int, str]] = []
    fence: str | None = None
    underlines: list[str] = []
    for row, line in enumerate(lines):
        mark = _FENCE.match(line)
        is_underline = row > 0 and _UNDERLINE.fullmatch(line) and len(line.strip()) >= 3
        if fence is None and is_underline and _is_title(lines, row - 1, line):
            char = line[0]
            if char not in underlines:
                underlines.append(char)
            found.append((row - 1, underlines.index(char) + 1, lines[row - 1].strip()))
            continue
        if mark:
            fence = mark[1] if fence is None else None if mark[1] == fence else fence
            continue
        heading = _ATX.match(line) if fence is None else None
        if heading:
            found.append((row, len(heading[1]), heading["title"].strip()))
    return found


def _is_title(lines: Sequence[str], row: int, underline: str) -> bool:
    """True when the line above an underline is the title of a section and not a table row or a paragraph's end."""
    title = lines[row].strip()
    alone = row == 0 or not lines[row - 1].strip() or _UNDERLINE.fullmatch(lines[row - 1]) is not None
    return bool(title) and alone and any(c.isalnum() for c in title) and "|" not in title and len(title) <= 120


def _draft(
    uri: str, lines: Sequence[str], start: int, end: int, *, name: str, kind: ChunkKind, group: str, label: str | None
) -> ChunkDraft:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end].strip():
        end -= 1
    text = join_lines(lines[start : end + 1])
    return ChunkDraft(
        kind=kind,
        text=text,
        index_text=index_text(uri, name, text),
        group=group,
        label=label,
        start_line=start + 1,
        end_line=end + 1,
    )
