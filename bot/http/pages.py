"""Whole pages: a channel, a thread, the login form, and evidence on a page of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from bot.http.html import Child, Html, el
from bot.http.posts_html import Reader, plain_text, post_html, summary_html
from bot.http.texts import say
from bot.platforms.web import mention_pattern, without_mention
from bot.types import Language, Vote
from bot.web_posts import GENERAL, Channel, Post, ThreadSummary

MAX_MESSAGE_CHARS = 4000
TITLE_CHARS = 120
SCRIPT_TEXTS = (
    "sending", "send", "too_long", "no_mention", "add_mention", "vote_thanks", "vote_failed", "answered", "reading",
    "reading_n", "embedding_n", "connection_lost", "send_failed", "evidence_loading", "evidence_failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What every page shows around its content."""

    reader: Reader
    channels: Sequence[Channel]
    channel: Channel
    cursor: str  # the last event that the content already shows
    path: str
    can_sign_out: bool


def channel_name(channel: Channel, language: Language) -> str:
    """The name of a channel; that of the general one is in the reader's language."""
    return say(language, "general") if channel.id == GENERAL and channel.name == GENERAL else channel.name


def channel_page(site: Site, threads: Sequence[ThreadSummary], *, examples: Sequence[str], earlier: int | None) -> str:
    """A channel: its threads, or what to ask when there are none yet."""
    reader = site.reader
    name = channel_name(site.channel, reader.language)
    more = None
    if earlier is not None:
        more = el("p", el("a", reader.say("earlier"), href=f"/c/{site.channel.id}?before={earlier}"), class_="more")
    content = [
        el("header", el("h1", f"# {name}"), el("p", reader.say("tagline"), class_="quiet"), class_="title"),
        el(
            "div",
            more,
            el("ol", [summary_html(thread, reader) for thread in threads], id="items", class_="threads"),
            None if threads else _empty(reader, examples),
            class_="items-box",
        ),
        _composer(site, root_id=None),
    ]
    return _layout(site, name, content, root_id=None)


def thread_page(site: Site, root_id: str, posts: Sequence[Post], votes: Mapping[str, Vote], *, cut: int | None) -> str:
    """A thread: the question, what was answered, and room for a reply."""
    reader = site.reader
    name = channel_name(site.channel, reader.language)
    question = without_mention(plain_text(posts[0]), mention_pattern(reader.bot_name)) if posts else ""
    first = " ".join(question.split())[:TITLE_CHARS] or name
    note = el("p", reader.say("thread_cut", n=cut), class_="more") if cut else None
    content = [
        el(
            "header",
            el("a", reader.say("back", channel=f"# {name}"), href=f"/c/{site.channel.id}", class_="back"),
            el("h1", first),
            class_="title",
        ),
        el(
            "div",
            note,
            el("div", [post_html(post, reader, votes) for post in posts], id="items", class_="posts"),
            class_="items-box",
        ),
        _composer(site, root_id=root_id),
    ]
    return _layout(site, first, content, root_id=root_id)


def login_form(language: Language, *, target: str, problem: str | None) -> Html:
    """The form that asks for the page's token."""
    return el(
        "form",
        el("p", say(language, "sign_in_hint")),
        el("label", say(language, "token"), for_="token"),
        el(
            "input",
            id="token",
            name="token",
            type="password",
            required=True,
            autofocus=True,
            autocomplete="current-password",
            aria_describedby="problem" if problem else None,
        ),
        el("p", say(language, problem), id="problem", class_="problem", role="alert") if problem else None,
        el("button", say(language, "sign_in"), type="submit", class_="primary"),
        method="post",
        action="/login?" + urlencode({"next": target}),
    )


def _layout(site: Site, title: str, content: Child, *, root_id: str | None) -> str:
    reader = site.reader
    texts = {key: _script_text(reader, key) for key in SCRIPT_TEXTS}
    return "<!doctype html>" + el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("title", f"{title} · Haechi"),
            el("link", rel="icon", href="/static/icon.svg"),
            el("link", rel="stylesheet", href="/static/haechi.css"),
            el("script", type="module", src="/static/page.js"),
        ),
        el(
            "body",
            el("a", reader.say("skip"), href="#main", class_="skip"),
            _side(site),
            el("main", _banners(), content, id="main", tabindex="-1"),
            _panel(reader),
            el("p", id="announce", class_="unseen", role="status", aria_live="polite"),
            data_channel=site.channel.id,
            data_root=root_id,
            data_cursor=site.cursor,
            data_mention=reader.mention,
            data_limit=MAX_MESSAGE_CHARS,
            data_texts=json.dumps(texts, ensure_ascii=False),
        ),
        lang=reader.language,
    )


