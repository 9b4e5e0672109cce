"""Tables of the evidence, and which of their rows and columns a sentence speaks of.

A number from a table passes only when the words around it name the row that holds it and no other column than its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

from bot.claims import squeeze
from bot.excerpt import RULE_ROW, cells_of, is_row
from bot.quantities import Quantity, plain, quantities_of, scaled_value, unit_name, unit_note

_HEADER_UNIT = re.compile(
    r"\(\s*(?:단위\s*[:：]?\s*)?([십백천만억]*)\s*(원|달러|일|개월|년|시간|분|명|회|%|km|박|usd|krw|won|days?)\s*\)",
    re.IGNORECASE,
)
_ORDINAL_HEADER = re.compile(r"^(?:번호|순번|연번|no\.?|#|순위)$", re.IGNORECASE)
_WORD_SPLIT = re.compile(r"[\s,/()·ㆍ:~|]+")
_HEADER_ENDINGS = {
    "일수": "일", "횟수": "회", "인원": "명", "인원수": "명", "개월수": "개월", "비율": "%", "지급율": "%",
    "지급률": "%", "근속연수": "년", "시간수": "시간",
}  # fmt: skip
_NO_AMOUNT = re.compile(r"무료|무상|면제|없음|무제한|영구|free|none|n/a|-", re.IGNORECASE)
_AS_WRITTEN = "as written"  # fits a claim that names no unit, and nothing else
# behind a name: a particle or an ending, not the rest of a longer word
_NAME_ENDS = (
    r"(?=$|[^가-힣]|(?:은|는|이|가|을|를|의|에|로|으로|과|와|도|만|께|급|직|별|일|시|인|당|및|간|용|"
    r"들|님|부터|까지|에서|에게|이나|이면|이며|이고|"
    r"일때|인경우|입니다|이다|라면|면|하면|하고|하는|한)(?![가-힣]{4}))"
)
_EXACT, _INSIDE, _LOOSE = 1.0, 0.6, 0.4


class Name(dict[str, float]):
    """The words of a row's or a column's name with their weights; `whole` is all of it, squeezed."""

    whole: str = ""


@dataclass
class EvidenceTable:
    """One table. `rows` are those below the header; `key_columns` hold what the rows are about."""

    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    key_columns: tuple[int, ...] = (0,)
    cells: list[list[list[Quantity]]] = field(default_factory=list)
    row_words: list[Name] = field(default_factory=list)
    column_words: list[Name] = field(default_factory=list)

    @cached_property
    def key_quantities(self) -> list[Quantity]:
        """The amounts in the names of the rows."""
        return [q for row in self.cells for c in self.key_columns for q in row[c] if q.unit != _AS_WRITTEN]

    @cached_property
    def header_quantities(self) -> list[Quantity]:
        """The amounts in the header."""
        return [q for cell in self.header for q in quantities_of(plain(cell))]

    @cached_property
    def value_columns(self) -> list[int]:
        return [c for c in range(len(self.header)) if c not in self.key_columns]


def tables_of(text: str) -> list[EvidenceTable]:
    """The tables of a piece of evidence, prepared for asking."""
    groups: list[list[tuple[str, ...]]] = []
    inside = False
    for line in text.splitlines():
        row = is_row(line)
        if row and not RULE_ROW.match(line):
            if not inside:
                groups.append([])
            groups[-1].append(cells_of(line))
        inside = row
    factor, unit = unit_note(plain(text))
    return [_prepared(rows, factor, unit) for rows in groups if rows]


def _prepared(rows: list[tuple[str, ...]], factor: Decimal, unit: str | None) -> EvidenceTable:
    width = max(len(row) for row in rows)
    rows = [(*row, *[""] * (width - len(row))) for row in rows]
    header, body = _header_of(rows)
    table = EvidenceTable(header=header, rows=body)
    table.cells = [[_cell(cell, header[c], factor, unit) for c, cell in enumerate(row)] for row in body]
    table.key_columns = _key_columns(table)
    table.row_words = _telling([" ".join(row[c] for c in table.key_columns) for row in body])
    table.column_words = _telling([header[c] if c in table.value_columns else "" for c in range(width)])
    return table


def _header_of(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header, its second line joined where the first repeats merged cells, and the rows below."""
    first, body = rows[0], rows[1:]
    merged = len(set(filter(None, first))) < len([cell for cell in first if cell])
    if merged and len(body) > 1 and not any(quantities_of(plain(cell)) for cell in body[0]):
        joined = tuple(a if a == b else f"{a} {b}".strip() for a, b in zip(first, body[0], strict=True))
        return joined, body[1:]
    return first, body


def _cell(cell: str, header: str, factor: Decimal, unit: str | None) -> list[Quantity]:
    """The quantities of a cell: those without a unit take the header's, else the one noted above the table."""
    found: list[Quantity] = []
    for quantity in quantities_of(plain(cell)):
        if quantity.unit is not None:
            found.append(quantity)
        elif own := _unit_of_header(header):
            found.append(replace(quantity, unit=own[1], value=(quantity.value * own[0]).normalize()))
        elif unit is not None:
            found.append(replace(quantity, unit=_AS_WRITTEN))
            found.append(replace(quantity, unit=unit, value=(quantity.value * factor).normalize()))
        else:
            found.append(quantity)
    return found


def _unit_of_header(header: str) -> tuple[Decimal, str | None] | None:
    """Factor and unit that a header gives to its column: "금액(천원)" gives 1000 and 원, "휴가일수" 1 and 일."""
    text = plain(header)
    match = _HEADER_UNIT.search(text)
    if match:
        return scaled_value(f"1{match[1]}") or Decimal(1), unit_name(match[2].lower())
    ending = next((unit for end, unit in _HEADER_ENDINGS.items() if squeeze(text).endswith(end)), None)
    return (Decimal(1), ending) if ending else None


