"""Reading order of a PDF page: tables where they are ruled or aligned, columns one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.chunking.markers import read_marker
from knowledge.extract.pdf_chars import Char, Rule
from knowledge.extract.pdf_lines import Segment, find_lines, find_segments, join_chars
from knowledge.extract.pdf_tables import RuledTable, find_tables, table_cells, table_rows

_LAYOUT_CELL_LINES = 14  # a cell with more lines than this holds running text, not a value
_MIN_COLUMN_LINES = 6
_MIN_ARTICLE_LINES = 2
_PADDING_EMS = 3
_MIN_TABLE_ROWS = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A line of running text. `right` is the right edge of its column; `flow` numbers the column it belongs to."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    em: float
    right: float
    flow: int
    first: Char
    last: Char


@dataclass(frozen=True, slots=True)
class TableItem:
    """A table at its height on the page."""

    rows: tuple[tuple[str, ...], ...]
    y1: float


@dataclass(frozen=True, slots=True)
class _Placed:
    """A table with its glyphs and the tables that stand inside it."""

    table: RuledTable
    chars: tuple[Char, ...]
    nested: tuple[_Placed, ...] = ()


@dataclass(frozen=True, slots=True)
class _Box:
    """A cell that holds running text."""

    chars: list[Char]
    tables: list[_Placed]
    right: float


def page_items(chars: Sequence[Char], rules: Sequence[Rule]) -> list[Line | TableItem]:
    """Lines and tables of a page in reading order."""
    reader = _PageReader()
    placed, outside = _place(find_tables(rules), chars)
    for item in placed:  # text between two tables is read between them
        reader.read_text([char for char in outside if char.middle > item.table.y1])
        outside = [char for char in outside if char.middle <= item.table.y1]
        reader.read_table(item)
    reader.read_text(outside)
    return reader.items


def _place(tables: Sequence[RuledTable], chars: Sequence[Char]) -> tuple[list[_Placed], list[Char]]:
    """(tables with their glyphs from top to bottom, glyphs outside of all).

    A table inside another stands for itself when the outer one only places text side by side; else it is part of its
    cell.
    """
    outermost = [table for table in tables if not any(_encloses(other, table) for other in tables)]
    placed = []
    left = list(chars)
    for table in outermost:
        inside = [char for char in left if table.holds(char)]
        if not inside:
            continue
        left = [char for char in left if not table.holds(char)]
        nested: list[_Placed] = []
        if _is_layout(table_cells(table, inside)):
            within = [other for other in tables if _encloses(table, other)]
            nested, inside = _place(within, inside)
        placed.append(_Placed(table, tuple(inside), tuple(nested)))
    return placed, left


def _encloses(outer: RuledTable, inner: RuledTable) -> bool:
    return (
        outer is not inner
        and outer.x0 - 2 <= inner.x0
        and inner.x1 <= outer.x1 + 2
        and outer.y0 - 2 <= inner.y0
        and inner.y1 <= outer.y1 + 2
        and (inner.x1 - inner.x0) * (inner.y1 - inner.y0) < 0.9 * (outer.x1 - outer.x0) * (outer.y1 - outer.y0)
    )


class _PageReader:
    def __init__(self) -> None:
        self.items: list[Line | TableItem] = []
        self._flow = 0

    def read_text(self, chars: Sequence[Char]) -> None:
        """Text outside ruled tables: spanning lines, then the columns between them."""
        if not chars:
            return
        gutter = find_gutter(chars)
        if gutter is None:
            self._read_column(chars)
            return
        zone: list[Char] = []
        for line in find_lines(chars):
            if any(char.x0 < gutter < char.x1 for char in line) or _spans(line, gutter):
                self._read_zone(zone, gutter)
                zone = []
                self._read_column(line)
            else:
                zone.extend(line)
        self._read_zone(zone, gutter)

    def read_table(self, placed: _Placed) -> None:
        table = placed.table
        cells = table_cells(table, placed.chars)
        if not (placed.nested or _is_layout(cells)):
            rows = table_rows(table, cells)
            if len(rows) == 1 and len(set(rows[0])) == 1:  # a box around text
                self._read_column(placed.chars)
            elif rows:
                self.items.append(TableItem(tuple(rows), table.y1))
            return
        nested: dict[int, list[_Placed]] = {}
        for inner in placed.nested:
            nested.setdefault(table.cell_of(inner.chars[0]), []).append(inner)
        seen: set[int] = set()
        for row in table.owner:  # boxes that only place running text side by side
            numbers = [number for number in dict.fromkeys(row) if number not in seen]
            seen.update(numbers)
            columns = [
                _Box(cells.get(number, []), nested.get(number, []), table.right_of(number)) for number in numbers
            ]
            columns = [column for column in columns if column.chars or column.tables]
            if len(columns) == 2 and _has_marker(columns[0].chars) and not _has_marker(columns[1].chars):
                self._read_beside(columns[0], columns[1])
            else:
                for column in columns:
                    self._read_box(column)

    def _read_box(self, box: _Box) -> None:
        """Running text of one box with the tables inside it."""
        left = box.chars
        for inner in box.tables:
            self._read_column([char for char in left if char.middle > inner.table.y1], border=box.right)
            left = [char for char in left if char.middle <= inner.table.y1]
            self.read_table(inner)
        self._read_column(left, border=box.right)

    def _read_zone(self, chars: Sequence[Char], gutter: float) -> None:
        self._read_column([char for char in chars if char.x0 < gutter])
        self._read_column([char for char in chars if char.x0 >= gutter])

    def _read_beside(self, left: _Box, right: _Box) -> None:
        """Articles with remarks beside them: each article is followed by the remarks at its height."""
        tops = [max(char.y1 for char in line) for line in find_lines(left.chars) if read_marker(join_chars(line))]
        borders = [float("inf"), *tops, float("-inf")]
        for upper, lower in itertools.pairwise(borders):
            for box in (left, right):
                chars = [char for char in box.chars if lower < char.y1 <= upper]
                tables = [inner for inner in box.tables if lower < inner.table.y1 <= upper]
                self._read_box(_Box(chars, tables, box.right))

    def _read_column(self, chars: Sequence[Char], *, border: float | None = None) -> None:
        """Lines and aligned tables of one column; `border` is where the box around it ends."""
        if not chars:
            return
        self._flow += 1
        rows = find_segments(chars)
        right = max(segment.x1 for row in rows for segment in row)
        if border is not None and border - right > _PADDING_EMS * rows[0][0].em:
            right = border  # no line reaches the end of the box, so none was wrapped there
        index = 0
        while index < len(rows):
            table = aligned_table(rows, index)
            if table is not None:
                count, cells = table
                self.items.append(TableItem(tuple(cells), rows[index][0].y1))
                index += count
                continue
            line = [char for segment in rows[index] for char in segment.chars]
            self.items.append(self._line(line, right))
            index += 1

    def _line(self, chars: Sequence[Char], right: float) -> Line:
        whole = Segment(tuple(chars))
        return Line(
            text=whole.text,
            x0=whole.x0,
            x1=whole.x1,
            y0=whole.y0,
            y1=whole.y1,
            size=whole.size,
            em=whole.em,
            right=right,
            flow=self._flow,
            first=chars[0],
            last=chars[-1],
        )


def find_gutter(chars: Sequence[Char]) -> float | None:
    """x between two columns of running text, None for one column.

    Hardly a line may cross it, and on both sides lines fill their column, which those of forms and tables do not.
    """
    lines = find_lines(chars)
    x0, x1 = min(char.x0 for char in chars), max(char.x1 for char in chars)
    if len(lines) < _MIN_ARTICLE_LINES or x1 - x0 < 200:
        return None
    best: tuple[int, float] | None = None
    steps = [x0 + (x1 - x0) * step / 100 for step in range(35, 66)]
    for x in steps:
        crossing = sum(1 for line in lines if any(char.x0 - 2 < x < char.x1 + 2 for char in line))
        if (
            best is None
            or crossing < best[0]
            or (crossing == best[0] and abs(x - (x0 + x1) / 2) < abs(best[1] - (x0 + x1) / 2))
        ):
            best = (crossing, x)
    if best is None or best[0] > 0.15 * len(lines):
        return None
    x = best[1]
    left = [line for line in lines if line[0].x0 < x]
    right = [line for line in lines if any(char.x0 > x for char in line)]
    least = min(len(left), len(right))
    before = [[char for char in line if char.x1 <= x] for line in left]
    behind = [[char for char in line if char.x0 >= x] for line in right]
    if least < _MIN_COLUMN_LINES:  # the rest of a text in two columns: articles begin on both sides
        starts = [any(line and _is_article(line) for line in side) for side in (before, behind)]
        if least < _MIN_ARTICLE_LINES or best[0] or not all(starts):
            return None
    left_fill, right_fill = _fill(before), _fill(behind)
    return x if left_fill > 0.6 and right_fill > 0.6 else None


def _fill(lines: Sequence[Sequence[Char]]) -> float:
    """Share of the column's width that its lines fill on average, from 0 to 1."""
    filled = [line for line in lines if line]
    if not filled:
        return 0.0
    width = max(line[-1].x1 for line in filled) - min(line[0].x0 for line in filled)
    return sum(line[-1].x1 - line[0].x0 for line in filled) / (len(filled) * max(width, 1.0))


