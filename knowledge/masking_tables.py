"""Masks cells by the cells that say what they hold: the one on their left, and the header of their column.

Works on the cells of document tables and on lines of text that are rows: "| a | b |", "a | b", tab-separated and CSV.
A cell is masked as if it were written behind its label ("비밀번호: value"), so every rule for such lines counts for
tables too; only plain words stay, because tables of fields say "| password | string |".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from knowledge.masking_resident import masked_number_cells
from knowledge.masking_strength import is_mixed, is_strong, is_term

_LABEL = re.compile(
    r"pass|pwd|pw|비밀|비번|패스워드|암호|secret|token|토큰|시크릿|credential|key|키|계좌|account|여권|passport|면허|licen[cs]e|주민|"
    r"등록번호|[앞뒷]자리|resident",
    re.IGNORECASE,
)
_LABEL_CHARS = 40
_WIDEST_GAP = 12  # cells between a label and its value
_EDGE_MARKS = " \t*_`:："
_RULE_CELL = re.compile(r"[\s:=+-]*")
_GRID_LINE = re.compile(r"\s*\+[+=-]{2,}\s*")
_ONE_WORD = re.compile(r"[A-Za-z]+[.,!?]?|(?:[a-z]+\d*_)+[a-z0-9]+|[A-Z]+\d*(?:_[A-Z0-9]+)+|[a-z]{1,3}\d")
_LINE_HINTS = (
    "pass", "pwd", "pw", "비밀", "비번", "패스워드", "암호", "secret", "token", "시크릿", "토큰", " key", "_key",
    "-key", "apikey", "api 키", "계좌", "주민", "등록번호", "여권", "면허", "뒷자리",
)  # fmt: skip
_CODE_SIGN = re.compile(r"[(){}=;<>]|,\s*$|^\s*[\"'\[]")

MaskInline = Callable[[str, Counter[str]], str]


def mask_cells(rows: Sequence[Sequence[str]], mask: Callable[[str], str]) -> tuple[tuple[str, ...], ...]:
    """`rows` with every cell masked by itself, by its label and by its header."""
    masked = [[mask(cell) for cell in row] for row in rows]
    for (number, column), cell in masked_number_cells(masked).items():
        masked[number][column] = cell
    _mask_by_labels(masked, mask)
    return tuple(tuple(row) for row in masked)


def _mask_by_labels(rows: list[list[str]], mask: Callable[[str], str], *, first: int = 0) -> None:
    """Masks in place; `first` is the number of the first row within its table."""
    headers: dict[int, str] = {}
    for number, row in enumerate(rows, start=first):
        before = list(row)
        for column, cell in enumerate(row):
            beside = column - 1
            while beside > max(0, column - _WIDEST_GAP) and (not row[beside].strip() or row[beside] == cell):
                beside -= 1  # empty cells, and merged ones, which are repeated
            label = _label(row[beside]) if beside >= 0 else ""
            for name in (label, headers.get(column, "")):
                if name and cell and not _label(cell):
                    row[column] = cell = _masked_below(name, cell, mask)
        titled = number == 1 and number > first and len(set(rows[0])) < len(row)  # merged cells above the header
        if (number == 0 or titled) and row == before:  # a row that holds values is no header
            headers |= {column: name for column, cell in enumerate(row) if (name := _label(cell))}


def _label(cell: str) -> str:
    """The name that `cell` gives to its neighbours, or "" when it is no name of anything secret."""
    if len(cell) > _LABEL_CHARS or "[masked:" in cell or not _LABEL.search(cell):
        compact = "".join(cell.split())
        if len(cell) > _LABEL_CHARS or not _LABEL.search(compact) or "[masked:" in cell:
            return ""
        return compact.strip(_EDGE_MARKS)
    name = " ".join(cell.split()).strip(_EDGE_MARKS)
    if any(is_strong(word) for word in (name, *re.split(r"[ /,(]+", name))):
        return ""  # a value: P@ssw0rd123
    return name if name.isascii() else "".join(name.split())


def _masked_below(name: str, cell: str, mask: Callable[[str], str]) -> str:
    """`cell` masked as the value of `name`; plain words, measures and names of fields stay."""
    value = cell.strip(" \t`*")
    if _ONE_WORD.fullmatch(value) or (is_term(value) and sum(map(str.isdigit, value)) < 10):
        return cell
    lead = f"{name}: "
    masked = mask(lead + cell.lstrip())
    return masked[len(lead) :] if masked.startswith(lead) and masked != lead + cell.lstrip() else cell


# --- rows in lines of text ------------------------------------------------------------------------


def mask_table_lines(text: str, counts: Counter[str], mask_inline: MaskInline) -> str:
    """`text` with the cells of its tables masked; `counts` grows by what was replaced."""
    lines: list[str] | None = None
    done_to = 0  # lines before it belong to tables that are done
    position = 0
    line_number = 0
    for place in _hinted_lines(text):
        line_number += text.count("\n", position, place)
        position = place
        if line_number < done_to:
            continue
        end = text.find("\n", place)
        separator = _separator(text[place : end if end >= 0 else len(text)])
        if separator is None:
            continue
        if lines is None:
            lines = text.split("\n")
        done_to = _mask_table(lines, line_number, separator, counts, mask_inline)
    return text if lines is None else "\n".join(lines)


def _hinted_lines(text: str) -> list[int]:
    """Where the lines start that hold a word of labels; plain searches, as in `masking_names`."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    starts = set()
    for hint in _LINE_HINTS:
        at = lowered.find(hint)
        while at >= 0:
            starts.add(lowered.rfind("\n", 0, at) + 1)
            end = lowered.find("\n", at)
            at = lowered.find(hint, end) if end >= 0 else -1
    return sorted(starts)


