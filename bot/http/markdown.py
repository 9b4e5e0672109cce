"""Markdown of answers as safe HTML.

markdown-it with raw HTML, images and reference definitions off; links only to http, https and Haechi's own evidence.
Markers like [2] become links to the evidence when the post has a citation of that number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from bot.http.highlight import highlight_fence
from bot.http.html import Html

_MARKER = re.compile(r"\[(\d{1,3})\]")


def render_markdown(text: str, cite_links: Mapping[int, Html], *, table_label: str) -> Html:
    """Sanitised HTML of `text`; `cite_links` maps the number of a citation to its link."""
    return Html(_parser().render(text, {"cite_links": cite_links, "table_label": table_label}))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "highlight": highlight_fence})
    parser.enable(["table", "strikethrough"])
    parser.disable(["image", "reference", "html_block", "html_inline"])
    parser.validateLink = allowed_link  # type: ignore[method-assign, assignment]
    parser.core.ruler.push("citations", _mark_citations)
    parser.add_render_rule("cite", _render_cite)
    parser.add_render_rule("link_open", _render_link)
    parser.add_render_rule("table_open", _render_table_open)
    parser.add_render_rule("table_close", _render_table_close)
    return parser


def allowed_link(address: str) -> bool:
    """Whether a link to `address` may stand in an answer: http and https with a host, or our own evidence."""
    if any(ord(character) < 33 for character in address) or "\\" in address:
        return False
    if address.startswith("/evidence/"):
        return True
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme.lower() in ("http", "https") and bool(parts.netloc)


def _mark_citations(state: StateCore) -> None:
    """Turns [n] in running text into a token of its own; code spans and link texts stay as they are."""
    links: Mapping[int, Html] = state.env.get("cite_links", {})
    for token in state.tokens:
        if token.type != "inline" or not token.children:
            continue
        children: list[Token] = []
        inside_link = 0
        for child in token.children:
            inside_link += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            if child.type == "text" and not inside_link:
                children += _split_markers(child, links)
            else:
                children.append(child)
        token.children = children


def _split_markers(token: Token, links: Mapping[int, Html]) -> list[Token]:
    pieces: list[Token] = []
    end = 0
    for match in _MARKER.finditer(token.content):
        if int(match[1]) not in links:
            continue
        pieces.append(Token("text", "", 0, content=token.content[end : match.start()]))
        pieces.append(Token("cite", "", 0, meta={"number": int(match[1])}))
        end = match.end()
    pieces.append(Token("text", "", 0, content=token.content[end:]))
    return pieces


def _render_cite(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return str(env["cite_links"][tokens[index].meta["number"]])


def _render_link(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    if not str(tokens[index].attrGet("href")).startswith("/evidence/"):
        tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer nofollow")
    return renderer.renderToken(tokens, index, options, env)


def _render_table_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    from html import escape

    label = escape(env["table_label"])
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>\n'


def _render_table_close(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return "</table></div>\n"