def _script_text(reader: Reader, key: str) -> str:
    """A text whose {places} the script fills; what is known here is filled already."""
    names = ("n", "limit", "done", "total", "text")
    return reader.say(key, mention=reader.mention, bot=reader.bot_name, **{name: f"{{{name}}}" for name in names})


def _side(site: Site) -> Html:
    reader = site.reader
    channels = [
        el(
            "li",
            el(
                "a",
                f"# {channel_name(channel, reader.language)}",
                href=f"/c/{channel.id}",
                aria_current="page" if channel.id == site.channel.id else None,
            ),
        )
        for channel in site.channels
    ]
    other = "en" if reader.language == "ko" else "ko"
    return el(
        "header",
        el("a", el("span", class_="mark", aria_hidden="true"), el("span", "Haechi"), href="/", class_="brand"),
        el("nav", el("h2", reader.say("channels")), el("ul", channels), aria_label=reader.say("channels")),
        _unfolding(reader, "channel-form", reader.say("new_channel"), reader.say("channel_name"), "create", ""),
        el(
            "div",
            _unfolding(
                reader, "name-form", reader.author.display_name, reader.say("your_name"), "save",
                reader.author.display_name,
            ),
            el("a", reader.say("other_language"), href=f"{site.path}?lang={other}", lang=other, class_="language"),
            el("button", reader.say("sign_out"), type="button", id="sign-out") if site.can_sign_out else None,
            class_="me",
        ),
        class_="side",
    )  # fmt: skip


def _unfolding(reader: Reader, form_id: str, summary: str, label: str, button: str, value: str) -> Html:
    return el(
        "details",
        el("summary", summary),
        el(
            "form",
            el("label", label, for_=f"{form_id}-input"),
            el("input", id=f"{form_id}-input", name="name", maxlength=40, required=True, value=value),
            el("button", reader.say(button), type="submit"),
            el("p", class_="problem", role="alert"),
            id=form_id,
        ),
        class_=f"unfolding {form_id}",
    )


def _banners() -> list[Html]:
    return [
        el("p", id="index-banner", class_="banner", role="status", hidden=True),
        el("p", id="connection-banner", class_="banner lost", role="status", hidden=True),
    ]


def _empty(reader: Reader, examples: Sequence[str]) -> Html:
    buttons = [el("li", el("button", example, type="button", data_example=example)) for example in examples]
    return el(
        "section",
        el("span", class_="mark large", aria_hidden="true"),
        el("h2", reader.say("empty_title")),
        el("p", reader.say("empty_text", mention=reader.mention)),
        [el("h3", reader.say("empty_examples")), el("ul", buttons, class_="examples")] if buttons else None,
        class_="empty",
        id="empty",
    )


def _composer(site: Site, *, root_id: str | None) -> Html:
    reader = site.reader
    channel = site.channel.id
    action = f"/api/channels/{channel}/posts"
    if root_id is not None:
        action = f"/api/channels/{channel}/threads/{root_id}/posts"
    label = reader.say("compose_reply") if root_id else reader.say("compose_root", mention=reader.mention)
    return el(
        "form",
        el("label", label, for_="compose"),
        el(
            "textarea",
            "" if root_id else f"{reader.mention} ",
            id="compose",
            name="text",
            rows=2,
            autocomplete="off",
            aria_describedby="compose-hint compose-problem",
        ),
        el(
            "div",
            el("span", reader.say("compose_hint"), id="compose-hint", class_="quiet"),
            el("button", reader.say("send"), type="submit", class_="primary"),
            class_="row",
        ),
        el(
            "p",
            el("span", reader.say("no_mention", mention=reader.mention)),
            el("button", reader.say("add_mention", mention=reader.mention), type="button", id="add-mention"),
            id="mention-hint",
            class_="hint",
            hidden=True,
        ),
        el("p", id="compose-problem", class_="problem", role="alert"),
        el("noscript", el("p", reader.say("noscript"), class_="hint")),
        id="compose-form",
        class_="composer",
        data_action=action,
        data_needs_mention=root_id is None,
    )


def _panel(reader: Reader) -> Html:
    return el(
        "aside",
        el("button", reader.say("close"), type="button", id="evidence-close", class_="close"),
        el("div", id="evidence-body", tabindex="-1"),
        id="evidence",
        aria_label=reader.say("evidence"),
        hidden=True,
    )
