"""Markdown to blocks: headings with level, tables with rows, everything else as clean lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.extract.text import plain_blocks, table_block
from knowledge.types import Block

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)(?:\n|\Z)", re.S)
_TITLE = re.compile(r"^title:\s*[\"']?(.*?)[\"']?\s*$", re.M)
_TAG = re.compile(r"</?[A-Za-z][^>]{0,500}>|<!--.{0,2000}?-->", re.S)  # bounded: files can be hostile


def markdown_blocks(text: str) -> tuple[str | None, tuple[Block, ...]]:
    """(title or None, blocks) of Markdown text. The title comes from front matter or a single first-level heading."""
    blocks: list[Block] = []
    title: str | None = None
    offset = 0
    front = _FRONT_MATTER.match(text)
    if front:
        found = _TITLE.search(front.group(1))
        title = found.group(1).strip() or None if found else None
        offset = front.group(0).count("\n")
        blocks.append(Block(kind="note", text=front.group(1), start_line=1, end_line=offset))
        text = text[front.end() :]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for group in _top_level(tokens):
        blocks.extend(_block(group, offset))
    if not any(block.text for block in blocks):  # marks nested too deeply to be meant as such
        blocks = plain_blocks(text.split("\n"), first_line=offset + 1)
    if title is None:
        top = [block for block in blocks if block.kind == "heading" and block.level == 1]
        title = top[0].text if len(top) == 1 else None
    return title, tuple(blocks)


def _top_level(tokens: Sequence[Token]) -> list[list[Token]]:
    """Tokens grouped by the block of the document's top level to which they belong."""
    groups: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            groups.append([])
        groups[-1].append(token)
        depth += token.nesting
    return groups


def _block(group: list[Token], offset: int) -> list[Block]:
    first = group[0]
    start, end = (first.map[0] + offset + 1, first.map[1] + offset) if first.map else (None, None)
    if first.type == "heading_open":
        text = " ".join(_inline(group[1]).split())
        if not text:
            return []
        return [Block(kind="heading", text=text, level=int(first.tag[1]), start_line=start, end_line=end)]
    if first.type == "table_open":
        return [table_block(_rows(group), start_line=start, end_line=end)]
    if first.type == "hr":
        return []
    lines = _lines(group)
    if first.type == "paragraph_open" and start is not None and end is not None and len(lines) == end - start + 1:
        return plain_blocks(lines, first_line=start)  # finds "a | b" rows without a rule, and 제N조 at line starts
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return [Block(kind="paragraph", text=text, start_line=start, end_line=end)] if text.strip() else []


def _rows(group: list[Token]) -> list[tuple[str, ...]]:
    rows: list[list[str]] = []
    for token in group:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(" ".join(_inline(token).split()))
    return [tuple(row) for row in rows]


def _lines(group: list[Token]) -> list[str]:
    """Lines of one block: list markers and numbers kept, nesting shown by indentation, inline marks dropped."""
    lines: list[str] = []
    depth = 0
    marker = ""
    for token in group:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "list_item_open":
            marker = f"{token.info}{token.markup} " if token.info else "- "
        elif token.type in ("inline", "fence", "code_block", "html_block"):
            indent = "  " * max(0, depth - 1)
            content = _inline(token) if token.type == "inline" else token.content.rstrip("\n")
            if token.type == "html_block":
                content = _TAG.sub(" ", content)
            for number, line in enumerate(content.split("\n")):
                lead = marker if number == 0 else " " * len(marker)
                lines.append(f"{indent}{lead}{line}" if depth else line)
            marker = ""
    return lines


def _inline(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "html_inline":
            parts.append(" " if child.content.lower().startswith("<br") else "")
        elif child.type in ("text", "code_inline", "image", "text_special"):
            parts.append(child.content)
    return "".join(parts)
