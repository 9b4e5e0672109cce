"""Scanned pages as grey images: straightened, and their ruling lines found; numpy and Pillow only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

Grey = npt.NDArray[np.uint8]  # (height, width), 0 is black
Mask = npt.NDArray[np.bool_]

_MAX_SKEW_DEG = 6.0
_SKEW_STEPS_DEG = ((1.0, _MAX_SKEW_DEG), (0.25, 0.75), (0.05, 0.2))
_SKEW_WIDTH = 900  # pixels to which a page is reduced to measure its skew
_LEAST_SKEW_DEG = 0.08
_RULE_LENGTH_IN = 0.22  # the shortest line taken for a rule; strokes of letters are shorter
_RULE_THICKNESS_IN = 0.045  # thicker marks are shading or pictures
_GAP_IN = 0.02  # breaks of a printed line that are closed
_WAVE_PX = 5
_RIM_PX = 5
_PIECE_PX = 90
_INK_CONTRAST = 0.82  # of the brightness around it


@dataclass(frozen=True, slots=True)
class PixelRule:
    """A straight line in pixels from the upper left corner: from `start` to `end` at `at`, `thickness` wide."""

    horizontal: bool
    at: float
    start: int
    end: int
    thickness: int


def straighten(grey: Grey) -> tuple[Grey, float]:
    """(the page turned so that its lines are level, degrees it was turned counter-clockwise)."""
    angle = measure_skew(grey)
    if abs(angle) < _LEAST_SKEW_DEG:
        return grey, 0.0
    turned = Image.fromarray(grey).rotate(angle, Image.Resampling.BICUBIC, fillcolor=255)
    return np.asarray(turned), angle


def measure_skew(grey: Grey) -> float:
    """Degrees by which to turn the page counter-clockwise: where rows of ink and rows of paper differ most.

    Projection profiles as in Postl, "Detection of linear oblique structures and skew scan" (ICPR 1986).
    """
    height, width = grey.shape
    scale = min(1.0, _SKEW_WIDTH / max(1, width))
    reduced = Image.fromarray(grey).resize((max(1, round(width * scale)), max(1, round(height * scale))))
    ink = Image.fromarray((find_ink(np.asarray(reduced)) * 255).astype(np.uint8))
    if not ink.getbbox():
        return 0.0

    def sharpness(angle: float) -> float:
        rows = np.asarray(ink.rotate(angle, Image.Resampling.BILINEAR), dtype=np.float32).sum(axis=1)
        return float(np.square(np.diff(rows)).sum())

    best = 0.0
    for step, reach in _SKEW_STEPS_DEG:
        count = round(reach / step)
        best = max((best + step * index for index in range(-count, count + 1)), key=sharpness)
    return round(best, 3)


def find_ink(grey: Grey) -> Mask:
    """Pixels darker than the paper around them, so that shading and uneven light are not ink."""
    radius = max(8, min(grey.shape) // 60)
    around = np.asarray(Image.fromarray(grey).filter(ImageFilter.BoxBlur(radius)), dtype=np.float32)
    result: Mask = grey < np.minimum(around * _INK_CONTRAST, 200)
    return result


def find_rules(grey: Grey, *, dpi: int) -> list[PixelRule]:
    """Horizontal and vertical lines longer than letters are high."""
    ink = find_ink(grey)
    length, gap = round(_RULE_LENGTH_IN * dpi), max(1, round(_GAP_IN * dpi))
    thickest = max(3, round(_RULE_THICKNESS_IN * dpi))
    rules = _level_rules(ink, length, gap, thickest, horizontal=True)
    return rules + _level_rules(ink.T, length, gap, thickest, horizontal=False)


def erase_rules(grey: Grey, rules: Sequence[PixelRule]) -> Grey:
    """The page without these lines; letters that touch a line lose only what lies on it."""
    erased = grey.copy()
    ink = find_ink(grey)
    paper = int(np.percentile(grey, 75))
    for rule in rules:
        target, marks = (erased, ink) if rule.horizontal else (erased.T, ink.T)
        _erase(target, marks, rule, paper)
    return erased


def _erase(target: Grey, ink: Mask, rule: PixelRule, paper: int) -> None:
    """Whitens a level line piece by piece, because scanned lines wave: each piece where most of its ink lies.

    The grey rim of a blurred line goes too where it is no ink; else OCR reads it as a bar or as the figure 1.
    """
    half = rule.thickness // 2 + 2
    reach = half + _WAVE_PX
    for start in range(rule.start, rule.end + 1, _PIECE_PX):
        end = min(start + _PIECE_PX, rule.end + 1)
        low = max(0, round(rule.at) - reach)
        marks = ink[low : round(rule.at) + reach + 1, start:end]
        filled = marks.mean(axis=1)
        centre = low + _middle_of_most(filled) if len(filled) and filled.max() > 0.5 else round(rule.at)
        for row in range(max(0, centre - reach), min(len(target), centre + reach + 1)):
            inside = low <= row < low + len(filled)
            # ragged rims belong to the line while they are dense; letters beside it are not
            if abs(row - centre) <= half or (inside and filled[row - low] > 0.6):
                target[row, start:end] = paper
            elif inside and abs(row - centre) <= half + _RIM_PX:
                target[row, start:end][~marks[row - low]] = paper


def _middle_of_most(filled: npt.NDArray[np.floating]) -> int:
    """The middle of the rows that hold about as much ink as the fullest one."""
    most = np.nonzero(filled >= 0.95 * filled.max())[0]
    return int(most[len(most) // 2])


def _level_rules(ink: Mask, length: int, gap: int, thickest: int, *, horizontal: bool) -> list[PixelRule]:
    """Long runs along the rows of `ink`, runs of neighbouring rows put together."""
    # a line that is a little oblique or ragged is in this row or in one beside it
    wide = ink.copy()
    wide[1:] |= ink[:-1]
    wide[:-1] |= ink[1:]
    finished: list[_Band] = []
    growing: list[_Band] = []
    for row, start, end in _long_runs(wide, length, gap):
        still: list[_Band] = []
        taken = False
        for band in growing:
            if row - band.last_row > 1:
                finished.append(band)
                continue
            still.append(band)
            if not taken and start <= band.end + gap and end >= band.start - gap:
                band.add(row, start, end)
                taken = True
        if not taken:
            still.append(_Band(row, start, end))
        growing = still
    rules = []
    for band in [*finished, *growing]:
        thickness = band.last_row - band.first_row - 1  # the rows beside it were added above
        if thickness <= thickest:
            rules.append(PixelRule(horizontal, band.middle, band.start, band.end, max(1, thickness)))
    return rules


def _long_runs(mask: Mask, length: int, gap: int) -> list[tuple[int, int, int]]:
    """(row, first, last) of runs of at least `length`, with breaks of up to `gap` closed, from top to bottom."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    change = np.diff(padded, axis=1)
    rows, starts = np.nonzero(change == 1)
    ends = np.nonzero(change == -1)[1] - 1
    if not len(rows):
        return []
    joined = (rows[1:] == rows[:-1]) & (starts[1:] - ends[:-1] <= gap + 1) & _long_enough(starts, ends, gap)
    first = np.concatenate(([True], ~joined))
    last = np.concatenate((~joined, [True]))
    runs = np.stack((rows[first], starts[first], ends[last]), axis=1)
    runs = runs[runs[:, 2] - runs[:, 1] >= length]
    return [(int(row), int(start), int(end)) for row, start, end in runs]


def _long_enough(starts: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], gap: int) -> Mask:
    """Whether the pieces on both sides of a break are longer than it: letters side by side are not a line."""
    long = ends - starts >= 4 * gap
    result: Mask = long[1:] & long[:-1]
    return result


class _Band:
    """Runs of neighbouring rows that overlap."""

    def __init__(self, row: int, start: int, end: int) -> None:
        self.first_row = self.last_row = row
        self.start, self.end = start, end
        self._weight = float(end - start)
        self._sum = row * self._weight

    @property
    def middle(self) -> float:
        return self._sum / self._weight

    def add(self, row: int, start: int, end: int) -> None:
        self.last_row = row
        self.start, self.end = min(self.start, start), max(self.end, end)
        weight = float(end - start)
        self._sum += row * weight
        self._weight += weight
