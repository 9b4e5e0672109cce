"""Long Markdown cut into posts: at paragraphs first, with code fences and tables that stay readable in every part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt

from bot.platforms.cutting import cut_line

SMALLEST_LIMIT = 80
LONGEST_INFO = 24  # of a fence's language when it is opened again

Measure = Callable[[str], int]

_FENCE = re.compile(r"([ \t>]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_BLANK_EDGES = re.compile(r"\A(?:[ \t]*\n)+|\s+\Z")


def split_markdown(text: str, limit_chars: int, *, measure: Measure = len) -> list[str]:
    """`text` as parts of at most `limit_chars` each, in order; one part when it fits, none when it is blank.

    `measure` is how the platform counts: `len` counts code points. Code that has to be cut is closed and opened again
    with its language, a table gets its header row again, a heading stays with what follows it, and no cut falls inside
    a link, a code span or a character as people see it unless that alone is longer than a part.
    """
    if limit_chars < SMALLEST_LIMIT:
        raise ValueError(f"limit_chars is {limit_chars}, but a part needs at least {SMALLEST_LIMIT}.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if measure(text) <= limit_chars:
        return [text] if text.strip() else []
    parts: list[str] = []
    open_part: list[_Block] = []
    for block in _blocks(text):
        if measure(_joined([*open_part, block])) <= limit_chars:
            open_part.append(block)
            continue
        held = open_part.pop() if len(open_part) > 1 and open_part[-1].kind == "heading" else None
        parts.append(_joined(open_part))
        open_part = [block] if held is None else [held, block]
        if measure(_joined(open_part)) > limit_chars:
            pieces = list(_cut(block, limit_chars, measure, lead="" if held is None else held.text))
            parts += pieces[:-1]
            open_part = [_Block("other", pieces[-1] + "\n")] if pieces else []
    parts.append(_joined(open_part))
    return [part for part in map(_trimmed, parts) if part]


@dataclass(frozen=True, slots=True)
class _Block:
    kind: Literal["heading", "table", "other"]
    text: str  # with the blank lines that follow it


def _joined(blocks: Sequence[_Block]) -> str:
    return "".join(block.text for block in blocks).rstrip()


def _trimmed(part: str) -> str:
    """Without blank lines at both ends; the indentation of the first line stays."""
    return _BLANK_EDGES.sub("", part)


@cache
def _parser() -> MarkdownIt:
    """Finds the borders of blocks; what stands inside a line is of no interest here."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of the first level; together they are `text`."""
    lines = text.split("\n")
    starts: list[int] = []
    kinds: list[Literal["heading", "table", "other"]] = []
    for token in _parser().parse(text):
        if token.level or token.map is None or token.nesting < 0:
            continue
        starts.append(token.map[0])
        kinds.append({"heading_open": "heading", "table_open": "table"}.get(token.type, "other"))  # type: ignore[arg-type]
    if not starts:
        yield _Block("other", text)
        return
    starts[0] = 0
    for kind, start, stop in zip(kinds, starts, [*starts[1:], len(lines)], strict=True):
        yield _Block(kind, "\n".join(lines[start:stop]) + "\n")


def _cut(block: _Block, limit: int, measure: Measure, *, lead: str) -> Iterator[str]:
    """The parts of a block that is too long for one; `lead` stands in front of the first."""
    if lead:
        if measure(lead) > limit // 2:
            yield from _cut_lines(lead, limit, measure, lead="")
            lead = ""
        elif not lead.endswith("\n"):
            lead += "\n"
    if block.kind == "table":
        header = block.text.split("\n", 2)
        if len(header) == 3 and measure(header[0]) + measure(header[1]) + 2 <= limit // 2 - measure(lead):
            yield from _cut_table("\n".join(header[:2]) + "\n", header[2], limit, measure, lead=lead)
            return
    yield from _cut_lines(block.text, limit, measure, lead=lead)


def _cut_table(header: str, body: str, limit: int, measure: Measure, *, lead: str) -> Iterator[str]:
    """Rows stay whole and every part begins with the header; a row that fits in no part is cut as text."""
    part = lead + header
    rows = 0
    for row in body.rstrip().split("\n"):
        if measure(part) + measure(row) + 1 <= limit:
            part, rows = f"{part}{row}\n", rows + 1
            continue
        if rows or part != header:
            yield part
        part, rows = header, 0
        if measure(header) + measure(row) + 1 <= limit:
            part, rows = f"{header}{row}\n", 1
        else:
            yield from _cut_lines(row, limit, measure, lead="")
    if rows:
        yield part


@dataclass(slots=True)
class _Fence:
    """A code block that is open: what closes it, and what opens it again."""

    prefix: str  # indentation and quote marks in front of it
    marker: str
    info: str

    @property
    def opening(self) -> str:
        return f"{self.prefix}{self.marker}{self.info}\n"

    @property
    def closing(self) -> str:
        return f"{self.prefix}{self.marker}\n"

    def is_closed_by(self, line: str) -> bool:
        found = _FENCE.match(line)
        return (
            found is not None
            and found[2][0] == self.marker[0]
            and len(found[2]) >= len(self.marker)
            and not found[3].strip()
        )


def _cut_lines(text: str, limit: int, measure: Measure, *, lead: str) -> Iterator[str]:
    """Line by line; code that is open at a cut is closed there and opened again behind it."""
    fence: _Fence | None = None
    part = lead
    empty = lead == ""  # whether `part` holds nothing but the opening of a fence
    for line in text.rstrip().split("\n"):
        ends = fence is not None and fence.is_closed_by(line)
        reserve = measure(fence.closing) if fence is not None and not ends else 0
        if not empty and measure(part) + measure(line) + 1 + reserve > limit:
            yield part + (fence.closing if fence else "")
            part, empty = (fence.opening if fence else ""), True
            if ends:  # nothing but the end of the code was left
                part, fence = "", None
                continue
        while measure(part) + measure(line) + 1 + reserve > limit:
            head, line = cut_line(line, limit - measure(part) - reserve - 1, measure, code=fence is not None)
            yield f"{part}{head}\n{fence.closing if fence else ''}"
            part = fence.opening if fence else ""
        part, empty = f"{part}{line}\n", False
        fence = None if ends else fence or _opened(line, limit)
    if not empty:
        yield part


def _opened(line: str, limit: int) -> _Fence | None:
    """The fence that this line opens. One that is too long to repeat counts as text."""
    found = _FENCE.match(line)
    if found is None or len(found[1]) + len(found[2]) > limit // 8:
        return None
    info = found[3].split(maxsplit=1)[0] if found[3].strip() else ""
    return _Fence(found[1], found[2], info if len(info) <= LONGEST_INFO and len(info) <= limit // 8 else "")
