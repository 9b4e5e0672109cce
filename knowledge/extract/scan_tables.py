"""Ruled tables of a page image: lines in pixels to the grid that the PDF reader finds in drawn lines."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.extract.pdf_chars import Rule
from knowledge.extract.pdf_tables import RuledTable, find_tables
from knowledge.extract.scan_image import PixelRule
from knowledge.extract.scan_lines import TextBox

_CELL_MARGIN_IN = 0.013
_NEAR_PT = 4.0


def to_rule(rule: PixelRule, height: int, dpi: int) -> Rule:
    """The same line in points from the lower left corner."""
    scale = 72 / dpi
    if rule.horizontal:
        return Rule(True, (height - rule.at) * scale, rule.start * scale, rule.end * scale)
    return Rule(False, rule.at * scale, (height - rule.end) * scale, (height - rule.start) * scale)


def find_page_tables(rules: Sequence[PixelRule], height: int, dpi: int) -> tuple[list[RuledTable], list[PixelRule]]:
    """(tables, the lines that belong to them); strokes of letters and underlines are left out."""
    tables = find_tables([to_rule(rule, height, dpi) for rule in rules])
    return tables, [rule for rule in rules if any(_belongs(to_rule(rule, height, dpi), table) for table in tables)]


def _belongs(line: Rule, table: RuledTable) -> bool:
    borders = table.lines if line.horizontal else table.columns
    low, high = (table.x0, table.x1) if line.horizontal else (table.y0, table.y1)
    inside = line.start >= low - _NEAR_PT and line.end <= high + _NEAR_PT
    return inside and any(abs(line.at - at) < _NEAR_PT for at in borders)


def cell_boxes(table: RuledTable, height: int, dpi: int) -> list[TextBox]:
    """Every cell of the table in pixels, within its lines."""
    scale, margin = dpi / 72, round(_CELL_MARGIN_IN * dpi)
    places: dict[int, tuple[float, float, float, float]] = {}
    for row, owners in enumerate(table.owner):
        for column, owner in enumerate(owners):
            x0, y0 = table.columns[column], table.lines[row + 1]
            x1, y1 = table.columns[column + 1], table.lines[row]
            known = places.get(owner, (x0, y0, x1, y1))
            places[owner] = (min(known[0], x0), min(known[1], y0), max(known[2], x1), max(known[3], y1))
    boxes = [
        TextBox(
            max(0, round(x0 * scale) + margin),
            max(0, round(height - y1 * scale) + margin),
            round(x1 * scale) - margin,
            round(height - y0 * scale) - margin,
        )
        for x0, y0, x1, y1 in places.values()
    ]
    return [box for box in boxes if box.x1 > box.x0 and box.y1 > box.y0]
