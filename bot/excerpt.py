"""The part of a chunk that answers: sentences around the question's words, table rows with their header, code lines.

Pure: the caller passes the question's terms and the tokeniser. A table row is shown whole or not at all, because a
number without its row is a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.evidence_text import escape_text, fence, table
from knowledge.types import Chunk

Analyze = Callable[[str], Sequence[str]]

WHOLE_CHARS = 700  # shorter prose is quoted whole
EXCERPT_CHARS = 520
WHOLE_ROWS = 12  # shorter tables are quoted whole
EXCERPT_ROWS = 10
CODE_LINES = 25
QUOTE_CHARS = 300

_SENTENCE_END = re.compile(r"(?<=[가-힣A-Za-z)\]\"'」][.!?])\s+(?=\S)")
_MARKER_ALONE = re.compile(r"[가-하A-Za-z]\.")  # of an item of a list: no sentence
_OPENING = re.compile(r"\s*(?:제\s*\d+\s*조|Article\s+\d+)", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:☞|※|◈|\*\s|\[(?:필수|선택|참고|해설)[^\]]*\]|\(참고\)|<참고)")
_MARKED = re.compile(r"\s*(?:[①-⑳]|\d{1,2}\.|[가-하]\.|제\s*\d+\s*[조항])")
_COMMENT_WEIGHT = 0.3
RULE_ROW = re.compile(r"^[\s|:+-]*-{2,}[\s|:+-]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The part of a chunk to show, as Markdown and as plain text."""

    markdown: str
    quote: str  # plain text, at most QUOTE_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """One sentence or line of prose."""

    text: str
    ends_line: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePart:
    """A table; the header is its first row."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Part = TextPart | TablePart


def excerpt_of(chunk: Chunk, terms: Sequence[str], analyze: Analyze, *, more_rows: str) -> Excerpt:
    """The excerpt of a chunk; `more_rows` is a text with {n} for table rows that are left out. The Markdown leaves
    out a heading that ends the chunk's label, since the label stands above it."""
    if chunk.evidence_kind == "code":
        code = code_window(chunk.text, terms, analyze)
        return Excerpt(markdown=fence(code, chunk.locator.uri), quote=_shorten(code))
    chosen = choose_parts(split_parts(chunk.text), terms, analyze)
    blocks: list[str] = []
    plain: list[str] = []
    for part, left_out in chosen:
        if isinstance(part, TablePart):
            note = f"\n\n{more_rows.format(n=left_out)}" if left_out else ""
            blocks.append(table(part.header, part.rows) + note)
            plain += [" | ".join(row) for row in (part.header, *part.rows)]
        else:
            text = part.text if plain else _below_heading(chunk, part.text)
            if text or len(chosen) == 1:
                blocks.append(escape_text(text or part.text).replace("\n", "  \n"))
            plain.append(part.text)
    return Excerpt(markdown="\n\n".join(blocks), quote=_shorten("\n".join(plain)))


def _below_heading(chunk: Chunk, text: str) -> str:
    """A text without its first line, when that says no more than the end of the label: "제2조(적용 대상)" below
    "여비규정 제2조(적용 대상)"."""
    first, _, rest = text.partition("\n")
    bare = re.sub(r"\W", "", first)
    label = re.sub(r"\W", "", chunk.locator.label or "")
    return rest if bare and label.endswith(bare) else text


def split_parts(text: str) -> list[Part]:
    """Prose as sentences, consecutive lines with cell borders as tables, in reading order."""
    parts: list[Part] = []
    rows: list[tuple[str, ...]] = []

    def end_table() -> None:
        if len(rows) == 1:
            parts.append(TextPart(text=" | ".join(rows[0]), ends_line=True))
        elif rows:
            parts.append(TablePart(header=rows[0], rows=tuple(rows[1:])))
        rows.clear()

    for line in text.splitlines():
        if is_row(line):
            if not RULE_ROW.match(line):
                rows.append(cells_of(line))
            continue
        end_table()
        sentences = _sentences_of(line)
        for number, sentence in enumerate(sentences, start=1):
            parts.append(TextPart(text=sentence, ends_line=number == len(sentences)))
    end_table()
    return parts


def _sentences_of(line: str) -> list[str]:
    """The sentences of a line; "가." before an item of a list stays with it."""
    sentences: list[str] = []
    for sentence in (found.strip() for found in _SENTENCE_END.split(line) if found.strip()):
        if sentences and _MARKER_ALONE.fullmatch(sentences[-1].rpartition(" ")[2]):
            sentences[-1] += f" {sentence}"
        else:
            sentences.append(sentence)
    return sentences


