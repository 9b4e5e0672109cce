"""Statements of SQL scripts: one chunk a table, view, function, procedure, trigger ... with its name.

Dialects differ too much for one grammar, so that statements are told apart by their semicolons: outside of quotes,
comments, dollar quotes and the bodies of procedures (BEGIN ... END, `DELIMITER`, a line with GO or /).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge.chunking.code_text import PART_CHARS, index_text, join_lines, signature_of, split_lines, split_rows
from knowledge.types import CallSite, ChunkDraft

SQL_SUFFIXES = frozenset(["sql", "ddl", "dml", "pgsql", "plsql", "pls", "pks", "pkb", "psql"])

_TOKEN = re.compile(
    r"(?P<skip>--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\.)*(?:'|\Z)|\"[^\"\n]*\"|`[^`\n]*`)"
    r"|(?P<dollar>\$\w*\$)|(?P<line>^[ \t]*(?:GO|/)[ \t]*$)|(?P<delimiter>^[ \t]*DELIMITER[ \t]+(?P<mark>\S+)[^\n]*$)"
    r"|(?P<open>\b(?:BEGIN(?!\s*(?:;|TRANSACTION\b|TRAN\b|WORK\b))|CASE|LOOP)\b)|(?P<close>\bEND\b(?:\s+(?:IF|LOOP|CASE|WHILE|REPEAT)\b)?)"
    r"|(?P<stop>;;|;|//|\$\$)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_NAME = r"(?P<name>(?:[\w$#@]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])(?:\s*\.\s*(?:[\w$#@]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]))*)"
_CREATE = re.compile(
    r"\s*(?:CREATE|ALTER)\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|EXTERNAL|EDITIONABLE"
    r"|NONEDITIONABLE|FORCE|RECURSIVE|UNIQUE|CLUSTERED|NONCLUSTERED|FULLTEXT|SPATIAL|CONSTRAINT|DEFINER\s*=\s*\S+"
    r"|SQL\s+SECURITY\s+\w+|ALGORITHM\s*=\s*\w+)\s+)*"
    r"(?P<kind>MATERIALIZED\s+VIEW|TABLE|VIEW|FUNCTION|PROCEDURE|PROC|TRIGGER|INDEX|SEQUENCE|TYPE|DOMAIN|SCHEMA|PACKAGE(?:\s+BODY)?"
    r"|EVENT|ROLE|USER|DATABASE|POLICY|EXTENSION)\s+(?:CONCURRENTLY\s+)?(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?"
    + _NAME,
    re.IGNORECASE,
)
_QUERY = re.compile(r"^[ \t]*--[ \t]*name:[ \t]*(?P<name>\w+)", re.IGNORECASE | re.MULTILINE)  # sqlc, aiosql, yesql
_CALL = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE|REFERENCES|CALL|EXEC|EXECUTE|FUNCTION|PROCEDURE)\s+" + _NAME, re.IGNORECASE
)
_BODIES = frozenset(["function", "procedure", "trigger", "package", "package body", "event"])
_MAX_CALLS = 100
_DECLARES = re.compile(r"\b(?:IS|AS|DECLARE)\s+(?!['$\"])\w", re.IGNORECASE)
_CLOSING = frozenset(["END", "END LOOP", "END CASE"])  # of what opens a depth; IF and WHILE open none


@dataclass(frozen=True, slots=True)
class _Statement:
    first_row: int
    last_row: int
    kind: str | None
    name: str | None


def chunk_sql(uri: str, text: str) -> list[ChunkDraft]:
    """One chunk a definition with the comment above it, long ones in parts; other statements gathered to windows."""
    lines = split_lines(text)
    drafts: list[ChunkDraft] = []
    loose: list[tuple[int, int]] = []
    groups: dict[str, int] = {}
    for statement in _statements(text, lines):
        if statement.name is None:
            loose.append((statement.first_row, statement.last_row))
            continue
        drafts += _window(uri, lines, loose)
        loose = []
        drafts += _definition(uri, lines, statement, groups)
    return drafts + _window(uri, lines, loose)


def _statements(text: str, lines: Sequence[str]) -> Iterator[_Statement]:
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    next_row = 0
    for first, last in _ranges(text, offsets):
        first = max(first, next_row)
        while first <= last and first < len(lines) and not lines[first].strip():
            first += 1
        if first > last or first >= len(lines):
            continue
        last = min(last, len(lines) - 1)
        next_row = last + 1
        body = "\n".join(lines[first : last + 1])
        kind, name = _named(body)
        yield _Statement(first, last, kind, name)


def _named(body: str) -> tuple[str | None, str | None]:
    code = re.sub(r"\A(?:\s*(?:--[^\n]*|/\*.*?\*/))*", "", body, flags=re.DOTALL)
    found = _CREATE.match(code)
    if found is not None:
        verb = "alter " if code.lstrip()[:5].lower() == "alter" else ""
        kind = (
            " ".join(found["kind"].lower().split()).replace("proc", "procedure").replace("procedureedure", "procedure")
        )
        return verb + kind, re.sub(r"[\s\"`\[\]]", "", found["name"])
    query = _QUERY.search(body)
    return ("query", query["name"]) if query is not None else (None, None)


def _ranges(text: str, offsets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last row of every statement."""
    from bisect import bisect_right

    def row_at(place: int) -> int:
        return bisect_right(offsets, place) - 1

    start, depth, mark, place = 0, 0, ";", 0
    shape: str | None = None  # of the statement, once that is asked for
    while (found := _TOKEN.search(text, place)) is not None:
        place = found.end()
        kind = found.lastgroup if found.lastgroup != "mark" else "delimiter"
        word = " ".join(found[0].upper().split())
        if kind == "dollar" and mark == ";":
            closing = text.find(found[0], place)
            place = len(text) if closing < 0 else closing + len(found[0])
        elif kind == "delimiter":
            mark, start, depth, shape = found["mark"], place + 1, 0, None
        elif kind == "line":
            yield row_at(start), row_at(found.start()) - 1
            start, depth, shape = place + 1, 0, None
        elif kind == "open":
            if word != "CASE":
                shape = shape or _shape(text[start : found.start()])
                shape = "body" if shape == "declares" else shape
            depth += 1 if word == "CASE" or shape in ("body", "package") else 0
        elif kind == "close":
            depth = max(0, depth - 1) if word in _CLOSING else depth
        elif kind in ("stop", "dollar") and found[0] == mark and (mark != ";" or depth == 0):
            shape = shape or _shape(text[start : found.start()])
            if mark == ";" and shape in ("declares", "package"):
                continue  # declarations before BEGIN; a package ends with a line of its own
            yield row_at(start), row_at(place - 1)
            start, depth, shape = place, 0, None
    if text[start:].strip():
        yield row_at(start), row_at(len(text) - 1)


