"""Lines of text on a page image, by the ink alone: boxes from top to bottom, one for each stretch of a line.

Words further apart than a word space are separate boxes, so the cells of tables without rules come out one by one.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.extract.scan_image import Mask

_SQUARE_IN = 0.02  # side of the squares in which ink is counted
_SQUARE_INK = 0.12
_REACH_EMS = 0.9  # a wider gap ends a stretch
_DEFAULT_HEIGHT_IN = 0.14
_TALL = 1.7  # times the usual height: two lines that touch
_LEAST_SQUARES = 4
_LEADER_HEIGHTS = 3.0  # a leader is at least as long
_LEADER_THICKNESS = 0.22  # and at most as thick, in heights of the line
_LARGE_STROKE = 1.6  # times the usual stroke: letters of a title
_USUAL_STROKE = 0.1  # of a line, in its heights
_DOT_SPACE = 0.1  # heights of the line that a middle dot keeps from the letters on both sides
_CELL_RIM_IN = 0.03
_FIGURE_IN = (0.05, 0.25)  # lowest and highest
_FIGURE_INK = 0.15  # of its box
_ROW_INK = 0.002
_LEAST_ROW_PX = 6
_DIRECTIONS = 32
_RING_SPACE = 0.15  # heights of the line that a circled number keeps from what stands before it
_SMALL = 0.45  # times the usual height: a dot, a dash or a speck


@dataclass(frozen=True, slots=True)
class TextBox:
    """Pixels from the upper left corner; right and lower border are outside."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def height(self) -> int:
        return self.y1 - self.y0


def find_text_boxes(ink: Mask, *, dpi: int) -> list[TextBox]:
    """Boxes around stretches of text; specks are left out."""
    side = max(2, round(_SQUARE_IN * dpi))
    rough = _boxes(ink, side, round(_DEFAULT_HEIGHT_IN * dpi * _REACH_EMS))
    heights = [box.height for box in rough if box.height > 0.04 * dpi and box.x1 - box.x0 > box.height]
    usual = statistics.median(heights) if heights else _DEFAULT_HEIGHT_IN * dpi
    if usual > _TALL * _DEFAULT_HEIGHT_IN * dpi:  # lines of a short text that are set close are one box
        usual = _height_of_rows(rough, ink) or usual
    boxes = _boxes(ink, side, round(usual * _REACH_EMS)) if abs(usual / dpi - _DEFAULT_HEIGHT_IN) > 0.03 else rough
    boxes = _large_letters_united(boxes, ink)
    cut = [part for box in boxes for part in _split(box, ink, usual)]
    return sorted(_united(_with_small_ones(cut, usual)), key=lambda box: (box.y0, box.x0))


def find_small_figure(ink: Mask, *, dpi: int) -> list[TextBox]:
    """The box around all ink of a cell in which no stretch was found, when it has the size and weight of a figure."""
    rim = round(_CELL_RIM_IN * dpi)
    inner = ink[rim:-rim, rim:-rim]
    box = _trim(TextBox(0, 0, inner.shape[1], inner.shape[0]), inner) if inner.size else None
    if box is None or not _FIGURE_IN[0] * dpi <= box.height <= _FIGURE_IN[1] * dpi:
        return []
    part = inner[box.y0 : box.y1, box.x0 : box.x1]
    if part.shape[1] > 3 * part.shape[0] or part.mean() < _FIGURE_INK:
        return []
    return [TextBox(box.x0 + rim, box.y0 + rim, box.x1 + rim, box.y1 + rim)]


@dataclass(frozen=True, slots=True)
class Leader:
    """Columns of a stretch, from its left edge, in which nothing but a row of dots or a line stands."""

    start: int
    end: int


