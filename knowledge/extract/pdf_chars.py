"""Characters of a PDF page with their places, and the ruled lines of its tables, as PDFium reports them."""

from __future__ import annotations

import ctypes
import math
import unicodedata
from dataclasses import dataclass
from typing import Any

_RULE_MAX_THICKNESS = 3.0  # points; thicker boxes are shading
_RULE_MIN_LENGTH = 8.0


@dataclass(frozen=True, slots=True)
class Char:
    """One glyph; coordinates in points, y grows upwards.

    `order` is its place in the text layer; `space_before`: white space stands in front of it there; `drawn_space`: that
    space is part of the file and not PDFium's guess (at line ends it tells a word border from a wrapped word).
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    order: int = 0
    space_before: bool = False
    drawn_space: bool = False

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight horizontal or vertical line: from `start` to `end` at `at`."""

    horizontal: bool
    at: float
    start: float
    end: float


def read_chars(text_page: Any) -> list[Char]:
    """Glyphs in the order of the text layer; white space shows as `space_before` of what follows."""
    import pypdfium2.raw as raw

    chars: list[Char] = []
    rect = raw.FS_RECTF()
    space = drawn = False
    high = 0  # first half of a surrogate pair
    for index in range(raw.FPDFText_CountChars(text_page)):
        code = raw.FPDFText_GetUnicode(text_page, index)
        if 0xD800 <= code <= 0xDBFF:
            high = code
            continue
        if 0xDC00 <= code <= 0xDFFF and high:
            code, high = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00), 0
        if code in (0, 0xFFFE, 0xFFFF, 0xFEFF, 0x00AD, 0x0002) or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            continue
        text = chr(code)
        if text.isspace() or unicodedata.category(text) in ("Cc", "Zs"):
            space = True
            drawn = drawn or not raw.FPDFText_IsGenerated(text_page, index)
            continue
        if not raw.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(rect)):
            continue
        size = abs(rect.top - rect.bottom)
        if not (math.isfinite(size) and size > 0 and math.isfinite(rect.left + rect.right)):
            continue
        chars.append(Char(text, rect.left, rect.bottom, rect.right, rect.top, size, len(chars), space, drawn))
        space = drawn = False
    return chars


def read_rules(page: Any) -> list[Rule]:
    """Straight lines and thin boxes drawn on the page; the sides of bigger boxes count as lines too."""
    import pypdfium2.raw as raw

    rules: list[Rule] = []
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=4):
        x0, y0, x1, y1 = item.get_bounds()
        width, height = x1 - x0, y1 - y0
        if height <= _RULE_MAX_THICKNESS and width >= _RULE_MIN_LENGTH:
            rules.append(Rule(True, (y0 + y1) / 2, x0, x1))
        elif width <= _RULE_MAX_THICKNESS and height >= _RULE_MIN_LENGTH:
            rules.append(Rule(False, (x0 + x1) / 2, y0, y1))
        elif width >= _RULE_MIN_LENGTH and height >= _RULE_MIN_LENGTH and _is_stroked(item):
            rules.extend((Rule(True, y0, x0, x1), Rule(True, y1, x0, x1)))
            rules.extend((Rule(False, x0, y0, y1), Rule(False, x1, y0, y1)))
    return rules


def _is_stroked(item: Any) -> bool:
    import pypdfium2.raw as raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(item.raw, ctypes.byref(fill), ctypes.byref(stroke)):
        return False
    return bool(stroke.value)
