"""CSV and TSV to one table; the encoding and the delimiter are found out from the content."""

from __future__ import annotations

import csv
import io
from collections import Counter

from knowledge.errors import UnreadableFile
from knowledge.extract.decoding import decode
from knowledge.extract.text import table_block
from knowledge.types import Block, Extraction

DELIMITERS = ",\t;|"
MAX_ROWS = 500_000
_SAMPLE_LINES = 200
_MAX_FIELD_CHARS = 1_000_000


def extract_csv(content: bytes, *, name: str) -> Extraction:
    """One table block (titles above it as paragraphs). Raises UnreadableFile when there is nothing in it."""
    decoded = decode(content, name=name)
    rows, warnings = _rows(decoded.text, _delimiter(decoded.text, name=name), name=name)
    if not rows:
        raise UnreadableFile(f"{name} holds no values; put the real file in its place or remove it.")
    width = max(len(row) for row in rows)
    blocks: list[Block] = []
    while len(rows) > 1 and width > 1 and sum(map(bool, rows[0])) == 1:
        blocks.append(Block(kind="paragraph", text="".join(rows.pop(0))))
    width = max(len(row) for row in rows)
    kept = [column for column in range(width) if any(column < len(row) and row[column] for row in rows)]
    table = [tuple(row[column] if column < len(row) else "" for column in kept) for row in rows]
    if len(kept) == 1:
        blocks.append(Block(kind="paragraph", text="\n".join(row[0] for row in table)))
    else:
        blocks.append(table_block(table))
    return Extraction(
        format="csv",
        extractor=f"csv ({decoded.encoding})",
        status="partial" if warnings else "ok",
        title=None,
        blocks=tuple(blocks),
        warnings=(*decoded.warnings, *warnings),
    )


def _rows(text: str, delimiter: str, *, name: str) -> tuple[list[list[str]], tuple[str, ...]]:
    """Rows without empty ones; text with a quote that never closes is read line by line."""
    csv.field_size_limit(_MAX_FIELD_CHARS)
    try:
        parsed = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        parsed = [line.split(delimiter) for line in text.split("\n")]
    rows = [[" ".join(cell.split()) if "\n" not in cell else cell.strip() for cell in row] for row in parsed]
    rows = [row for row in rows if any(row)]
    if len(rows) <= MAX_ROWS:
        return rows, ()
    return rows[:MAX_ROWS], (f"only the first {MAX_ROWS} of {len(rows)} rows of {name} were read; split the file",)


def _delimiter(text: str, *, name: str) -> str:
    """The delimiter that gives most lines the same number of cells, more than one; by name or a comma otherwise."""
    lines = [line for line in text.split("\n")[:_SAMPLE_LINES] if line.strip()]
    best, best_score = ("\t" if name.lower().endswith(".tsv") else ","), 0.0
    for delimiter in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not widths:
            continue
        width, count = Counter(widths).most_common(1)[0]
        score = (count / len(widths)) * (1 if width > 1 else 0) + 0.001 * min(width, 50)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best
