"""Lines of code put together to statements, each with its indentation and the comment beside or above it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_BLOCKS = {"/*": "*/", '"""': '"""', "'''": "'''", "<!--": "-->", "=begin": "=end"}
_LINE_COMMENT = re.compile(r"^\s*(?://+!?|#(?![\[!])+|--+(?!\w)|;+|\*(?!\w))\s?(?P<text>.*)$")
_BESIDE = {mark: re.compile(rf"\s+{mark}+\s+(?P<text>\S.*)$") for mark in ("#", "//", "--")}
_MARK_OF = {  # by the end of the path; others write "//"
    "#": [
        "py",
        "rb",
        "sh",
        "bash",
        "yaml",
        "yml",
        "toml",
        "ini",
        "conf",
        "tf",
        "mk",
        "ex",
        "exs",
        "r",
        "pl",
        "properties",
        "env",
        "dockerfile",
        "makefile",
    ],
    "--": ["sql", "lua", "hs"],
}
_MARKS = re.compile(r"^[\s*/#;-]+|[\s*/-]+$")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`")
_GOES_ON = re.compile(r"^(?:\.|\?\.|&&|\|\||\?(?=\s)|:(?=\s)|\+(?=\s)|and\s|or\s|>>)")
_TABLE = re.compile(r"^\s*(?:CREATE|ALTER)\s+TABLE\b.*\(\s*$", re.IGNORECASE)  # each column is a statement
_MOST_JOINED = 8


@dataclass(frozen=True, slots=True)
class Line:
    """A statement on one line, or the comment that stands for itself (`text` is "" then)."""

    indent: int
    text: str
    written: tuple[str, ...]  # the lines as they stand in the file
    comment: str = ""
    comment_written: tuple[str, ...] = ()


def code_lines(lines: Sequence[str], path: str = "") -> Iterator[Line]:
    """The statements of code, in order; comments come before the statement that they stand above or beside. The path
    tells how comments are written."""
    mark = _mark_of(path)
    place = 0
    comment: list[str] = []
    above: list[str] = []
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        if read := _comment_at(lines, place):
            text, end = read
            comment.append(text)
            above += lines[place:end]
            place = end
            continue
        if comment:
            yield Line(indent_of(line), "", (), _joined(comment), tuple(above))
            comment, above = [], []
        end = _end_of_statement(lines, place, mark)
        written = tuple(lines[place:end])
        beside = [match["text"] for part in written if (match := _beside(part, mark))]
        text = " ".join(_without_comment(part, mark).strip() for part in written)
        yield Line(indent_of(line), text, written, " ".join(beside), written)
        place = end
    if comment:
        yield Line(0, "", (), _joined(comment), tuple(above))


def indent_of(line: str) -> int:
    """The columns in front of a line; a tab is four."""
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _comment_at(lines: Sequence[str], place: int) -> tuple[str, int] | None:
    """The text of a comment that begins in a line, and the line behind it; None where code begins."""
    line = lines[place].strip()
    opened = next((mark for mark in _BLOCKS if line.startswith(mark)), None)
    if opened is not None:
        closing, end = _BLOCKS[opened], place
        first = line[len(opened) :]
        if closing in first:
            return _MARKS.sub("", first[: first.index(closing)]), place + 1
        parts = [first]
        while end + 1 < len(lines):
            end += 1
            text = lines[end]
            if closing in text:
                parts.append(text[: text.index(closing)])
                break
            parts.append(text)
        return " ".join(_MARKS.sub("", part) for part in parts).strip(), end + 1
    if match := _LINE_COMMENT.match(lines[place]):
        return match["text"].strip(), place + 1
    return None


def _joined(parts: Sequence[str]) -> str:
    return " ".join(part for part in parts if part)


def _mark_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()
    return next((mark for mark, ends in _MARK_OF.items() if name in ends), "//" if name else "#")


def _beside(line: str, mark: str) -> re.Match[str] | None:
    return _BESIDE[mark].search(_STRING.sub(lambda match: "x" * len(match[0]), line))


def _without_comment(line: str, mark: str) -> str:
    match = _beside(line, mark)
    return line[: match.start()] if match else line


def _end_of_statement(lines: Sequence[str], place: int, mark: str) -> int:
    """The line behind a statement: it goes on while a bracket is open or the next line begins with an operator."""
    depth, end = 0, place
    while end < len(lines):
        bare = _STRING.sub('""', _without_comment(lines[end], mark))
        depth += sum(map(bare.count, "([")) - sum(map(bare.count, ")]"))
        end += 1
        opens = bare.rstrip().endswith(("{", "do", "then")) or (depth <= 0 and bare.rstrip().endswith(":"))
        opens = opens or _TABLE.match(bare) is not None
        following = lines[end].strip() if end < len(lines) else ""
        if opens or end - place >= _MOST_JOINED:
            break
        if depth <= 0 and not _GOES_ON.match(following) and not bare.rstrip().endswith(("\\", "=")):
            break
    return end
