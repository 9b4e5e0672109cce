"""Posts and threads as markup, for pages and for events alike: there is one renderer, so both always look the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from bot.http.html import Child, Html, el, flat
from bot.http.markdown import render_markdown
from bot.http.texts import say
from bot.platforms.web import mention_pattern, thread_path
from bot.types import Author, Citation, Language, Vote
from bot.web_posts import Post, ThreadSummary

EXCERPT_CHARS = 180
_PAGE_IMAGE = re.compile(r"https?://[^\s/]+(?:/[^\s/]+)*?(?P<path>/evidence/[0-9a-f]{32}/page/\d+)")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(https?://[^\s()]+\)")
VOTES: tuple[Vote, ...] = ("up", "down", "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who looks at a page, and how."""

    author: Author
    language: Language
    bot_name: str

    def say(self, key: str, **values: object) -> str:
        return say(self.language, key, **values)

    @property
    def mention(self) -> str:
        return f"@{self.bot_name}"


def post_html(post: Post, reader: Reader, votes: Mapping[str, Vote]) -> Html:
    """One post of a thread."""
    classes = f"post {'bot' if post.author.is_bot else 'person'} {post.kind}"
    return el(
        "article",
        _head(post, reader),
        _body(post, reader),
        _working(post, reader),
        _notices(post),
        _sources(post, reader),
        _feedback(post, reader, votes.get(post.id)),
        id=f"post-{post.id}",
        class_=classes,
        data_seq=post.seq,
        data_state="final" if post.final else "open",
        aria_busy=None if post.final else "true",
        tabindex="-1",
    )


def summary_html(summary: ThreadSummary, reader: Reader) -> Html:
    """One line of a channel: the first post of a thread and how it stands."""
    root = summary.root
    replies = None
    if summary.replies:
        replies = reader.say("replies_one" if summary.replies == 1 else "replies", n=summary.replies)
    state = None
    if summary.state != "quiet":
        state = el("span", reader.say(f"state_{summary.state}"), class_=f"state {summary.state}")
    return el(
        "li",
        el(
            "a",
            el("span", el("strong", root.author.display_name), " ", time_html(root.posted_at), class_="who"),
            el("span", _with_mentions(_shortened(plain_text(root)), reader), class_="question"),
            el("span", state, " ", replies, class_="meta"),
            href=thread_path(root.thread.channel_id, root.id),
        ),
        id=f"thread-{root.id}",
        data_seq=root.seq,
    )


def time_html(at: datetime) -> Html:
    """A moment; the page's script shows it in the reader's own time zone."""
    return el("time", at.strftime("%Y-%m-%d %H:%M UTC"), datetime=at.isoformat(timespec="seconds"))


def evidence_path(chunk_id: str) -> str:
    """The page of a piece of evidence, at the cited part."""
    return f"/evidence/{quote(chunk_id, safe='')}#cited"


def citation_place(citation: Citation, reader: Reader) -> str:
    """Where the evidence stands: label and page of a document, path and lines of a file."""
    locator = citation.locator
    if locator.label:
        page = reader.say("page_n", n=locator.page) if locator.page else None
        return " · ".join(part for part in (locator.label, page) if part)
    return f"{locator.uri}{_lines(citation)}"


def _lines(citation: Citation) -> str:
    start, end = citation.locator.start_line, citation.locator.end_line
    if not start:
        return ""
    return f":{start}" if end in (None, start) else f":{start}–{end}"


def _head(post: Post, reader: Reader) -> Html:
    badges: list[Child] = []
    if post.author.is_bot:
        badges.append(el("span", reader.say("bot"), class_="badge"))
    if post.private_to is not None:
        badges.append(el("span", reader.say("only_you"), class_="badge"))
    edited = el("span", reader.say("edited"), class_="edited") if post.edited_at else None
    return el(
        "header",
        el("span", post.author.display_name[:1].upper(), class_="avatar", aria_hidden="true"),
        el("strong", post.author.display_name),
        badges,
        time_html(post.posted_at),
        edited,
    )