def _shape(head: str) -> str:
    """What a statement is by its beginning: "plain", "body", "declares" (a body after declarations), "package"."""
    kind, _ = _named(head)
    plain = (kind or "").removeprefix("alter ")
    if plain.startswith("package"):
        return "package"
    if plain in _BODIES:
        return "declares" if _DECLARES.search(head) else "body"
    return "body" if head.strip() == "" or "DECLARE" in head.upper() else "plain"


def _definition(uri: str, lines: Sequence[str], statement: _Statement, groups: dict[str, int]) -> Iterator[ChunkDraft]:
    name, kind = statement.name or "", statement.kind
    groups[name] = groups.get(name, 0) + 1
    group = name if groups[name] == 1 else f"{name}#{groups[name]}"
    first, last = statement.first_row, statement.last_row
    body = "\n".join(lines[first : last + 1])
    code = re.sub(r"\A(?:\s*(?:--[^\n]*|/\*.*?\*/))*", "", body, flags=re.DOTALL).strip()
    signature = signature_of(
        re.split(r"\(\s*\n|\bAS\b|\bBEGIN\b", code, maxsplit=1, flags=re.IGNORECASE)[0].rstrip(" (;")
    )
    for start, end in split_rows(lines, first, last, {}, PART_CHARS):
        text = join_lines(lines[start : end + 1])
        if start > first:
            text = f"{signature} …\n{text}"
        yield ChunkDraft(
            kind="definition",
            text=text,
            index_text=index_text(uri, name, text, kind=kind or ""),
            group=group,
            symbol=name,
            symbol_kind=kind,
            signature=signature,
            start_line=start + 1,
            end_line=end + 1,
            call_sites=_calls(lines, start, end, name),
        )


def _calls(lines: Sequence[str], start: int, end: int, own: str) -> tuple[CallSite, ...]:
    """Tables, views and procedures that the rows name."""
    found: dict[str, CallSite] = {}
    for row in range(start, end + 1):
        for match in _CALL.finditer(lines[row][:2000]):
            name = re.sub(r"[\s\"`\[\]]", "", match["name"]).rpartition(".")[2]
            if name.lower() not in ("select", "set", "on", "if", own.lower()) and len(found) < _MAX_CALLS:
                found.setdefault(name, CallSite(name=name, line=row + 1))
    return tuple(found.values())


def _window(uri: str, lines: Sequence[str], ranges: Sequence[tuple[int, int]]) -> list[ChunkDraft]:
    """Statements between two definitions, as few windows as fit."""
    from knowledge.chunking.code_windows import windows

    return windows(uri, lines, ranges[0][0], ranges[-1][1]) if ranges else []
