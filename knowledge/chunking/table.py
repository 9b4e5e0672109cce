"""Tables as lines of text: "a | b | c", with the rows that name the columns known."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_HEADER_ROWS = 3
_LONG_CELL_CHARS = 24
_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})+|\d+\s*(?:원|일|%|만원|천원|시간|회|명|점|급)")


def render_row(row: Sequence[str]) -> str:
    """Cells of a row as one line; a row whose cells are all the same (merged across) shows it once, an empty row ""."""
    cells = [" ".join(cell.split()) for cell in row]
    filled = [cell for cell in cells if cell]
    if not filled:
        return ""
    if len(set(cells)) == 1:
        return cells[0]
    shown = [cell for i, cell in enumerate(cells) if not (i and cell == cells[i - 1] and len(cell) > _LONG_CELL_CHARS)]
    return " | ".join(shown)


def header_row_count(rows: Sequence[Sequence[str]]) -> int:
    """How many first rows name the columns: one, and those below it while it is merged across columns.

    Title rows (one cell over the whole width) in front are not counted as naming columns but come before the header,
    so they belong to it. A table of one row, or whose first row already holds amounts, has none.
    """
    if len(rows) < 2:
        return 0
    count = 0
    while count < min(len(rows) - 1, _MAX_HEADER_ROWS):
        row = [cell.strip() for cell in rows[count]]
        if any(_AMOUNT.search(cell) for cell in row):
            break
        count += 1
        if not _continues_below(row, [cell.strip() for cell in rows[count]]):
            break
    return count


def _continues_below(row: Sequence[str], below: Sequence[str]) -> bool:
    """Whether `row` has a cell merged across columns that the row below divides, or one that reaches down into it."""
    if len(set(row)) == 1:
        return True
    across = [i for i in range(1, len(row)) if row[i] and row[i] == row[i - 1]]
    if not across or len(below) != len(row):
        return False
    return any(below[i] != below[i - 1] for i in across)