def _separator(line: str) -> str | None:
    """What separates the cells of `line`, if one of them is a label."""
    for separator in ("|", "\t", ",", ";"):
        if separator not in line:
            continue
        if separator in ",;" and _CODE_SIGN.search(line.replace(";", "") if separator == ";" else line):
            continue
        cells = line.strip().strip(separator).split(separator)
        if len(cells) > 1 and any(_label(cell) for cell in cells):
            return separator
    return None


def _mask_table(lines: list[str], first: int, separator: str, counts: Counter[str], mask_inline: MaskInline) -> int:
    """Masks the rows from line `first` on in place; returns the number of the line behind them."""
    end = first
    rows: list[list[str]] = []
    places: list[int] = []
    width = lines[first].count(separator)
    while end < len(lines) and (separator in lines[end] or _GRID_LINE.fullmatch(lines[end])):
        cells = lines[end].split(separator)
        if separator in ",;" and len(cells) != width + 1:
            break
        if not all(_RULE_CELL.fullmatch(cell) for cell in cells):
            rows.append(cells)
            places.append(end)
        end += 1
    stripped = [[cell.strip() for cell in row] for row in rows]
    before = [row.copy() for row in stripped]

    def masked(cell: str) -> str:
        found: Counter[str] = Counter()
        result = mask_inline(cell, found)
        counts.update(found)
        return result

    for (number, column), cell in masked_number_cells(stripped).items():
        stripped[number][column] = cell
        counts["resident-number"] += 1
    has_rows_above = first > 0 and separator in lines[first - 1]
    _mask_by_labels(stripped, masked, first=int(has_rows_above))
    loose = separator in ",;"  # commas are everywhere: only values that are surely chosen
    for place, row, old, new in zip(places, rows, before, stripped, strict=True):
        for column, (was, now) in enumerate(zip(old, new, strict=True)):
            if was != now and not (loose and not is_mixed(was) and "-number]" not in now):
                row[column] = row[column].replace(was, now, 1)
        lines[place] = separator.join(row)
    return max(end, first + 1)
