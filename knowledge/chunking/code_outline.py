"""Chunks of configuration: sections by their key path, named so that people can ask for them.

Every format is first read as an outline, a tree of named rows (`code_outline_formats`); here the outline is cut. What
is small stays whole; a section that is larger, or that only gathers others (`services`, `jobs`), gives a chunk to each
of its parts, named by its path: "services.web", "jobs.build.steps". Small keys share a chunk with their parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from knowledge.chunking.code_text import index_text, join_lines, split_rows
from knowledge.types import ChunkDraft

WHOLE_CHARS = 900  # a section of at most this size is not taken apart, unless it only gathers others
PART_CHARS = 2400
_MAX_DEPTH = 4
_MIN_ROWS = {"key": 3, "keys": 2, "table": 1, "stage": 1, "target": 1, "block": 1, "document": 1, "element": 3}
_MAX_PATH_CHARS = 160


@dataclass(slots=True, eq=False)
class Section:
    """A named stretch of rows, from 0, both included, with the comment above it; `parts` lie within it, in order."""

    name: str
    first_row: int
    last_row: int
    kind: str = "key"
    parts: list[Section] = field(default_factory=list)

    @property
    def stands_alone(self) -> bool:
        """Whether the section is worth a chunk of its own."""
        rows = self.last_row - self.first_row + 1
        return bool(self.parts) or rows >= _MIN_ROWS.get(self.kind, _MIN_ROWS["key"])


def chunk_outline(uri: str, lines: Sequence[str], root: Section) -> list[ChunkDraft]:
    """One chunk a section, in reading order; `root` is the whole file and has no name."""
    drafts: list[ChunkDraft] = []
    groups: dict[str, int] = {}
    for path, kind, ranges in _cut(lines, root, "", 0):
        shown = [row for first, last in ranges for row in range(first, last + 1)]
        if not any(c.isalnum() for row in shown for c in lines[row][:2000]):
            continue
        groups[path] = groups.get(path, 0) + 1
        group = path if groups[path] == 1 else f"{path}#{groups[path]}"
        drafts += _drafts(uri, lines, path, kind, group or "top", ranges)
    return sorted(drafts, key=lambda draft: draft.start_line or 0)


def _cut(
    lines: Sequence[str], section: Section, path: str, depth: int
) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """(path, kind, ranges of rows) of the chunks of a section."""
    large = [part for part in section.parts if part.stands_alone]
    gathers = len(section.parts) > 0 and len(large) == len(section.parts)
    size = sum(len(line) + 1 for line in lines[section.first_row : section.last_row + 1])
    apart = depth == 0 or (gathers and depth < 2 and len(large) > 1)
    if not large or depth >= _MAX_DEPTH or (size <= WHOLE_CHARS and not apart):
        yield path, section.kind, [(section.first_row, section.last_row)]
        return
    own: list[tuple[int, int]] = []
    row = section.first_row
    for part in section.parts:
        if part.first_row > row:
            own.append((row, part.first_row - 1))
        if part in large:
            yield from _cut(lines, part, _joined(path, part.name), depth + 1)
        else:
            own.append((part.first_row, part.last_row))
        row = part.last_row + 1
    if row <= section.last_row:
        own.append((row, section.last_row))
    told = [r for a, b in own for r in range(a, b + 1) if any(c.isalnum() for c in lines[r])]
    if len(told) > (1 if path else 0):  # more than the heading of the section
        yield path, section.kind, own


def _joined(path: str, name: str) -> str:
    joined = f"{path}.{name}" if path else name
    return joined if len(joined) <= _MAX_PATH_CHARS else joined[:_MAX_PATH_CHARS] + "…"


def _drafts(
    uri: str, lines: Sequence[str], path: str, kind: str, group: str, ranges: Sequence[tuple[int, int]]
) -> Iterator[ChunkDraft]:
    rows = [row for first, last in ranges for row in range(first, last + 1) if lines[row].strip()]
    shown = [lines[row] for row in rows]
    indent = _margin(shown)
    for start, end in split_rows(shown, 0, len(shown) - 1, _borders(shown, indent), PART_CHARS):
        text = join_lines(shown[start : end + 1])
        name = path or uri.rsplit("/", 1)[-1]
        if start:
            text = f"{name} …\n{text}"
        first, last = _longest_run(rows[start : end + 1])
        yield ChunkDraft(
            kind="section",
            text=text,
            index_text=index_text(uri, name, text, kind=kind if path else ""),
            group=group,
            symbol=path or None,
            symbol_kind=kind if path else None,
            start_line=first + 1,
            end_line=last + 1,
        )


def _margin(lines: Sequence[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines[1:] or lines), default=0)


def _borders(lines: Sequence[str], margin: int) -> dict[int, int]:
    """Rows at the margin of the section, where its keys or items begin."""
    return {row: 0 for row, line in enumerate(lines) if row and len(line) - len(line.lstrip()) <= margin}


def _longest_run(rows: Sequence[int]) -> tuple[int, int]:
    runs: list[list[int]] = []
    for row in rows:
        if runs and row - runs[-1][-1] <= 2:
            runs[-1].append(row)
        else:
            runs.append([row])
    best = max(runs, key=len)
    return best[0], best[-1]
