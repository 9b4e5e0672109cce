"""Source text as highlighted HTML: pygments with class names only, since the pages allow no inline style."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bot.http.html import Html

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CLASS_PREFIX = "hl-"
MAX_HIGHLIGHTED_CHARS = 300_000  # above it a page would take seconds; the text is shown plain


def highlight_lines(lines: tuple[str, ...], *, file_name: str) -> list[Html]:
    """One piece of markup a line, each complete in itself; plain when no lexer knows the file's name."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    plain = [Html(escape(line)) for line in lines]
    text = "\n".join(lines)
    if len(text) > MAX_HIGHLIGHTED_CHARS:
        return plain
    try:
        lexer = get_lexer_for_filename(file_name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain
    marked = _highlight(text, lexer).split("\n")
    if len(marked) == len(lines) + 1 and not marked[-1]:
        marked.pop()
    return [Html(line) for line in marked] if len(marked) == len(lines) else plain


def highlight_fence(code: str, language: str, attributes: str) -> str:
    """Markup of a fenced code block; an empty string tells markdown-it to escape it plainly."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language or len(code) > MAX_HIGHLIGHTED_CHARS:
        return ""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return ""
    return _highlight(code, lexer)


def _highlight(text: str, lexer: Lexer) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    return highlight(text, lexer, HtmlFormatter(nowrap=True, classprefix=CLASS_PREFIX))