def find_leader(box: TextBox, ink: Mask) -> Leader | None:
    """The dots that lead from a title to its page number, or the line of a form to be filled in."""
    part = ink[box.y0 : box.y1, box.x0 : box.x1]
    height, width = part.shape
    if width < _LEADER_HEIGHTS * height:
        return None
    filled = _columns(part)
    top = np.argmax(part, axis=0)
    bottom = height - 1 - np.argmax(part[::-1], axis=0)
    thin = ~filled | (bottom - top <= _LEADER_THICKNESS * height)
    best: Leader | None = None
    for start, end in _runs(thin, 1):
        marks = np.nonzero(filled[start : end + 1])[0]
        if not len(marks):
            continue
        first, last = start + int(marks[0]), start + int(marks[-1])
        rows = (top[first : last + 1] + bottom[first : last + 1])[filled[first : last + 1]] / 2
        level = float(np.percentile(rows, 90) - np.percentile(rows, 10)) <= _LEADER_THICKNESS * height
        if (
            level
            and last - first >= _LEADER_HEIGHTS * height
            and (best is None or last - first > best.end - best.start)
        ):
            best = Leader(first, last + 1)
    return best


@dataclass(frozen=True, slots=True)
class Ring:
    """A circle with something in it, as around the numbers of paragraphs; pixels on the page."""

    x0: int
    y0: int
    x1: int
    y1: int


def find_rings(box: TextBox, ink: Mask) -> list[Ring]:
    """Glyphs that are a circle around a mark, from left to right: ① and its like."""
    part = ink[box.y0 : box.y1, box.x0 : box.x1]
    height = part.shape[0]
    rings = []
    reached = -height  # where the glyph before ends; a number stands behind a space
    for start, end in _runs(_columns(part), 1):
        rows = np.nonzero(part[:, start : end + 1].any(axis=1))[0]
        y0, y1 = int(rows[0]), int(rows[-1]) + 1
        wide, tall = end + 1 - start, y1 - y0
        apart, reached = start - reached > _RING_SPACE * height, end
        if apart and tall >= 0.5 * height and 0.85 <= wide / tall <= 1.18 and _is_ring(part[y0:y1, start : end + 1]):
            rings.append(Ring(box.x0 + start, box.y0 + y0, box.x0 + end + 1, box.y0 + y1))
    return rings


def _is_ring(glyph: Mask) -> bool:
    """Ink in all directions at the rim, none in the corners or between rim and mark, and a mark in the middle."""
    rows, columns = np.nonzero(glyph)
    y = (rows + 0.5) / glyph.shape[0] * 2 - 1
    x = (columns + 0.5) / glyph.shape[1] * 2 - 1
    radius = np.hypot(x, y)
    if (radius > 1.12).mean() > 0.02:
        return False
    direction = ((np.arctan2(y, x) + np.pi) / (2 * np.pi) * _DIRECTIONS).astype(int) % _DIRECTIONS
    reach = np.zeros(_DIRECTIONS)
    np.maximum.at(reach, direction, radius)  # how far the ink goes in each direction: the same in a circle
    in_the_middle = float((radius < 0.45).mean())
    return float(reach.min()) > 0.78 and float(reach.std()) < 0.07 and 0.05 < in_the_middle < 0.4