def _spans(line: Sequence[Char], gutter: float) -> bool:
    """Whether glyphs run on across the gutter without a gap there."""
    before = [char.x1 for char in line if char.x1 <= gutter]
    after = [char.x0 for char in line if char.x0 >= gutter]
    return bool(before and after) and min(after) - max(before) < 0.8 * line[0].size


def _is_layout(cells: dict[int, list[Char]]) -> bool:
    for chars in cells.values():
        lines = find_lines(chars)
        if len(lines) > _LAYOUT_CELL_LINES and len(cells) <= 6:
            return True
        if len(lines) > 3 and sum(1 for line in lines if _is_article(line)) >= 1:
            return True
    return False


def _is_article(line: Sequence[Char]) -> bool:
    marker = read_marker(join_chars(line))
    return marker is not None and marker.kind in ("article", "division") and not marker.weak


def _has_marker(chars: Sequence[Char]) -> bool:
    return any(_is_article(line) for line in find_lines(chars))


def aligned_table(rows: Sequence[Sequence[Segment]], start: int) -> tuple[int, list[tuple[str, ...]]] | None:
    """(number of lines, rows of text) of a table without rules that starts at `start`: lines cut at the same places."""
    end = start
    while end < len(rows) and len(rows[end]) >= 2 and (end == start or _aligned(rows[end - 1], rows[end])):
        end += 1
    if end - start < _MIN_TABLE_ROWS:
        return None
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted((segment.x0, segment.x1) for row in rows[start:end] for segment in row):
        if columns and x0 < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    if len(columns) < 2:
        return None
    cells = []
    for row in rows[start:end]:
        texts = [""] * len(columns)
        for segment in row:
            column = next(i for i, (x0, x1) in enumerate(columns) if x0 <= segment.x0 <= x1)
            texts[column] = f"{texts[column]} {segment.text}".strip()
        cells.append(tuple(texts))
    filled = sum(bool(text) for row in cells for text in row)
    if filled < 0.6 * len(cells) * len(columns):
        return None
    return end - start, cells


def _aligned(above: Sequence[Segment], below: Sequence[Segment]) -> bool:
    """Whether at least two segments of both lines share their left edge, right edge or middle."""
    if above[0].y0 - below[0].y1 > 3 * below[0].size:
        return False
    shared = 0
    for segment in below:
        tolerance = max(2.0, 0.5 * segment.size)
        for other in above:
            if (
                abs(segment.x0 - other.x0) < tolerance
                or abs(segment.x1 - other.x1) < tolerance
                or abs(segment.x0 + segment.x1 - other.x0 - other.x1) < 2 * tolerance
            ):
                shared += 1
                break
    return shared >= 2
