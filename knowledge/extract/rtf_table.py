"""Rows of RTF tables: cells are known by their right edges, merged ones by marks; both become a grid of spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.extract.merged_cells import SpannedCell, table_blocks
from knowledge.types import Block

_SAME_EDGE_TWIPS = 45  # editors draw the "same" edge of two rows up to 0.8 mm apart


@dataclass(slots=True)
class CellDefinition:
    """What \\cellx and the words in front of it say of one cell."""

    right: int = 0
    continues_left: bool = False  # \\clmrg
    continues_above: bool = False  # \\clvmrg


@dataclass(slots=True)
class Row:
    """One row: its definitions and the content of its cells, in order."""

    left: int = 0
    definitions: list[CellDefinition] = field(default_factory=list)
    cells: list[tuple[Block, ...]] = field(default_factory=list)


def rows_to_blocks(rows: Sequence[Row]) -> list[Block]:
    """Blocks of one table."""
    edges = _edges(rows)
    cells: list[SpannedCell] = []
    above: dict[int, int] = {}  # column -> number of the cell that a continued one below belongs to
    for number, row in enumerate(rows):
        column = 0
        left = row.left
        for place, blocks in enumerate(row.cells):
            known = place < len(row.definitions)
            definition = row.definitions[place] if known else CellDefinition()
            right = definition.right if known and definition.right > left else left + 10_000
            start, end = (_column(edges, left), _column(edges, right)) if edges else (column, column + 1)
            span = max(1, end - start)
            if definition.continues_left and cells and cells[-1].row == number:
                cells[-1] = _grown(cells[-1], columns=start + span - cells[-1].column)
            elif definition.continues_above and start in above:
                owner = above[start]
                cells[owner] = _grown(cells[owner], rows=number - cells[owner].row + 1)
            else:
                above[start] = len(cells)
                cells.append(SpannedCell(row=number, column=start, column_span=span, blocks=blocks))
            left, column = right, start + span
    return table_blocks(cells)


def _grown(cell: SpannedCell, *, rows: int | None = None, columns: int | None = None) -> SpannedCell:
    return SpannedCell(
        row=cell.row,
        column=cell.column,
        row_span=rows or cell.row_span,
        column_span=columns or cell.column_span,
        blocks=cell.blocks,
    )


def _edges(rows: Sequence[Row]) -> list[int]:
    """Distinct edges from left to right; [] when the definitions do not fit the cells, which then count by order."""
    if any(len(row.definitions) < len(row.cells) for row in rows):
        return []
    found = sorted({row.left for row in rows} | {item.right for row in rows for item in row.definitions})
    edges: list[int] = []
    for edge in found:
        if not edges or edge - edges[-1] > _SAME_EDGE_TWIPS:
            edges.append(edge)
    return edges


def _column(edges: Sequence[int], edge: int) -> int:
    """The number of the edge nearest below or at `edge`."""
    import bisect

    return max(0, bisect.bisect_right(edges, edge) - 1)
