"""Rows of a Word table: cells merged across and down are repeated wherever they reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from knowledge.extract.docx_numbering import W

_MAX_COLUMNS = 200
_WRAPPERS = frozenset(W + tag for tag in ("sdt", "sdtContent", "ins", "moveTo", "customXml"))


def table_rows(table: Any, cell_text: Callable[[Any], str]) -> list[tuple[str, ...]]:
    """Rows with equal numbers of cells. `cell_text` is called once a cell, in reading order (it counts numbers)."""
    grid: list[list[tuple[int, str]]] = []  # (identity of the cell, its text) a grid column
    above: dict[int, tuple[int, str]] = {}
    identity = 0
    for row in _children(table, W + "tr"):
        if row.find(f"{W}trPr/{W}del") is not None:
            continue
        line: list[tuple[int, str]] = []
        before = _integer(row.find(f"{W}trPr/{W}gridBefore"))
        line.extend((0, "") for _ in range(min(before, _MAX_COLUMNS)))
        for cell in _children(row, W + "tc"):
            column = len(line)
            span = min(max(1, _integer(cell.find(f"{W}tcPr/{W}gridSpan"), 1)), _MAX_COLUMNS)
            merge = cell.find(f"{W}tcPr/{W}vMerge")
            if merge is not None and merge.get(W + "val", "continue") == "continue" and column in above:
                content = above[column]
                cell_text(cell)  # hidden by the merge, but numbered paragraphs in it still count
            else:
                identity += 1
                content = (identity, cell_text(cell))
            line.extend([content] * span)
        grid.append(line)
        above = dict(enumerate(line))
    return _without_false_columns(grid)


def _children(parent: Any, tag: str) -> Iterator[Any]:
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _children(child, tag)


def _integer(element: Any, default: int = 0) -> int:
    value = element.get(W + "val", "") if element is not None else ""
    return int(value) if value.isdigit() else default


def _without_false_columns(grid: list[list[tuple[int, str]]]) -> list[tuple[str, ...]]:
    """Grid columns at which no cell starts in any row come from cells of uneven width; they say nothing."""
    width = max((len(line) for line in grid), default=0)
    padded = [line + [(0, "")] * (width - len(line)) for line in grid]
    kept = [
        column
        for column in range(width)
        if column == 0 or any(line[column][0] != line[column - 1][0] for line in padded)
    ]
    return [tuple(line[column][1] for column in kept) for line in padded]
