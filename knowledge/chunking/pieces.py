"""Blocks taken apart into the smallest things a chunk border may fall between: lines and table rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from knowledge.chunking.table import header_row_count, render_row
from knowledge.types import Block

PieceKind = Literal["heading", "line", "row", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One line or table row. `table_head` holds the header rows that a part starting here has to repeat."""

    kind: PieceKind
    text: str
    block: int  # index into the document's blocks
    page: int | None = None
    line: int | None = None  # from 1
    level: int | None = None  # of a heading
    table_head: tuple[str, ...] = ()
    table_index: int | None = None  # row number within its table, from 0


def take_apart(blocks: Sequence[Block]) -> list[Piece]:
    """Pieces of all blocks in reading order; empty lines and empty rows are left out."""
    pieces: list[Piece] = []
    for number, block in enumerate(blocks):
        if block.kind == "table" and block.rows:
            pieces.extend(_table_pieces(block, number))
        else:
            pieces.extend(_text_pieces(block, number))
    return pieces


def _text_pieces(block: Block, number: int) -> list[Piece]:
    lines = block.text.split("\n")
    if block.kind == "heading":
        lines = [" ".join(block.text.split())]
    numbered = (
        block.start_line is not None
        and block.end_line is not None
        and len(lines) == block.end_line - block.start_line + 1
    )
    pieces = []
    for offset, line in enumerate(lines):
        if not line.strip():
            continue
        line_number = block.start_line + offset if numbered and block.start_line is not None else block.start_line
        pieces.append(
            Piece(
                kind="heading" if block.kind == "heading" else "note" if block.kind == "note" else "line",
                text=line.rstrip(),
                block=number,
                page=block.page,
                line=line_number,
                level=block.level,
            )
        )
    return pieces


def _table_pieces(block: Block, number: int) -> list[Piece]:
    """Rows with two different cells or more are rows; a row of one cell is text (titles stand in such boxes)."""
    rendered = [render_row(row) for row in block.rows]
    header_count = header_row_count(block.rows)
    head = tuple(text for text in rendered[:header_count] if text)
    numbered = block.start_line is not None and block.end_line is not None
    pieces: list[Piece] = []
    for index, (row, text) in enumerate(zip(block.rows, rendered, strict=True)):
        distinct = {cell.strip() for cell in row if cell.strip()}
        if not distinct:
            continue
        line = block.start_line
        if numbered and block.start_line is not None and block.end_line is not None:
            line = min(block.start_line + index, block.end_line)
        if len(distinct) == 1:
            pieces.extend(
                Piece(kind="line", text=part.rstrip(), block=number, page=block.page, line=line)
                for part in next(iter(distinct)).split("\n")
                if part.strip()
            )
            continue
        is_header = index < header_count
        pieces.append(
            Piece(
                kind="row",
                text=text,
                block=number,
                page=block.page,
                line=line,
                table_head=() if is_header else head,
                table_index=index,
            )
        )
    return pieces
