"""The evidence behind a citation as markup: a document with the cited section marked, or a file with its lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from bot.http.highlight import highlight_lines
from bot.http.html import Child, Html, el
from bot.http.page_pictures import marked_doubtful, page_pictures, picture_link
from bot.http.posts_html import Reader
from knowledge.types import Block, Locator, Passage

SHORT_COMMIT_CHARS = 10
MAX_ARTICLE_LINE_CHARS = 60

# In most regulations the line that opens an article is an ordinary paragraph; shown as one, a page has no structure.
_ARTICLE = re.compile(
    r"\s*(?:제\s*\d+\s*[조장절관편](?:의\s*\d+)?\s*(?:[(（\[]|\s|$)|부\s*칙(?:\s|$)|[\[〔<]?별[표지]\s*\d*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How much is shown around the cited part; a file of 20,000 lines must not stall a phone."""

    blocks: int
    lines: int


PANEL = Window(blocks=60, lines=120)
PAGE = Window(blocks=2000, lines=5000)
CITED_PART = Window(blocks=0, lines=0)  # for a reader whom a link allows to see exactly what was cited


def evidence_html(
    passage: Passage, reader: Reader, *, window: Window, full_path: str | None, chunk_id: str | None = None
) -> Html:
    """Header and text of `passage`, the chunk `chunk_id`; `full_path` links to the page that shows more."""
    if passage.evidence_kind == "code":
        text = _code(passage, reader, window)
    else:
        text = _document(passage, reader, window, page_pictures(passage, reader, chunk_id))
    header = _header(passage, reader, full_path, picture_link(passage, reader, chunk_id))
    callers = _callers(passage, reader) if window.lines else None  # they are not part of what was cited
    return el("div", header, callers, text, class_=f"evidence {passage.evidence_kind}")


def evidence_title(passage: Passage) -> str:
    """The heading of a panel or page: what was cited, else the document."""
    locator = passage.locator
    if passage.evidence_kind == "code":
        return passage.uri
    return (locator.label if locator else None) or passage.title


