"""One page image to what OCR sees on it: turned upright, cut into lines, every line read on its own.

Tesseract's own page layout loses amounts beside ruling lines and lines beside pictures. Here the ruling lines are
found and taken away, and each stretch of text, inside a cell or outside, is an image of its own; all of them go to
one process, which reads a hundred in about a second.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from knowledge.extract.ocr_record import OcrLine, OcrRecord
from knowledge.extract.ocr_tesseract import OcrWord, find_rotation, read_images
from knowledge.extract.ocr_vote import vote
from knowledge.extract.scan_image import Grey, Mask, erase_rules, find_ink, find_rules, straighten
from knowledge.extract.scan_lines import (
    TextBox,
    find_leader,
    find_middle_dots,
    find_rings,
    find_small_figure,
    find_text_boxes,
)
from knowledge.extract.scan_tables import cell_boxes, find_page_tables

SURE = 60.0  # confidence below which a word is doubtful
_LINE_LAYOUT = 7  # Tesseract: the image is a single line
_POOR_CONFIDENCE = 60.0  # below it the page may lie on its side
_SURE_ROTATION = 2.0
_SAMPLE_LINES = 40  # read to compare orientations
_MAX_LINES = 4_000  # more stretches of ink are a picture, not text
_MAX_CELLS = 2_500
_CLEARLY_KOREAN = 75.0
_GLYPH_LAYOUT = 10  # Tesseract: the image is a single letter
_RIM_SHARE = 0.17  # of a circled number that its circle takes on each side
_SURE_FIGURE = 80.0
_FIGURE_IN = 0.06
_RIM_IN = 0.035
_FLAT_IN = 0.035
_PADDING_PX = 20
_BEST_HEIGHT_PX = 44  # of a line; measured: larger letters are misread that are read at this size
_SCALES = (0.4, 1.6)
_LEAST_SCALED_PX = 14  # dashes and dots are not blown up to letters
_SECOND_SCALE = 1.35
_VOTING_SCALES = (1.35, 0.8)
_SHORT_LETTERS = 30
_HANGUL = re.compile(r"[가-힣]")


@dataclass(frozen=True, slots=True)
class _Stretch:
    box: TextBox
    image: Grey  # as it is read: scaled, with paper around it
    scale: float
    cell: bool  # it stands in a table


def recognise(grey: Grey, *, dpi: int, engine: str) -> OcrRecord:
    """Everything that stands on the page. Raises TesseractFailed."""
    page = _Page(grey, dpi)
    sample = page.read_sample()
    if sample and _quality(sample) < _POOR_CONFIDENCE:
        page = _turned_to_read_best(grey, page, sample)
    height, width = page.grey.shape
    return OcrRecord(engine, width, height, dpi, page.rotation, page.skew, tuple(page.rules), page.read())


def _turned_to_read_best(grey: Grey, page: _Page, sample: Sequence[OcrWord]) -> _Page:
    rotation, confidence = find_rotation(page.grey)
    if confidence >= _SURE_ROTATION and rotation == 0:
        return page
    best, best_score = page, _quality(sample)
    for degrees in [rotation] if confidence >= _SURE_ROTATION else [90, 180, 270]:
        turned = _Page(np.ascontiguousarray(np.rot90(grey, -degrees // 90)), page.dpi, rotation=degrees)
        score = _quality(turned.read_sample())
        if score > best_score:
            best, best_score = turned, score
    return best


def _quality(words: Sequence[OcrWord]) -> float:
    """Mean confidence by letter, from 0 to 100."""
    length = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.confidence for word in words) / length if length else 0.0


class _Page:
    """A page straightened, its tables found, their lines taken away, and its text cut into stretches."""

    def __init__(self, grey: Grey, dpi: int, *, rotation: int = 0) -> None:
        self.dpi, self.rotation = dpi, rotation
        self.grey, self.skew = straighten(grey)
        height = self.grey.shape[0]
        tables, self.rules = find_page_tables(find_rules(self.grey, dpi=dpi), height, dpi)
        self._clean = erase_rules(self.grey, self.rules)
        self._ink = find_ink(self._clean)
        self._paper = int(np.percentile(self.grey, 75))
        self.is_latin = False
        self._leaders: list[TextBox] = []
        cells = [box for table in tables for box in cell_boxes(table, height, dpi)]
        self._stretches = self._cut(cells if len(cells) <= _MAX_CELLS else [])

    def read_sample(self) -> list[OcrWord]:
        """Words of the widest stretches, enough to tell whether the page is upright and in which script."""
        widest = sorted(self._stretches, key=lambda stretch: stretch.box.x0 - stretch.box.x1)[:_SAMPLE_LINES]
        images = [stretch.image for stretch in widest]
        korean = [word for line in read_images(images, language="kor", layout=_LINE_LAYOUT) for word in line]
        if not korean or _quality(korean) >= _CLEARLY_KOREAN:
            return korean
        latin = [word for line in read_images(images, language="eng", layout=_LINE_LAYOUT) for word in line]
        self.is_latin = _quality(latin) > _quality(korean)
        return latin if self.is_latin else korean

    def read(self) -> tuple[OcrLine, ...]:
        """All lines; those that hold no Hangul or doubtful words are read as English too."""
        lines = self._read_latin() if self.is_latin else self._read_korean()
        return (*lines, *(_leader_line(box) for box in self._leaders))

    def _read_latin(self) -> list[OcrLine]:
        images = [stretch.image for stretch in self._stretches]
        english = read_images(images, language="eng", layout=_LINE_LAYOUT)
        lines = zip(english, self._stretches, strict=True)
        return [OcrLine((), self._place(words, place), cell=place.cell) for words, place in lines if words]

    def _read_korean(self) -> list[OcrLine]:
        places = list(self._stretches)
        korean = read_images([place.image for place in places], language="kor", layout=_LINE_LAYOUT)
        self._vote_on_cells(places, korean)
        again = [index for index, words in enumerate(korean) if _is_doubtful(words)]
        larger = [self._stretch(places[index].box, places[index].cell, scale=_SECOND_SCALE) for index in again]
        second = read_images([place.image for place in larger], language="kor", layout=_LINE_LAYOUT)
        english = read_images([places[index].image for index in again], language="eng", layout=_LINE_LAYOUT)
        latin = {index: (words, places[index]) for index, words in zip(again, english, strict=True)}
        for index, place, words in zip(again, larger, second, strict=True):
            if _quality(words) > _quality(korean[index]):
                korean[index], places[index] = words, place
        poor = [
            number
            for number, index in enumerate(again)
            if not _has_hangul(korean[index]) and _quality(latin[index][0]) < _SURE_FIGURE
        ]
        third = read_images([larger[number].image for number in poor], language="eng", layout=_LINE_LAYOUT)
        for number, words in zip(poor, third, strict=True):
            if _quality(words) > _quality(latin[again[number]][0]):
                latin[again[number]] = (words, larger[number])
        lost = [index for index in again if not korean[index] and not latin[index][0] and self._is_lost(places[index])]
        glyphs = read_images([places[index].image for index in lost], language="eng", layout=_GLYPH_LAYOUT)
        for index, words in zip(lost, glyphs, strict=True):
            if words:
                latin[index] = (words, places[index])
            else:
                korean[index] = [_unread(places[index])]
        rings = self._read_rings(places)
        return [
            OcrLine(
                self._place(words, places[index]),
                self._place(*latin[index]) if index in latin else (),
                tuple(find_middle_dots(places[index].box, self._ink)),
                rings.get(index, ()),
                cell=places[index].cell,
            )
            for index, words in enumerate(korean)
            if words or (index in latin and latin[index][0])
        ]

    def _vote_on_cells(self, places: list[_Stretch], korean: list[list[OcrWord]]) -> None:
        """Reads short Korean texts in table cells at other sizes too: no sentence around them tells what they are."""
        short = [
            index
            for index, words in enumerate(korean)
            if places[index].cell and _has_hangul(words) and sum(len(word.text) for word in words) <= _SHORT_LETTERS
        ]
        others: list[list[_Stretch]] = []
        readings: list[list[list[OcrWord]]] = []
        for scale in _VOTING_SCALES:
            others.append([self._stretch(places[index].box, True, scale=scale) for index in short])
            readings.append(read_images([place.image for place in others[-1]], language="kor", layout=_LINE_LAYOUT))
        for number, index in enumerate(short):
            base, words = vote([korean[index], *(reading[number] for reading in readings)])
            korean[index] = words
            if base:
                places[index] = others[base - 1][number]

    def _read_rings(self, places: Sequence[_Stretch]) -> dict[int, tuple[tuple[int, int, int], ...]]:
        """Circled numbers by stretch: the Korean model does not know them, but reads what stands inside."""
        found = [(index, ring) for index, place in enumerate(places) for ring in find_rings(place.box, self._ink)]
        images = []
        for _, ring in found:
            x, y = round((ring.x1 - ring.x0) * _RIM_SHARE), round((ring.y1 - ring.y0) * _RIM_SHARE)
            inside = self._clean[ring.y0 + y : ring.y1 - y, ring.x0 + x : ring.x1 - x]
            scale = _BEST_HEIGHT_PX / max(1, inside.shape[0])
            size = max(1, round(inside.shape[1] * scale)), max(1, round(inside.shape[0] * scale))
            scaled = np.asarray(Image.fromarray(inside).resize(size, Image.Resampling.LANCZOS))
            images.append(np.pad(scaled, _PADDING_PX, constant_values=self._paper))
        rings: dict[int, tuple[tuple[int, int, int], ...]] = {}
        inside_rings = read_images(images, language="eng", layout=_GLYPH_LAYOUT, letters="0123456789")
        for (index, ring), words in zip(found, inside_rings, strict=True):
            text = "".join(word.text for word in words)
            sure = _quality(words) >= _SURE_FIGURE and text.isdigit() and 1 <= int(text) <= 20
            number = int(text) if sure else 0
            rings[index] = (*rings.get(index, ()), (ring.x0, ring.x1, number))
        return rings

    def _is_lost(self, place: _Stretch) -> bool:
        """Ink as large as a figure in a table cell that nobody could read: a gap there would be a wrong table."""
        least = _FIGURE_IN * self.dpi
        return place.cell and place.box.height >= least and place.box.x1 - place.box.x0 >= least / 2

    def _cut(self, cells: Sequence[TextBox]) -> list[_Stretch]:
        outside = self._ink.copy()
        boxes: list[tuple[TextBox, bool]] = []
        for cell in cells:
            place = np.s_[cell.y0 : cell.y1, cell.x0 : cell.x1]
            rim = round(_RIM_IN * self.dpi)  # what is left of the lines around the cell goes with it
            outside[max(0, cell.y0 - rim) : cell.y1 + rim, max(0, cell.x0 - rim) : cell.x1 + rim] = False
            inside = find_text_boxes(self._ink[place], dpi=self.dpi) or find_small_figure(
                self._ink[place], dpi=self.dpi
            )
            boxes.extend(
                (TextBox(box.x0 + cell.x0, box.y0 + cell.y0, box.x1 + cell.x0, box.y1 + cell.y0), True)
                for box in inside
                if not _is_rest_of_a_rule(box, cell, self.dpi)
            )
        boxes.extend((box, False) for box in find_text_boxes(outside, dpi=self.dpi))
        if len(boxes) > _MAX_LINES:
            return []
        return [self._stretch(part, in_cell) for box, in_cell in boxes for part in self._without_leader(box, in_cell)]

    def _without_leader(self, box: TextBox, in_cell: bool) -> list[TextBox]:
        leader = find_leader(box, self._ink)
        if leader is None:
            return [box]
        start, end = box.x0 + leader.start, box.x0 + leader.end
        if not in_cell:  # there it is what is left of a ruling line
            self._leaders.append(TextBox(start, box.y0, end, box.y1))
        sides = [TextBox(box.x0, box.y0, start, box.y1), TextBox(end, box.y0, box.x1, box.y1)]
        return [side for side in sides if side.x1 - side.x0 > 0.2 * box.height]

    def _stretch(self, box: TextBox, in_cell: bool, *, scale: float = 1.0) -> _Stretch:
        part = self._clean[max(0, box.y0 - 4) : box.y1 + 4, max(0, box.x0 - 4) : box.x1 + 4]
        if box.height >= _LEAST_SCALED_PX:
            scale *= min(max(_BEST_HEIGHT_PX / box.height, _SCALES[0]), _SCALES[1])
        size = max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale))
        scaled = np.asarray(Image.fromarray(part).resize(size, Image.Resampling.LANCZOS))
        return _Stretch(box, np.pad(scaled, _PADDING_PX, constant_values=self._paper), scale, in_cell)

    def _place(self, words: Sequence[OcrWord], stretch: _Stretch) -> tuple[OcrWord, ...]:
        """The words at their place on the page, as high as their stretch."""
        box, corner = stretch.box, max(0, stretch.box.x0 - 4)

        def on_page(x: int) -> int:
            return min(max(corner + round((x - _PADDING_PX) / stretch.scale), box.x0), box.x1)

        moved = [replace(word, x0=on_page(word.x0), x1=on_page(word.x1), y0=box.y0, y1=box.y1) for word in words]
        return tuple(measure_gaps(moved, self._ink))


def _unread(stretch: _Stretch) -> OcrWord:
    """A word without confidence that stands for ink which nobody could read."""
    height, width = stretch.image.shape
    return OcrWord("?", _PADDING_PX, _PADDING_PX, width - _PADDING_PX, height - _PADDING_PX, 0.0)


def _leader_line(box: TextBox) -> OcrLine:
    dots = OcrWord("·····", box.x0, box.y0, box.x1, box.y1, 100.0)
    return OcrLine((dots,), leader=True)


def _is_rest_of_a_rule(box: TextBox, cell: TextBox, dpi: int) -> bool:
    """A flat mark at the rim of a cell: what is left of a ragged line."""
    near = _RIM_IN * dpi
    height, width = cell.y1 - cell.y0, cell.x1 - cell.x0
    flat = box.height < _FLAT_IN * dpi and (box.y0 < near or box.y1 > height - near)
    thin = box.x1 - box.x0 < _FLAT_IN * dpi and (box.x0 < near or box.x1 > width - near)
    return flat or thin


def _has_hangul(words: Sequence[OcrWord]) -> bool:
    return any(_HANGUL.search(word.text) for word in words)


def _is_doubtful(words: Sequence[OcrWord]) -> bool:
    text = "".join(word.text for word in words)
    if len(text) <= 1 or not _HANGUL.search(text):
        return True
    return any(word.confidence < SURE and len(word.text) > 1 for word in words)


def measure_gaps(line: Sequence[OcrWord], ink: Mask) -> list[OcrWord]:
    """The words of one line with their boxes put in order and the white space between them measured in the ink.

    Tesseract cuts Korean words between syllables, and its boxes are guesses; the ink tells the spaces of the writer.
    """
    ordered = _in_order(list(line))
    if not ordered:
        return []
    top, bottom = min(word.y0 for word in ordered), max(word.y1 for word in ordered)
    columns: Mask = np.any(ink[max(0, top) : bottom], axis=0)
    measured = ordered[:1]
    for before, word in itertools.pairwise(ordered):
        start = before.x1 - (before.x1 - before.x0) // (2 * len(before.text))
        end = word.x0 + (word.x1 - word.x0) // (2 * len(word.text))
        measured.append(replace(word, gap=_widest_gap(columns[max(0, start) : end])))
    return measured


def _in_order(line: list[OcrWord]) -> list[OcrWord]:
    """Boxes that overlap share their common place by their numbers of letters, so that none stands before its turn."""
    ordered: list[OcrWord] = []
    group: list[OcrWord] = []

    def close() -> None:
        if len(group) == 1:
            ordered.extend(group)
        elif group:
            x0, x1 = min(word.x0 for word in group), max(word.x1 for word in group)
            share = (x1 - x0) / sum(len(word.text) for word in group)
            at = float(x0)
            for word in group:
                ordered.append(replace(word, x0=round(at), x1=round(at + share * len(word.text))))
                at += share * len(word.text)
        group.clear()

    for word in line:
        if group and word.x0 >= max(other.x1 for other in group) - 2:
            close()
        group.append(word)
    close()
    return ordered


def _widest_gap(columns: Mask) -> int:
    widest = run = 0
    for is_ink in columns.tolist():
        run = 0 if is_ink else run + 1
        widest = max(widest, run)
    return widest