def _key_columns(table: EvidenceTable) -> tuple[int, ...]:
    """The leftmost columns that hold words more often than amounts; always the first one."""
    keys = [0]
    for column in range(1, len(table.header) - 1):
        amounts = sum(bool(row[column]) for row in table.cells)
        amounts += sum(_NO_AMOUNT.fullmatch(row[column].strip()) is not None for row in table.rows)
        is_ordinal = column == 1 and _ORDINAL_HEADER.match(table.header[0].strip())
        if not is_ordinal and amounts * 2 >= max(1, len(table.rows)):
            break
        keys.append(column)
    return tuple(keys)


def _telling(names: Sequence[str]) -> list[Name]:
    """For each name its words with weights: the fewer names hold a word, the more it tells."""
    words = [dict.fromkeys(_words(name)) for name in names]
    counts: dict[str, int] = {}
    for own in words:
        for word in own:
            counts[word] = counts.get(word, 0) + 1
    total = sum(bool(own) for own in words)
    found = [Name({word: 1.0 / counts[word] for word in own if counts[word] < total or total == 1}) for own in words]
    for name, text in zip(found, names, strict=True):
        name.whole = squeeze(text)
    return found


def _words(name: str) -> list[str]:
    name = re.sub(r"(?<=\d)\s+(?=[가-힣])", "", plain(name))
    parts = [squeeze(part) for part in _WORD_SPLIT.split(_HEADER_UNIT.sub(" ", name))]
    words = [part for part in parts if part and not re.fullmatch(r"[\d.,%~\-]+", part)]
    return words or [part for part in parts if re.fullmatch(r"\d{1,4}", part)]  # 호봉, numbered rows


def mentioned(names: Sequence[dict[str, float]], text: str, *, by_beginning: bool = False) -> set[int]:
    """The names (rows or columns) that a text speaks of: those whose words it holds best; empty when none.

    `by_beginning`: "휴가" speaks of a column "휴가일수", if nothing speaks of a column more clearly.
    """
    scores = {place: score for place, words in enumerate(names) if (score := _score(words, text)) > 0}
    if not scores and by_beginning:
        beginnings = [{word[:2]: weight for word, weight in words.items() if len(word) > 3} for words in names]
        scores = {place: score for place, words in enumerate(beginnings) if (score := _score(words, text)) > 0}
    if not scores:
        return set()
    best = max(scores.values())
    return {place for place, score in scores.items() if score >= best - 0.01}


def _score(words: dict[str, float], text: str) -> float:
    """How much of a name a text holds; a name of few words, and one that stands there in full, come before others."""
    total = sum(words.values())
    held = sum(weight * found for word, weight in words.items() if (found := _found(word, text)))
    if not held:
        return 0.0
    whole = words.whole if isinstance(words, Name) else ""
    in_full = 2.0 + 0.05 * len(whole) if len(whole) > 2 and whole in squeeze(text) else 0.0
    return held * (0.5 + 0.5 * held / total) + in_full


def _found(word: str, text: str) -> float:
    """How surely a squeezed word stands in a text: at a beginning, inside a compound, or most of its letters."""
    lowered = text.lower()
    pattern = r"\s?".join(map(re.escape, word))
    latin = word[-1].isascii() and word[-1].isalnum()
    if len(word) == 1 and not word.isascii():
        return _EXACT if re.search(rf"(?<![가-힣]){pattern}(?![가-힣]{{3}})", lowered) else 0.0
    end = r"(?![0-9A-Za-z]|[.,][0-9])" if latin else _NAME_ENDS
    if re.search(rf"(?<![0-9A-Za-z가-힣.,]){pattern}{end}", lowered):
        return _EXACT
    if word[0].isdigit():
        return 0.0
    if not latin and re.search(pattern, lowered):
        return _INSIDE
    if len(word) >= 3 and not word.isascii():
        pairs = [word[n : n + 2] for n in range(len(word) - 1)]
        if sum(pair in lowered for pair in pairs) * 5 >= len(pairs) * 3:
            return _LOOSE
    return 0.0


def rows_by_limits(table: EvidenceTable, quantities: Sequence[Quantity]) -> set[int]:
    """Rows whose key is a range that is written out in full: "100만원 이상 1,000만원 미만"."""
    found: dict[int, int] = {}
    for number, row in enumerate(table.cells):
        limits = [q for c in table.key_columns for q in row[c] if q.bound and q.unit != _AS_WRITTEN]
        if limits and all(any(q.equals(limit) and q.bound == limit.bound for q in quantities) for limit in limits):
            found[number] = len(limits)
    return {number for number, count in found.items() if count == max(found.values())}


def rows_by_range(table: EvidenceTable, quantities: Sequence[Quantity]) -> set[int]:
    """Rows whose key is a range ("3년 이상 5년 미만") in which one of the quantities lies."""
    found: set[int] = set()
    for number, row in enumerate(table.rows):
        limits = [q for c in table.key_columns for q in quantities_of(plain(row[c])) if q.bound is not None]
        if limits and any(all(_within(quantity, limit) for limit in limits) for quantity in quantities):
            found.add(number)
    return found


def _within(quantity: Quantity, limit: Quantity) -> bool:
    (unit, value), (limit_unit, limit_value) = quantity.base, limit.base
    if unit != limit_unit:
        return False
    match limit.bound:
        case "ge" | "lower":
            return value >= limit_value
        case "gt":
            return value > limit_value
        case "lt":
            return value < limit_value
        case _:
            return value <= limit_value
