"""A reply as one Markdown text for chat platforms: what it says, what a reader must know about it, and its sources.

Slack and Mattermost share this; each adapter cuts it into posts and adds its own buttons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from bot.persona import language_of
from bot.sources import place_of
from bot.types import Citation, Language, Reply
from bot.wording import word

_INVISIBLE = "\u200b"  # parts the sign from the name: it reads the same and calls nobody

# Bidi overrides and isolates turn what stands behind them around; controls and lone surrogates break clients; what has
# no width hides in words, which nobody finds then.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u180e\u200b\u2060\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_LINE_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_MASS_MENTION = re.compile(r"(?<![A-Za-z0-9])@(?=(?:channel|here|all|everyone))", re.IGNORECASE)
_SLACK_MENTION = re.compile(r"<(?=[!@#]|[A-Za-z]{3,8}:[^<>\n|]{0,2000}\|)")  # also <address|words that hide it>
_MENTION = re.compile(r"(?<![A-Za-z0-9/@])@(?=[A-Za-z0-9가-힣])")  # Mattermost also finds "-@name" and ".@name"
_CODE = re.compile(  # possessive: a line of 100,000 backticks must not be tried in every length
    r"(^[ \t>]*+(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ \t>]*\2[`~]*[ \t]*$|\Z)|`[^`\n]+`)", re.MULTILINE | re.DOTALL
)


def full_markdown(reply: Reply, *, language: Language | None = None) -> str:
    """The whole reply as standard Markdown, safe to post: text, notices, numbered sources or the nearest ones of a
    refusal, and the number of an error."""
    spoken = language or language_of(reply.markdown)
    paragraphs = [reply.markdown.strip()]
    if reply.error_id and reply.error_id not in reply.markdown:
        paragraphs.append(word("error_number", spoken, id=reply.error_id))
    if reply.notices:
        paragraphs.append("\n".join(f"> {_without_links(_one_line(notice))}" for notice in reply.notices))
    paragraphs += _listed("sources", reply.citations, spoken)
    paragraphs += _listed("nearest", reply.nearest, spoken)
    return safe_markdown("\n\n".join(paragraph for paragraph in paragraphs if paragraph))


def clean_text(text: str) -> str:
    """`text` without controls, lone surrogates, characters without width and marks that turn writing around."""
    return _UNSAFE.sub("", _LINE_BREAKS.sub("\n", text))


def safe_markdown(text: str) -> str:
    """`text` without characters that break a client or turn text around, and without anything that calls people.

    Mentions in code stay as they are written, except those that call a whole channel: Slack resolves even these.
    """
    text = clean_text(text)
    text = _SLACK_MENTION.sub(f"<{_INVISIBLE}", text)
    text = _MASS_MENTION.sub(f"@{_INVISIBLE}", text)
    pieces: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        pieces += [_MENTION.sub(f"@{_INVISIBLE}", text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _MENTION.sub(f"@{_INVISIBLE}", text[end:])])


def source_line(citation: Citation, language: Language) -> str:
    """ "[1] travel.docx, [별표 1] 여비 지급 기준, 12쪽 ([열기](https://...))"."""
    locator = citation.locator
    place = _without_links(_one_line(place_of(locator, citation.title, language)))
    if locator.start_line is not None and locator.label is None:
        place = f"`{place.replace('`', chr(39))}`"
    address = link_address(citation.url)
    link = f" ([{word('open', language)}]({address}))" if address else ""
    return f"[{citation.index}] {place}{link}"


def link_address(url: str | None) -> str | None:
    """`url` as it can stand between the parentheses of a Markdown link; None when it leads to no web server."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return re.sub(r"[\s()<>\\\"]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)


def _listed(title: str, citations: Sequence[Citation], language: Language) -> list[str]:
    if not citations:
        return []
    lines = [f"- {source_line(citation, language)}" for citation in citations]
    return [f"**{word(title, language)}**\n\n" + "\n".join(lines)]


def _without_links(text: str) -> str:
    """Names of files and documents may look like links or pictures: what they lead to stays in sight."""
    return text.replace("](", "] (")


def _one_line(text: str) -> str:
    return " ".join(text.split())
