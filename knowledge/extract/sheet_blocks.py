"""One worksheet's cells to blocks: a heading, titles and remarks as paragraphs, tables with merged cells repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knowledge.extract.decoding import clean_text
from knowledge.extract.text import table_block
from knowledge.types import Block

MAX_CELLS = 2_000_000
_FIGURE = re.compile(r"[(\-+△▲₩$€¥]{0,3}\s?\d[\d,.]*\s?%?\)?")
MergedRange = tuple[int, int, int, int]  # first row, last row, first column, last column, from 0, inclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What both readers of workbooks make of a sheet: texts by (row, column), from 0."""

    title: str
    texts: Mapping[tuple[int, int], str]
    merged: tuple[MergedRange, ...] = ()


def sheet_blocks(sheet: Sheet) -> list[Block]:
    """Blocks of one sheet, only a heading when it is empty; empty rows and columns are left out."""
    texts = {place: text for place, raw in sheet.texts.items() if (text := _clean(raw))}
    if not texts:
        return []
    last_row, last_column = max(row for row, _ in texts), max(column for _, column in texts)
    for first, last, left, right in sheet.merged:
        repeated = texts.get((first, left))
        if repeated is None or (min(last, last_row) - first + 1) * (min(right, last_column) - left + 1) > MAX_CELLS:
            continue
        for row in range(first, min(last, last_row) + 1):
            for column in range(left, min(right, last_column) + 1):
                texts.setdefault((row, column), repeated)
    rows: dict[int, dict[int, str]] = {}
    for (row, column), text in texts.items():
        rows.setdefault(row, {})[column] = text
    return [Block(kind="heading", text=sheet.title, level=1), *_tables(rows)]


def _clean(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in clean_text(text).split("\n")).strip()


def _tables(rows: Mapping[int, Mapping[int, str]]) -> Iterable[Block]:
    """Tables and what stands between them.

    Behind a gap a line with a single text is a title or a remark, and a line without numbers heads a new table: under
    the old header its figures would be read as those of another year.
    """
    table: list[Mapping[int, str]] = []
    previous = -2
    for number in sorted(rows):
        row = rows[number]
        alone = len(set(row.values())) == 1
        if alone and (number > previous + 1 or not table):
            yield from _table(table)
            table = []
            yield Block(kind="paragraph", text=next(iter(row.values())))
        else:
            if number > previous + 1 and not any(_FIGURE.fullmatch(text) for text in row.values()):
                yield from _table(table)
                table = []
            table.append(row)
        previous = number
    yield from _table(table)


def _table(rows: list[Mapping[int, str]]) -> Iterable[Block]:
    if not rows:
        return
    columns = sorted({column for row in rows for column in row})
    if len(columns) == 1:
        yield Block(kind="paragraph", text="\n".join(row[columns[0]] for row in rows))
        return
    yield table_block([tuple(row.get(column, "") for column in columns) for row in rows])
