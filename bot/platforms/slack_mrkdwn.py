"""Markdown in Slack's older notation, mrkdwn, and tables as aligned code where Slack would not draw them. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.platforms.slack_text import escaped

MAX_ROWS = 100  # of a table that Slack draws
MAX_COLUMNS = 20
MAX_TABLE_CHARS = 10_000
MOST_GROWTH = 1.15  # by aligning
MIN_TABLE_CHARS = 300

_DELIMITERS = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\||$)", re.MULTILINE)  # under the header of a table
_ZERO_WIDTH = ("Mn", "Me", "Cf")


def to_mrkdwn(markdown: str) -> str:
    """`markdown` as mrkdwn: headings bold, links as <url|label>, tables as code, everything else escaped."""
    lines = plain_tables(markdown, keep=0).split("\n")
    done: list[str] = []
    fence: str | None = None
    for line in lines:
        mark = re.match(r"[ \t]*(`{3,}|~{3,})", line)
        if mark and fence is None:
            fence = mark[1][0] * 3
            done.append("```")
        elif mark and fence is not None and mark[1].startswith(fence):
            fence = None
            done.append("```")
        else:
            done.append(escaped(line) if fence is not None else _line(line))
    if fence is not None:
        done.append("```")
    return "\n".join(done)


def plain_tables(markdown: str, *, keep: int) -> str:
    """`markdown` with tables as aligned code, except the first `keep` that are small enough for Slack to draw."""
    lines = markdown.split("\n")
    kept = 0
    replacements: list[tuple[int, int, str]] = []
    for start, stop, rows in _tables(markdown):
        if kept < keep and _is_drawn(rows):
            kept += 1
            continue
        text = aligned(rows)
        if len(text) > MOST_GROWTH * sum(map(len, lines[start:stop])) + MIN_TABLE_CHARS:
            text = "\n".join(" | ".join(map(_cell, row)) for row in rows)  # one long cell would blow up every row
        replacements.append((start, stop, text))
    for start, stop, text in reversed(replacements):  # from the end, so that line numbers stay true
        lines[start:stop] = ["```", *text.split("\n"), "```"]
    return "\n".join(lines)


def aligned(rows: list[list[str]]) -> str:
    """Rows as columns of equal width; Hangul and other wide characters count double, as fixed fonts show them."""
    columns = max(len(row) for row in rows)
    cells = [[_cell(row[n]) if n < len(row) else "" for n in range(columns)] for row in rows]
    widths = [max(_width(row[n]) for row in cells) for n in range(columns)]
    lines = ["  ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * max(width, 1) for width in widths), *lines[1:]])


def _cell(text: str) -> str:
    """A cell without marks of style, which code would show as they are."""
    return re.sub(r"\*\*|__|`|<br\s*/?>", lambda mark: " " if mark[0].startswith("<") else "", text).strip()


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.category(c) in _ZERO_WIDTH else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _is_drawn(rows: list[list[str]]) -> bool:
    chars = sum(len(cell) for row in rows for cell in row)
    return len(rows) <= MAX_ROWS and len(rows[0]) <= MAX_COLUMNS and chars <= MAX_TABLE_CHARS


@cache
def _parser() -> MarkdownIt:
    """Finds tables; what stands inside a line is of no interest here."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


def _tables(markdown: str) -> list[tuple[int, int, list[list[str]]]]:
    """(first line, line behind the last, rows of cells) of every table of the first level."""
    if _DELIMITERS.search(markdown) is None:
        return []
    tokens = _parser().parse(markdown)
    return [
        (token.map[0], token.map[1], _rows(tokens[number:]))
        for number, token in enumerate(tokens)
        if token.type == "table_open" and token.level == 0 and token.map is not None
    ]


def _rows(tokens: list[Token]) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token.content)
    return rows


# --- one line of text -----------------------------------------------------------------------------

_INLINE = re.compile(
    r"(?P<code>`+)(?P<inside>.+?)(?P=code)"
    r"|\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])+)\]\((?P<url>https?://[^\s()<>]+)\)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*"
    r"|~~(?P<gone>\S(?:.*?\S)?)~~"
)


def _line(line: str) -> str:
    heading = re.match(r"[ ]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$", line)
    if heading:
        return f"*{_inline(heading[1].replace('**', ''))}*" if heading[1] else ""
    item = re.match(r"([ \t]*)[-*+][ \t]+(.*)", line)
    if item:
        return f"{item[1]}• {_inline(item[2])}"
    quote = re.match(r"[ \t]*>[ \t]?(.*)", line)
    return f"> {_inline(quote[1])}" if quote else _inline(line)


def _inline(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for match in _INLINE.finditer(text):
        pieces += [escaped(text[end : match.start()]), _styled(match)]
        end = match.end()
    return "".join([*pieces, escaped(text[end:])])


def _styled(match: re.Match[str]) -> str:
    if match["code"]:
        return f"`{escaped(match['inside'].replace('`', chr(39)).strip())}`"
    if match["url"]:
        label = escaped(match["label"].replace("\\", "")).replace("|", "¦")
        return f"<{match['url'].replace('&', '&amp;').replace('|', '%7C')}|{label}>"
    return f"*{_inline(match['bold'])}*" if match["bold"] else f"~{_inline(match['gone'])}~"