def is_row(line: str) -> bool:
    """Whether a line is a row of a table, as chunks write them: "| a | b |" or "a | b"."""
    stripped = line.strip()
    return (stripped.startswith("|") and stripped.count("|") > 1) or " | " in stripped


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a row, without its outer borders."""
    stripped = line.strip()
    stripped = stripped[1:] if stripped.startswith("|") else stripped
    stripped = stripped[:-1] if stripped.endswith("|") else stripped
    return tuple(cell.strip() for cell in stripped.split("|"))


def choose_parts(parts: Sequence[Part], terms: Sequence[str], analyze: Analyze) -> list[tuple[Part, int]]:
    """Parts to show in reading order, prose joined to paragraphs, each with the number of rows that were left out."""
    prose = [part for part in parts if isinstance(part, TextPart)]
    shown = _choose_prose(prose, terms, analyze)
    chosen: list[tuple[Part, int]] = []
    paragraph: list[str] = []
    skipped = False

    def end_paragraph() -> None:
        if paragraph:
            chosen.append((TextPart(text="".join(paragraph).strip(), ends_line=True), 0))
        paragraph.clear()

    number = -1
    for part in parts:
        if isinstance(part, TablePart):
            end_paragraph()
            chosen.append(_choose_rows(part, terms, analyze))
            skipped = False
            continue
        number += 1
        if number not in shown:
            skipped = True
            continue
        if skipped:
            paragraph.append("… ")
        skipped = False
        paragraph.append(part.text + ("\n" if part.ends_line else " "))
    if skipped and paragraph:
        paragraph.append("…")
    end_paragraph()
    return chosen


def code_window(text: str, terms: Sequence[str], analyze: Analyze) -> str:
    """At most CODE_LINES lines: the start of the definition, and the stretch that holds most of the terms."""
    lines = text.splitlines()
    if len(lines) <= CODE_LINES:
        return "\n".join(lines)
    hits = [_score(analyze(line), terms) for line in lines]
    head = 4
    size = CODE_LINES - head - 2  # room for the signs of what is left out
    starts = range(head, len(lines) - size + 1)
    most = max(sum(hits[start : start + size]) for start in starts)
    if most == 0 or sum(hits[: CODE_LINES - 1]) >= most:
        return "\n".join([*lines[: CODE_LINES - 1], "…"])
    equal = [start for start in starts if sum(hits[start : start + size]) == most]
    best = equal[len(equal) // 2]  # so that what was found stands in the middle
    tail = ["…"] if best + size < len(lines) else []
    gap = ["…"] if best > head else []
    return "\n".join([*lines[:head], *gap, *lines[best : best + size], *tail])


def _choose_prose(parts: Sequence[TextPart], terms: Sequence[str], analyze: Analyze) -> set[int]:
    """Numbers of the sentences to show: all of a short text, else the best ones, each with what follows it.

    An article is shown from its opening, and its rule before what is remarked on it.
    """
    if sum(len(part.text) for part in parts) <= WHOLE_CHARS:
        return set(range(len(parts)))
    tokens = [set(analyze(part.text)) for part in parts]
    rarity = {term: 1.0 / (1 + sum(term in found for found in tokens)) for term in terms}
    weights = [_COMMENT_WEIGHT if comment else 1.0 for comment in _are_comments(parts)]
    scores = [
        weight * sum(rarity[term] for term in terms if term in found)
        for weight, found in zip(weights, tokens, strict=True)
    ]
    order = sorted(range(len(parts)), key=lambda i: (-scores[i], i))
    chosen: set[int] = {0} if _OPENING.match(parts[0].text) else set()
    room = EXCERPT_CHARS - sum(len(parts[number].text) for number in chosen)
    for best in order:
        if scores[best] == 0 and chosen:
            break
        for number in (best, best + 1):
            if number < len(parts) and number not in chosen and (len(parts[number].text) <= room or not chosen):
                chosen.add(number)
                room -= len(parts[number].text)
        if room <= 0:
            break
    return chosen


def _are_comments(parts: Sequence[TextPart]) -> list[bool]:
    """Which sentences remark on a rule, with the lines that go on from them."""
    found: list[bool] = []
    for part in parts:
        if _COMMENT.match(part.text):
            found.append(True)
        else:
            found.append(bool(found) and found[-1] and not _MARKED.match(part.text))
    return found


def _choose_rows(part: TablePart, terms: Sequence[str], analyze: Analyze) -> tuple[Part, int]:
    """The table with the rows that the question asks for, best first; short tables keep all their rows.

    A word that most rows hold says nothing about a row, so that the rarer ones decide. Where no row is asked for, the
    first ones are shown.
    """
    if len(part.rows) <= WHOLE_ROWS:
        return part, 0
    held = [set(analyze(" ".join(row))) & set(terms) for row in part.rows]
    rarity = {term: 1.0 / (1 + sum(term in row for row in held)) for term in terms}
    scores = [sum(rarity[term] for term in row) for row in held]
    asked = [i for i in range(len(part.rows)) if scores[i] > 0.0]
    order = sorted(asked or range(len(part.rows)), key=lambda i: (-scores[i], i))[:EXCERPT_ROWS]
    rows = tuple(part.rows[i] for i in order)
    return TablePart(header=part.header, rows=rows), len(part.rows) - len(rows)


def _score(tokens: Sequence[str], terms: Sequence[str]) -> int:
    return len(set(tokens) & set(terms))


def _shorten(text: str) -> str:
    return text if len(text) <= QUOTE_CHARS else text[: QUOTE_CHARS - 1].rstrip() + "…"
