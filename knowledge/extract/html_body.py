"""The walk over a parsed HTML page: headings, paragraphs, lists and tables in reading order."""

from __future__ import annotations

import re
from typing import Any

from knowledge.extract.decoding import clean_text
from knowledge.extract.merged_cells import SpannedCell, flat_text, table_blocks
from knowledge.extract.raised import raised
from knowledge.types import Block

_DROPPED = frozenset({
    "script", "style", "noscript", "template", "nav", "footer", "aside", "button", "select", "option", "input",
    "textarea", "iframe", "frame", "object", "embed", "svg", "canvas", "video", "audio", "map", "head", "title", "meta",
    "link", "dialog", "menu",
})  # fmt: skip
_DROPPED_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "tablist"}
)
_DROPPED_NAMES = frozenset({
    "nav", "navbar", "navigation", "gnb", "lnb", "snb", "breadcrumb", "breadcrumbs", "footer", "sidebar", "skip",
    "skipnav", "skip-nav", "skip_nav", "skipnavigation", "pagination", "paging", "sitemap", "quickmenu", "quick-menu",
    "quick_menu", "copyright", "site-footer", "site-nav",
})  # fmt: skip
_BLOCKS = frozenset({
    "address", "article", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "form", "header", "hr", "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary", "ul",
    "caption", "td", "th", "tr", "tbody", "thead", "tfoot", "noframes", "label",
})  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_OWN_MARKER = re.compile(r"(?:[①-⑳㉠-㉻⑴-⒇•·\-*※○●□■◦▪]|\(?[0-9가-힣a-zA-Z]{1,3}[.)]|제\s*\d+\s*[조항호])")
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]*\n[ \t\r\f\v\u00a0]*|[ \t\r\f\v\u00a0]+")
_LINE_END = "\u2028"  # a <br>, until white space has been collapsed
_MAX_DEPTH = 150  # deeper than that, an element's text is taken as one paragraph
_NESTED_OF_GRID = 4  # in a table of data at most one cell of so many holds a table; one of two where it has <th>
_MAX_ROW_SPAN, _MAX_COLUMN_SPAN = 65_534, 1_000  # as browsers limit them


def is_boilerplate(element: Any) -> bool:
    """Whether an element is navigation, script, form control or the like, with everything in it."""
    if element.tag in _DROPPED:
        return True
    if element.get("role", "").lower() in _DROPPED_ROLES:
        return True
    if element.tag in ("div", "ul", "ol", "section", "p", "header", "a"):
        names = {element.get("id", "").lower(), *element.get("class", "").lower().split()}
        return not names.isdisjoint(_DROPPED_NAMES)
    return False


