"""Whether a number of a sentence stands in the row and the column of a table that the sentence speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.claims import Claims, squeeze
from bot.evidence_tables import EvidenceTable, mentioned, rows_by_limits, rows_by_range
from bot.quantities import Quantity, plain, quantities_of

ABSENT = "absent"
_IN_TURN = re.compile(r"각각|respectively|순서대로|in that order", re.IGNORECASE)
_NEXT_PART = re.compile(r"[,;·]|\s(?:and|및|그리고)\s")
_NONE = re.compile(r"^없(?:음|다|습니다)$")
_TEXT_CELL_CHARS = range(2, 25)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was said before the sentence, most telling last: the question, then the lines it stands under."""

    question: str
    context: str


def number_fault(quantity: Quantity, claims: Claims, table: EvidenceTable, around: Surroundings) -> str | None:
    """None when the table confirms the number, ABSENT when it does not hold it, else what is wrong."""
    if _is_key(quantity, table):
        return None
    places = [
        (r, c)
        for r, row in enumerate(table.cells)
        for c in table.value_columns
        if any(cell.equals(quantity) for cell in row[c])
    ]
    if not places:
        return None if _in_names(quantity, table) else ABSENT
    named = _named_spans(claims.spoken, table)
    if any(start <= quantity.start and quantity.end <= end for start, end in named):
        return None
    values = [
        q
        for q in claims.quantities
        if _is_value(q, table) and not any(start <= q.start and q.end <= end for start, end in named)
    ]
    number = next((n for n, q in enumerate(values) if q.start == quantity.start), 0)
    parts = _Parts.of(claims.spoken, values)
    rows = _spoken_rows(parts, number, table, around)
    if not rows and len(table.rows) > 1 and any(table.row_words):
        holding = ", ".join(sorted({_name_of(table, r) for r, _ in places})[:3])
        return f"the row of the table is not named; {_shown(quantity)} stands in the row {holding}"
    fitting = [(r, c) for r, c in places if r in rows or not rows]
    if not fitting:
        return f"{_shown(quantity)} stands in another row of the table ({_name_of(table, places[0][0])})"
    columns = _spoken_places(parts, number, table.column_words, around, by_beginning=True)
    if columns:
        if any(c in columns for _, c in fitting):
            return _bound_fault(quantity, fitting, table)
        return f"{_shown(quantity)} stands in another column of the table ({table.header[fitting[0][1]]})"
    return _bound_fault(quantity, fitting, table)


def text_fault(claims: Claims, table: EvidenceTable, around: Surroundings) -> str | None:
    """What is wrong with a cell of words in the sentence: it stands in another row than the one spoken of."""
    squeezed = squeeze(claims.spoken)
    limited = rows_by_limits(table, claims.quantities)
    for column in range(1, len(table.header)):
        if column in table.key_columns and not limited:
            continue
        texts: dict[str, set[int]] = {}
        for number, row in enumerate(table.rows):
            text = _NONE.sub("없", squeeze(row[column]))
            if (len(text) in _TEXT_CELL_CHARS or text == "없") and not table.cells[number][column]:
                texts.setdefault(text, set()).add(number)
        spoken = [text for text in texts if text in squeezed]
        amounts = any(table.cells[number][column] for number in range(len(table.rows)))
        if len(texts) + amounts < 2 or len(spoken) != 1:  # with two of them it is open which belongs to which row
            continue
        rows = limited or mentioned(table.row_words, claims.spoken)
        if rows and not rows & texts[spoken[0]]:
            return f"{spoken[0]} stands in another row of the table ({_name_of(table, min(texts[spoken[0]]))})"
    return None


@dataclass(frozen=True, slots=True)
class _Parts:
    """The words before and behind each value of a sentence."""

    before: tuple[str, ...]
    behind: tuple[str, ...]
    whole: str

    @classmethod
    def of(cls, text: str, values: Sequence[Quantity]) -> _Parts:
        ends = [0, *(q.end for q in values)]
        starts = [*(q.start for q in values), len(text)]
        between = [text[end:start] for end, start in zip(ends, starts, strict=True)]
        return cls(tuple(between[:-1]), tuple(between[1:]), text)