def find_middle_dots(box: TextBox, ink: Mask) -> list[int]:
    """Places (x) of small blots at half the height of the line: the middle dots between Korean nouns."""
    part = ink[box.y0 : box.y1, box.x0 : box.x1]
    height = part.shape[0]
    filled = _columns(part)
    dots = []
    pieces = list(_runs(filled, 1))
    for index, (start, end) in enumerate(pieces):
        before = pieces[index - 1][1] if index else -height
        after = pieces[index + 1][0] if index + 1 < len(pieces) else 2 * len(filled)
        if min(start - before, after - end) < _DOT_SPACE * height:
            continue
        rows = np.nonzero(part[:, start : end + 1].any(axis=1))[0]
        tall, wide = int(rows[-1] - rows[0]) + 1, end - start + 1
        middle = (rows[0] + rows[-1]) / 2 / max(1, height)
        square = 0.6 <= wide / tall <= 1.7
        if square and 0.09 * height <= tall <= 0.27 * height and 0.33 <= middle <= 0.67:
            dots.append(box.x0 + (start + end) // 2)
    return dots


def usual_row_height(ink: Mask) -> float | None:
    """Pixels from top to bottom of a usual row of ink, None where there are no rows: how large a picture shows text."""
    filled: Mask = np.mean(ink, axis=1) > _ROW_INK
    heights = [end - start + 1 for start, end in _runs(filled, 2) if end - start >= _LEAST_ROW_PX]
    return float(statistics.median(heights)) if heights and max(heights) < 0.8 * len(ink) else None


def _stroke(box: TextBox, ink: Mask) -> float:
    """Mean thickness of the strokes in a box: twice its ink over the length of its rims."""
    part = ink[box.y0 : box.y1, box.x0 : box.x1]
    rims = np.count_nonzero(part[1:] ^ part[:-1]) + np.count_nonzero(part[:, 1:] ^ part[:, :-1])
    return 2.0 * int(np.count_nonzero(part)) / max(1, int(rims))


def _large_letters_united(boxes: Sequence[TextBox], ink: Mask) -> list[TextBox]:
    """Pieces of the letters of a title put together: white within them is as wide as between usual lines."""
    strokes = [_stroke(box, ink) for box in boxes]
    usual = statistics.median(strokes) if strokes else 0.0
    large = [(box, stroke) for box, stroke in zip(boxes, strokes, strict=True) if stroke > _LARGE_STROKE * usual]
    united: list[tuple[TextBox, float]] = []
    for box, stroke in sorted(large, key=lambda item: item[0].y0):
        while True:
            for index, (other, other_stroke) in enumerate(united):
                reach = 2 * max(stroke, other_stroke)
                across = max(box.x0, other.x0) - min(box.x1, other.x1)
                down = max(box.y0, other.y0) - min(box.y1, other.y1)
                if across < 3 * reach and down < reach and (across < 0 or down < 0):
                    box, stroke = _union(box, other), max(stroke, other_stroke)
                    del united[index]
                    break
            else:
                break
        united.append((box, stroke))
    small = [box for box, stroke in zip(boxes, strokes, strict=True) if stroke <= _LARGE_STROKE * usual]
    return small + [box for box, _ in united]


def _union(one: TextBox, other: TextBox) -> TextBox:
    return TextBox(min(one.x0, other.x0), min(one.y0, other.y0), max(one.x1, other.x1), max(one.y1, other.y1))


def _boxes(ink: Mask, side: int, reach: int) -> list[TextBox]:
    """Connected squares of ink, with gaps along the line of up to `reach` pixels closed."""
    rows, columns = ink.shape[0] // side, ink.shape[1] // side
    if not rows or not columns:
        return []
    squares = ink[: rows * side, : columns * side].reshape(rows, side, columns, side).mean(axis=(1, 3)) > _SQUARE_INK
    gap = max(1, reach // side)
    parents: list[int] = []
    pieces: list[tuple[int, int, int]] = []
    above: list[int] = []
    for row in range(rows):
        here: list[int] = []
        for start, end in _runs(squares[row], gap):
            number = len(pieces)
            pieces.append((row, start, end))
            parents.append(number)
            for other in above:
                _, other_start, other_end = pieces[other]
                if other_start <= end + 1 and start <= other_end + 1:
                    parents[_root(parents, number)] = _root(parents, other)
            here.append(number)
        above = here
    groups: dict[int, list[tuple[int, int, int]]] = {}
    for number, piece in enumerate(pieces):
        groups.setdefault(_root(parents, number), []).append(piece)
    boxes = []
    for group in groups.values():
        if sum(squares[row, start : end + 1].sum() for row, start, end in group) < _LEAST_SQUARES:
            continue
        top, bottom = group[0][0], max(piece[0] for piece in group)
        left, right = min(piece[1] for piece in group), max(piece[2] for piece in group)
        boxes.append(_tight(TextBox(left * side, top * side, (right + 1) * side, (bottom + 1) * side), ink, side))
    return boxes


def _tight(box: TextBox, ink: Mask, side: int) -> TextBox:
    """The box grown by the strokes that reach into the squares around it."""
    x0, y0 = max(0, box.x0 - side), max(0, box.y0 - side)
    part = ink[y0 : box.y1 + side, x0 : box.x1 + side]
    rows, columns = np.nonzero(part.any(axis=1))[0], np.nonzero(part.any(axis=0))[0]
    if not len(rows):
        return box
    return TextBox(x0 + int(columns[0]), y0 + int(rows[0]), x0 + int(columns[-1]) + 1, y0 + int(rows[-1]) + 1)


def _runs(row: Mask, gap: int) -> Iterable[tuple[int, int]]:
    filled = np.nonzero(row)[0]
    if not len(filled):
        return
    breaks = np.nonzero(np.diff(filled) > gap)[0]
    starts = [int(filled[0]), *(int(filled[index + 1]) for index in breaks)]
    ends = [*(int(filled[index]) for index in breaks), int(filled[-1])]
    yield from zip(starts, ends, strict=True)


def _columns(part: Mask) -> Mask:
    """Whether there is ink in each column."""
    filled: Mask = np.any(part, axis=0)
    return filled


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = parents[parents[number]]
        number = parents[number]
    return number


def _height_of_rows(boxes: Sequence[TextBox], ink: Mask) -> float | None:
    """Median height of what stands between white rows, in boxes that have such rows; None when none has."""
    found: list[int] = []
    for box in boxes:
        inside = ink[box.y0 : box.y1, box.x0 : box.x1].mean(axis=1) > _ROW_INK
        rows = [end - start + 1 for start, end in _runs(inside, 1) if end - start >= _LEAST_ROW_PX]
        found += rows if len(rows) > 1 else []
    return statistics.median(found) if found else None


def _split(box: TextBox, ink: Mask, usual: float) -> list[TextBox]:
    """Lines that touch, cut where the least ink stands between them."""
    count = round(box.height / (1.15 * usual)) if box.height > _TALL * usual else 1
    if count < 2 or box.x1 - box.x0 < 2 * usual or _stroke(box, ink) > _LARGE_STROKE * usual * _USUAL_STROKE:
        return [box]
    weight = ink[box.y0 : box.y1, box.x0 : box.x1].sum(axis=1)
    cuts = [0]
    for index in range(1, count):
        centre = index * box.height / count
        low, high = max(cuts[-1] + 1, round(centre - 0.45 * usual)), min(box.height, round(centre + 0.45 * usual))
        if low < high:
            cuts.append(low + int(np.argmin(weight[low:high])))
    borders = [*cuts, box.height]
    parts = [TextBox(box.x0, box.y0 + y0, box.x1, box.y0 + y1) for y0, y1 in itertools.pairwise(borders)]
    return [trimmed for part in parts if (trimmed := _trim(part, ink)) is not None]


def _trim(box: TextBox, ink: Mask) -> TextBox | None:
    part = ink[box.y0 : box.y1, box.x0 : box.x1]
    rows, columns = np.nonzero(part.any(axis=1))[0], np.nonzero(part.any(axis=0))[0]
    if not len(rows):
        return None
    return TextBox(
        box.x0 + int(columns[0]), box.y0 + int(rows[0]), box.x0 + int(columns[-1]) + 1, box.y0 + int(rows[-1]) + 1
    )


def _united(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Boxes that cover the same stretch of a line put together, so that nothing is read twice."""
    united: list[TextBox] = []
    for box in sorted(boxes, key=lambda box: box.x0):
        for index, other in enumerate(united):
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            down = min(box.y1, other.y1) - max(box.y0, other.y0)
            if across > 0 and down > 0.5 * min(box.height, other.height):
                united[index] = _union(box, other)
                break
        else:
            united.append(box)
    return united


def _with_small_ones(boxes: Sequence[TextBox], usual: float) -> list[TextBox]:
    """Dots and dashes put to the stretch they stand in; those that stand alone stay when they could be a dash."""
    large = [box for box in boxes if box.height >= _SMALL * usual]
    small = [box for box in boxes if box.height < _SMALL * usual]
    for box in small:
        middle = (box.y0 + box.y1) / 2
        for index, other in enumerate(large):
            gap = max(other.x0 - box.x1, box.x0 - other.x1)
            if other.y0 <= middle <= other.y1 and gap < _REACH_EMS * usual:
                large[index] = _union(box, other)
                break
        else:
            if box.x1 - box.x0 > 2 * box.height:
                large.append(box)
    return large
