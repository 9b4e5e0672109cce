"""Two pieces of evidence that give different values for the same thing: an older and a newer revision, two appendices.

The bot does not choose: both values are shown with their dates, and whom to ask.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from bot.claims import squeeze
from bot.content_words import bag_of, content_words, held_share
from bot.evidence_tables import EvidenceTable, mentioned, tables_of
from bot.excerpt import is_row
from bot.quantities import Quantity, plain, quantities_of
from knowledge.types import ScoredChunk

_CLAUSE = re.compile(r"\n+|(?<=[^\d])[.]\s+|,\s+|(?<=[가-힣](?:며|고))\s+|;\s*")
_SAME_WORDS = 0.8  # share of the words that two clauses about the same thing have in common
_HEAD = re.compile(r"^(?:[^\[]*?\s)?(?=\[?(?:별표|별지|제\s?\d+))")


@dataclass(frozen=True, slots=True)
class Value:
    """One amount of a piece of evidence, with the words that say what it is an amount of."""

    subject: tuple[str, ...]  # words of the row or of the clause
    column: frozenset[str]  # words of the header; empty for prose
    quantity: Quantity
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two places with different values for one thing; `first` is the one that ranks better."""

    first: int  # number of the evidence, from 1
    first_shown: str
    second: int
    second_shown: str


def find_conflicts(
    chunks: Sequence[ScoredChunk], cited: Sequence[int], question: str, *, answer: str = ""
) -> list[Conflict]:
    """Conflicts between cited pieces, and between a cited one and another wording of the same section.

    Only values that the question asks for, or that the answer names, count.
    """
    values = {
        n: values_of(scored, question, answer)
        for n, scored in enumerate(chunks, 1)
        if scored.chunk.evidence_kind == "docs"
    }
    found: list[Conflict] = []
    for first in values:
        for second in values:
            if first >= second or not {first, second} & set(cited):
                continue
            if not {first, second} <= set(cited) and not _same_section(chunks[first - 1], chunks[second - 1]):
                continue
            found += _conflicts(first, values[first], second, values[second])
    return found[:3]


def values_of(scored: ScoredChunk, question: str, answer: str = "") -> list[Value]:
    """The amounts of a piece of evidence that the question, or the answer, speaks of."""
    text = scored.chunk.text
    found: list[Value] = []
    for table in tables_of(text):
        found += _table_values(table, f"{question}\n{answer}", question)
    asked = bag_of(f"{question}\n{answer}")
    prose = "\n".join(line for line in text.splitlines() if not is_row(line))
    for part in _CLAUSE.split(plain(prose)):
        quantities = quantities_of(part)
        words = content_words(_without(part, quantities))
        if len(quantities) == 1 and len(words) >= 2 and held_share(words, asked) >= 0.3:
            found.append(Value(words, frozenset(), quantities[0], part.strip()))
    return found


def _table_values(table: EvidenceTable, spoken: str, question: str) -> list[Value]:
    rows = mentioned(table.row_words, question) or mentioned(table.row_words, spoken)
    columns = mentioned(table.column_words, question) or mentioned(table.column_words, spoken)
    found: list[Value] = []
    for r in sorted(rows):
        for c in table.value_columns:
            cells = [q for q in table.cells[r][c] if q.unit != "as written"]
            if len(cells) != 1 or (columns and c not in columns):
                continue
            name = " ".join(dict.fromkeys(table.rows[r][k] for k in table.key_columns))
            header = table.header[c]
            shown = f"{name} · {header}: {table.rows[r][c]}" if header else f"{name}: {table.rows[r][c]}"
            found.append(Value(tuple(sorted(table.row_words[r])), frozenset(table.column_words[c]), cells[0], shown))
    return found


def _conflicts(first: int, ours: Sequence[Value], second: int, theirs: Sequence[Value]) -> list[Conflict]:
    found: list[Conflict] = []
    for one, other in product(ours, theirs):
        if not _same_thing(one, other) or one.quantity.equals(other.quantity):
            continue
        if any(_same_thing(one, o) and one.quantity.equals(o.quantity) for o in theirs):
            continue  # both values stand on both sides
        found.append(Conflict(first=first, first_shown=one.shown, second=second, second_shown=other.shown))
    return found


def _same_thing(one: Value, other: Value) -> bool:
    (unit, _), (other_unit, _) = one.quantity.base, other.quantity.base
    if unit != other_unit or one.quantity.value == Decimal(0):
        return False
    if one.quantity.bound != other.quantity.bound and None not in (one.quantity.bound, other.quantity.bound):
        return False
    if one.column or other.column:
        if bool(one.column) != bool(other.column):  # a row and a sentence
            row, prose = (one, other) if one.column else (other, one)
            return (
                unit is not None
                and bool(row.subject)
                and held_share(row.subject, bag_of(" ".join(prose.subject))) == 1.0
            )
        return one.subject == other.subject and bool(one.subject) and bool(one.column & other.column)
    shared = (
        held_share(one.subject, bag_of(" ".join(other.subject))),
        held_share(other.subject, bag_of(" ".join(one.subject))),
    )
    return min(shared) >= _SAME_WORDS


def _same_section(one: ScoredChunk, other: ScoredChunk) -> bool:
    """Whether two chunks are wordings of one section: revisions of one regulation, or documents of the same title."""
    a, b = one.chunk, other.chunk
    if a.locator.source != b.locator.source or a.locator.uri == b.locator.uri:
        return False
    same_family = a.family is not None and a.family == b.family
    return (same_family or a.title == b.title) and _section_of(a.locator.label) == _section_of(b.locator.label)


def _section_of(label: str | None) -> str:
    return squeeze(_HEAD.sub("", label or ""))


def _without(text: str, quantities: Sequence[Quantity]) -> str:
    for quantity in reversed(quantities):
        end = quantity.end
        tail = re.match(r"[가-힣]{1,5}", text[end:])
        text = text[: quantity.start] + " " + text[end + (tail.end() if tail else 0) :]
    return text