class HtmlBodyReader:
    """Collects the blocks of one element; build one for each."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._text: list[str] = []
        self._marker = ""

    def read(self, element: Any, depth: int = 0) -> list[Block]:
        """Blocks of everything inside `element`."""
        self._children(element, depth)
        self._flush()
        return self._blocks

    def _flush(self, kind: str = "paragraph", level: int | None = None) -> None:
        text = _collapsed("".join(self._text))
        self._text = []
        if not text:
            return
        if self._marker and not _OWN_MARKER.match(text):
            text = self._marker + text
        self._marker = ""
        if kind == "heading":
            self._blocks.append(Block(kind="heading", text=" ".join(text.split()), level=level))
        else:
            self._blocks.append(Block(kind="paragraph", text=text))

    def _children(self, element: Any, depth: int) -> None:
        self._text.append(element.text or "")
        for child in element:
            if isinstance(child.tag, str) and not is_boilerplate(child):
                if depth >= _MAX_DEPTH:
                    self._text.append(" ".join(child.itertext("*")))
                else:
                    self._element(child, depth + 1)
            self._text.append(child.tail or "")

    def _element(self, element: Any, depth: int) -> None:
        tag = element.tag
        if tag == "br":
            self._text.append(_LINE_END)
        elif tag in _HEADINGS:
            self._flush()
            self._children(element, depth)
            self._flush("heading", _HEADINGS[tag])
        elif tag == "sup":
            self._text.append(raised("".join(element.itertext("*")) if len(element) else element.text or ""))
        elif tag == "table":
            self._flush()
            self._blocks.extend(_table(element, depth))
        elif tag == "pre":
            self._flush()
            text = clean_text(element.text_content()).strip("\n")
            if text.strip():
                self._blocks.append(Block(kind="paragraph", text=text))
        elif tag in ("ul", "ol"):
            self._flush()
            self._list(element, depth)
            self._flush()
        elif tag in _BLOCKS:
            self._flush()
            self._children(element, depth)
            self._flush()
        else:
            self._children(element, depth)

    def _list(self, element: Any, depth: int) -> None:
        start = element.get("start", "1")
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1
        for child in element:
            if not isinstance(child.tag, str) or is_boilerplate(child):
                continue
            if child.tag == "li":
                self._marker = f"{number}. " if element.tag == "ol" else "- "
                number += 1
                self._children(child, depth + 1)
                self._flush()
                self._marker = ""
            else:
                self._element(child, depth + 1)


def _collapsed(text: str) -> str:
    lines = _SPACES.sub(" ", text).replace("\n", " ").split(_LINE_END)
    return "\n".join(line for line in (" ".join(clean_text(line).split()) for line in lines) if line)


def _rows(table: Any) -> list[Any]:
    """Rows of the table itself, not of nested ones; those of <tfoot> come last."""
    rows: list[Any] = []
    last: list[Any] = []
    for child in table:
        if child.tag == "tr":
            rows.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            (last if child.tag == "tfoot" else rows).extend(row for row in child if row.tag == "tr")
    return rows + last


def _table(table: Any, depth: int) -> list[Block]:
    """A table as a table; one that lays out the page (tables or headings inside its cells) as what it holds."""
    caption = table.find("caption")
    title = flat_text(HtmlBodyReader().read(caption, depth)) if caption is not None else ""
    rows = _rows(table)
    if depth >= _MAX_DEPTH or not rows:
        text = _collapsed(" ".join(table.itertext("*")))
        return [Block(kind="paragraph", text=text)] if text else []
    cells: list[SpannedCell] = []
    occupied: dict[int, int] = {}  # column -> first row in which it is free again
    for number, row in enumerate(rows):
        column = 0
        for element in row:
            if element.tag not in ("td", "th"):
                continue
            while occupied.get(column, 0) > number:
                column += 1
            row_span = min(_span(element, "rowspan", _MAX_ROW_SPAN, _MAX_ROW_SPAN), len(rows) - number)
            column_span = _span(element, "colspan", _MAX_COLUMN_SPAN, 1)
            blocks = HtmlBodyReader().read(element, depth + 1)
            cells.append(
                SpannedCell(row=number, column=column, row_span=row_span, column_span=column_span, blocks=tuple(blocks))
            )
            for place in range(column, column + column_span):
                occupied[place] = number + row_span
            column += column_span
    if _lays_out(cells, has_heads=any(element.tag == "th" for row in rows for element in row)):
        head = [Block(kind="paragraph", text=title)] if title else []
        return head + [block for cell in cells for block in cell.blocks]
    return table_blocks(cells, caption=title)


def _lays_out(cells: list[SpannedCell], *, has_heads: bool) -> bool:
    """Whether a table only arranges the page: headings in its cells, or hardly anything beside the tables in them."""
    filled = [cell for cell in cells if cell.blocks]
    if any(block.kind == "heading" for cell in filled for block in cell.blocks):
        return True
    nested = [cell for cell in filled if any(block.kind == "table" for block in cell.blocks)]
    rows, columns = {cell.row for cell in filled}, {cell.column for cell in filled}
    is_grid = len(rows) > 1 and len(columns) > 1
    few = 2 if has_heads else _NESTED_OF_GRID
    return bool(nested) and not (is_grid and len(nested) * few <= len(filled))


def _span(element: Any, name: str, most: int, when_zero: int) -> int:
    """rowspan="0" reaches to the end of the table; nonsense counts as 1."""
    text = element.get(name, "1").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return 1
    return min(int(text), most) or max(1, when_zero)
