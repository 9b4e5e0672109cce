"""Characters to lines and line segments, by their places: the order of a text layer is not the order of reading.

Print drivers draw digits and brackets apart from the Hangul around them ("제 조 목적 1 ( )"); sorted by place they
stand where they belong.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from knowledge.extract.pdf_chars import Char

_SEGMENT_GAP = 1.6  # in sizes: a wider gap ends a segment (a column or cell)
_WORD_GAP = 0.22  # in sizes: a wider gap between glyphs drawn apart is a space
_WIDE_GAP = 0.6  # in sizes: a wider gap is a space whatever the text layer says


@dataclass(frozen=True)
class Segment:
    """Glyphs of one line without a wide gap, from left to right."""

    chars: tuple[Char, ...]

    @cached_property
    def text(self) -> str:
        return join_chars(self.chars)

    @cached_property
    def x0(self) -> float:
        return self.chars[0].x0

    @cached_property
    def x1(self) -> float:
        return max(char.x1 for char in self.chars)

    @cached_property
    def y0(self) -> float:
        return min(char.y0 for char in self.chars)

    @cached_property
    def y1(self) -> float:
        return max(char.y1 for char in self.chars)

    @cached_property
    def size(self) -> float:
        return statistics.median(char.size for char in self.chars)

    @cached_property
    def em(self) -> float:
        """Font size by the width of Hangul glyphs: boxes of different fonts differ in height at one size."""
        widths = [char.x1 - char.x0 for char in self.chars if "가" <= char.text <= "힣"]
        width = statistics.median(widths) if len(widths) >= 2 else 0.0
        return width if width > 0 else 0.85 * self.size  # glyphs without any width stand in damaged files

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


def find_lines(chars: Sequence[Char]) -> list[list[Char]]:
    """Glyphs grouped into lines from top to bottom, each from left to right."""
    lines: list[list[Char]] = []
    centre = height = 0.0
    for char in sorted(chars, key=lambda char: -char.middle):
        if lines and abs(char.middle - centre) < 0.4 * max(height, char.size, 1.0):
            lines[-1].append(char)
            count = len(lines[-1])
            centre += (char.middle - centre) / count
            height += (char.size - height) / count
        else:
            lines.append([char])
            centre, height = char.middle, char.size
    return [sorted(line, key=lambda char: (char.x0, char.order)) for line in lines]


def find_segments(chars: Sequence[Char], *, gap: float = _SEGMENT_GAP) -> list[list[Segment]]:
    """Lines from top to bottom, each as segments from left to right. `gap` in sizes ends a segment."""
    rows = []
    for line in find_lines(chars):
        row: list[list[Char]] = [[line[0]]]
        reach = line[0].x1
        for char in line[1:]:
            if char.x0 - reach > gap * max(char.size, 1.0):
                row.append([])
            row[-1].append(char)
            reach = max(reach, char.x1)
        rows.append([Segment(tuple(part)) for part in row])
    return rows


def join_chars(chars: Sequence[Char]) -> str:
    """Text of glyphs on one line with the spaces between them."""
    parts: list[str] = []
    before: Char | None = None
    for char in chars:
        if before is not None and _is_spaced(before, char):
            parts.append(" ")
        parts.append(char.text)
        before = char
    return "".join(parts)


def _is_spaced(before: Char, char: Char) -> bool:
    gap = char.x0 - before.x1
    size = max(before.size, char.size, 1.0)
    if char.order == before.order + 1:  # neighbours in the text layer too: it knows
        return char.space_before or gap > _WIDE_GAP * size
    return gap > _WORD_GAP * size
