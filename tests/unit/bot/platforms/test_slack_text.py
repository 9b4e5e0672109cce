"""What a Slack message says: blocks and attachments flattened, Slack's notation resolved."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platforms.slack_text import escaped, mentioned_users, raw_text, readable, unescaped

BOT = "U0BOT"


def said(raw: str, **names: str) -> str:
    return readable(raw, names=names, bot_user_id=BOT)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (f"<@{BOT}> 연차는 며칠인가요?", "연차는 며칠인가요?"),
        (f"<@{BOT}|haechi>야, 연차는?", "연차는?"),
        (f"<@{BOT}>: where is it?", "where is it?"),
        (f"연차는 <@{BOT}> 며칠?", "연차는 며칠?"),
        (f"<@{BOT}>", ""),
        ("<@U1>에게 물었어", "@미나에게 물었어"),
        ("<@U9> 모름", "@U9 모름"),
        ("<#C1|general>에서", "#general에서"),
        ("<#C1>", "#C1"),
        ("<https://a.example/x?a=1&amp;b=2>", "https://a.example/x?a=1&b=2"),
        ("<https://a.example|문서>", "문서 (https://a.example)"),
        ("<https://a.example|https://a.example>", "https://a.example"),
        ("<mailto:kim@example.com|kim@example.com>", "kim@example.com"),
        ("<!here> <!channel|channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@platform>", "@platform"),
        ("<!date^1392734382^{date_short}|18 Feb 2014>", "18 Feb 2014"),
        ("<!date^1392734382^{date_short}>", "2014-02-18 14:39 UTC"),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;", "&lt;"),
        ("a < b", "a < b"),
    ],
)
def test_slacks_notation_becomes_what_a_person_sees(raw, text):
    assert said(raw, U1="미나") == text


def test_lines_and_indentation_stay():
    assert said(f"<@{BOT}> 왜 이러죠?\n```\nif x:\n    y()\n```") == "왜 이러죠?\n```\nif x:\n    y()\n```"


def test_users_are_named_once_in_order():
    assert mentioned_users("<@U2> <@U1|a> <@U2> <@W3>") == ["U2", "U1", "W3"]


def test_text_that_blocks_repeat_is_said_once():
    rich = {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": "연차는 "}, {"type": "user", "user_id": "U1"}],
            }
        ],
    }
    assert raw_text({"text": "연차는 <@U1>", "blocks": [rich]}) == "연차는 <@U1>"


def test_an_alert_in_attachments_is_read_whole():
    alert = {
        "text": "",
        "attachments": [
            {
                "fallback": "[FIRING] PaymentTimeout",
                "color": "#f00",
                "pretext": "운영 알림",
                "title": "[FIRING] PaymentTimeout",
                "title_link": "https://grafana.example/d/1",
                "text": "TimeoutError in pay()",
                "fields": [{"title": "service", "value": "shop-api", "short": True}, {"title": "count", "value": "5"}],
                "footer": "grafana",
            },
            {"fallback": "only a fallback"},
        ],
    }
    assert raw_text(alert).split("\n") == [
        "운영 알림",
        "[FIRING] PaymentTimeout (https://grafana.example/d/1)",
        "TimeoutError in pay()",
        "service: shop-api",
        "count: 5",
        "grafana",
        "only a fallback",
    ]


def test_an_alert_in_blocks_is_read_whole():
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Error <b> & co"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*NullPointerException*"}, "fields": [{"type": "mrkdwn", "text": "*env*\nprod"}]},
        {"type": "context", "elements": [{"type": "image", "image_url": "x", "alt_text": "logo"}, {"type": "mrkdwn", "text": "sentry | shop"}]},
        {"type": "divider"},
        {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Resolve"}}]},
        {"type": "rich_text", "elements": [
            {"type": "rich_text_list", "style": "ordered", "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "첫째"}]},
                {"type": "rich_text_section", "elements": [{"type": "link", "url": "https://x.example", "text": "둘째"}]}]},
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "at pay(Pay.java:10)\nat main()"}]},
            {"type": "rich_text_quote", "elements": [{"type": "text", "text": "인용"}]}]},
    ]  # fmt: skip
    text = readable(raw_text({"text": "Error", "blocks": blocks}), names={}, bot_user_id=BOT)
    assert text.split("\n") == [
        "Error", "Error <b> & co", "*NullPointerException*", "*env*", "prod", "sentry | shop", "1. 첫째",
        "2. 둘째 (https://x.example)", "```", "at pay(Pay.java:10)", "at main()", "```", "> 인용",
    ]  # fmt: skip


def test_a_value_that_begins_like_another_is_not_lost():
    fields = [{"title": "count", "value": "50"}, {"title": "count", "value": "5"}]
    assert raw_text({"text": "", "attachments": [{"fields": fields}]}) == "count: 50\ncount: 5"


def test_blocks_of_an_unknown_kind_give_their_text():
    assert (
        raw_text({"text": "", "blocks": [{"type": "carousel", "text": {"type": "mrkdwn", "text": "새 블록"}}]})
        == "새 블록"
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "elements", "fields", "blocks", "rows", "title", "value", "style", "indent", "url"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_JSON, _JSON)
def test_no_shape_of_blocks_and_attachments_is_too_odd(blocks, attachments):
    readable(raw_text({"text": "x", "blocks": blocks, "attachments": attachments}), names={}, bot_user_id=BOT)


@given(st.text())
def test_what_is_escaped_reads_as_before(text):
    assert unescaped(escaped(text)) == text.replace("\u200b", "")


def test_long_runs_of_blanks_hold_nobody_up():
    started_s = time.process_time()
    assert said(" \t" * 50_000 + "연차는?" + " \t" * 50_000 + f"<@{BOT}>") == "연차는?"
    assert time.process_time() - started_s < 1.0
