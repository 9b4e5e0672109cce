"""Tables with merged cells to plain rows: a cell's text is repeated in every row and column that it covers.

Tables that only serve as a frame (one cell, one column, articles beside their titles) become the blocks inside them.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.extract.text import table_block
from knowledge.types import Block

MAX_GRID_CELLS = 2_000_000
_MAX_COVERED = 4 * MAX_GRID_CELLS  # places that all spans together may cover; beyond it a cell covers its own only
_MAX_REPEATED_CHARS = 4_000_000  # beyond it a merged cell's text stands in its first row and column only

_WRITTEN_DOWNWARDS = re.compile(r"[가-힣](?:\n[가-힣])+")
_ARTICLE = re.compile(r"\s*제\s*\d+\s*조(?:의\s*\d+)?")
_MAX_TITLE_CHARS = 60
_MIN_BODY_CHARS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SpannedCell:
    """One cell as the file gives it; rows and columns count from 0, spans from 1."""

    row: int
    column: int
    row_span: int = 1
    column_span: int = 1
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """All text of the cell, one line a paragraph; a word written downwards (one syllable a line) as one word."""
        text = flat_text(self.blocks).strip()
        return text.replace("\n", "") if _WRITTEN_DOWNWARDS.fullmatch(text) else text


def text_cell(row: int, column: int, text: str, *, row_span: int = 1, column_span: int = 1) -> SpannedCell:
    """A cell that holds nothing but `text`."""
    blocks = (Block(kind="paragraph", text=text),) if text else ()
    return SpannedCell(row=row, column=column, row_span=row_span, column_span=column_span, blocks=blocks)


def flat_text(blocks: Sequence[Block]) -> str:
    """All text of `blocks`, one line a paragraph; rows of nested tables as "a | b"."""
    lines: list[str] = []
    for block in blocks:
        if block.text and not block.rows:
            lines.append(block.text)
        for row in block.rows:
            cells = [" ".join(cell.split()) for cell in row]
            kept = [cell for n, cell in enumerate(cells) if n == 0 or cell != cells[n - 1]]
            if any(kept):
                lines.append(" | ".join(kept))
    return "\n".join(lines)


def table_blocks(cells: Sequence[SpannedCell], *, caption: str = "", page: int | None = None) -> list[Block]:
    """Blocks of one table: its caption and a table block, or its content where it is only a frame around that.

    Rows and columns in which no cell begins are left out (they would repeat their neighbour), as are empty ones.
    """
    head = [Block(kind="paragraph", text=caption, page=page)] if caption else []
    origin = _origin_grid(cells)
    if all(len(set(row)) == 1 for row in origin):  # also when the grid would be too large to be a table
        return head + [block for cell in sorted(cells, key=lambda c: (c.row, c.column)) for block in cell.blocks]
    grid = _fill(cells, origin)
    if not grid:
        return head
    if _articles_beside_titles(grid):
        return head + [_article(row, page) for row in grid]
    return [*head, table_block(grid, page=page)]


def _place(cells: Sequence[SpannedCell]) -> tuple[dict[int, int], dict[int, int]]:
    """Row and column numbers in which a cell begins -> their place in the output."""
    rows = {row: place for place, row in enumerate(sorted({cell.row for cell in cells}))}
    columns = {column: place for place, column in enumerate(sorted({cell.column for cell in cells}))}
    return rows, columns


def _origin_grid(cells: Sequence[SpannedCell]) -> list[list[int]]:
    """The number of the cell that covers each place, -1 where none does; [] when there would be too many places.

    Later cells never cover earlier ones, and every cell keeps the place where it begins.
    """
    rows, columns = _place(cells)
    if len(rows) * len(columns) > MAX_GRID_CELLS:
        return []
    grid = [[-1] * len(columns) for _ in rows]
    ordered_rows, ordered_columns = sorted(rows), sorted(columns)
    budget = _MAX_COVERED
    for number, cell in enumerate(cells):
        first_row, first_column = rows[cell.row], columns[cell.column]
        down = _covered(ordered_rows, first_row, cell.row + cell.row_span)
        across = _covered(ordered_columns, first_column, cell.column + cell.column_span)
        budget -= len(down) * len(across)
        if budget >= 0:
            for place in down:
                line = grid[place]
                for column in across:
                    if line[column] < 0:
                        line[column] = number
        grid[first_row][first_column] = number
    return grid


def _covered(ordered: Sequence[int], first: int, end: int) -> range:
    return range(first, max(first + 1, bisect.bisect_left(ordered, end)))


def _fill(cells: Sequence[SpannedCell], origin: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
    texts = [cell.text for cell in cells]
    total = sum(len(texts[number]) for line in origin for number in line if number >= 0)
    seen: set[int] = set()
    filled: list[tuple[str, ...]] = []
    for line in origin:
        fresh = {number for number in line if number >= 0} - seen
        row = tuple(
            "" if number < 0 or (number not in fresh and total > _MAX_REPEATED_CHARS) else texts[number]
            for number in line
        )
        seen |= fresh
        if any(texts[number] for number in fresh):  # else it only repeats what merged cells said in the row above
            filled.append(row)
    return _without_empty_columns(filled)


def _without_empty_columns(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    width = max((len(row) for row in rows), default=0)
    kept = [n for n in range(width) if any(n < len(row) and row[n].strip() for row in rows)]
    if len(kept) == width:
        return rows
    return [tuple(row[n] if n < len(row) else "" for n in kept) for row in rows]


def _articles_beside_titles(rows: Sequence[tuple[str, ...]]) -> bool:
    """Whether this is a regulation laid out as a table: 제N조 (title) on the left, its text on the right.

    A comparison of old and new text (제N조 on both sides) and lists of short values beside articles stay tables.
    """
    if not rows or len(rows[0]) != 2:
        return False
    articles = [row for row in rows if _ARTICLE.match(row[0])]
    if len(articles) * 2 < len(rows):
        return False
    if any(_ARTICLE.match(right) and right != left for left, right in rows):
        return False
    titles = all(len(left) <= _MAX_TITLE_CHARS for left, right in articles if left != right)
    bodies = [len(right) for left, right in articles if right != left]
    return titles and sum(bodies) >= _MIN_BODY_CHARS * len(bodies)


def _article(row: tuple[str, ...], page: int | None) -> Block:
    left, right = " ".join(row[0].split()), row[1]
    text = right if row[0] == right else f"{left} {right}".strip()
    return Block(kind="paragraph", text=text, page=page)