def _spoken_rows(parts: _Parts, number: int, table: EvidenceTable, around: Surroundings) -> set[int]:
    by_name = _spoken_places(parts, number, table.row_words, Surroundings("", ""))
    if by_name:
        return by_name
    for text in (parts.whole, around.context, around.question):
        by_range = rows_by_range(table, [q for q in quantities_of(plain(text)) if not _is_value(q, table)])
        if by_range:
            return by_range
    return mentioned(table.row_words, around.context) or mentioned(table.row_words, around.question)


def _spoken_places(
    parts: _Parts, number: int, names: Sequence[dict[str, float]], around: Surroundings, *, by_beginning: bool = False
) -> set[int]:
    """Rows or columns that the words around the value speak of: in front of it, further in front, behind it."""
    if _IN_TURN.search(parts.whole):
        order = _in_order(names, parts.whole)
        if len(order) == len(parts.before) and len(order) > 1:
            return {order[number]}
    if len(parts.behind) > 1 and not mentioned(names, parts.before[0], by_beginning=by_beginning):
        behind = [mentioned(names, text, by_beginning=by_beginning) for text in parts.behind]
        if all(behind):  # "150,000 won for executives and 110,000 won for team leads"
            return behind[number]
    texts = [*reversed(parts.before[: number + 1]), _NEXT_PART.split(parts.behind[number])[0]]
    if len(parts.before) == 1:
        texts.append(parts.whole)
    for text in (*texts, around.context, around.question):
        if found := mentioned(names, text, by_beginning=by_beginning):
            return found
    return set()


def _in_order(names: Sequence[dict[str, float]], text: str) -> list[int]:
    """The names of which a word that no other name has stands in the text, in the order of the text."""
    lowered = text.lower()
    found: list[tuple[int, int]] = []
    for place, words in enumerate(names):
        at = [lowered.find(word) for word, weight in words.items() if weight == 1.0 and word in lowered]
        if at:
            found.append((min(at), place))
    return [place for _, place in sorted(found)]


def _is_key(quantity: Quantity, table: EvidenceTable) -> bool:
    """Whether the number is a limit in the name of a row: "5년 이상"."""
    if quantity.bound is None:
        return False
    return any(q.equals(quantity) and q.bound == quantity.bound for q in table.key_quantities)


def _named_spans(text: str, table: EvidenceTable) -> list[tuple[int, int]]:
    """Where the sentence writes the name of a row in full: its amounts are part of the name."""
    names = {
        row[c] for row in table.rows for c in table.key_columns if len(row[c]) > 1 and any(map(str.isdigit, row[c]))
    }
    patterns = [r"\s*".join(map(re.escape, squeeze(name))) for name in names]
    found = [m.span() for pattern in patterns for m in re.finditer(pattern, text.lower()) if len(pattern) > 1]
    return [span for span in found if not text[span[0] : span[1]].replace(",", "").isdigit()]


def _is_value(quantity: Quantity, table: EvidenceTable) -> bool:
    if _is_key(quantity, table):
        return False
    return any(cell.equals(quantity) for row in table.cells for c in table.value_columns for cell in row[c])


def _in_names(quantity: Quantity, table: EvidenceTable) -> bool:
    """Whether the number belongs to the name of a row or a column."""
    return any(q.equals(quantity) for q in (*table.key_quantities, *table.header_quantities))


def _bound_fault(quantity: Quantity, places: Sequence[tuple[int, int]], table: EvidenceTable) -> str | None:
    cells = [cell for r, c in places for cell in table.cells[r][c] if cell.equals(quantity)]
    if cells and all(cell.contradicts_bound(quantity) for cell in cells):
        return f"the limit at {_shown(quantity)} is another one in the evidence"
    return None


def _name_of(table: EvidenceTable, row: int) -> str:
    return " ".join(dict.fromkeys(table.rows[row][c] for c in table.key_columns)).strip()


def _shown(quantity: Quantity) -> str:
    return f"{quantity.value:,f}{quantity.unit or ''}"