def safe_original(url: str | None) -> str | None:
    """`url` when it leads to a web server; templates come from a file that people edit."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:  # "https://[wiki/..."
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def _header(passage: Passage, reader: Reader, full_path: str | None, picture: Html | None) -> Html:
    kind = "commit" if passage.evidence_kind == "code" else "revision"
    revision = el("span", reader.say(kind, id=passage.revision[:SHORT_COMMIT_CHARS]), title=passage.revision)
    original = safe_original(passage.url)
    links: list[Child] = []
    if original:
        links.append(_outside(original, reader.say("open_original")))
    if full_path:
        links.append(_outside(full_path, reader.say("open_full")))
    links.append(picture)
    return el(
        "header",
        el("h2", evidence_title(passage), id="evidence-title", tabindex="-1"),
        el("p", [el("span", fact) for fact in _facts(passage, reader)], revision, class_="facts"),
        el("p", links, class_="links") if any(links) else None,
    )


def _facts(passage: Passage, reader: Reader) -> list[str]:
    """What a reader needs to find the place again, without repeating the heading."""
    locator = passage.locator
    facts = [passage.title, passage.uri, passage.source]
    if passage.evidence_kind == "code":
        facts += [locator.symbol or "" if locator else "", _line_range(locator, reader) or ""]
    elif locator and locator.page:
        facts.append(reader.say("page_n", n=locator.page))
    heading = evidence_title(passage)
    return [fact for fact in dict.fromkeys(facts) if fact and fact != heading and not heading.endswith(f"/{fact}")]


def _callers(passage: Passage, reader: Reader) -> Html | None:
    """What calls the cited definition, one line each."""
    if not passage.callers:
        return None
    items = [
        el("li", el("code", caller.signature), " ", el("span", f"{caller.locator.uri}:{caller.locator.start_line}"))
        for caller in passage.callers
    ]
    return el("details", el("summary", reader.say("called_by")), el("ul", items), class_="callers", open=True)


def _outside(address: str, label: str) -> Html:
    return el("a", label, href=address, target="_blank", rel="noopener noreferrer")


def _line_range(locator: Locator | None, reader: Reader) -> str | None:
    if not locator or not locator.start_line:
        return None
    end = locator.end_line or locator.start_line
    if end == locator.start_line:
        return reader.say("line_one", a=end)
    return reader.say("lines", a=locator.start_line, b=end)


# --- documents ------------------------------------------------------------------------------------


def _document(passage: Passage, reader: Reader, window: Window, pictures: Sequence[Html]) -> Html:
    blocks = passage.blocks
    first, last = _cited_blocks(passage)
    start, stop = _around(first, last, len(blocks), window.blocks)
    parts: list[Child] = []
    if first is None:
        parts.append(el("p", reader.say("evidence_place_unknown"), class_="note"))
    if start:
        parts.append(el("p", reader.say("left_out", n=start), class_="left-out"))
    page: int | None = None
    cited: list[Child] = []
    doubtful = passage.locator.doubtful if passage.locator else ()
    for number in range(start, stop):
        block = blocks[number]
        into = cited if first is not None and last is not None and first <= number <= last else parts
        if block.page is not None and block.page != page:
            into.append(el("p", reader.say("page_n", n=block.page), class_="page-mark"))
            page = block.page
        into.append(_block(block, reader, doubtful if into is cited else ()))
        if number == last:
            parts.append(el("section", cited, id="cited", class_="cited", aria_label=reader.say("cited_part")))
            parts.extend(pictures)
    if stop < len(blocks):
        parts.append(el("p", reader.say("left_out", n=len(blocks) - stop), class_="left-out"))
    return el("div", parts, class_="document prose")


def _cited_blocks(passage: Passage) -> tuple[int | None, int | None]:
    locator = passage.locator
    if locator is None or locator.first_block is None or locator.first_block >= len(passage.blocks):
        return None, None
    last = locator.last_block if locator.last_block is not None else locator.first_block
    return locator.first_block, max(locator.first_block, min(last, len(passage.blocks) - 1))


def _around(first: int | None, last: int | None, total: int, margin: int) -> tuple[int, int]:
    if first is None or last is None:
        return 0, min(total, 2 * margin)
    return max(0, first - margin), min(total, last + 1 + margin)


def _block(block: Block, reader: Reader, doubtful: Sequence[str]) -> Html:
    if block.kind == "table" and block.rows:
        return _table(block.rows, reader, doubtful)
    text = marked_doubtful(block.text, doubtful)
    if block.kind == "heading":
        return el(f"h{min(6, 2 + (block.level or 1))}", text)
    if _ARTICLE.match(block.text) and len(block.text) <= MAX_ARTICLE_LINE_CHARS:
        return el("p", text, class_="article")
    return el("p", text, class_="note" if block.kind == "note" else None)


def _table(rows: Sequence[Sequence[str]], reader: Reader, doubtful: Sequence[str]) -> Html:
    marked = [[marked_doubtful(cell, doubtful) for cell in row] for row in rows]
    head = el("thead", el("tr", [el("th", cell, scope="col") for cell in marked[0]])) if len(rows) > 1 else None
    body = marked[1:] if head else marked
    return el(
        "div",
        el("table", head, el("tbody", [el("tr", [el("td", cell) for cell in row]) for row in body])),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_label=reader.say("table"),
    )


# --- code -----------------------------------------------------------------------------------------


def _code(passage: Passage, reader: Reader, window: Window) -> Html:
    locator = passage.locator
    total = len(passage.lines)
    first = locator.start_line - 1 if locator and locator.start_line and locator.start_line <= total else None
    last = None
    if first is not None and locator is not None:
        last = max(first, min((locator.end_line or locator.start_line or 1), total) - 1)
    start, stop = _around(first, last, total, window.lines)
    marked = highlight_lines(passage.lines, file_name=passage.uri)
    rows: list[Child] = []
    for number in range(start, stop):
        is_cited = first is not None and last is not None and first <= number <= last
        rows.append(
            el(
                "tr",
                el("td", str(number + 1), class_="line-number"),
                el("td", Html(marked[number] or " "), class_="line"),
                class_="cited" if is_cited else None,
                id="cited" if number == first else None,
            )
        )
    return el(
        "div",
        el("p", reader.say("left_out_lines", n=start), class_="left-out") if start else None,
        el("table", el("tbody", rows), class_="code-lines"),
        el("p", reader.say("left_out_lines", n=total - stop), class_="left-out") if stop < total else None,
        class_="scroll code-scroll",
        role="region",
        tabindex="0",
        aria_label=reader.say("code"),
    )
