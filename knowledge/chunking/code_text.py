"""Text of code chunks: lines, identifier words, the text that is embedded, and cutting what is too long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

PART_CHARS: Final = 3000  # a longer body is split; about what the bundled embedder reads, with the header
LINE_CHARS: Final = 1000  # a longer line holds data, not code, and is cut
_SIGNATURE_CHARS = 400

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")


def split_lines(text: str) -> list[str]:
    """Lines as git and editors count them: "\\n" alone ends one."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def shorten(line: str) -> str:
    """The line, or its beginning when it is too long to be code."""
    return line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + " …"


def join_lines(lines: Iterable[str]) -> str:
    """Lines as shown to a reader: long ones cut, blank ones at both ends dropped, indentation kept."""
    shown = [shorten(line.rstrip()) for line in lines]
    while shown and not shown[0]:
        shown.pop(0)
    while shown and not shown[-1]:
        shown.pop()
    return "\n".join(shown)


def words_of(name: str) -> str:
    """The words of an identifier or path, lower case: "HTTPServer.sendAll" gives "http server send all"."""
    return " ".join(dict.fromkeys(word.lower() for word in _WORD.findall(name)))


def signature_of(text: str) -> str:
    """One line of at most 400 characters."""
    line = " ".join(text.split()).rstrip("{:= ")
    return line if len(line) <= _SIGNATURE_CHARS else line[:_SIGNATURE_CHARS] + " …"


def index_text(uri: str, name: str, text: str, *, kind: str = "", roles: str = "") -> str:
    """What is embedded and tokenised: path, kind and qualified name, the name in words, its roles, then the text."""
    head = f"{kind} {name}".strip()
    words = words_of(name)
    if words and words != name.lower():
        head = f"{head}: {words}"
    return "\n".join(part for part in (uri, head, roles, text) if part)


def split_rows(
    lines: Sequence[str], first: int, last: int, borders: Mapping[int, int], limit: int = PART_CHARS
) -> list[tuple[int, int]]:
    """Row ranges (both ends included) of about equal size within `limit` characters, cut before border rows.

    `borders` maps a row to its depth: of the rows that a part may end before, the shallowest one wins, then the one
    nearest to an even share. A row without a border is used only when there is no other.
    """
    sizes = [min(len(line), LINE_CHARS) + 1 for line in lines[first : last + 1]]
    total = sum(sizes)
    if total <= limit:
        return [(first, last)]
    share = total / -(-total // limit)
    ranges: list[tuple[int, int]] = []
    start, used = first, 0
    best: tuple[float, float, int] | None = None  # (depth, distance from the share, row to cut before)
    row = first
    while row <= last:
        size = sizes[row - first]
        if row > start and used + size > limit:
            cut = best[2] if best else row
            ranges.append((start, cut - 1))
            start, row, used, best = cut, cut, 0, None
            continue
        if row > start and used >= share * 0.5:
            depth = borders.get(row, 1000 if lines[row].strip() else 900)
            candidate = (float(depth), abs(used - share), row)
            if best is None or candidate[:2] < best[:2]:
                best = candidate
        used += size
        row += 1
    if start <= last:
        ranges.append((start, last))
    return ranges
