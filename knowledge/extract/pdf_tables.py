"""Ruled tables of a PDF page: the grid that its lines draw, with merged cells repeated in every row they cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.extract.pdf_chars import Char, Rule
from knowledge.extract.pdf_lines import find_lines, join_chars

_NEAR = 3.0  # points within which two lines are one
_TOUCH = 4.0  # points within which lines that meet at a corner touch
_MAX_LINES = 400  # of one page; drawings have more


@dataclass(frozen=True, slots=True)
class RuledTable:
    """Cells by row and column; `owner` maps both to the cell that covers the place (merged cells share one)."""

    x0: float
    y0: float
    x1: float
    y1: float
    columns: tuple[float, ...]  # borders from left to right
    lines: tuple[float, ...]  # borders from top to bottom
    owner: tuple[tuple[int, ...], ...]

    def holds(self, char: Char) -> bool:
        x = (char.x0 + char.x1) / 2
        return self.x0 - 1 <= x <= self.x1 + 1 and self.y0 - 1 <= char.middle <= self.y1 + 1

    def right_of(self, number: int) -> float:
        """Right border of a cell."""
        last = max(column for line in self.owner for column, owner in enumerate(line) if owner == number)
        return self.columns[last + 1]

    def cell_of(self, char: Char) -> int:
        """Number of the cell that `char` stands in."""
        x = min(max((char.x0 + char.x1) / 2, self.x0), self.x1)
        column = max(0, sum(border <= x for border in self.columns[:-1]) - 1)
        row = max(0, sum(border >= char.middle for border in self.lines[:-1]) - 1)
        return self.owner[row][column]


def find_tables(rules: Sequence[Rule]) -> list[RuledTable]:
    """Tables from top to bottom: groups of touching lines with at least two cells."""
    if len(rules) > _MAX_LINES * 5:
        return []
    tables = []
    for group in _groups(_merge(rules)):
        table = _table(group)
        if table is not None:
            tables.append(table)
    return sorted(tables, key=lambda table: -table.y1)


def table_cells(table: RuledTable, chars: Sequence[Char]) -> dict[int, list[Char]]:
    """Glyphs by number of the cell they stand in."""
    cells: dict[int, list[Char]] = {}
    for char in chars:
        cells.setdefault(table.cell_of(char), []).append(char)
    return cells


def table_rows(table: RuledTable, cells: dict[int, list[Char]]) -> list[tuple[str, ...]]:
    """Rows of text; columns and rows that are empty throughout are left out."""
    texts = {number: "\n".join(join_chars(line) for line in find_lines(chars)) for number, chars in cells.items()}
    rows = [tuple(texts.get(number, "") for number in line) for line in table.owner]
    kept = [
        column
        for column in range(len(table.columns) - 1)
        if any(row[column] for row in rows)
        and (column == 0 or any(line[column] != line[column - 1] for line in table.owner))
    ]
    narrowed = [tuple(row[column] for column in kept) for row in rows]
    return [row for row in narrowed if any(row)]


def _merge(rules: Sequence[Rule]) -> list[Rule]:
    """Pieces of one line put together, double lines taken for one."""
    merged: list[Rule] = []
    for horizontal in (True, False):
        same = sorted((rule for rule in rules if rule.horizontal == horizontal), key=lambda rule: (rule.at, rule.start))
        bands: list[list[Rule]] = []
        for rule in same:
            if bands and rule.at - bands[-1][0].at <= _NEAR:
                bands[-1].append(rule)
            else:
                bands.append([rule])
        for band in bands:
            at = sum(rule.at for rule in band) / len(band)
            start = end = None
            for rule in sorted(band, key=lambda rule: rule.start):
                if start is None or end is None:
                    start, end = rule.start, rule.end
                elif rule.start <= end + _TOUCH:
                    end = max(end, rule.end)
                else:
                    merged.append(Rule(horizontal, at, start, end))
                    start, end = rule.start, rule.end
            if start is not None and end is not None:
                merged.append(Rule(horizontal, at, start, end))
    return merged[: _MAX_LINES * 2]


def _touch(one: Rule, other: Rule) -> bool:
    if one.horizontal == other.horizontal:
        return False
    across, down = (one, other) if one.horizontal else (other, one)
    return (
        across.start - _TOUCH <= down.at <= across.end + _TOUCH
        and down.start - _TOUCH <= across.at <= down.end + _TOUCH
    )


def _groups(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Lines connected by crossings."""
    left = list(rules)
    groups = []
    while left:
        group = [left.pop()]
        for rule in group:  # grows while it is walked
            touching = [other for other in left if _touch(rule, other)]
            left = [other for other in left if other not in touching]
            group.extend(touching)
        groups.append(group)
    return groups


def _table(group: Sequence[Rule]) -> RuledTable | None:
    across = [rule for rule in group if rule.horizontal]
    down = [rule for rule in group if not rule.horizontal]
    if len(across) < 2 or not down:
        return None
    x0, x1 = min(rule.start for rule in across), max(rule.end for rule in across)
    columns = _distinct([x0, x1, *(rule.at for rule in down)])
    lines = _distinct([rule.at for rule in across] + _open_ends(across, down))[::-1]
    if len(columns) < 2 or len(lines) < 2 or (len(columns) - 1) * (len(lines) - 1) < 2:
        return None
    owner = _merge_cells(columns, lines, across, down)
    if len({number for line in owner for number in line}) < 2:
        return None
    return RuledTable(columns[0], lines[-1], columns[-1], lines[0], tuple(columns), tuple(lines), owner)


def _open_ends(across: Sequence[Rule], down: Sequence[Rule]) -> list[float]:
    """Where a table that goes on to the next page stops: the common end of vertical lines beyond the last border."""
    top, bottom = max(rule.at for rule in across), min(rule.at for rule in across)
    ends = []
    above = [rule.end for rule in down if rule.end > top + 10]
    below = [rule.start for rule in down if rule.start < bottom - 10]
    for outside in (above, below):
        if len(outside) >= 2 and max(outside) - min(outside) <= 10:
            ends.append(sum(outside) / len(outside))
    return ends


def _distinct(values: Sequence[float]) -> list[float]:
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > _NEAR * 1.5:
            kept.append(value)
    return kept


def _merge_cells(
    columns: Sequence[float], lines: Sequence[float], across: Sequence[Rule], down: Sequence[Rule]
) -> tuple[tuple[int, ...], ...]:
    """Number of the covering cell for every place of the grid: places without a wall between them are one cell."""
    height, width = len(lines) - 1, len(columns) - 1
    owner = list(range(height * width))

    def root(number: int) -> int:
        while owner[number] != number:
            number = owner[number]
        return number

    for row in range(height):
        middle = (lines[row] + lines[row + 1]) / 2
        for column in range(width):
            place = row * width + column
            if column + 1 < width and not _wall(down, columns[column + 1], middle):
                owner[root(place + 1)] = root(place)
            if row + 1 < height:
                centre = (columns[column] + columns[column + 1]) / 2
                if not _wall(across, lines[row + 1], centre):
                    owner[root(place + width)] = root(place)
    return tuple(tuple(root(row * width + column) for column in range(width)) for row in range(height))


def _wall(rules: Sequence[Rule], at: float, where: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR * 1.5 and rule.start - 1 <= where <= rule.end + 1 for rule in rules)
