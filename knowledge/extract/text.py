"""Plain text and Markdown to blocks with line numbers."""

from __future__ import annotations

import re

from knowledge.errors import UnreadableFile
from knowledge.extract.decoding import decode
from knowledge.types import Block, Extraction

_MARKDOWN_SIGNS = (
    re.compile(r"^#{1,6} +\S", re.M),  # ATX heading
    re.compile(
        r"^[ \t]{0,8}\|?(?:[ \t]{0,8}:?-{3,}:?[ \t]{0,8}\|)+[ \t]{0,8}:?-*:?[ \t]{0,8}\|?[ \t]{0,8}$", re.M
    ),  # the rule under a table's header
    re.compile(r"^(?:```|~~~)", re.M),
    re.compile(r"\A---\n(?:[^\n]*\n){1,60}?---\n"),  # front matter
)
# where a new paragraph starts even without a blank line before it
_MARKER = re.compile(
    r"\s*(?:제\s*\d+\s*(?:편|장|절|관|조)|부\s*칙|[\[<〈【(]\s*(?:별\s*표|별\s*지|서\s*식)|별\s*표\s*(?:제\s*)?\d)"
)
_MIN_TABLE_ROWS = 2


def extract_text(content: bytes, *, name: str) -> Extraction:
    """Markdown where the text is written so, plain text otherwise. Raises UnreadableFile, UnsupportedFormat."""
    decoded = decode(content, name=name)
    if not decoded.text.strip():
        raise UnreadableFile(f"{name} holds no text; put the real file in its place or remove it.")
    if looks_like_markdown(decoded.text, name=name):
        from knowledge.extract.markdown import markdown_blocks

        title, blocks = markdown_blocks(decoded.text)
        return Extraction(
            format="md",
            extractor="markdown-it",
            status="ok",
            title=title,
            blocks=blocks,
            warnings=decoded.warnings,
        )
    return Extraction(
        format="txt",
        extractor=f"text ({decoded.encoding})",
        status="ok",
        title=None,
        blocks=tuple(plain_blocks(decoded.text.split("\n"))),
        warnings=decoded.warnings,
    )


def looks_like_markdown(text: str, *, name: str) -> bool:
    """Whether the text carries signs of Markdown; the name decides only when there is none."""
    if any(sign.search(text) for sign in _MARKDOWN_SIGNS):
        return True
    return name.lower().endswith((".md", ".markdown"))


def plain_blocks(lines: list[str], first_line: int = 1) -> list[Block]:
    """Paragraphs (their lines kept) and simple tables of `lines`; the first one has the number `first_line`."""
    blocks: list[Block] = []
    start = 0
    index = 0

    def close(end: int) -> None:
        kept = [line.rstrip() for line in lines[start:end]]
        if any(line.strip() for line in kept):
            blocks.append(
                Block(
                    kind="paragraph",
                    text="\n".join(kept),
                    start_line=first_line + start,
                    end_line=first_line + end - 1,
                )
            )

    while index < len(lines):
        line = lines[index]
        rows = _table_at(lines, index)
        if rows:
            close(index)
            end = index + len(rows)
            blocks.append(
                table_block(_without_rule(rows), start_line=first_line + index, end_line=first_line + end - 1)
            )
            start = index = end
            continue
        if not line.strip():
            close(index)
            start = index + 1
        elif index > start and _MARKER.match(line):
            close(index)
            start = index
        index += 1
    close(len(lines))
    return blocks


def table_block(
    rows: list[tuple[str, ...]],
    *,
    start_line: int | None = None,
    end_line: int | None = None,
    page: int | None = None,
) -> Block:
    """A table block whose text holds the rows as "a | b" lines."""
    text = "\n".join(" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    return Block(kind="table", text=text, rows=tuple(rows), start_line=start_line, end_line=end_line, page=page)


def _cells(line: str) -> tuple[str, ...]:
    if line.count("|") >= 1 and (" | " in line or line.strip().startswith("|")):
        return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
    stripped = line.strip()
    if stripped.count("\t") >= 2:
        cells = tuple(cell.strip() for cell in stripped.split("\t"))
        if all(cells):
            return cells
    return ()


def _table_at(lines: list[str], index: int) -> list[tuple[str, ...]]:
    """Rows of the table that starts at `index`: lines with the same number of "|" or tab separated cells; else []."""
    first = _cells(lines[index])
    if len(first) < 2:
        return []
    rows = [first]
    for line in lines[index + 1 :]:
        row = _cells(line)
        if len(row) != len(first):
            break
        rows.append(row)
    return rows if len(rows) >= _MIN_TABLE_ROWS else []


def _without_rule(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [row for row in rows if not all(re.fullmatch(r":?-{3,}:?", cell) for cell in row)] or rows