def _body(post: Post, reader: Reader) -> Html:
    if not post.author.is_bot:
        return el("div", _with_mentions(post.text, reader), class_="body typed")
    links = {citation.index: _cite_link(citation, reader) for citation in (*post.nearest, *post.citations)}
    title: Child = None
    if post.kind == "error":
        title = el("p", reader.say("error" if post.error_id else "unavailable"), class_="kind")
    text = render_markdown(post.text, links, table_label=reader.say("table"))
    number = reader.say("error_id", id=post.error_id) if post.error_id else None
    return el("div", title, text, el("p", number, class_="error-id") if number else None, class_="body prose")


def _cite_link(citation: Citation, reader: Reader) -> Html:
    what = citation_place(citation, reader)
    return el(
        "a",
        str(citation.index),
        class_="cite",
        href=evidence_path(citation.chunk_id),
        data_evidence=citation.chunk_id,
        aria_label=reader.say("source_n", n=citation.index, what=what),
        title=what,
    )


def _working(post: Post, reader: Reader) -> Html | None:
    """The sign of life under a question, or under an answer that is still being written."""
    if post.author.is_bot:
        return None if post.final else el("p", reader.say("writing"), class_="working")
    if post.reaction == "eyes":
        return el("p", reader.say("working"), class_="working")
    if post.reaction == "hourglass_flowing_sand":
        return el("p", reader.say("over_limit"), class_="failed")
    if post.reaction == "x":
        return el("p", reader.say("failed"), class_="failed")
    return None


def _notices(post: Post) -> Html | None:
    return el("ul", [el("li", _notice(notice)) for notice in post.notices], class_="notices") if post.notices else None


def _notice(notice: str) -> Html:
    """A notice; the address of a page's picture becomes a link on this site."""
    pieces: list[Child] = []
    end = 0
    for found in _PAGE_IMAGE.finditer(notice):
        link = el("a", found[0], href=found["path"], target="_blank", rel="noopener")
        pieces += [notice[end : found.start()], link]
        end = found.end()
    return flat([*pieces, notice[end:]])


def _sources(post: Post, reader: Reader) -> list[Html]:
    found = []
    for key, citations in (("sources", post.citations), ("nearest", post.nearest)):
        if citations:
            items = [_source_item(citation, reader) for citation in citations]
            found.append(el("section", el("h3", reader.say(key)), el("ol", items), class_=f"sources {key}"))
    return found


def _source_item(citation: Citation, reader: Reader) -> Html:
    place = citation_place(citation, reader)
    code = citation.locator.label is None
    title = citation.title if citation.title not in place else None
    symbol = citation.locator.symbol if code else None
    return el(
        "li",
        el("span", str(citation.index), class_="number", aria_hidden="true"),
        el(
            "a",
            _place(citation, place),
            " ",
            el("span", " · ".join(part for part in (symbol or title, citation.locator.source) if part), class_="from"),
            href=evidence_path(citation.chunk_id),
            data_evidence=citation.chunk_id,
            aria_label=reader.say("source_n", n=citation.index, what=f"{place} {title or ''}".strip()),
        ),
    )


def _place(citation: Citation, place: str) -> Html:
    """The place of a citation; line numbers stay together when a long path wraps."""
    if citation.locator.label:
        return el("span", place, class_="place")
    return el("span", citation.locator.uri, el("span", _lines(citation), class_="lines"), class_="place code")


def _feedback(post: Post, reader: Reader, vote: Vote | None) -> Html | None:
    if not post.author.is_bot or not post.final or post.kind in ("private", "error", "message"):
        return None
    buttons = [
        el(
            "button",
            reader.say(f"vote_{name}"),
            type="button",
            data_vote=name,
            data_post=post.id,
            aria_pressed="true" if vote == name else "false",
        )
        for name in VOTES
    ]
    return el("div", el("span", reader.say("feedback"), class_="ask"), buttons, class_="feedback", role="group")


def _with_mentions(text: str, reader: Reader) -> Html:
    pieces: list[Child] = []
    end = 0
    for match in mention_pattern(reader.bot_name).finditer(text):
        pieces += [text[end : match.start()], el("span", match[0], class_="mention")]
        end = match.end()
    return flat([*pieces, text[end:]])


def plain_text(root: Post) -> str:
    """The text of a first post without marks of style, which the bot's own posts have (alerts, notices to admins)."""
    if not root.author.is_bot:
        return root.text
    return _LINK.sub(r"\1", root.text).replace("**", "").replace("`", "")


def _shortened(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= EXCERPT_CHARS else line[: EXCERPT_CHARS - 1].rstrip() + "…"
