"""Evidence as Markdown that can do nothing but be read: no links, no mentions, no markers of its own.

Documents, code comments and alerts are written by anybody. What looks like Markdown, a citation marker or a mention in
them is shown as the characters it consists of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD_JOINER = "\u2060"  # invisible; keeps "@channel" and "[1]" from being read as a mention or a marker

_SPECIAL = re.compile(r"([\\`*_\[\]<>~|])")
_LINE_START = re.compile(r"^(\s*)(#{1,6}|[-+=]+|\d{1,9}[.)])(?=\s|$)", re.MULTILINE)
_MARKER = re.compile(r"(\\\[)(?=\d{1,3}\\\])")
_MENTION = re.compile(r"([@＠])(?=[\w가-힣])")
_SCHEME = re.compile(r"\b(https?|ftp|mailto|javascript|data)(:)(?=\S)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")

FENCE_LANGUAGES = {
    "py": "python", "java": "java", "kt": "kotlin", "kts": "kotlin", "ts": "typescript", "tsx": "tsx",
    "js": "javascript", "jsx": "jsx", "go": "go", "swift": "swift", "sol": "solidity", "sql": "sql", "sh": "bash",
    "yml": "yaml", "yaml": "yaml", "json": "json", "toml": "toml", "md": "markdown", "html": "html", "css": "css",
    "xml": "xml", "gradle": "groovy", "c": "c", "h": "c", "cpp": "cpp", "rs": "rust", "rb": "ruby",
}  # fmt: skip


def escape_text(text: str) -> str:
    """`text` for running Markdown; line breaks stay line breaks."""
    cleaned = _SPECIAL.sub(r"\\\1", _CONTROL.sub("", text))
    cleaned = _LINE_START.sub(lambda m: f"{m[1]}{_escaped_line_start(m[2])}", cleaned)
    return _defuse(_MARKER.sub(rf"\1{WORD_JOINER}", cleaned))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; every cell on one line, missing cells empty."""
    width = max(len(header), *(len(row) for row in rows)) if rows else len(header)
    lines = [_row(header, width), "|" + " --- |" * width]
    return "\n".join([*lines, *(_row(row, width) for row in rows)])


def fence(code: str, uri: str) -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    marks = "`" * max(3, longest + 1)
    language = FENCE_LANGUAGES.get(uri.rpartition(".")[2].lower(), "")
    return f"{marks}{language}\n{_CONTROL.sub('', code)}\n{marks}"


def _row(cells: Sequence[str], width: int) -> str:
    padded = [*cells, *[""] * (width - len(cells))]
    return "| " + " | ".join(" ".join(escape_text(cell).split()) for cell in padded) + " |"


def _escaped_line_start(mark: str) -> str:
    """ "1." -> "1\\.", "#" -> "\\#": characters that would start a list, a heading or an underline."""
    return f"{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"\\{mark}"


def _defuse(text: str) -> str:
    return _SCHEME.sub(rf"\1{WORD_JOINER}\2", _MENTION.sub(rf"\1{WORD_JOINER}", text))
